// Runs before the page's own scripts and notes when what is painted catches up with the slider. A
// value counts as shown in the first frame whose canvas holds its mark and whose text its reading.
(() => {
  const log = globalThis.dragLog = {changes: [], frames: [], longTasks: [], released: null};
  let mark = null;
  let painted = false;
  const arc = CanvasRenderingContext2D.prototype.arc;
  CanvasRenderingContext2D.prototype.arc = function (x, y, ...rest) {
    const {a, e} = this.getTransform();
    mark = (a * x + e) / devicePixelRatio / this.canvas.getBoundingClientRect().width;
    painted = true;
    return arc.call(this, x, y, ...rest);
  };
  new MutationObserver((changes) => {
    const circle = changes.find(({target}) => target.matches("[data-figure=time-vs-size] *"))?.target;
    if (!circle) return;
    mark = parseFloat(circle.getAttribute("cx")) / 100;
    painted = true;
  }).observe(document, {subtree: true, attributeFilter: ["cx"]});
  // A message sent from a frame arrives once that frame is laid out and painted.
  const after = new MessageChannel();
  after.port1.onmessage = () => {
    const text = document.querySelector('[data-output="time_unfused"]')?.dataset.value;
    log.frames.push({mark, painted, text, at: performance.now()});
    painted = false;
  };
  const frame = () => {
    after.port2.postMessage(null);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  // An input event is sent just before a frame; the hand moved when its pointer event says.
  let moved = 0;
  addEventListener("pointermove", (event) => { moved = event.timeStamp; }, true);
  addEventListener("input", (event) => {
    log.changes.push({value: Number(event.target.value), at: moved});
  }, true);
  addEventListener("pointerup", (event) => { log.released = event.timeStamp; }, true);
  new PerformanceObserver((list) => log.longTasks.push(...list.getEntries().map((it) =>
    ({start: it.startTime, length: it.duration})))).observe({type: "longtask"});
})();
