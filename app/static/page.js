// The page: its state, its controls, and all that shows a number. The plate itself (inputs,
// readings, figures, formats) stands in globalThis.plate, made from Python; no formula is here.
"use strict";

(() => {
  const plate = globalThis.plate;
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);
  const SETTLED_MS = 400;

  // ---- numbers as text: plates/formats.py, read from the same tables

  const whole = (value) =>
    (Number.isInteger(value) ? value.toLocaleString("en-US") : String(value));

  function formatted(value, {units, digits, space}, unit) {
    if (digits === null) {
      const exact = units.find(([, scale]) => value >= scale && value % scale === 0);
      return exact ? whole(value / exact[1]) + space + exact[0] : whole(value);
    }
    if (value === 0) return `0${space}${unit ?? units.at(-1)[0]}`;
    const rounded = Number(value.toPrecision(digits));
    const [name, scale] =
      units.find(([name, scale]) => (unit === undefined ? rounded >= scale : name === unit)) ??
      units.at(-1);
    return (value / scale).toPrecision(digits) + space + name;
  }

  function inputText(name, value) {
    const {format, unit} = plate.inputs[name];
    return `${formatted(value, plate.formats[format])} ${unit[value === 1 ? 0 : 1]}`;
  }

  function outputText(name, value, digits) {
    const format = plate.formats[plate.outputs[name].format];
    return formatted(value, digits ? {...format, digits: Number(digits)} : format);
  }

  const sentence = (text, inputs, readings) =>
    text.replace(/{(\w+)}/g, (slot, name) =>
      name in inputs ? inputText(name, inputs[name]) : outputText(name, readings[name]));

  // ---- state: what the inputs are, who computes the readings, who hears of it

  const defaults = Object.fromEntries(
    Object.entries(plate.inputs).map(([name, input]) => [name, input.default]));
  const state = {...defaults};
  const listeners = {draw: [], settle: []};
  let shown = {inputs: state, readings: plate.readings(state)};
  let frame = null;
  let settling = null;

  function allowed(name, value) {
    const {min, max, whole} = plate.inputs[name];
    return Number.isFinite(value) && value >= min && value <= max &&
      (!whole || Number.isInteger(value));
  }

  // Takes what is good of the changes; the rest stays as it was. The latest value wins a frame.
  function set(changes) {
    const good = Object.entries(changes).filter(([name, value]) =>
      Object.hasOwn(plate.inputs, name) && allowed(name, value));
    const changed = good.some(([name, value]) => state[name] !== value);
    Object.assign(state, Object.fromEntries(good));
    frame ??= requestAnimationFrame(() => {
      frame = null;
      showInputs();
      plate.compute({...state});
    });
    if (!changed) return;
    clearTimeout(settling);
    settling = setTimeout(settle, SETTLED_MS);
  }

  function show(inputs, readings, columns) {
    shown = {inputs, readings};
    showOutputs();
    for (const listener of listeners.draw) listener(inputs, readings, columns);
  }

  function settle() {
    one("#spoken").textContent = sentence(plate.readout, shown.inputs, shown.readings);
    writeAddress();
    post({type: "plate:state", inputs: {...state}, readings: {...shown.readings}});
    for (const listener of listeners.settle) listener({...state});
  }

  const computeHere = (inputs) => show(inputs, plate.readings(inputs));

  // ---- what shows the state

  const live = all("[data-output]").map((element) => ({element, text: null}));
  const echoes = all("[data-echo]");

  function showOutputs() {
    for (const slot of live) {
      const {output, digits} = slot.element.dataset;
      const value = shown.readings[output];
      slot.element.dataset.value = value;
      const text = outputText(output, value, digits);
      if (text !== slot.text) slot.element.textContent = slot.text = text;
    }
  }

  function showInputs() {
    for (const control of controls) control.show(state[control.name]);
    for (const element of echoes) {
      element.textContent = inputText(element.dataset.echo, state[element.dataset.echo]);
    }
  }

  // ---- controls: a native slider and a typed box for each input

  function nearest(stops, value) {
    const above = stops.findIndex((stop) => stop >= value);
    return above > 0 && value - stops[above - 1] < stops[above] - value ? above - 1 : above;
  }

  function neighbour(stops, value, key, page) {
    const up = stops.findIndex((stop) => stop > value);
    const next = up < 0 ? stops.length : up;
    const last = stops.findLastIndex((stop) => stop < value);
    const index = {
      ArrowRight: next, ArrowUp: next, ArrowLeft: last, ArrowDown: last,
      PageUp: next - 1 + page, PageDown: last + 1 - page, Home: 0, End: stops.length - 1,
    }[key];
    return index === undefined ? undefined
      : stops[Math.min(Math.max(index, 0), stops.length - 1)];
  }

  function parsed(text) {
    const pattern = new RegExp(plate.factor);
    return text.replaceAll(",", "").split(/[x×]/).reduce((product, part) => {
      const factor = part.match(pattern);
      return factor ? product * factor[1] * plate.prefixes[factor[2] ?? ""] : NaN;
    }, 1);
  }

  const refusal = (name, text) => `${name} = “${text}” is not ${plate.inputs[name].range}`;

  function control(name) {
    const {slider: {min, step}, stops, page} = plate.inputs[name];
    const slider = one(`[data-input="${name}"]`);
    const box = one(`[data-typed="${name}"]`);
    const problem = document.getElementById(`${name}-problem`);
    const complain = (text) => {
      problem.textContent = text;
      box.setAttribute("aria-invalid", text !== "");
    };
    slider.addEventListener("input", () => {
      set({[name]: stops[Math.round((slider.value - min) / step)]});
    });
    slider.addEventListener("keydown", (event) => {
      const value = neighbour(stops, state[name], event.key, page);
      if (value === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      set({[name]: value});
    });
    box.addEventListener("change", () => {
      const value = parsed(box.value);
      const good = allowed(name, value);
      complain(good ? "" : `${refusal(name, box.value)}; it is still ${state[name]}.`);
      if (good) set({[name]: value});
    });
    box.addEventListener("blur", () => {
      box.value = state[name];
      box.setAttribute("aria-invalid", "false");
    });
    return {
      name,
      show(value) {
        if (slider.dataset.shown === String(value)) return;
        slider.dataset.shown = value;
        slider.value = min + nearest(stops, value) * step;
        slider.setAttribute("aria-valuetext", inputText(name, value));
        box.value = value;
        complain("");
      },
    };
  }

  // ---- address, messages, notices

  const VIEW = {view: ["full", "workshop"], theme: ["auto", "light", "dark"]};

  function readAddress() {
    const asked = new URLSearchParams(location.search);
    const bad = [];
    const take = (name, good, range, use) => {
      const given = asked.getAll(name);
      if (given.length === 1 && good(given[0])) use(given[0]);
      else if (given.length > 0) bad.push({name, text: given.join(", "), range});
    };
    for (const [name, {range}] of Object.entries(plate.inputs)) {
      take(name, (text) => allowed(name, parsed(text)), range,
        (text) => { state[name] = parsed(text); });
    }
    for (const [name, choices] of Object.entries(VIEW)) {
      take(name, (text) => choices.includes(text), `one of ${choices.join(", ")}`,
        (text) => { root.dataset[name] = text; });
    }
    for (const {name, text, range} of bad) {
      const used = state[name] ?? root.dataset[name];
      notice(name, `${name} = “${text}” in the address is not ${range}; ${used} is used.`);
    }
    if (bad.length) writeAddress();
  }

  function writeAddress() {
    const asked = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(state)) asked.set(name, value);
    for (const name of Object.keys(VIEW)) {
      if (asked.has(name)) asked.set(name, root.dataset[name]);
    }
    try {
      history.replaceState(history.state, "", `?${asked}${location.hash}`);
    } catch {
      // A page from disk or in a sandbox has no address of its own to write.
    }
  }

  function post(message) {
    if (window.parent !== window) window.parent.postMessage({...message, plate: plate.id}, "*");
  }

  function notice(about, text) {
    const line = one(`#notices [data-about="${about}"]`) ?? document.createElement("p");
    line.dataset.about = about;
    line.textContent = text;
    one("#notices").append(line);
  }

  // ---- start

  const controls = Object.keys(plate.inputs).map(control);
  readAddress();
  for (const button of all("[data-state]")) {
    button.addEventListener("click", () => set(plate.states[button.dataset.state]));
  }
  one("#reset").addEventListener("click", () => set(defaults));
  Object.assign(plate, {set, show, notice, formatted, outputText, inputText, sentence, computeHere,
    compute: computeHere, state: () => ({...state}), shown: () => shown,
    on: (event, listener) => listeners[event].push(listener)});
})();
