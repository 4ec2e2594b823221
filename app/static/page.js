// The page: its state, its controls, and all that shows a number. What `plate` is (inputs, readings,
// figures, formats) was made from Python and stands in the script before this one; no formula is here.
"use strict";

const root = document.documentElement;
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const SETTLED_MS = 400;

// ---- numbers as text: plates/formats.py, read from the same tables

const exactly = (value) => value.toLocaleString("en-US", {maximumFractionDigits: 20});

function formatted(value, {units, digits, space}, unit) {
  if (digits === null) {
    const [name, scale] = units.find(([, it]) => value >= it && value % it === 0) ?? ["", 1];
    return exactly(value / scale) + (name && space + name);
  }
  if (value === 0) return `0${space}${unit ?? units.at(-1)[0]}`;
  const rounded = Number(value.toPrecision(digits));
  const fits = ([name, scale]) => (unit === undefined ? rounded >= scale : name === unit);
  const [name, scale] = units.find(fits) ?? units.at(-1);
  const number = Number((value / scale).toPrecision(digits));
  const decimals = digits - 1 - Number(number.toExponential().split("e")[1]);
  return number.toFixed(Math.max(0, decimals)) + space + name;
}

function inputText(name, value) {
  const {format, unit} = plate.inputs[name];
  return `${formatted(value, plate.formats[format])} ${unit[value === 1 ? 0 : 1]}`;
}

function outputText(name, value, digits) {
  const format = plate.formats[plate.outputs[name].format];
  return formatted(value, digits ? {...format, digits: Number(digits)} : format);
}

const sentence = (text, {inputs, readings}) => text.replace(/{(\w+)}/g, (_, name) =>
  name in inputs ? inputText(name, inputs[name]) : outputText(name, readings[name]));

// ---- state: what the inputs are, what is shown of it, and who computes what is shown

const defaults = Object.fromEntries(
  Object.entries(plate.inputs).map(([name, input]) => [name, input.default]));
const state = {...defaults};
const whenShown = [];
let shown;
let compute = computeHere;
let frame = null;
let settling = null;

function allowed(name, value) {
  const {min, max, whole} = plate.inputs[name];
  return value >= min && value <= max && (!whole || Number.isInteger(value));
}

// Takes what is good of the changes; the rest stays as it was. The newest state is shown once a frame.
function setInputs(changes) {
  const good = Object.entries(changes).filter(([name, value]) =>
    Object.hasOwn(plate.inputs, name) && typeof value === "number" && allowed(name, value));
  Object.assign(state, Object.fromEntries(good));
  frame ??= requestAnimationFrame(() => {
    frame = null;
    for (const control of controls) control();
    compute({...state});
  });
}

function computeHere(inputs) {
  show(inputs, plate.readings(inputs));
}

function show(inputs, readings, tables) {
  const changed = Object.keys(inputs).some((name) => inputs[name] !== shown.inputs[name]);
  shown = {inputs, readings};
  showText();
  for (const listener of whenShown) listener(shown, tables);
  if (!changed) return;
  say(one("#copied"), "");
  clearTimeout(settling);
  settling = setTimeout(settle, SETTLED_MS);
}

function settle() {
  say(one("#spoken"), sentence(plate.readout, shown));
  writeAddress();
  if (!one(".take").hidden) showCode();
  post({type: "plate:state", inputs: shown.inputs, readings: shown.readings});
}

// ---- what shows the state

const outputs = all("[data-output]");
const echoes = all("[data-echo]");

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function showText() {
  for (const element of outputs) {
    const {output, digits} = element.dataset;
    element.dataset.value = shown.readings[output];
    say(element, outputText(output, shown.readings[output], digits));
  }
  for (const element of echoes) {
    say(element, inputText(element.dataset.echo, shown.inputs[element.dataset.echo]));
  }
}

// ---- controls: a native slider and a typed box for each input

function nearest(stops, value) {
  const above = stops.findIndex((stop) => stop >= value);
  return above > 0 && value - stops[above - 1] < stops[above] - value ? above - 1 : above;
}

// The stop that a key leads to; a value between two stops goes to its neighbours.
function stopAfter(key, stops, value, page) {
  const below = stops.findLastIndex((stop) => stop < value);
  const above = stops.length - 1 - stops.toReversed().findLastIndex((stop) => stop > value);
  const index = {
    ArrowRight: above, ArrowUp: above, ArrowLeft: below, ArrowDown: below,
    PageUp: above - 1 + page, PageDown: below + 1 - page, Home: 0, End: Infinity,
  }[key];
  return index === undefined ? undefined : stops[Math.max(0, Math.min(index, stops.length - 1))];
}

function parsed(text) {
  const numbers = text.split(/[x×]/).map((part) => {
    const [, digits, prefix] = part.match(plate.factor) ?? [];
    return digits ? digits.replaceAll(",", "") * plate.prefixes[prefix ?? ""] : NaN;
  });
  // 0x10 is no product: somebody meant another number.
  if (numbers.length > 1 && numbers.includes(0)) return NaN;
  // Adding 0 makes -0 plain.
  return numbers.reduce((a, b) => a * b) + 0;
}

// Wires the controls of one input and returns how they are brought to the state.
function control(name) {
  const {slider: {min, step}, stops, page, range} = plate.inputs[name];
  const slider = one(`[data-input="${name}"]`);
  const box = one(`[data-typed="${name}"]`);
  const spoken = one(`[data-spoken="${name}"]`);
  let held, last;

  function complain(text) {
    say(document.getElementById(`${name}-problem`), text);
    box.setAttribute("aria-invalid", text !== "");
  }

  slider.addEventListener("input", () =>
    setInputs({[name]: stops[Math.round((slider.value - min) / step)]}));
  // A thumb that meant to scroll has moved the slider before the browser takes it over.
  slider.addEventListener("pointerdown", () => { held = state[name]; });
  slider.addEventListener("pointercancel", () => setInputs({[name]: held}));
  slider.addEventListener("keydown", (event) => {
    const value = stopAfter(event.key, stops, state[name], page);
    if (value === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    setInputs({[name]: value});
  });
  box.addEventListener("change", () => {
    const value = parsed(box.value);
    if (allowed(name, value)) {
      complain("");
      setInputs({[name]: value});
    } else {
      complain(`${name} = “${box.value}” is not ${range}; it is still ${state[name]}.`);
    }
  });
  box.addEventListener("blur", () => {
    box.value = state[name];
    box.setAttribute("aria-invalid", false);
  });
  return () => {
    if (state[name] === last) return;
    last = state[name];
    slider.value = min + nearest(stops, last) * step;
    slider.setAttribute("aria-valuetext", inputText(name, last));
    say(spoken, inputText(name, last));
    box.value = last;
    complain("");
  };
}

// ---- address and notices

const VIEW = {view: ["full", "workshop"], theme: ["auto", "light", "dark"]};

function readAddress() {
  const asked = new URLSearchParams(location.search);
  const take = (name, range, holder, good, value) => {
    const given = asked.getAll(name);
    if (given.length === 0) return;
    if (given.length === 1 && good(given[0])) {
      holder[name] = value(given[0]);
      return;
    }
    const text = given.join(", ").slice(0, 60);
    notice(name, `${name} = “${text}” in the address is not ${range}; ${holder[name]} is used.`);
    settling ??= setTimeout(settle, SETTLED_MS);
  };
  for (const [name, {range}] of Object.entries(plate.inputs)) {
    take(name, range, state, (text) => allowed(name, parsed(text)), parsed);
  }
  for (const [name, choices] of Object.entries(VIEW)) {
    take(name, `one of ${choices.join(", ")}`, root.dataset, (it) => choices.includes(it), String);
  }
}

function writeAddress() {
  const asked = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(state)) asked.set(name, value);
  for (const name of Object.keys(VIEW)) if (asked.has(name)) asked.set(name, root.dataset[name]);
  try {
    history.replaceState(history.state, "", `?${asked}${location.hash}`);
  } catch {
    // A page from disk or in a sandbox has no address of its own to write.
  }
}

function addressWith(more) {
  const url = new URL(location.href);
  url.search = new URLSearchParams({...state, ...more});
  url.hash = "";
  return url.href;
}

async function copyLink() {
  const {theme} = Object.fromEntries(new URLSearchParams(location.search));
  const link = addressWith(theme ? {theme} : {});
  try {
    await navigator.clipboard.writeText(link);
    say(one("#copied"), "Copied.");
  } catch {
    say(one("#copied"), link);
  }
}

function showCode() {
  const {code, script} = one("#embed textarea").dataset;
  // A file on this disk has no address that another page could use.
  const hosted = (address) => String(address).replace(/^file:.*\//, "https://your.host/");
  one("#embed textarea").value = code
    .replace("{address}", hosted(addressWith({view: "workshop"})))
    .replace("{script}", hosted(new URL(script, location.href)));
}

function notice(about, text) {
  const line = one(`#notices [data-about="${about}"]`) ?? document.createElement("p");
  line.dataset.about = about;
  line.textContent = text;
  one("#notices").append(line);
}

// ---- a page that holds this one in a frame: it hears of height and state, and may set things

const framed = parent !== window;

function post(message) {
  if (framed) parent.postMessage({...message, plate: plate.id}, "*");
}

function answerParent() {
  const followsHost = root.dataset.theme === "auto";
  let height = 0;
  let asked = false;
  const postHeight = () => post({type: "plate:height", height});
  const measure = () => {
    const before = height;
    height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height !== before) postHeight();
  };
  new ResizeObserver(measure).observe(document.body);
  // A frame that is out of sight is not laid out by itself, so its observer stays silent.
  measure();
  addEventListener("message", ({source, data}) => {
    if (source !== parent || !data) return;
    if (data.type === "plate:set") setInputs(Object(data.inputs));
    if (data.type !== "plate:theme" || !VIEW.theme.includes(data.theme)) return;
    if (followsHost && root.dataset.theme !== data.theme) root.dataset.theme = data.theme;
    // A host whose script came late has missed the height.
    if (!asked) postHeight();
    asked = true;
  });
}

// ---- start

const controls = Object.keys(plate.inputs).map(control);
readAddress();
shown = {inputs: {...state}, readings: plate.readings(state)};
for (const button of all("[data-state]")) {
  button.addEventListener("click", () => setInputs(plate.states[button.dataset.state]));
}
one("#reset").addEventListener("click", () => setInputs(defaults));
// A page without an address of its own, as in srcdoc, has none to give away.
if (/^(http|file)/.test(location.protocol)) {
  one("#copy").addEventListener("click", copyLink);
  one(".take").hidden = false;
  showCode();
}
if (framed) answerParent();
setInputs({});
