// What the reader may take away: figures as seen, tables, code.
"use strict";

const DRAWN_BY_STYLE = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family",
  "font-size", "font-weight", "text-anchor", "vector-effect", "paint-order", "stroke-linejoin", "transform", "rx", "visibility"];
const PAD = {left: 100, right: 110, top: 56, bottom: 56};

function svg(name, attributes, text = "") {
  const element = document.createElementNS(one("svg").namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

// The figure as one SVG text, with its styles in it and its ground under it.
function figureSvg(id) {
  for (const draw of drawNow[id]) draw();
  const element = one(`[data-figure="${id}"]`);
  placeLabels([element]);
  const drawing = one("svg", element);
  const {width, height} = element.getBoundingClientRect();
  const copy = drawing.cloneNode(true);
  const originals = all("*", drawing);
  all("*", copy).forEach((part, n) => {
    const style = getComputedStyle(originals[n]);
    if (style.display === "none" || part.hasAttribute("hidden")) part.remove();
    for (const name of DRAWN_BY_STYLE) {
      const value = style.getPropertyValue(name);
      if (value !== "none" || !name.startsWith("transform")) part.style.setProperty(name, value);
    }
    for (const name of part.getAttributeNames()) if (name.startsWith("data-")) part.removeAttribute(name);
  });
  for (const [name, value] of Object.entries({x: PAD.left, y: PAD.top, width, height})) {
    copy.setAttribute(name, value);
  }
  copy.style.overflow = "visible";
  const ground = getComputedStyle(one(".workshop")).backgroundColor;
  const ink = getComputedStyle(element).color;
  const title = {x: 12, y: 24, "font-family": "sans-serif", "font-size": 15, "font-weight": 600, fill: ink};
  const whole = svg("svg", {
    xmlns: drawing.namespaceURI, width: width + PAD.left + PAD.right, height: height + PAD.top + PAD.bottom,
  });
  whole.append(svg("rect", {width: "100%", height: "100%", fill: ground}),
    svg("text", title, figureOf[id].title), copy);
  return new XMLSerializer().serializeToString(whole);
}

function save(name, blob) {
  const link = Object.assign(document.createElement("a"), {
    href: URL.createObjectURL(blob), download: `${plate.id}-${name}`,
  });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function savePng(id) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(figureSvg(id))}`;
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
function figureCsv(figure) {
  const quoted = (cell) => (/[",\n]/.test(cell) ? `"${String(cell).replaceAll('"', '""')}"` : cell);
  const lines = figure.stops ? curvesCsv(figure) : stepsCsv(figure);
  return lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
}

function curvesCsv(figure) {
  const names = figure.series.map(({reading}) => reading);
  const here = {...shown.values, x: shown.inputs[figure.input]};
  const stops = stopsOf(figure, shown.inputs).stops.filter(({x}) => x !== here.x);
  return [[figure.input, ...names], ...[...stops, here].sort((a, b) => a.x - b.x).map((stop) =>
    [stop.x, ...names.map((name) => stop[name])])];
}

function stepsCsv(figure) {
  const texts = textsOf(figure);
  const value = (reading, format, n) => {
    const {words} = plate.formats[format];
    return words.length > 0 ? words[shown.values[reading][n]] : shown.values[reading][n];
  };
  const lines = figure.variants.flatMap(({name, label}) =>
    shown.values[`kernel_count_${name}`].flatMap((count, n) => (count === 0 ? [] : [[
      label, texts[`${name}_names`][n], count,
      ...figure.columns.map(({reading, format}) => value(`${reading}_${name}`, format, n)),
    ]])));
  const heads = figure.columns.map(({reading}) => reading.replace("kernel_", ""));
  return [["variant", "kernel", "launches", ...heads], ...lines];
}

// The code that computes the numbers again: a name in it stands for the value of that input.
function showSnippet() {
  const box = one("#snippet");
  const literal = (value) => (typeof value === "string" ? JSON.stringify(value) : String(value));
  if (box) box.value = box.dataset.code.replace(/{(\w+)}/g, (_, name) => literal(shown.inputs[name]));
}

function startTake() {
  const saved = {
    svg: (id) => save(`${id}.svg`, new Blob([figureSvg(id)], {type: "image/svg+xml"})),
    png: savePng,
    csv: (id) => save(`${id}.csv`, new Blob([figureCsv(figureOf[id])], {type: "text/csv"})),
  };
  for (const [kind, act] of Object.entries(saved)) {
    for (const button of all(`[data-${kind}]`)) {
      button.addEventListener("click", () => act(button.dataset[kind]));
    }
  }
  when.settled.push(showSnippet);
  showSnippet();
}
