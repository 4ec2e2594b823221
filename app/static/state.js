// The state: what the inputs are, the newest of it shown once a frame, and who hears of it.
"use strict";

const SETTLED_MS = 400;

const defaults = Object.fromEntries(
  Object.entries(plate.inputs).map(([name, input]) => [name, input.default]));
const state = {...defaults};
// Who is told: of inputs that were set, of what is shown now, and of what is shown once it rests.
const when = {set: [], shown: [], settled: []};
const timers = {frame: null, settling: null};
let shown = {inputs: {...state}, values: {}};
let compute = computeHere;

// A fault in one part of the page leaves the others as they are.
function attempt(act, ...given) {
  try {
    return act(...given);
  } catch (fault) {
    console.error(fault);
    return undefined;
  }
}

const flagsOn = (text, {options}) => Object.keys(options).filter((it) => pieces(text).includes(it));

const allowedIn = {
  quantity: ({min, max, whole}, value) =>
    typeof value === "number" && value >= min && value <= max && (!whole || Number.isInteger(value)),
  choice: ({options}, value) => typeof value === "string" && Object.hasOwn(options, value),
  flags: (input, value) => typeof value === "string" && value === (flagsOn(value, input).join() || "none"),
  rows: ({whole}, value) => typeof value === "string" && new RegExp(`^(?:${whole})$`).test(value),
};
const allowed = (name, value) => allowedIn[plate.inputs[name].kind](plate.inputs[name], value);

// Whether there is anything to set: some inputs matter only where another has a certain value.
const applies = (name) =>
  Object.entries(plate.inputs[name].when).every(([other, value]) => state[other] === value);

// The inputs as the formulas get them: numbers, and the records of what was picked.
const givenIn = {
  quantity: (input, value) => value,
  choice({options}, value, inputs) {
    const by = options[value].given_by;
    return by ? givenIn.rows(plate.inputs[by], inputs[by]) : options[value].record;
  },
  flags: ({options}, value) =>
    Object.fromEntries(Object.keys(options).map((it) => [it, pieces(value).includes(it)])),
  rows({first, rest, empty, record, ...input}, value) {
    const rows = groupsOf(input, value).map((said) => Object.fromEntries(Object.entries(empty).map(
      ([name, none]) => [name, said[name] === undefined ? none : none === false || Number(said[name])])));
    return {...record, [first]: rows.slice(0, 1), [rest]: rows.slice(1)};
  },
};
// What each part of a text of rows says, by name.
const groupsOf = ({entry}, text) => text.split("_").map((it) => it.match(`^${entry}$`).groups);
const given = (inputs) => Object.fromEntries(Object.entries(inputs).map(([name, value]) =>
  [name, givenIn[plate.inputs[name].kind](plate.inputs[name], value, inputs)]));

const read = (inputs) => plate.readings(given(inputs));

// The declared readings alone, as in `plates read --json`.
const outcome = (values) =>
  Object.fromEntries(Object.keys(plate.outputs).map((name) => [name, values[name]]));

// The curves of a figure are computed anew when anything but its own input has changed.
const curvesKept = {};

function stopsOf(figure, inputs) {
  const others = JSON.stringify({...inputs, [figure.input]: null});
  const kept = curvesKept[figure.id];
  if (kept?.others === others) return kept;
  const at = given(inputs);
  const stops = figure.stops.map((stop) =>
    ({...stop, ...plate.followed[figure.id]({...at, [figure.input]: stop.x})}));
  return curvesKept[figure.id] = {others, stops, curves: plate.curves[figure.id]({stops})};
}

function computeHere(inputs) {
  const values = read(inputs);
  const follow = (figure) => Object.assign(values, stopsOf(figure, inputs).curves);
  plate.figures.filter(({stops}) => stops).forEach((figure) => attempt(follow, figure));
  show(inputs, values);
}

// Takes what is good of the changes; the rest stays as it was.
function setInputs(changes) {
  const good = Object.entries(changes).filter(([name, value]) =>
    Object.hasOwn(plate.inputs, name) && allowed(name, value));
  Object.assign(state, Object.fromEntries(good));
  timers.frame ??= requestAnimationFrame(() => {
    timers.frame = null;
    for (const listener of when.set) attempt(listener);
    attempt(compute, {...state});
  });
}

function show(inputs, values) {
  const changed = Object.keys(inputs).some((name) => inputs[name] !== shown.inputs[name]);
  shown = {inputs, values};
  for (const listener of when.shown) attempt(listener, shown);
  if (!changed) return;
  clearTimeout(timers.settling);
  timers.settling = setTimeout(settle, SETTLED_MS);
}

function settle() {
  for (const listener of when.settled) attempt(listener, shown);
}
