// Numbers as text, from the same tables as plates/formats.py, and patterns with {names} in them as in
// app/drawing.py. What `plate` is (inputs, formats, figures, formulas) was made from Python and stands in
// the script before this one; no formula is here.
"use strict";

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const root = document.documentElement;

const AXIS_DIGITS = 3;
const SHOWN_EXACTLY = new Intl.NumberFormat("en-US", {maximumFractionDigits: 20});

const filled = (text, words) => text.replace(/{(\w+)}/g, (_, name) => words[name]);
const exactly = (value) => SHOWN_EXACTLY.format(value);

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function formatted(value, {units, digits, space, words}) {
  if (words.length > 0) return words[value];
  if (digits === null) {
    const [name, scale] = units.find(([, it]) => value >= it && value % it === 0) ?? ["", 1];
    return exactly(value / scale) + (name && space + name);
  }
  if (value === 0) return `0${space}${units.at(-1)[0]}`;
  const [name, scale] = scaleOf(value, {units, digits});
  const number = Number((value / scale).toPrecision(digits));
  const decimals = digits - 1 - Number(number.toExponential().split("e")[1]);
  return number.toFixed(Math.max(0, decimals)) + (name && space + name);
}

function scaleOf(value, {units, digits}) {
  const rounded = Number(value.toPrecision(digits));
  return units.find(([, scale]) => rounded >= scale) ?? units.at(-1);
}

const pieces = (text) => text.split(",").map((it) => it.trim());

function inputText(name, value) {
  const {kind, format, unit, prefix, options} = plate.inputs[name];
  if (kind === "rows") return value;
  if (kind !== "quantity") return pieces(value).map((it) => options[it]?.label ?? it).join(", ");
  const number = prefix ? value / plate.prefixes[prefix] : value;
  return `${formatted(number, plate.formats[format])} ${unit[value === 1 ? 0 : 1]}`;
}

// The value as it stands in the box where it is typed.
function boxText(name, value) {
  const {kind, prefix} = plate.inputs[name];
  return kind === "rows" ? value : value / plate.prefixes[prefix] + prefix;
}

function outputText(name, value, digits) {
  const {format: named, unit} = plate.outputs[name];
  const format = plate.formats[named];
  const text = formatted(value, digits ? {...format, digits: Number(digits)} : format);
  return unit ? `${text} ${unit[value === 1 ? 0 : 1]}` : text;
}

const sentence = (text, {inputs, values}) => text.replace(/{(\w+)}/g, (_, name) =>
  name in inputs ? inputText(name, inputs[name]) : outputText(name, values[name]));

// The names in a pattern, and how it is filled from what they stand for: once for each entry of a list,
// joined.
function pattern(text, join = "") {
  const parts = text.split(/{([^}]+)}/);
  const slots = parts.filter((_, n) => n % 2 === 1).map((it) => it.split("|"));
  const written = (value, [, format, end], found) => {
    if (typeof value === "string") return value;
    if (format === undefined) return String(Math.round(100 * value) / 100);
    const form = plate.formats[format];
    if (end === undefined) return formatted(value, form);
    const [unit, scale] = scaleOf(found[slots.length], form);
    return Number((value / scale).toPrecision(AXIS_DIGITS)) + form.space + unit;
  };
  const joined = (found, n) => slots.reduce((said, slot, it) => said + written(
    Array.isArray(found[it]) ? found[it][n] : found[it], slot, found) + parts[2 * it + 2], parts[0]);
  const names = [...slots.map(([name]) => name), ...slots.flatMap(([, , end]) => end ?? [])];
  return {names, fill(found) {
    const list = found.find(Array.isArray);
    return list ? list.map((_, n) => joined(found, n)).join(join) : joined(found);
  }};
}
