// What the reader may take away: figures as seen, tables, code.
"use strict";

const DRAWN_BY_STYLE = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family",
  "font-size", "font-weight", "text-anchor", "vector-effect", "paint-order", "stroke-linejoin"];

// The figure as one SVG text, with its styles in it and its ground under it.
function figureSvg(id) {
  drawFirst();
  const element = one(`[data-figure="${id}"]`);
  const {title} = plate.figures.find((it) => it.id === id);
  const box = element.getBoundingClientRect();
  const pad = {left: 100, right: 110, top: 56, bottom: 56};
  const whole = svg("svg", {
    xmlns: one("svg").namespaceURI,
    width: box.width + pad.left + pad.right, height: box.height + pad.top + pad.bottom,
  });
  whole.append(
    svg("rect", {width: "100%", height: "100%", fill: getComputedStyle(one(".workshop")).backgroundColor}),
    svg("text", {
      x: 12, y: 24, "font-family": "sans-serif", "font-size": 15, "font-weight": 600,
      fill: getComputedStyle(element).color,
    }, title));
  for (const layer of element.querySelectorAll(":scope > svg")) {
    const copy = layer.cloneNode(true);
    const originals = [layer, ...all("*", layer)];
    [copy, ...all("*", copy)].forEach((part, n) => {
      const style = getComputedStyle(originals[n]);
      for (const name of DRAWN_BY_STYLE) part.style.setProperty(name, style.getPropertyValue(name));
      part.style.transform = style.transform === "none" ? "" : style.transform;
      if (style.display === "none") part.remove();
    });
    for (const [name, value] of [["x", pad.left], ["y", pad.top], ["width", box.width], ["height", box.height]]) {
      copy.setAttribute(name, value);
    }
    copy.style.overflow = "visible";
    whole.append(copy);
  }
  return new XMLSerializer().serializeToString(whole);
}

// The lanes of a timeline as one SVG text.
function timelineSvg(id) {
  const {title} = plate.figures.find((it) => it.id === id);
  const style = (element, name) => getComputedStyle(element).getPropertyValue(name);
  const ground = style(one(".workshop"), "background-color");
  const lanes = all(".lane", one(`[data-figure="${id}"]`));
  const text = (x, y, element, words) => svg("text", {
    x, y, fill: style(element, "color"), "font-family": "sans-serif", "font-size": 13,
  }, words);
  const whole = svg("svg", {xmlns: one("svg").namespaceURI, width: 900, height: 60 + 30 * lanes.length});
  whole.append(svg("rect", {width: "100%", height: "100%", fill: ground}), text(12, 26, one(".workshop"), title));
  lanes.forEach((lane, n) => {
    const [name, drawing, total] = lane.children;
    const y = 44 + 30 * n;
    const copy = drawing.cloneNode(true);
    all("path", copy).forEach((path, it) => {
      for (const key of ["fill", "stroke", "stroke-width", "vector-effect"]) {
        path.setAttribute(key, style(drawing.children[it], key));
      }
    });
    for (const [key, value] of Object.entries({x: 90, y, width: 700, height: 20})) copy.setAttribute(key, value);
    whole.append(text(12, y + 15, name, name.textContent), copy, text(804, y + 15, total, total.textContent));
  });
  return new XMLSerializer().serializeToString(whole);
}

const drawnSvg = (id) => (one(`.lanes[data-figure="${id}"]`) ? timelineSvg : figureSvg)(id);

function save(name, blob) {
  const link = Object.assign(document.createElement("a"), {
    href: URL.createObjectURL(blob), download: `${plate.id}-${name}`,
  });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function savePng(id) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawnSvg(id))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  const scale = Math.max(2, devicePixelRatio);
  [canvas.width, canvas.height] = [scale * image.width, scale * image.height];
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.drawImage(image, 0, 0);
  canvas.toBlob((blob) => save(`${id}.png`, blob));
}

// Numbers in SI units, as in `plates read --json`.
function figureCsv(id) {
  const figure = plate.figures.find((it) => it.id === id);
  const quoted = (cell) => (/[",\n]/.test(cell) ? `"${String(cell).replaceAll('"', '""')}"` : cell);
  const lines = figure.kind === "curves" ? curvesCsv(figure) : stepsCsv(figure);
  return lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
}

function curvesCsv(figure) {
  const names = figure.series.map(({reading}) => reading);
  const at = new Set([...figure.along, shown.inputs[figure.input]]);
  return [[figure.input, ...names], ...[...at].sort((a, b) => a - b).map((x) => {
    const readings = read({...shown.inputs, [figure.input]: x});
    return [x, ...names.map((name) => readings[name])];
  })];
}

function stepsCsv(figure) {
  const head = ["variant", "kernel", "launches", ...figure.columns_.map(({reading}) => reading)];
  const lines = tabled.table(figure, shown).flatMap(({names, count, rows}, part) =>
    names.flatMap((name, n) => (count[n] === 0 ? [] : [[figure.parts[part].label, name, count[n],
      ...figure.columns_.map(({words}, it) => (words.length ? words[rows[it][n]] : rows[it][n]))]])));
  return [head, ...lines];
}

// The code that computes the numbers again: a name in it stands for the value of that input.
function snippet(code) {
  const literal = (value) => (typeof value === "string" ? JSON.stringify(value) : String(value));
  return code.replace(/{(\w+)}/g, (_, name) => literal(shown.inputs[name]));
}

function showTaken() {
  const box = one("#snippet");
  if (box) box.value = snippet(box.dataset.code);
}

for (const button of all("[data-svg]")) {
  const id = button.dataset.svg;
  button.addEventListener("click", () =>
    save(`${id}.svg`, new Blob([drawnSvg(id)], {type: "image/svg+xml"})));
}
for (const button of all("[data-png]")) {
  button.addEventListener("click", () => savePng(button.dataset.png));
}
for (const button of all("[data-csv]")) {
  const id = button.dataset.csv;
  button.addEventListener("click", () => save(`${id}.csv`, new Blob([figureCsv(id)], {type: "text/csv"})));
}
showTaken();
addEventListener("beforeprint", drawFirst);
