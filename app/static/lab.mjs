const RESTED_MS = 120;

// The inputs of a plate as native controls. Python reads what was typed, and says how each input stands;
// one request is under way at a time, and the newest waits for its answer.
export function render({model}) {
  const whole = document.createElement("div");
  whole.className = "lab";
  whole.innerHTML = model.html;
  const one = (selector, within = whole) => within.querySelector(selector);
  const all = (selector, within = whole) => [...within.querySelectorAll(selector)];
  const shown = {};
  let number = 0;
  let waiting = {inputs: {}};
  let flying = false;
  let resting;

  function send() {
    const {inputs, ...others} = waiting;
    if (flying || Object.keys({...inputs, ...others}).length === 0) return;
    flying = true;
    model.asked = {number: ++number, ...waiting};
    waiting = {inputs: {}};
  }

  function ask(inputs, others) {
    waiting = {...waiting, ...others, inputs: {...waiting.inputs, ...inputs}};
    send();
  }

  const asks = {
    quantity: (element) => element.type === "range" ? {position: Number(element.value)} : {text: element.value},
    rows: (element) => ({text: element.value}),
    choice: (element) => ({text: element.value}),
    flags: (_, control) =>
      ({text: all(":checked", control).map((it) => it.dataset.flag).join() || "none"}),
  };

  function show(name, {position, text, typed, value, off, hidden, about, problem}) {
    const control = one(`[data-control="${name}"]`);
    const set = (selector, change) => all(selector, control).forEach(change);
    set("[type=range]", (it) => {
      it.value = position;
      it.setAttribute("aria-valuetext", text);
    });
    set("[data-spoken]", (it) => { it.textContent = text; });
    set("[data-typed]", (it) => {
      if (problem === "") it.value = typed;
      it.setAttribute("aria-invalid", problem !== "");
    });
    set("select", (it) => { it.value = value; });
    set("[data-flag]", (it) => { it.checked = value.split(",").includes(it.dataset.flag); });
    set("[data-about-option]", (it) => { it.textContent = about; });
    set("input, select, fieldset", (it) => { it.disabled = off; });
    set(".problem", (it) => { it.textContent = problem; });
    control.hidden = hidden;
    control.toggleAttribute("data-off", off);
  }

  function hear() {
    const {heard, inputs, readout, address, complete} = model.told;
    for (const [name, said] of Object.entries(inputs)) {
      const text = JSON.stringify(said);
      if (name in waiting.inputs || shown[name] === text) continue;
      shown[name] = text;
      show(name, said);
    }
    one(".readout").textContent = readout;
    for (const link of all("[data-page]")) link.href = `${link.dataset.page}?${address}`;
    for (const link of all("[data-measure]")) {
      const {value, given} = inputs[link.dataset.of];
      link.href = `${link.dataset.measure}${value}.py`;
      link.hidden = given;
    }
    if (heard === number) flying = false;
    send();
    // What is folded away on the page is drawn once the reader rests, or it would keep the next move waiting.
    clearTimeout(resting);
    if (!complete) resting = setTimeout(() => ask({}, {rest: true}), RESTED_MS);
  }

  for (const control of all("[data-control]")) {
    const name = control.dataset.control;
    const kind = Object.keys(asks).find((it) => control.classList.contains(it));
    const event = (element) => element.type === "range" ? "input" : "change";
    for (const element of all("input, select", control)) {
      element.addEventListener(event(element), () => ask({[name]: asks[kind](element, control)}));
    }
  }
  for (const button of all("[data-state]")) {
    button.addEventListener("click", () => ask({}, {state: button.dataset.state}));
  }
  // A figure's colours are the style sheet's when it is painted: it is painted anew where these change.
  // It waits for no frame, since paper does not.
  const theme = matchMedia("screen and (prefers-color-scheme: dark)");
  const repaint = () => {
    for (const view of Bokeh.index.query((it) => it.model.type === "Figure")) {
      view.invalidate_painters();
      view.repaint();
    }
  };
  theme.addEventListener("change", repaint);
  model.on("remove", () => theme.removeEventListener("change", repaint));
  model.on("told", hear);
  hear();
  return whole;
}
