// Controls: a native slider and a typed box for a number, a list, or boxes to tick; and numbers in the
// text that can be dragged, typed, or set by keys.
"use strict";

const STOP_PIXELS = 8;

// With a modifier a key or a click is the browser's: to select, to open in another tab.
const modified = ({altKey, ctrlKey, metaKey, shiftKey}) => altKey || ctrlKey || metaKey || shiftKey;

function nearest(stops, value) {
  const above = stops.findIndex((stop) => stop >= value);
  return above > 0 && value - stops[above - 1] < stops[above] - value ? above - 1 : above;
}

const stopAt = (stops, n) => stops[Math.max(0, Math.min(n, stops.length - 1))];

// Sets the stop that a key leads to; a value between two stops goes to its neighbours.
function wireKeys(name, field, along) {
  const {stops, page} = plate.inputs[name];
  field.addEventListener("keydown", (event) => {
    const below = stops.findLastIndex((stop) => stop < state[name]);
    const above = stops.length - 1 - stops.toReversed().findLastIndex((stop) => stop > state[name]);
    const keys = {ArrowUp: above, ArrowDown: below, PageUp: above - 1 + page, PageDown: below + 1 - page};
    const n = {...keys, ...(along && {ArrowRight: above, ArrowLeft: below, Home: 0, End: Infinity})}[event.key];
    if (n === undefined || modified(event)) return;
    event.preventDefault();
    setInputs({[name]: stopAt(stops, n)});
  });
}

// ---- what a typed text stands for: plates/inputs.py, read from the same tables

const parsedIn = {
  quantity: parsedNumber,
  choice: (text) => text,
  rows: (text) => text.trim(),
  flags(text, input) {
    const named = pieces(text);
    const known = named.every((it) => Object.hasOwn(input.options, it)) || named.join() === "none";
    return known ? flagsOn(text, input).join() || "none" : null;
  },
};
const parsed = (name, text) => parsedIn[plate.inputs[name].kind](text, plate.inputs[name]);

function parsedNumber(typed, {unit, prefix, min}) {
  // What is shown with a prefix may be typed as it is shown, with its unit.
  const base = prefix && unit[1].slice(prefix.length);
  const text = base && typed.trim().endsWith(base) ? typed.trim().slice(0, -base.length) : typed;
  const numbers = text.split(/[x×]/).map((part) => {
    const [, digits, power, prefix] = part.match(plate.factor) ?? [];
    return digits ? digits.replaceAll(",", "") ** (power ?? 1) * plate.prefixes[prefix ?? ""] : NaN;
  });
  // A bare number is in the unit that is shown, if nobody would mean it in the plain one.
  const scale = plate.prefixes[prefix];
  if (numbers.length === 1 && numbers[0] > 0 && numbers[0] < Math.max(min, scale / 1000)) {
    return numbers[0] * scale;
  }
  // 0x10 is no product: somebody meant another number.
  if (numbers.length > 1 && numbers.includes(0)) return NaN;
  // Adding 0 makes -0 plain.
  return numbers.reduce((a, b) => a * b) + 0;
}

// Takes what was typed, or says what is wrong with it; the value stays as it was.
function take(name, field) {
  const value = parsed(name, field.value);
  const good = allowed(name, value);
  const wrong = !good && field.value !== inputText(name, state[name]);
  field.setAttribute("aria-invalid", wrong);
  const {range} = plate.inputs[name];
  const words = {name, text: field.value, range, value: boxText(name, state[name])};
  if (good || wrong) {
    say(document.getElementById(`${name}-problem`), wrong ? filled(plate.words.wrong, words) : "");
  }
  if (good) setInputs({[name]: value});
}

// ---- one control an input, each brought to the state when it is set

function wireSlider(name, slider) {
  const {slider: {min, step}, stops} = plate.inputs[name];
  let held;
  slider.addEventListener("input", () =>
    setInputs({[name]: stops[Math.round((slider.value - min) / step)]}));
  // A thumb that meant to scroll has moved the slider before the browser takes it over.
  slider.addEventListener("pointerdown", () => { held = state[name]; });
  slider.addEventListener("pointercancel", () => setInputs({[name]: held}));
  wireKeys(name, slider, true);
  return (value) => {
    slider.value = min + nearest(stops, value) * step;
    slider.setAttribute("aria-valuetext", inputText(name, value));
  };
}

const wired = {
  quantity(name, element) {
    const box = one(`[data-typed="${name}"]`, element);
    const spoken = one(`[data-spoken="${name}"]`, element);
    const moved = plate.inputs[name].slider ? wireSlider(name, one(`[data-input="${name}"]`, element)) : () => {};
    box.addEventListener("change", () => take(name, box));
    box.addEventListener("blur", () => {
      box.value = boxText(name, state[name]);
      box.setAttribute("aria-invalid", false);
    });
    return (value) => {
      moved(value);
      if (spoken) say(spoken, inputText(name, value));
      box.value = boxText(name, value);
      box.setAttribute("aria-invalid", false);
      say(document.getElementById(`${name}-problem`), "");
    };
  },
  rows: (name, element) => wired.quantity(name, element),
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

function startControl(name) {
  const {kind, more} = plate.inputs[name];
  const element = one(`[data-control="${name}"]`);
  const parts = all("input, select, fieldset", element);
  const bring = wired[kind](name, element);
  let last;
  let on;
  when.set.push(() => {
    if (on !== applies(name)) {
      on = applies(name);
      for (const part of parts) part.disabled = !on;
      element.toggleAttribute("data-off", !on);
      if (["quantity", "rows"].includes(kind) && more) element.hidden = !on;
    }
    if (state[name] !== last) bring(last = state[name]);
  });
}

// ---- an input in the text

function startScrub(echo) {
  const name = echo.dataset.echo;
  const {label, slider, min, max} = plate.inputs[name];
  if (!slider) return;
  const field = document.createElement("input");
  Object.assign(field, {type: "text", className: "number scrub", spellcheck: false, autocomplete: "off"});
  const fixed = {role: "spinbutton", "aria-label": label, "aria-valuemin": min, "aria-valuemax": max,
    "aria-describedby": `${name}-problem`};
  for (const [key, value] of Object.entries(fixed)) field.setAttribute(key, value);
  // The number stays as text under its field, for whoever copies the sentence or reads it without fields.
  // A reader view drops what is not to be spoken, but for this class.
  const both = Object.assign(document.createElement("span"), {className: "scrubbed"});
  echo.classList.add("fallback-image");
  echo.setAttribute("aria-hidden", true);
  // A word joiner keeps what follows, such as a comma, on the same line.
  echo.replaceWith(both, "\u2060");
  both.append(echo, field);
  const dragged = wireDrag(name, field);

  const bring = () => {
    const text = inputText(name, state[name]);
    field.value = document.activeElement !== field || dragged() ? text : boxText(name, state[name]);
    field.setAttribute("aria-valuenow", state[name]);
    field.setAttribute("aria-valuetext", text);
    field.setAttribute("aria-invalid", false);
    field.disabled = !applies(name);
  };
  field.addEventListener("focus", () => {
    field.value = boxText(name, state[name]);
    field.select();
  });
  field.addEventListener("change", () => take(name, field));
  field.addEventListener("blur", bring);
  field.addEventListener("keydown", ({key}) => key === "Enter" && take(name, field));
  wireKeys(name, field);
  let last;
  when.shown.push(() => {
    const now = `${state[name]} ${applies(name)}`;
    if (now !== last) bring(last = now);
  });
}

// A field in the text that is dragged sideways, a stop every few pixels; a click only goes into it.
function wireDrag(name, field) {
  const {stops} = plate.inputs[name];
  let from = null;
  field.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || modified(event) || document.activeElement === field) return;
    event.preventDefault();
    from = {x: event.clientX, stop: nearest(stops, state[name]), moved: false, value: state[name]};
    field.setPointerCapture(event.pointerId);
  });
  field.addEventListener("pointermove", (event) => {
    if (!from) return;
    const stop = from.stop + Math.round((event.clientX - from.x) / STOP_PIXELS);
    from.moved ||= stop !== from.stop;
    if (from.moved) setInputs({[name]: stopAt(stops, stop)});
  });
  field.addEventListener("pointerup", () => {
    const clicked = from && !from.moved;
    from = null;
    if (clicked) field.focus();
  });
  field.addEventListener("pointercancel", () => {
    if (from) setInputs({[name]: from.value});
    from = null;
  });
  return () => from !== null;
}
