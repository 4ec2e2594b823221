export const render = ({model}) => globalThis.plate.attach(model);
