// The figures: Bokeh draws what moves, over the axes that the page already holds as SVG.
"use strict";

const percent = (share) => `${100 * share}%`;
const clamped = (share) => Math.max(0, Math.min(share, 1));
const along = ({low, high}, value) => Math.log(value / low) / Math.log(high / low);

// ---- the tables that a figure draws: plates/figure.py, with the traced readings

const tabled = {
  curves(figure, {inputs, readings}, kept) {
    const marks = {
      x: figure.marked.map(() => inputs[figure.input]),
      y: figure.marked.map((name) => readings[name]),
    };
    const others = JSON.stringify({...inputs, [figure.input]: null});
    if (kept.others === others) return {marks};
    kept.others = others;
    const rows = figure.along.map((x) => plate.readings({...inputs, [figure.input]: x}));
    const curve = ({reading}) => [reading, rows.map((row) => row[reading])];
    const curves = {x: figure.along, ...Object.fromEntries(figure.series.map(curve))};
    return {marks, curves};
  },
  bars(figure, {inputs, readings}) {
    const value = figure.series.map(({reading}) => readings[reading]);
    const end = plate.readings({...inputs, ...figure.end_at})[figure.end_reading];
    return {bars: {row: [...value.keys()], value}, axis: {end: [end]}};
  },
};

// ---- Bokeh: its sources take the tables; what is drawn as before is not painted again

const drawn = {
  curves(figure, model, {marks, curves}, hue) {
    model("marks").data = {
      ...marks,
      drawn: marks.y.map((y) => Math.max(y, figure.y.low)),
      colour: figure.marked.map((name) => hue[name]),
    };
    if (curves) model("curves").data = curves;
    for (const {reading} of figure.series) model(reading).line_color = hue[reading];
  },
  bars(figure, model, {bars, axis: {end: [end]}}, hue) {
    const source = model("bars");
    const data = {
      ...bars,
      drawn: bars.value.map((value) => value / end),
      colour: figure.series.map(({reading}) => hue[reading]),
    };
    const same = ["drawn", "colour"].every((name) => `${data[name]}` === `${source.data[name]}`);
    source.setv({data}, {silent: same});
  },
};

// ---- labels: the SVG text that follows the state

const labelled = {
  curves(figure, element, {marks, curves}) {
    const x = clamped(along(figure.x, marks.x[0]));
    for (const end of ["x1", "x2"]) one(".guide", element).setAttribute(end, percent(x));
    figure.marked.forEach((name, n) => {
      const label = one(`[data-mark="${name}"]`, element);
      label.setAttribute("x", percent(x));
      label.setAttribute("y", percent(1 - clamped(along(figure.y, marks.y[n]))));
      label.dataset.side = x < figure.flip ? "start" : x > 1 - figure.flip ? "end" : "middle";
      const below = marks.y[n] < figure.y.low;
      label.toggleAttribute("data-below", below);
      say(label, (below ? "↓ " : "") + outputText(name, marks.y[n]));
    });
    for (const {reading} of curves ? figure.series : []) {
      const y = clamped(along(figure.y, curves[reading].at(-1)));
      one(`[data-end="${reading}"]`, element).setAttribute("y", percent(1 - y));
    }
  },
  bars(figure, element, {bars, axis: {end: [end]}}) {
    const format = {...plate.formats[figure.format], digits: 3};
    const [unit] = format.units.find(([, scale]) => end >= scale);
    for (const tick of all("[data-tick]", element)) {
      say(tick, formatted(end * tick.dataset.tick, format, unit));
    }
    figure.series.forEach(({reading}, n) =>
      say(one(`[data-bar="${reading}"]`, element), outputText(reading, bars.value[n])));
  },
};

// ---- values under the pointer

const pointed = {
  curves(figure, share) {
    const apart = (x) => Math.abs(along(figure.x, x) - share);
    const x = figure.along.reduce((best, it) => (apart(it) < apart(best) ? it : best));
    const readings = plate.readings({...shown.inputs, [figure.input]: x});
    return [inputText(figure.input, x), readings, along(figure.x, x)];
  },
  bars: (figure, share) => [figure.axis_label, shown.readings, share],
};

function inspect(figure, element) {
  const tip = one(".tip", element);
  const hide = () => { tip.hidden = true; };
  const showAt = ({clientX}) => {
    const {left, width} = element.getBoundingClientRect();
    const [title, readings, share] = pointed[figure.kind](figure, clamped((clientX - left) / width));
    const value = ({reading, label}) => `${label} ${outputText(reading, readings[reading])}`;
    tip.replaceChildren(...[title, ...figure.series.map(value)].map((text) =>
      Object.assign(document.createElement("div"), {textContent: text})));
    Object.assign(tip.style, {left: percent(share), translate: percent(-share)});
    tip.hidden = false;
  };
  const mouse = (act) => (event) => event.pointerType === "mouse" && act(event);
  element.addEventListener("pointermove", mouse(showAt));
  element.addEventListener("pointerleave", mouse(hide));
  element.addEventListener("click", showAt);
  addEventListener("pointerdown", ({target}) => element.contains(target) || hide());
  addEventListener("keydown", ({key}) => key === "Escape" && hide());
  whenShown.push(hide);
}

// ---- start

// Bokeh holds a paint back 17 ms and then waits for a frame, so that every second frame is lost.
// Here what one tick asks for is painted at its end, in the same frame.
function paintInThisFrame(view) {
  let asked = null;
  view.throttled_paint = () => asked ??= Promise.resolve().then(() => {
    asked = null;
    if (!view.is_destroyed) view.repaint();
  });
}

async function startFigure(figure) {
  const element = one(`[data-figure="${figure.id}"]`);
  const views = await Bokeh.embed.embed_item(figure.bokeh, `${figure.id}-live`);
  paintInThisFrame(views.get_by_id(figure.bokeh.root_id));
  const live = Bokeh.documents.at(-1);
  const model = (name) => live.get_model_by_name(name);
  const kept = {};
  let hue;
  const draw = (now, tables) => {
    const table = tables?.[figure.id] ?? tabled[figure.kind](figure, now, kept);
    drawn[figure.kind](figure, model, table, hue);
    labelled[figure.kind](figure, element, table);
    element.setAttribute("aria-label", sentence(figure.text, now));
  };
  const redraw = () => {
    const colour = (role) => getComputedStyle(one(`[data-role="${role}"]`, element)).color;
    hue = Object.fromEntries(figure.series.map(({reading, role}) => [reading, colour(role)]));
    draw(shown);
  };
  redraw();
  whenShown.push(draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new MutationObserver(redraw).observe(root, {attributeFilter: ["data-theme"]});
  inspect(figure, element);
  element.classList.add("is-live");
}

(async () => {
  for (const figure of plate.figures) await startFigure(figure);
  root.dataset.plate = "ready";
})();
