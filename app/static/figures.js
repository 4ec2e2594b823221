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
    const rows = figure.along.map((x) => read({...inputs, [figure.input]: x}));
    const curve = ({reading}) => [reading, rows.map((row) => row[reading])];
    const curves = {x: figure.along, ...Object.fromEntries(figure.series.map(curve))};
    const shares = figure.regimes.map(({reading}) => rows.map((row) => row[reading]));
    return {marks, curves, regimes: regimesAlong(figure.along, shares)};
  },
  bars(figure, {inputs, readings}) {
    const value = figure.series.map(({reading}) => readings[reading]);
    const end = read({...inputs, ...figure.end_at})[figure.end_reading];
    return {bars: {row: [...value.keys()], value}, axis: {end: [end]}};
  },
  paths(figure, {readings}) {
    const place = ({x, y}) => [x, y].map((it) => (typeof it === "string" ? readings[it] : it));
    return {
      paths: figure.paths.map(({spots}) => spots.map(place)),
      marks: figure.marks.map(({spot}) => place(spot)),
    };
  },
  timeline(figure, {readings}) {
    const [launches, each, ahead] = figure.host.map((it) => readings[it]);
    const lanes = figure.lanes.map(({variant, count}) => spans(readings[`idle_${variant}`],
      readings[count], readings[`kernel_started_${variant}`], readings[`kernel_worked_${variant}`]));
    // Ahead, the clock starts when the first kernel is launched, and the host goes on.
    const host = ahead ? Array.from({length: launches - 1}, (_, n) => [n * each, each])
      : lanes[0].map(([start]) => [start, each]);
    const ends = [...lanes.flat().map((span) => span[3]), ...host.map(([start]) => start + each)];
    return {lanes, host, end: Math.max(...ends), ahead: ahead > 0};
  },
  table: (figure, {inputs, readings}) => figure.parts.map((part) => ({
    names: part.names[inputs[figure.input]],
    count: readings[part.count],
    rows: figure.columns_.map(({reading}) => readings[`${reading}_${part.variant}`]),
    totals: Object.fromEntries(
      Object.entries(part.totals).map(([name, reading]) => [name, readings[reading]])),
    wait: readings[part.wait],
    resident: readings[`kernel_resident_${part.variant}`],
  })),
};

// As in plates/figure.py: for each kernel where idle time, fixed cost and work start, the end, and
// which step it is.
function spans(idle, count, fixed, working) {
  let at = 0;
  return count.flatMap((times, step) => Array.from({length: times}, () => {
    const span = [at, at + idle, at + idle + fixed[step], at + idle + fixed[step] + working[step], step];
    at = span[3];
    return span;
  }));
}

// Which regime's share is the largest, from where and to where: as `regimes_along` in
// plates/figure.py. Shares are drawn straight over the logarithm of x between two values.
function regimesAlong(x, shares) {
  if (shares.length === 0) return [];
  const most = x.map((_, n) =>
    shares.reduce((best, share, it) => (share[n] > shares[best][n] ? it : best), 0));
  const found = [[most[0], x[0], x.at(-1)]];
  for (let n = 0; n + 1 < x.length; n++) {
    if (most[n] === most[n + 1]) continue;
    const lead = [n, n + 1].map((it) => shares[most[n]][it] - shares[most[n + 1]][it]);
    const border = x[n] * (x[n + 1] / x[n]) ** (lead[0] / (lead[0] - lead[1]));
    found.at(-1)[2] = border;
    found.push([most[n + 1], border, x.at(-1)]);
  }
  return found;
}

// ---- Bokeh: its sources take the tables; what is drawn as before is not painted again

const drawn = {
  curves(figure, model, {marks, curves}, hue) {
    model("marks").data = {
      ...marks,
      drawn: marks.y.map((y) => Math.min(Math.max(y, figure.y.low), figure.y.high)),
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
  curves(figure, element, {marks, curves, regimes}) {
    const x = clamped(along(figure.x, marks.x[0]));
    for (const end of ["x1", "x2"]) one(".guide", element).setAttribute(end, percent(x));
    figure.marked.forEach((name, n) => {
      const label = one(`[data-mark="${name}"]`, element);
      label.setAttribute("x", percent(x));
      label.setAttribute("y", percent(1 - clamped(along(figure.y, marks.y[n]))));
      label.dataset.side = x < figure.flip ? "start" : x > 1 - figure.flip ? "end" : "middle";
      const [below, above] = [marks.y[n] < figure.y.low, marks.y[n] > figure.y.high];
      label.toggleAttribute("data-below", below);
      say(label, (below ? "↓ " : above ? "↑ " : "") + outputText(name, marks.y[n]));
    });
    if (!curves) return;
    for (const {reading} of figure.series) {
      const y = clamped(along(figure.y, curves[reading].at(-1)));
      one(`[data-end="${reading}"]`, element).setAttribute("y", percent(1 - y));
    }
    if (regimes.length > 0) showRegimes(figure, element, regimes);
  },
  paths(figure, element, {paths, marks}) {
    const share = (axis, value) => clamped(along(axis, value));
    all("polyline", element).forEach((line, n) => line.setAttribute("points", paths[n].map(([x, y]) =>
      `${1000 * along(figure.x, x)},${1000 * (1 - along(figure.y, y))}`).join(" ")));
    all("text.roof", element).forEach((text, n) => {
      const [x, y] = paths[n].at(-1);
      text.setAttribute("x", percent(share(figure.x, x)));
      text.setAttribute("y", percent(1 - share(figure.y, y)));
      // Of two lines that end as one, the last is named.
      const same = (path) => path.at(-1)[0] === x && path.at(-1)[1] === y;
      text.style.display = paths.slice(n + 1).some(same) ? "none" : "";
    });
    all(".spot", element).forEach((spot, n) => {
      const left = share(figure.x, marks[n][0]);
      const top = 1 - share(figure.y, marks[n][1]);
      const [circle, text] = spot.children;
      circle.setAttribute("cx", percent(left));
      circle.setAttribute("cy", percent(top));
      text.setAttribute("x", percent(left));
      text.setAttribute("y", percent(top));
      text.dataset.side = left > 0.7 ? "end" : "start";
      const below = marks[n][1] < figure.y.low;
      say(text, (below ? "↓ " : "") + figure.marks[n].label);
    });
  },
  timeline(figure, element, {lanes, host, end, ahead}) {
    one("[data-note]", element.parentElement)?.toggleAttribute("hidden", !ahead);
    const at = (time) => (1000 * time / end).toFixed(2);
    const path = (parts) => parts.filter(([start, stop]) => stop > start)
      .map(([start, stop]) => `M${at(start)},0V10H${at(stop)}V0Z`).join("");
    one(".launch", element).setAttribute("d", path(host.map(([start, each]) => [start, start + each])));
    all(".lane[data-lane]", element).forEach((lane, n) => {
      ["idle", "fixed", "working"].forEach((part, it) => one(`.${part}`, lane)
        .setAttribute("d", path(lanes[n].map((span) => [span[it], span[it + 1]]))));
      const lit = (step) => (n === figure.lanes.length - 1 ? [] : lanes[n])
        .filter((span) => span[4] === step);
      figure.light ??= [];
      figure.light[n] = (step) => one(".lit", lane)
        .setAttribute("d", path(lit(step).map((span) => [span[1], span[3]])));
    });
  },
  table(figure, element, table) {
    showSteps(figure, element, table);
    table.forEach(({names, count, rows, totals, wait}, n) => {
      const body = one(`[data-part="${n}"]`, element);
      const shownIn = ({words, format}, value) =>
        (words.length ? words[value] : formatted(value, plate.formats[format]));
      const lines = names.flatMap((name, row) => (count[row] === 0 ? [] : [[
        count[row] > 1 ? `${name} × ${count[row]}` : name,
        ...figure.columns_.map((column, it) => shownIn(column, rows[it][row])),
      ]]));
      if (wait > 0) {
        lines.push([figure.wait_label, ...figure.columns_.map((column) =>
          (column.reading === "time" ? shownIn(column, wait) : ""))]);
      }
      lines.push([figure.total_label, ...figure.columns_.map((column) =>
        (column.reading in totals ? shownIn(column, totals[column.reading]) : ""))]);
      const steps = names.map((_, row) => row).filter((row) => count[row] > 0);
      const drawn = lines.map(tableRow);
      if (n === 0) steps.forEach((step, row) => { drawn[row].dataset.step = step; });
      body.replaceChildren(body.firstElementChild, ...drawn);
      body.lastElementChild.className = "total";
    });
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

// The steps as code and as ways, for the chain on show.
function showSteps(figure, element, table) {
  const chosen = shown.inputs[figure.input];
  if (figure.chosen !== chosen) {
    figure.chosen = chosen;
    const {head, lines, tail, fused} = figure.code[chosen];
    const [eager, compiled] = all("ol", element);
    const line = (text, attributes = {}) => {
      const item = Object.assign(document.createElement("li"), {textContent: text});
      for (const [key, value] of Object.entries(attributes)) item.setAttribute(key, value);
      return item;
    };
    eager.replaceChildren(line(head),
      ...lines.map((text, n) => line(text, {class: "step", "data-step": n, tabindex: 0})),
      line(tail, {class: "step"}));
    compiled.replaceChildren(line(fused));
  }
  // A step that is no kernel here, such as a cast of FP32 to FP32, is no line.
  all(".code [data-step]", element).forEach((item, n) => { item.hidden = table[0].count[n] === 0; });
  const most = Math.max(...table.flatMap(({rows}) => [...rows[0], ...rows[1]]));
  all(".ways", element).forEach((ways, n) => {
    const {count, rows: [read, written], resident} = table[n];
    const each = count.flatMap((times, step) => Array(times).fill(step));
    ways.style.flex = each.length;
    ways.replaceChildren(...each.map((step) => {
      const drawing = svg("svg", {viewBox: "0 0 100 100", preserveAspectRatio: "none"});
      if (n === 0) drawing.dataset.step = step;
      drawing.append(...arrows(read[step], written[step], resident[step], most));
      return drawing;
    }));
  });
}

// As `ways` in app/drawing.py.
function arrows(read, written, resident, most) {
  const top = resident > 0.5 ? 42 : 12;
  const [wideIn, wideOut] = [40 * read / most, 40 * written / most];
  const into = `M${27 - wideIn / 2},${top}h${wideIn}V76l${-wideIn / 2},10l${-wideIn / 2},-10Z`;
  const out = `M${73 - wideOut / 2},86h${wideOut}V${top + 10}l${-wideOut / 2},-10l${-wideOut / 2},10Z`;
  return [
    svg("path", {class: "in", d: read ? into : ""}), svg("path", {class: "out", d: written ? out : ""}),
  ];
}

function tableRow([name, ...cells]) {
  const row = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = name;
  row.append(head, ...cells.map((text) =>
    Object.assign(document.createElement("td"), {textContent: text})));
  return row;
}

function svg(name, attributes, text = "") {
  const element = document.createElementNS(one("svg").namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

function showRegimes(figure, element, regimes) {
  const [before, until, then] = figure.regime_words;
  const reach = regimes.map(([place, , end], n) => {
    const {label} = figure.regimes[place];
    const to = formatted(end, plate.formats.size);
    return n + 1 < regimes.length ? until.replace("{label}", label).replace("{to}", to) : label;
  });
  say(one(`[data-regimes="${figure.id}"]`), before + reach.join(then));
  one(".regimes", element).replaceChildren(...regimes.map(([place, start, end], n) => {
    const [left, right] = [along(figure.x, start), along(figure.x, end)];
    const group = svg("g", {"data-regime": place});
    const x = percent(left);
    if (n > 0) group.append(svg("line", {x1: x, x2: x, y1: -4, y2: "100%"}));
    if (right - left > figure.regime_room) {
      const middle = percent((left + right) / 2);
      group.append(svg("text", {x: middle, y: -8}, figure.regimes[place].label));
    }
    return group;
  }));
}

// ---- what others measured, where the inputs are theirs

const measuredHere = () => plate.measured.find(({when}) =>
  Object.entries(when).every(([name, value]) => shown.inputs[name] === value));

function showMeasured(figure) {
  const set = measuredHere();
  const [head, ...wanted] = [plate.words.measured_columns, ...(set?.points ?? [])
    .map(({text, x, y}) => [exactly(x), formatted(y, plate.formats.time), text])];
  say(one("#measured-note"), set ? `${set.title}. ${set.note}` : one("#measured-note").dataset.none);
  const table = one("#measured-points");
  const heading = document.createElement("thead");
  heading.append(tableRow(head));
  for (const cell of all("td", heading)) cell.outerHTML = `<th scope="col">${cell.textContent}</th>`;
  one("th", heading).scope = "col";
  const body = document.createElement("tbody");
  body.append(...wanted.map(tableRow));
  table.replaceChildren(...(set ? [heading, body] : []));
  one("#sets").value = plate.measured.indexOf(set);
  const points = root.dataset.points === "on" && set
    ? set.points.filter(({x}) => x >= figure.x.low && x <= figure.x.high) : [];
  one(`[data-figure="${figure.id}"] .points`).replaceChildren(...points.map(({x, y, role, text}) => {
    const place = {x: percent(along(figure.x, x)), y: percent(1 - clamped(along(figure.y, y)))};
    const shape = role === "before"
      ? svg("circle", {cx: place.x, cy: place.y, r: 4})
      : svg("rect", {x: place.x, y: place.y, width: 7, height: 7, transform: "translate(-3.5,-3.5)"});
    shape.dataset.role = role;
    shape.append(svg("title", {}, text));
    return shape;
  }));
}

function startMeasured(figure) {
  const box = one("#points");
  box.checked = root.dataset.points === "on";
  if (box.checked) one("#measured").open = true;
  let last;
  const follow = () => {
    const now = [measuredHere(), root.dataset.points];
    if (last?.every((it, n) => it === now[n])) return;
    last = now;
    showMeasured(figure);
  };
  box.addEventListener("change", () => {
    root.dataset.points = box.checked ? "on" : "off";
    follow();
    settle();
  });
  one("#sets").addEventListener("change", ({target}) => {
    const {when, seen_at: at} = plate.measured[target.value];
    setInputs({...at, ...when});
    box.checked = true;
    box.dispatchEvent(new Event("change"));
  });
  whenShown.push(follow);
  follow();
}

// ---- values under the pointer

const pointed = {
  curves(figure, share) {
    const apart = (x) => Math.abs(along(figure.x, x) - share);
    const x = figure.along.reduce((best, it) => (apart(it) < apart(best) ? it : best));
    const readings = read({...shown.inputs, [figure.input]: x});
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

// After a zoom Bokeh's canvases would keep the pixels they had: here they are made anew.
function followResolution(view) {
  let ratio = devicePixelRatio;
  const follow = () => {
    if (devicePixelRatio === ratio) return;
    ratio = devicePixelRatio;
    view.canvas_view.resize();
    view.repaint();
  };
  addEventListener("resize", follow);
  matchMedia(`(resolution: ${ratio}dppx)`).addEventListener("change", follow);
}

// A figure as SVG or table; one behind a fold is drawn while the fold is open.
function startPlain(figure) {
  const element = one(`[data-figure="${figure.id}"]`);
  const fold = one(`[data-fold="${figure.id}"]`) ?? {open: true, addEventListener() {}};
  const named = one("[aria-label]", element.parentElement);
  const draw = (now = shown, tables = null, always = false) => {
    named.setAttribute("aria-label", sentence(figure.text, now));
    if (!fold.open && !always) return;
    const table = tables?.[figure.id] ?? tabled[figure.kind](figure, now);
    labelled[figure.kind](figure, element, table);
  };
  fold.addEventListener("toggle", () => draw());
  // A closed fold holds what it will show once the reader rests.
  whenSettled.push(() => draw(shown, null, true));
  if (figure.kind === "timeline") {
    whenLit.push((step) => figure.light?.forEach((light) => light(step)));
  }
  whenShown.push(draw);
  draw(shown, null, true);
}

// The curves as a table, at every second octave and at the present value.
function startNumbers(figure) {
  const fold = one(`[data-numbers="${figure.id}"]`);
  const draw = () => {
    if (!fold.open) return;
    const rounds = figure.along.filter((_, n) => n % 8 === 0);
    const at = [...new Set([...rounds, shown.inputs[figure.input]])].sort((a, b) => a - b);
    one("tbody", fold).replaceChildren(...at.map((x) => {
      const readings = read({...shown.inputs, [figure.input]: x});
      const row = tableRow([formatted(x, plate.formats[figure.x.format]),
        ...figure.series.map(({reading}) => outputText(reading, readings[reading]))]);
      row.classList.toggle("total", x === shown.inputs[figure.input]);
      return row;
    }));
  };
  fold.addEventListener("toggle", draw);
  whenShown.push(draw);
}

// The first picture, as SVG, brought to the present state: for print, for files, and to light a line.
function drawFirst() {
  for (const figure of plate.figures.filter(({kind}) => kind === "curves")) {
    const element = one(`[data-figure="${figure.id}"]`);
    const {curves, marks} = tabled.curves(figure, shown, {});
    const place = (x, y) => `${1000 * along(figure.x, x)},${1000 * (1 - along(figure.y, y))}`;
    for (const {reading} of figure.series) {
      one(`polyline[data-first="${reading}"]`, element).setAttribute(
        "points", curves.x.map((x, n) => place(x, curves[reading][n])).join(" "));
    }
    figure.marked.forEach((reading, n) => {
      const circle = one(`circle[data-first="${reading}"]`, element);
      circle.setAttribute("cx", percent(clamped(along(figure.x, marks.x[n]))));
      circle.setAttribute("cy", percent(1 - clamped(along(figure.y, marks.y[n]))));
    });
  }
  for (const figure of plate.figures.filter(({kind}) => kind === "bars")) {
    const {bars, axis: {end: [end]}} = tabled.bars(figure, shown);
    figure.series.forEach(({reading}, n) => one(`[data-figure="${figure.id}"] rect[data-first="${reading}"]`)
      .setAttribute("width", percent(bars.value[n] / end)));
  }
}

async function startFigure(figure) {
  if (!figure.bokeh) return startPlain(figure);
  const element = one(`[data-figure="${figure.id}"]`);
  const views = await Bokeh.embed.embed_item(figure.bokeh, `${figure.id}-live`);
  const view = views.get_by_id(figure.bokeh.root_id);
  paintInThisFrame(view);
  followResolution(view);
  const live = Bokeh.documents.at(-1);
  const model = (name) => live.get_model_by_name(name);
  const kept = {};
  let hue;
  const draw = (now, tables) => {
    // What the server has drawn is not what was kept.
    if (tables) kept.others = null;
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
  const curves = plate.figures.find(({kind}) => kind === "curves");
  if (plate.measured.length > 0) startMeasured(curves);
  plate.figures.filter(({kind}) => kind === "curves").forEach(startNumbers);
  root.dataset.plate = "ready";
})();
