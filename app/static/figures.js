// The figures: Bokeh draws what moves, over the axes that the page already holds as SVG.
"use strict";

(() => {
  const plate = globalThis.plate;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const hue = (role, element) => getComputedStyle(one(`[data-role="${role}"]`, element)).color;
  const percent = (share) => `${100 * share}%`;
  const along = ({low, high}, value) => Math.log(value / low) / Math.log(high / low);
  const clamped = (share) => Math.min(Math.max(share, 0), 1);

  // ---- the tables that a figure draws: plates/figure.py, with the traced readings

  const columns = {
    curves(figure, inputs, readings, before) {
      const others = JSON.stringify({...inputs, [figure.input]: null});
      const table = {marks: {
        x: figure.marked.map(() => inputs[figure.input]),
        y: figure.marked.map((name) => readings[name]),
      }};
      if (before.others === others) return table;
      before.others = others;
      const rows = figure.along.map((x) => plate.readings({...inputs, [figure.input]: x}));
      table.curves = {x: figure.along};
      for (const {reading} of figure.series) {
        table.curves[reading] = rows.map((row) => row[reading]);
      }
      return table;
    },
    bars(figure, inputs, readings) {
      const end = plate.readings({...inputs, ...figure.end_at})[figure.end_reading];
      return {
        bars: {
          reading: figure.series.map(({reading}) => reading),
          value: figure.series.map(({reading}) => readings[reading]),
        },
        axis: {end: [end]},
      };
    },
  };

  // ---- labels: the SVG text that follows the state

  const labels = {
    curves(figure, element, {marks, curves}) {
      const x = clamped(along(figure.x, marks.x[0]));
      const guide = one(".guide", element);
      guide.setAttribute("x1", percent(x));
      guide.setAttribute("x2", percent(x));
      figure.marked.forEach((name, index) => {
        const label = one(`[data-mark="${name}"]`, element);
        label.setAttribute("x", percent(x));
        label.setAttribute("y", percent(1 - clamped(along(figure.y, marks.y[index]))));
        label.dataset.side = x < figure.flip ? "right" : "left";
        label.textContent =
          (marks.y[index] < figure.y.low ? "↓ " : "") + plate.outputText(name, marks.y[index]);
      });
      if (!curves) return;
      for (const {reading} of figure.series) {
        one(`[data-end="${reading}"]`, element)
          .setAttribute("y", percent(1 - clamped(along(figure.y, curves[reading].at(-1)))));
      }
    },
    bars(figure, element, {bars, axis: {end: [end]}}) {
      const format = plate.formats[figure.format];
      const [unit] = format.units.find(([, scale]) => end >= scale);
      all("[data-tick]", element).forEach((tick) => {
        tick.textContent = plate.formatted(end * tick.dataset.tick, {...format, digits: 3}, unit);
      });
      bars.reading.forEach((name, index) => {
        one(`[data-bar="${name}"]`, element).textContent =
          plate.outputText(name, bars.value[index]);
      });
    },
  };

  // ---- Bokeh: its sources take the tables, and paint once a frame

  const drawing = {
    curves(figure, model, {marks, curves}, colours) {
      model("marks").data = {
        ...marks,
        drawn: marks.y.map((y) => Math.max(y, figure.y.low)),
        colour: figure.marked.map((name) => colours[name]),
      };
      if (curves) model("curves").data = curves;
      for (const {reading} of figure.series) model(reading).line_color = colours[reading];
    },
    bars(figure, model, {bars, axis: {end: [end]}}, colours) {
      const source = model("bars");
      const data = {
        ...source.data, ...bars,
        drawn: bars.value.map((value) => value / end),
        colour: figure.series.map(({reading}) => colours[reading]),
      };
      const same = ["drawn", "colour"].every((name) => `${data[name]}` === `${source.data[name]}`);
      source.setv({data}, {silent: same});
    },
  };

  // Bokeh holds a paint back 17 ms and then waits for a frame, so that every second frame is lost.
  // Here what one tick asks for is painted at its end, in the same frame.
  function paintInThisFrame(view) {
    let asked = null;
    view.throttled_paint = () => asked ??= Promise.resolve().then(() => {
      asked = null;
      if (!view.is_destroyed) view.repaint();
    });
  }

  async function start(figure) {
    const element = one(`[data-figure="${figure.id}"]`);
    const views = await Bokeh.embed.embed_item(figure.bokeh, `${figure.id}-live`);
    paintInThisFrame(views.get_by_id(figure.bokeh.root_id));
    const document = Bokeh.documents.at(-1);
    const model = (name) => document.get_model_by_name(name);
    const before = {};
    let colours;
    const recolour = () => {
      colours = Object.fromEntries(
        figure.series.map(({reading, role}) => [reading, hue(role, element)]));
    };
    const draw = (inputs, readings, given) => {
      const table = given?.[figure.id] ?? columns[figure.kind](figure, inputs, readings, before);
      drawing[figure.kind](figure, model, table, colours);
      labels[figure.kind](figure, element, table);
      element.setAttribute("aria-label", plate.sentence(figure.text, inputs, readings));
    };
    const redraw = () => {
      recolour();
      draw(plate.shown().inputs, plate.shown().readings);
    };
    redraw();
    plate.on("draw", draw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    new MutationObserver(redraw)
      .observe(globalThis.document.documentElement, {attributeFilter: ["data-theme"]});
    element.classList.add("is-live");
    inspect(figure, element);
  }

  // ---- values under the pointer

  const under = {
    curves(figure, share) {
      const x = figure.along.reduce((best, stop) =>
        Math.abs(along(figure.x, stop) - share) < Math.abs(along(figure.x, best) - share)
          ? stop : best);
      const inputs = {...plate.state(), [figure.input]: x};
      return [plate.inputText(figure.input, x), plate.readings(inputs), along(figure.x, x)];
    },
    bars: (figure, share) => [figure.axis_label, plate.shown().readings, share],
  };

  function inspect(figure, element) {
    const tip = one(".tip", element);
    const hide = () => { tip.hidden = true; };
    const showAt = (event) => {
      const {left, width} = element.getBoundingClientRect();
      const [title, readings, share] =
        under[figure.kind](figure, clamped((event.clientX - left) / width));
      tip.replaceChildren(...[title, ...figure.series.map(({reading, label}) =>
        `${label} ${plate.outputText(reading, readings[reading])}`)].map((text) => {
        const line = document.createElement("div");
        line.textContent = text;
        return line;
      }));
      tip.hidden = false;
      tip.style.left = percent(share);
      tip.style.translate = `${-100 * share}%`;
    };
    element.addEventListener("pointermove", (event) => event.pointerType === "mouse" && showAt(event));
    element.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
    element.addEventListener("click", showAt);
    document.addEventListener("pointerdown", (event) => element.contains(event.target) || hide());
    document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
    plate.on("draw", hide);
  }

  (async () => {
    for (const figure of plate.figures) await start(figure);
    plate.set({});
    globalThis.document.documentElement.dataset.plate = "ready";
  })();
})();
