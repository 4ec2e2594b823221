// The article round the workshop: the dock, guesses, the tour, terms, and what lights together.
"use strict";

const stateOf = (name) => ({...defaults, ...plate.states[name]});

// ---- guesses: the answer is computed when it is asked for, and stands nowhere before

function startGuess(form) {
  const guess = plate.guesses[form.dataset.guess];
  const box = one("input", form);
  const range = filled(plate.words.range_number, guess);
  const meant = () => parsedNumber(box.value, {prefix: "", min: guess.low});
  box.addEventListener("input", () => {
    const said = meant();
    box.setCustomValidity(said >= guess.low && said <= guess.high ? "" : range);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const answer = read(stateOf(guess.state))[guess.reading];
    const said = meant();
    const apart = said - answer / guess.scale;
    const gap = Math.abs(apart) <= guess.close ? guess.near : apart > 0 ? guess.over : guess.under;
    say(one("p", form), filled(plate.words.guess_outcome, {
      guess: exactly(said) + guess.unit, answer: outputText(guess.reading, answer), gap,
    }));
  });
}

function startGuesses() {
  const section = one(".guesses");
  all("form", section).forEach(startGuess);
  one("#skip").addEventListener("click", () => {
    section.hidden = true;
    one("#workshop-title").setAttribute("tabindex", "-1");
    one("#workshop-title").focus();
  });
  addEventListener("keydown", ({key}) => {
    if (key === "Escape" && section.contains(document.activeElement)) one("#skip").click();
  });
}

// ---- the tour: states with a sentence each on what to notice, and the figure in which to see it

function startTour() {
  const tour = one(".tour");
  const [text] = all("p", tour);
  const button = one("#tour");
  const link = one("a", tour);
  let place = 0;
  const tell = () => {
    const {title, note} = plate.tour[place];
    say(text, `${title} ${sentence(note, shown)}`);
    say(one("span", tour), filled(plate.words.tour_place, {place: place + 1, all: plate.tour.length}));
    link.href = `#tour-${place + 1}`;
    one("#back").setAttribute("aria-disabled", place === 0);
    one("#next").setAttribute("aria-disabled", place === plate.tour.length - 1);
  };
  const go = (to) => {
    if (!plate.tour[to]) return;
    place = to;
    setInputs(stateOf(plate.tour[place].state));
    const figure = one(`[data-scope="${plate.tour[place].figure}"]`);
    const fold = figure?.closest("details");
    if (fold) fold.open = true;
    figure?.scrollIntoView({block: "nearest"});
  };
  const stands = (inputs) => Object.entries(stateOf(plate.tour[place].state))
    .every(([name, value]) => inputs[name] === value);
  const close = (closed) => {
    if (closed && tour.contains(document.activeElement)) button.focus();
    tour.hidden = closed;
    root.toggleAttribute("data-touring", !closed);
    button.setAttribute("aria-expanded", !closed);
    say(button, closed ? plate.words.tour_start : plate.words.tour_end);
    if (closed && linked()) writeAddress("");
  };
  const linked = () => Number(/^#tour-(\d+)$/.exec(location.hash)?.[1]);
  const follow = () => {
    if (!plate.tour[linked() - 1]) return;
    close(false);
    go(linked() - 1);
  };
  button.addEventListener("click", () => {
    close(!tour.hidden);
    if (!tour.hidden) go(0);
  });
  addEventListener("keydown", ({key}) => key === "Escape" && !tour.hidden && close(true));
  addEventListener("hashchange", follow);
  one("#back").addEventListener("click", () => go(place - 1));
  one("#next").addEventListener("click", () => go(place + 1));
  // Whoever sets something else has left the tour.
  when.shown.push(() => {
    if (tour.hidden) return;
    if (!stands(state)) close(true);
    else if (stands(shown.inputs)) tell();
  });
  follow();
}

// ---- the dock: on a narrow page what the curves come to, with the control last used, while the
// controls are out of sight. The control itself moves there and back, so that there is one of it.

function startDock() {
  const dock = one(".dock");
  const room = document.createElement("div");
  const narrow = matchMedia("(max-width: 74.99rem)");
  let [control] = all(".stage .control");
  let gone = false;
  const show = () => {
    const typing = document.activeElement.matches("textarea, [type=text]");
    const shows = gone && narrow.matches && !typing;
    if (dock.hidden !== shows) return;
    const focused = document.activeElement;
    if (shows) {
      room.style.height = `${control.offsetHeight}px`;
      control.replaceWith(room);
      dock.append(control);
    } else room.replaceWith(control);
    dock.hidden = !shows;
    if (control.contains(focused)) focused.focus({preventScroll: true});
  };
  new IntersectionObserver(([seen]) => {
    gone = !seen.isIntersecting;
    show();
  }).observe(one(".stage > .controls"));
  narrow.addEventListener("change", show);
  for (const type of ["focusin", "focusout"]) document.addEventListener(type, () => setTimeout(show));
  one(".stage").addEventListener("focusin", ({target}) => { control = target.closest(".control") ?? control; });
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
    say(tip, one(link.hash).nextElementSibling.textContent);
    tip.hidden = false;
    link.setAttribute("aria-describedby", "term");
    const {left, top, bottom} = link.getBoundingClientRect();
    // Below the link if there is room, and so close that the pointer can go there.
    const below = bottom + tip.offsetHeight < innerHeight;
    const most = root.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(left, most)) + scrollX}px`;
    tip.style.top = `${(below ? bottom - 1 : top + 1 - tip.offsetHeight) + scrollY}px`;
  };
  for (const link of all('a[href^="#term-"]')) {
    link.addEventListener("pointerenter", ({pointerType}) => pointerType === "mouse" && show(link));
    link.addEventListener("focus", () => show(link));
    link.addEventListener("blur", hide);
    link.addEventListener("click", (event) => {
      if (modified(event)) return;
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

function startLights() {
  const marked = (kind, {target}) => target.closest?.(`[data-${kind}]`)?.dataset[kind];
  const light = (kind, name, on) => {
    for (const it of all(`[data-${kind}="${name}"]`)) it.classList.toggle("lit", on);
  };
  for (const [type, on] of [["pointerover", true], ["pointerout", false], ["focusin", true], ["focusout", false]]) {
    document.addEventListener(type, (event) => {
      for (const kind of ["part", "step"]) {
        const name = marked(kind, event);
        if (name !== undefined) light(kind, name, on);
      }
    });
  }
  // A step that is lit may be gone from under the pointer, or have more kernels.
  when.shown.push(() => {
    const lit = one("[data-step].lit");
    if (!lit) return;
    const pointed = one("[data-step]:hover, [data-step]:focus");
    for (const it of all("[data-step].lit")) it.classList.remove("lit");
    if (pointed) light("step", pointed.dataset.step, true);
  });
  for (const link of all("a[data-part]")) {
    link.addEventListener("click", (event) => {
      if (modified(event)) return;
      event.preventDefault();
      one(`[data-figure="${link.hash.slice(1)}"]`).scrollIntoView({block: "nearest"});
    });
  }
}
