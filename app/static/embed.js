// For a page that shows plates in frames: gives each frame the height of its plate, and the plate
// the theme of the page. A frame is known by its window, so that any number can stand on one page.
"use strict";

(() => {
  const told = new WeakMap();

  const pixel = document.createElement("canvas").getContext("2d", {willReadFrequently: true});

  // Red, green, blue and opacity of a colour, in whatever way it is written.
  function painted(colour) {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    return pixel.getImageData(0, 0, 1, 1).data;
  }

  // Dark is what stands on a dark ground, however the page came by it.
  function theme(frame) {
    for (let element = frame; element; element = element.parentElement) {
      const [r, g, b, opacity] = painted(getComputedStyle(element).backgroundColor);
      if (opacity > 0) return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128 ? "dark" : "light";
    }
    const dark = getComputedStyle(document.documentElement).colorScheme.startsWith("dark");
    return dark ? "dark" : "light";
  }

  function tell(frame) {
    told.set(frame, theme(frame));
    frame.contentWindow.postMessage({type: "plate:theme", theme: told.get(frame)}, "*");
  }

  const frames = (selector) => [...document.querySelectorAll(selector)];
  const stale = (frame) => told.has(frame) && told.get(frame) !== theme(frame);
  const tellAll = () => frames("iframe").filter(stale).forEach(tell);

  addEventListener("message", ({data, source}) => {
    if (data?.type !== "plate:height" || !(data.height > 0)) return;
    const frame = frames("iframe").find((it) => it.contentWindow === source);
    if (!frame) return;
    frame.style.height = `${data.height}px`;
    tell(frame);
  });
  for (const root of [document.documentElement, document.body]) {
    new MutationObserver(tellAll).observe(root, {attributes: true});
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tellAll);
  // A frame that was there before this script has said its height already; it says it again.
  frames("iframe[data-plate]").forEach(tell);
})();
