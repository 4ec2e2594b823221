// Labels know of each other: each that has several places takes the first where it touches nothing that
// stands already, and one that finds none is not shown. Those drawn first choose first.
"use strict";

const APART_PX = 1;

const touching = (one, other) =>
  one.left < other.right + APART_PX && other.left < one.right + APART_PX &&
  one.top < other.bottom + APART_PX && other.top < one.bottom + APART_PX;

// From its point, a label stands to the right, to the left, or over it.
const anchorOf = (right) => (right > 0 ? "start" : right < 0 ? "end" : "middle");
const PART_LEFT = {start: 0, end: 1, middle: 0.5};

// The place of each label of a plot, or none. Nothing is written yet, so that it is laid out only once.
function placesIn(plot) {
  // There is room beside the plot and above it; what is below is the axis'.
  const {left: from, right: to, bottom} = plot.getBoundingClientRect();
  const {marginLeft, marginRight} = getComputedStyle(plot);
  const room = {left: from - parseFloat(marginLeft), right: to + parseFloat(marginRight)};
  const shownIn = (selector) => all(selector, plot).map((element) => ({element, box: element.getBoundingClientRect()}))
    .filter(({box}) => box.height > 0);
  const standing = shownIn("text:not([data-places]), circle, .between").map(({box}) => box);
  return shownIn("[data-places]").map(({element, box: {left, top, width, height}}) => {
    const em = parseFloat(getComputedStyle(element).fontSize);
    const now = ["dx", "dy"].map((name) => parseFloat(element.getAttribute(name)));
    const leftAt = (right) => right * em - PART_LEFT[anchorOf(right)] * width;
    const boxAt = ([right, down]) => {
      const at = {left: left + leftAt(right) - leftAt(now[0]), top: top + (down - now[1]) * em};
      return {...at, right: at.left + width, bottom: at.top + height};
    };
    const free = (box) => box.left >= room.left && box.right <= room.right && box.bottom <= bottom &&
      !standing.some((it) => touching(it, box));
    const place = element.dataset.places.split(" ").map((it) => it.split(",").map(Number))
      .find((it) => free(boxAt(it)));
    if (place) standing.push(boxAt(place));
    return [element, place];
  });
}

function put(element, place) {
  element.toggleAttribute("data-crowded", !place);
  if (!place) return;
  const [right, down] = place;
  for (const [name, value] of Object.entries({dx: `${right}em`, dy: `${down}em`, "text-anchor": anchorOf(right)})) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
}

const placeLabels = (plots) => plots.flatMap(placesIn).forEach((it) => put(...it));

function startLabels() {
  const plots = all(".plot").filter((it) => one("[data-places]", it));
  const place = () => placeLabels(plots.filter((it) => !it.closest("details:not([open])")));
  when.shown.push(place);
  // A plot gets its size when its fold opens, too.
  const sized = new ResizeObserver(place);
  for (const it of plots) sized.observe(it);
}
