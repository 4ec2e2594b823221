// For a page that shows plates in frames: gives each frame the height of its plate, and the plate
// the theme of the page. A frame is known by its window, wherever in the page it stands.
"use strict";

(() => {
  const CHECK_MS = 250;
  const told = new Map();

  // How bright a computed colour is from 0 to 1, and how opaque: RGB or the lightness comes first in it.
  function seen(colour) {
    const [, space, values] = colour.match(/^(color\(\S+|\w+)[( ](.*)\)$/);
    const [a, b, c, opacity = 1] = values.replaceAll("none", "0").match(/-?[\d.]+(e-?\d+)?/g).map(Number);
    if (/^ok/.test(space)) return [a, opacity];
    if (/^l/.test(space)) return [a / 100, opacity];
    return [(0.2126 * a + 0.7152 * b + 0.0722 * c) / (/^rgb/.test(space) ? 255 : 1), opacity];
  }

  const around = (element) => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host;

  // Dark is what stands on a dark ground, however the page came by it; without a ground the text tells.
  function theme(frame) {
    for (let element = frame; element; element = around(element)) {
      const [bright, opacity] = seen(getComputedStyle(element).backgroundColor);
      if (opacity > 0) return bright < 0.5 ? "dark" : "light";
    }
    return seen(getComputedStyle(frame).color)[0] > 0.5 ? "dark" : "light";
  }

  function tell(frame) {
    told.set(frame, theme(frame));
    frame.contentWindow.postMessage({type: "plate:theme", theme: told.get(frame)}, "*");
  }

  function tellAll() {
    for (const [frame, last] of told) {
      if (!frame.isConnected) told.delete(frame);
      else if (last !== theme(frame)) tell(frame);
    }
  }

  // What is set on an element around a frame is seen at once. A fade, a style sheet that comes late
  // and a box that is ticked change the ground with no event of their own.
  const observer = new MutationObserver(tellAll);
  setInterval(tellAll, CHECK_MS);

  // All elements, those in open shadow roots too.
  const elements = (within) => [...within.querySelectorAll("*")].flatMap((it) =>
    it.shadowRoot ? [it, ...elements(it.shadowRoot)] : it);

  function meet(frame) {
    for (let element = around(frame); element; element = around(element)) {
      observer.observe(element, {attributes: true});
    }
    tell(frame);
  }

  addEventListener("message", ({data, source}) => {
    if (data?.type !== "plate:height" || !(data.height > 0)) return;
    const from = (it) => it.contentWindow === source;
    const frame = [...told.keys()].find(from) ?? elements(document).find(from);
    if (!frame) return;
    frame.style.height = `${data.height}px`;
    meet(frame);
  });
  // A frame that was there before this script has said its height already; it says it again.
  elements(document).filter((it) => it.matches("iframe[data-plate]")).forEach(meet);
})();
