// A served page and its Panel session: the page is whole without it, and loads it once it stands.
"use strict";

const TELL_MS = 100;
let closed = false;

// Called by the component's module (session.mjs) once Panel shows it. `model.page` is what the page
// tells the server: the inputs that the reader changed. `model.server` is what the server tells the
// page: all inputs, and which message of the page it has heard. One message is under way at a time.
function join(model) {
  let known = model.server.inputs;
  let number = 0;
  let flying = {};
  let later = null;
  const pick = (inputs, wanted) =>
    Object.fromEntries(Object.entries(inputs).filter(([name, value]) => wanted(name, value)));

  function send() {
    const changed = pick(state, (name, value) => value !== known[name]);
    if (closed || Object.keys(flying).length > 0 || Object.keys(changed).length === 0) return;
    flying = changed;
    model.page = {number: ++number, inputs: changed};
  }

  // Where the page computes, Python hears of a drag now and then, and of where it ends.
  function tell() {
    later ??= setTimeout(() => {
      later = null;
      send();
    }, TELL_MS);
  }

  model.on("server", () => {
    const {heard, inputs, readings, tables} = model.server;
    const expected = {...known, ...flying};
    const unheard = heard === number ? {} : flying;
    const changed = pick(inputs, (name, value) => !(name in unheard) && value !== expected[name]);
    known = inputs;
    flying = unheard;
    setInputs(changed);
    if (readings) show(inputs, readings, tables);
    send();
  });
  if (root.dataset.engine === "python") compute = send;
  else whenShown.push(tell);
  // What the address or the reader has set stands; for the rest Python says how things are.
  setInputs({...known, ...pick(state, (name, value) => value !== defaults[name])});
  root.dataset.session = "attached";
}

function lose() {
  closed = true;
  compute = computeHere;
  setInputs({});
  notice("connection", plate.words.lost);
}

function load(source) {
  return new Promise((done, failed) => document.head.append(Object.assign(
    document.createElement("script"), {src: source, onload: done, onerror: failed})));
}

(async () => {
  // In a sandboxed frame the server counts as another site; the page is then left to itself.
  if (self.origin === "null") return;
  try {
    const answer = await fetch(root.dataset.session);
    const {scripts, token, socket} = await answer.json();
    for (const source of scripts) {
      // A page that draws with Bokeh has it already.
      if (!(self.Bokeh && source.includes("/bokeh.min.js"))) await load(source);
    }
    const url = new URL(socket, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    await Bokeh.embed.add_document_from_session(url.href, token, one("#session"));
    Bokeh.documents.at(-1).on_event("connection_lost", lose);
  } catch {
    lose();
  }
})();
