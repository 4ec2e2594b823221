// What follows the state: numbers in the text, and every attribute, text and list that a template has
// bound to a name. No geometry is here; positions come from the traced formulas.
"use strict";

// ---- bindings: each is a function of a look-up by name

// Writes only what has changed; a list that is the same array has not.
function followed(text, write, join) {
  const {names, fill} = pattern(text, join);
  let last = [];
  let written;
  return (look) => {
    const found = names.map(look);
    if (found.length === last.length && found.every((it, n) => it === last[n])) return;
    last = found;
    const filled = fill(found);
    if (filled !== written) write(written = filled);
  };
}

function bindings(element) {
  const bound = [...element.attributes].filter(({name}) => name.startsWith("data-bind-")).map(
    ({name, value}) => followed(value, (text) => element.setAttribute(name.slice(10), text)));
  const {text, join, shown: condition, each} = element.dataset;
  if (text) bound.push(followed(text, (it) => { element.textContent = it; }, join));
  if (condition) bound.push((look) => {
    const found = look(condition);
    element.toggleAttribute("hidden", !(Array.isArray(found) ? found.length : found));
  });
  return each ? [...bound, repeated(element, each)] : [...bound, ...[...element.children].flatMap(bindings)];
}

// An element with one child for each entry of a list; of an empty list the first child is hidden.
function repeated(element, name) {
  const first = element.firstElementChild;
  const entries = [...element.children].map(bindings);
  return (look) => {
    const {length} = look(name);
    first.toggleAttribute("hidden", length === 0);
    while (entries.length < length) {
      const copy = first.cloneNode(true);
      copy.classList.remove("lit");
      element.append(copy);
      entries.push(bindings(copy));
    }
    while (entries.length > Math.max(1, length)) {
      element.lastElementChild.remove();
      entries.pop();
    }
    entries.slice(0, length).forEach((bound, n) => {
      const lookAt = (it) => {
        const found = it === "#" ? n : look(it);
        return Array.isArray(found) ? found[n] : found;
      };
      for (const update of bound) update(lookAt);
    });
  };
}

// ---- what a figure shows: the numbers of the state, the texts of what is chosen, what was measured

const figureOf = Object.fromEntries(plate.figures.map((figure) => [figure.id, figure]));

const measuredHere = () => plate.measured.findIndex(({when: at}) =>
  Object.entries(at).every(([name, value]) => shown.inputs[name] === value));

// What draws the figure of an id, in a closed fold too.
const drawNow = Object.fromEntries(plate.figures.map(({id}) => [id, []]));

// The texts of what is chosen; those that are null are the names of the rows that give it.
function textsOf({input, texts}) {
  const {[shown.inputs[input]]: own} = texts;
  const by = own && plate.inputs[input].options[shown.inputs[input]].given_by;
  if (!by) return own;
  const names = groupsOf(plate.inputs[by], shown.inputs[by]).slice(1).map(({name}, n) => name ?? String(n + 1));
  return Object.fromEntries(Object.entries(own).map(([key, text]) => [key, text ?? names]));
}

function startScope(scope) {
  const figure = figureOf[scope.dataset.scope];
  const fold = scope.closest("details");
  const bound = bindings(scope);
  const named = all("[data-named]", scope);
  let drawn = false;
  const draw = (always) => {
    if (drawn && fold && !fold.open && always !== true) return;
    drawn = true;
    // Of what was measured the last is none.
    const own = {...textsOf(figure), ...figure.points?.at(measuredHere())};
    const look = (name) => own[name] ?? shown.values[`${figure.id}.${name}`] ?? shown.values[name];
    for (const element of named) element.setAttribute("aria-label", sentence(figure.text, shown));
    for (const update of bound) attempt(update, look);
  };
  fold?.addEventListener("toggle", draw);
  when.shown.push(draw);
  // A closed fold holds what it will show once the reader rests.
  when.settled.push(() => draw(true));
  drawNow[figure.id].push(() => draw(true));
}

// ---- numbers in the text

function startNumbers() {
  const outputs = all("[data-output]").map((element) => ({element, ...element.dataset}));
  const echoes = all("[data-echo]").map((element) => ({element, name: element.dataset.echo}));
  const conditional = all("[data-when]").map((element) => [element, ...element.dataset.when.split("=")]);
  when.shown.push(({inputs, values}) => {
    for (const it of outputs) {
      if (it.value === values[it.output]) continue;
      it.value = values[it.output];
      it.element.dataset.value = it.value;
      say(it.element, outputText(it.output, it.value, it.digits));
    }
    for (const it of echoes) {
      if (it.value === inputs[it.name]) continue;
      it.value = inputs[it.name];
      say(it.element, inputText(it.name, it.value));
    }
    for (const [element, name, value] of conditional) element.hidden = inputs[name] !== value;
  });
}

// ---- values under the pointer

const clamped = (share) => Math.max(0, Math.min(share, 1));

function pointedStop(figure, share) {
  const {stops} = stopsOf(figure, shown.inputs);
  const apart = ({across}) => Math.abs(across - 1000 * share);
  const stop = stops.reduce((best, it) => (apart(it) < apart(best) ? it : best));
  return [inputText(figure.input, stop.x), stop, stop.across / 1000];
}

function startTip(element) {
  const figure = figureOf[element.dataset.figure];
  const tip = one(".tip", element);
  const hide = () => { tip.hidden = true; };
  const showAt = ({clientX}) => {
    const {left, width} = element.getBoundingClientRect();
    const at = clamped((clientX - left) / width);
    const [title, values, share] =
      figure.stops ? pointedStop(figure, at) : [figure.axis_label, shown.values, at];
    const lines = figure.series.map(({reading, label}) => `${label} ${outputText(reading, values[reading])}`);
    tip.replaceChildren(...[title, ...lines].map((text) =>
      Object.assign(document.createElement("div"), {textContent: text})));
    Object.assign(tip.style, {left: `${100 * share}%`, translate: `${-100 * share}%`});
    tip.hidden = false;
  };
  const mouse = (act) => (event) => event.pointerType === "mouse" && act(event);
  element.addEventListener("pointermove", mouse(showAt));
  element.addEventListener("pointerleave", mouse(hide));
  element.addEventListener("click", showAt);
  addEventListener("pointerdown", ({target}) => element.contains(target) || hide());
  addEventListener("keydown", ({key}) => key === "Escape" && hide());
  when.shown.push(hide);
}

// ---- what others measured

function startMeasured() {
  const box = one("#points");
  const list = one("#sets");
  const note = one("#measured-note");
  const sets = plate.measured;
  box.checked = root.dataset.points === "on";
  if (box.checked) one("#measured").open = true;
  box.addEventListener("change", () => {
    root.dataset.points = box.checked ? "on" : "off";
    settle();
  });
  list.addEventListener("change", () => {
    const {when: at, seen_at: other} = sets[list.value];
    box.checked = true;
    root.dataset.points = "on";
    setInputs({...other, ...at});
  });
  when.shown.push(() => {
    list.value = measuredHere();
    say(note, sets[list.value]?.note ?? note.dataset.none);
  });
}
