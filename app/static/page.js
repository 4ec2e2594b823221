// The page: its state, its controls, and all that shows a number. What `plate` is (inputs, readings,
// figures, formats) was made from Python and stands in the script before this one; no formula is here.
"use strict";

const root = document.documentElement;
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const SETTLED_MS = 400;

// ---- numbers as text: plates/formats.py, read from the same tables

const filled = (text, words) => text.replace(/{(\w+)}/g, (_, name) => words[name]);
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
  return number.toFixed(Math.max(0, decimals)) + (name && space + name);
}

const pieces = (text) => text.split(",").map((it) => it.trim());

function inputText(name, value) {
  const {kind, format, unit, prefix, options} = plate.inputs[name];
  if (kind !== "quantity") return pieces(value).map((it) => options[it]?.label ?? it).join(", ");
  const number = prefix ? value / plate.prefixes[prefix] : value;
  return `${formatted(number, plate.formats[format])} ${unit[value === 1 ? 0 : 1]}`;
}

// The value as it stands in the box where it is typed.
function typedText(name, value) {
  const {prefix} = plate.inputs[name];
  return value / plate.prefixes[prefix] + prefix;
}

function outputText(name, value, digits) {
  const {format: named, unit} = plate.outputs[name];
  const format = plate.formats[named];
  const text = formatted(value, digits ? {...format, digits: Number(digits)} : format);
  return unit ? `${text} ${unit[value === 1 ? 0 : 1]}` : text;
}

const sentence = (text, {inputs, readings}) => text.replace(/{(\w+)}/g, (_, name) =>
  name in inputs ? inputText(name, inputs[name]) : outputText(name, readings[name]));

// ---- state: what the inputs are, what is shown of it, and who computes what is shown

const defaults = Object.fromEntries(
  Object.entries(plate.inputs).map(([name, input]) => [name, input.default]));
const state = {...defaults};
const whenShown = [];
const whenSettled = [];
let shown;
let compute = computeHere;
let frame = null;
let settling = null;

const allowedIn = {
  quantity: ({min, max, whole}, value) =>
    typeof value === "number" && value >= min && value <= max && (!whole || Number.isInteger(value)),
  choice: ({options}, value) => typeof value === "string" && Object.hasOwn(options, value),
  flags: (input, value) => typeof value === "string" && value === parsedIn.flags(value, input),
};
const allowed = (name, value) => allowedIn[plate.inputs[name].kind](plate.inputs[name], value);

// Whether there is anything to set: some inputs matter only where another has a certain value.
const applies = (name) =>
  Object.entries(plate.inputs[name].when).every(([other, value]) => state[other] === value);

// The inputs as the readings get them: numbers, and the records of what was picked.
function seen(inputs) {
  const one = ([name, value]) => {
    const {kind, options} = plate.inputs[name];
    if (kind === "choice") return [name, options[value].record];
    if (kind === "quantity") return [name, value];
    const on = pieces(value);
    return [name, Object.fromEntries(Object.keys(options).map((it) => [it, on.includes(it)]))];
  };
  return Object.fromEntries(Object.entries(inputs).map(one));
}

const read = (inputs) => plate.readings(seen(inputs));

// The declared readings alone, as in `plates read --json`.
function outcome(inputs, readings = read(inputs)) {
  return Object.fromEntries(Object.keys(plate.outputs).map((name) => [name, readings[name]]));
}

// Takes what is good of the changes; the rest stays as it was. The newest state is shown once a frame.
function setInputs(changes) {
  const good = Object.entries(changes).filter(([name, value]) =>
    Object.hasOwn(plate.inputs, name) && allowed(name, value));
  Object.assign(state, Object.fromEntries(good));
  frame ??= requestAnimationFrame(() => {
    frame = null;
    for (const control of controls) control();
    compute({...state});
  });
}

function computeHere(inputs) {
  show(inputs, read(inputs));
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
  for (const listener of whenSettled) listener();
  say(one("#spoken"), sentence(plate.readout, shown));
  writeAddress();
  if (!one("#embed").hidden) showCode();
  showTaken();
  post({type: "plate:state", ...shown, readings: outcome(shown.inputs, shown.readings)});
}

// ---- what shows the state

const outputs = all("[data-output]");
const echoes = all("[data-echo]");
const conditional = all("[data-when]");

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
  for (const element of conditional) {
    const [name, value] = element.dataset.when.split("=");
    element.hidden = shown.inputs[name] !== value;
  }
}

// ---- controls: a native slider and a typed box for a number, a list, or boxes to tick

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

const parsedIn = {
  quantity: parsedNumber,
  choice: (text) => text,
  flags(text, {options}) {
    const on = pieces(text);
    if (!on.every((it) => Object.hasOwn(options, it)) && on.join() !== "none") return null;
    return Object.keys(options).filter((it) => on.includes(it)).join() || "none";
  },
};
const parsed = (name, text) => parsedIn[plate.inputs[name].kind](text, plate.inputs[name]);

function parsedNumber(typed, {unit, prefix, min}) {
  // What is shown with a prefix may be typed as it is shown, with its unit.
  const base = prefix && unit[1].slice(prefix.length);
  const text = base && typed.trim().endsWith(base) ? typed.trim().slice(0, -base.length) : typed;
  const numbers = text.split(/[x×]/).map((part) => {
    const [, digits, prefix] = part.match(plate.factor) ?? [];
    return digits ? digits.replaceAll(",", "") * plate.prefixes[prefix ?? ""] : NaN;
  });
  // A bare number is in the unit that is shown, if it cannot be in the plain one.
  if (prefix && numbers.length === 1 && numbers[0] > 0 && numbers[0] < min) {
    return numbers[0] * plate.prefixes[prefix];
  }
  // 0x10 is no product: somebody meant another number.
  if (numbers.length > 1 && numbers.includes(0)) return NaN;
  // Adding 0 makes -0 plain.
  return numbers.reduce((a, b) => a * b) + 0;
}

// Wires the controls of one input and returns how they are brought to the state.
function control(name) {
  const {kind, more} = plate.inputs[name];
  const element = one(`[data-control="${name}"]`);
  const parts = all("input, select, fieldset", element);
  const bring = wired[kind](name, element);
  let last;
  return () => {
    for (const part of parts) part.disabled = !applies(name);
    element.toggleAttribute("data-off", !applies(name));
    if (kind === "quantity" && more) element.hidden = !applies(name);
    if (state[name] !== last) bring(last = state[name]);
  };
}

function complain(name, text) {
  const {range} = plate.inputs[name];
  const value = typedText(name, state[name]);
  say(document.getElementById(`${name}-problem`), filled(plate.words.wrong, {name, text, range, value}));
}

const wired = {
  quantity(name, element) {
    const {slider: ends} = plate.inputs[name];
    const box = one(`[data-typed="${name}"]`, element);
    const spoken = one(`[data-spoken="${name}"]`, element);
    const moved = ends ? wireSlider(name, one(`[data-input="${name}"]`, element)) : () => {};
    const clear = () => {
      say(document.getElementById(`${name}-problem`), "");
      box.setAttribute("aria-invalid", false);
    };
    box.addEventListener("change", () => {
      const value = parsed(name, box.value);
      if (allowed(name, value)) {
        clear();
        setInputs({[name]: value});
      } else {
        complain(name, box.value);
        box.setAttribute("aria-invalid", true);
      }
    });
    box.addEventListener("blur", () => {
      box.value = typedText(name, state[name]);
      box.setAttribute("aria-invalid", false);
    });
    return (value) => {
      moved(value);
      say(spoken, inputText(name, value));
      box.value = typedText(name, value);
      clear();
    };
  },
  choice(name, element) {
    const list = one("select", element);
    list.addEventListener("change", () => setInputs({[name]: list.value}));
    const about = one("[data-about-option]", element);
    return (value) => {
      list.value = value;
      say(about, plate.inputs[name].options[value].doc);
    };
  },
  flags(name, element) {
    const boxes = all("[data-flag]", element);
    const ticked = () => boxes.filter((it) => it.checked).map((it) => it.dataset.flag).join();
    element.addEventListener("change", () => setInputs({[name]: ticked() || "none"}));
    return (value) => {
      for (const box of boxes) box.checked = pieces(value).includes(box.dataset.flag);
    };
  },
};

function wireSlider(name, slider) {
  const {slider: {min, step}, stops, page} = plate.inputs[name];
  let held;
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
  return (value) => {
    slider.value = min + nearest(stops, value) * step;
    slider.setAttribute("aria-valuetext", inputText(name, value));
  };
}

// ---- address and notices

const VIEW = {view: ["full", "workshop"], theme: ["auto", "light", "dark"], points: ["off", "on"]};

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
    notice(name, filled(plate.words.wrong_address, {name, text, range, value: holder[name]}));
    settling ??= setTimeout(settle, SETTLED_MS);
  };
  for (const [name, {range}] of Object.entries(plate.inputs)) {
    take(name, range, state, (text) => allowed(name, parsed(name, text)), (text) => parsed(name, text));
  }
  for (const [name, choices] of Object.entries(VIEW)) {
    const range = filled(plate.words.range_one, {options: choices.join(", ")});
    take(name, range, root.dataset, (it) => choices.includes(it), String);
  }
}

// What the address says: the main inputs, and of the others those that were ever set.
const told = (asked) => Object.fromEntries(Object.entries(state).filter(([name, value]) =>
  !plate.inputs[name].more || value !== defaults[name] || asked.has(name)));

function writeAddress() {
  const asked = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(told(asked))) asked.set(name, value);
  for (const name of Object.keys(VIEW)) if (asked.has(name)) asked.set(name, root.dataset[name]);
  if (root.dataset.points === "on") asked.set("points", "on");
  try {
    history.replaceState(history.state, "", `?${asked}${location.hash}`);
  } catch {
    // A page from disk or in a sandbox has no address of its own to write.
  }
}

function addressWith(more) {
  const url = new URL(location.href);
  const points = root.dataset.points === "on" ? {points: "on"} : {};
  url.search = new URLSearchParams({...told(new URLSearchParams()), ...points, ...more});
  url.hash = "";
  return url.href;
}

async function copyLink() {
  const {theme} = Object.fromEntries(new URLSearchParams(location.search));
  const link = addressWith(theme ? {theme} : {});
  try {
    await navigator.clipboard.writeText(link);
    say(one("#copied"), plate.words.copied);
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
// What is set behind the fold is not hidden behind it.
if (Object.keys(state).some((name) => plate.inputs[name].more && state[name] !== defaults[name])) {
  one("#more").open = true;
}
shown = {inputs: {...state}, readings: read(state)};
for (const button of all("[data-state]")) {
  button.addEventListener("click", () => setInputs(plate.states[button.dataset.state]));
}
one("#reset").addEventListener("click", () => setInputs(defaults));
// A page without an address of its own, as in srcdoc, has none to give away.
if (/^(http|file)/.test(location.protocol)) {
  one("#copy").addEventListener("click", copyLink);
  showCode();
} else {
  for (const part of all(".linked")) part.hidden = true;
}
if (framed) answerParent();
setInputs({});
