export const render = ({model}) => join(model);
