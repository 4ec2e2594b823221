// The article round the workshop: numbers in the text that can be set, guesses, the tour, terms, and
// words that point at parts of the figures.
"use strict";

// ---- inputs in the text: to be dragged, typed, or set by keys

const STOP_PIXELS = 8;

function scrubbed(echo) {
  const name = echo.dataset.echo;
  const {label, slider: ends, stops, page, min, max} = plate.inputs[name];
  if (!ends) return;
  const field = document.createElement("input");
  Object.assign(field, {type: "text", className: "number scrub", spellcheck: false, autocomplete: "off"});
  const fixed = {role: "spinbutton", "aria-label": label, "aria-valuemin": min, "aria-valuemax": max,
    "aria-describedby": `${name}-problem`};
  for (const [key, value] of Object.entries(fixed)) field.setAttribute(key, value);
  // A word joiner keeps what follows, such as a comma, on the same line.
  echo.replaceWith(field, "\u2060");
  let from = null;

  const show = () => {
    const text = inputText(name, state[name]);
    if (document.activeElement !== field || from) field.value = text;
    field.style.width = `${0.9 * text.length}ch`;
    field.setAttribute("aria-valuenow", state[name]);
    field.setAttribute("aria-valuetext", text);
    field.setAttribute("aria-invalid", false);
    field.disabled = !applies(name);
  };
  const take = () => {
    const value = parsed(name, field.value);
    const good = allowed(name, value);
    const wrong = !good && field.value !== inputText(name, state[name]);
    field.setAttribute("aria-invalid", wrong);
    if (good) setInputs({[name]: value});
    if (wrong) complain(name, field.value);
  };
  field.addEventListener("focus", () => {
    field.value = typedText(name, state[name]);
    field.select();
  });
  field.addEventListener("change", take);
  field.addEventListener("blur", () => {
    field.setAttribute("aria-invalid", false);
    show();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") take();
    const moves = ["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key);
    const value = moves ? stopAfter(event.key, stops, state[name], page) : undefined;
    if (value === undefined) return;
    event.preventDefault();
    setInputs({[name]: value});
    field.value = typedText(name, value);
  });
  field.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (document.activeElement === field) return;
    event.preventDefault();
    from = {x: event.clientX, stop: nearest(stops, state[name]), moved: false, value: state[name]};
    field.setPointerCapture(event.pointerId);
  });
  field.addEventListener("pointermove", (event) => {
    if (!from) return;
    const stop = from.stop + Math.round((event.clientX - from.x) / STOP_PIXELS);
    const value = stops[Math.max(0, Math.min(stop, stops.length - 1))];
    from.moved ||= stop !== from.stop;
    if (from.moved) setInputs({[name]: value});
  });
  field.addEventListener("pointerup", () => {
    const clicked = from && !from.moved;
    from = null;
    if (clicked) field.focus();
  });
  field.addEventListener("pointercancel", () => {
    if (from) setInputs({[name]: from.value});
    from = null;
  });
  show();
  whenShown.push(show);
}

// ---- guesses: the answer is computed when it is asked for, and stands nowhere before

function startGuess(form) {
  const guess = plate.guesses[form.dataset.guess];
  const box = one("input", form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const answer = read({...defaults, ...plate.states[guess.state]})[guess.reading];
    const apart = box.value - answer / guess.scale;
    const gap = Math.abs(apart) <= guess.close ? guess.near : apart > 0 ? guess.over : guess.under;
    say(one("p", form), filled(plate.words.guess_outcome, {
      guess: box.value + guess.unit, answer: outputText(guess.reading, answer), gap,
    }));
  });
}

function startGuesses() {
  const section = one(".guesses");
  const skip = () => { section.hidden = true; };
  all("form", section).forEach(startGuess);
  one("#skip").addEventListener("click", () => {
    skip();
    one("#workshop-title").setAttribute("tabindex", "-1");
    one("#workshop-title").focus();
  });
  addEventListener("keydown", ({key}) => {
    if (key === "Escape" && section.contains(document.activeElement)) one("#skip").click();
  });
}

// ---- the tour: states with a sentence each on what to notice

function startTour() {
  const panel = one(".tour");
  const [text] = all("p", panel);
  const button = one("#tour");
  let at = 0;
  const tell = () => {
    const {title, note} = plate.tour[at];
    say(text, `${title} ${sentence(note, shown)}`);
    say(one("span", panel), filled(plate.words.tour_place, {place: at + 1, all: plate.tour.length}));
    one("#back").setAttribute("aria-disabled", at === 0);
    one("#next").setAttribute("aria-disabled", at === plate.tour.length - 1);
  };
  const go = (to) => {
    if (!plate.tour[to]) return;
    at = to;
    setInputs({...defaults, ...plate.states[plate.tour[at].state]});
  };
  const left = () => Object.entries({...defaults, ...plate.states[plate.tour[at].state]})
    .some(([name, value]) => state[name] !== value);
  const close = (closed) => {
    if (closed && panel.contains(document.activeElement)) button.focus();
    panel.hidden = closed;
    button.setAttribute("aria-expanded", !closed);
    say(button, closed ? plate.words.tour_start : plate.words.tour_end);
  };
  button.addEventListener("click", () => {
    close(!panel.hidden);
    if (!panel.hidden) go(0);
  });
  panel.addEventListener("keydown", ({key}) => {
    if (key !== "Escape") return;
    close(true);
  });
  one("#back").addEventListener("click", () => go(at - 1));
  one("#next").addEventListener("click", () => go(at + 1));
  // Whoever sets something else has left the tour.
  whenShown.push(() => {
    if (panel.hidden) return;
    const wanted = {...defaults, ...plate.states[plate.tour[at].state]};
    if (left()) close(true);
    else if (Object.entries(wanted).every(([name, it]) => shown.inputs[name] === it)) tell();
  });
}

// ---- terms: a link to the glossary shows the definition where it stands

function startTerms() {
  const tip = one("#term");
  let open = null;
  const hide = () => {
    open?.removeAttribute("aria-describedby");
    tip.hidden = true;
    open = null;
  };
  const show = (link) => {
    hide();
    open = link;
    const definition = one(link.hash).nextElementSibling;
    say(tip, definition.textContent);
    tip.hidden = false;
    link.setAttribute("aria-describedby", "term");
    const {left, top, bottom} = link.getBoundingClientRect();
    // Below the link if there is room, and so close that the pointer can go there.
    const below = bottom + tip.offsetHeight < innerHeight;
    const most = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(left, most)) + scrollX}px`;
    tip.style.top = `${(below ? bottom - 1 : top + 1 - tip.offsetHeight) + scrollY}px`;
  };
  for (const link of all('a[href^="#term-"]')) {
    link.addEventListener("pointerenter", ({pointerType}) => pointerType === "mouse" && show(link));
    link.addEventListener("focus", () => show(link));
    link.addEventListener("blur", hide);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      show(link);
    });
    // The definition may be pointed at itself.
    link.addEventListener("pointerleave", ({relatedTarget}) => relatedTarget !== tip && hide());
  }
  tip.addEventListener("pointerleave", hide);
  addEventListener("keydown", ({key}) => key === "Escape" && hide());
  addEventListener("pointerdown", ({target}) => target !== tip && !target.closest("a") && hide());
}

// ---- what lights together: a phrase and a part of a figure; a step as code, way, span and row

function lightPart(name, on) {
  for (const element of all(`[data-part="${name}"], [data-end="${name}"], [data-mark="${name}"],
    [data-bar="${name}"], [data-lane="${name}"], [data-first="${name}"]`)) {
    element.classList.toggle("lit", on);
  }
}

function lightStep(step, on) {
  for (const element of all("[data-step].lit")) element.classList.remove("lit");
  for (const element of on ? all(`[data-step="${step}"]`) : []) element.classList.add("lit");
  for (const listener of whenLit) listener(on ? Number(step) : null);
}

// What is lit is drawn anew with the state, and may be gone from under the pointer.
function lightAgain() {
  if (one("[data-first].lit")) drawFirst();
  if (!one("[data-step].lit") && !one(".lane path.lit:not([d=''])")) return;
  const pointed = one("[data-step]:hover, [data-step]:focus");
  lightStep(pointed?.dataset.step, Boolean(pointed));
}

const whenLit = [];

function startLights() {
  const name = ({target}) => target.closest?.("[data-part]")?.dataset.part
    ?? Object.values({...target.closest?.("[data-end], [data-mark], [data-bar]")?.dataset})[0];
  const step = ({target}) => target.closest?.("[data-step]")?.dataset.step;
  for (const [type, on] of [["pointerover", true], ["pointerout", false], ["focusin", true], ["focusout", false]]) {
    document.addEventListener(type, (event) => {
      if (name(event)) {
        if (on) drawFirst();
        lightPart(name(event), on);
      }
      if (step(event)) lightStep(step(event), on);
    });
  }
  // After the figures, which come later, have been drawn.
  whenShown.push(() => queueMicrotask(lightAgain));
  for (const link of all("a[data-part]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      one(`[data-figure="${link.hash.slice(1)}"]`).scrollIntoView({block: "nearest"});
    });
  }
}

for (const echo of all(".lead [data-echo], .prose [data-echo]")) scrubbed(echo);
if (one(".guesses")) startGuesses();
if (one(".tour")) startTour();
startTerms();
startLights();
