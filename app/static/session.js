// A served page and its Panel session: the page is whole without it, and loads it once it stands.
"use strict";

const LOST = "The server cannot be reached. This page goes on working by itself;"
  + " reload it to connect again.";
const TELL_MS = 100;
let closed = false;

// Called by the component's module (session.mjs) once Panel shows it. `model.page` is what the page
// tells the server, `model.server` what the server tells the page. One message is under way at a
// time, and the newest state goes next.
function join(model) {
  let number = 0;
  let busy = false;
  let waiting = null;
  let later = null;

  function send(inputs) {
    waiting = inputs;
    if (busy || closed) return;
    [busy, waiting] = [true, null];
    model.page = {number: ++number, inputs};
  }

  // Where the page computes, Python hears of a drag now and then, and of where it ends.
  function tell() {
    later ??= setTimeout(() => {
      later = null;
      send({...state});
    }, TELL_MS);
  }

  model.on("server", () => {
    const {answer, inputs, readings, tables} = model.server;
    if (!answer) {
      setInputs(inputs);
      return;
    }
    if (readings) show(inputs, readings, tables);
    busy = false;
    if (waiting) send(waiting);
  });
  if (root.dataset.engine === "python") compute = send;
  else whenShown.push(tell);
  send({...state});
  root.dataset.session = "attached";
}

function lose() {
  closed = true;
  compute = computeHere;
  setInputs({});
  notice("connection", LOST);
}

function load(source) {
  return new Promise((done, failed) => document.head.append(Object.assign(
    document.createElement("script"), {src: source, onload: done, onerror: failed})));
}

(async () => {
  // In a sandboxed frame the server counts as another site; the page is then left to itself.
  if (self.origin === "null") return;
  try {
    const answer = await fetch(`${root.dataset.session}${location.search}`);
    const {scripts, token, socket} = await answer.json();
    for (const source of scripts) await load(source);
    const url = new URL(socket, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    await Bokeh.embed.add_document_from_session(url.href, token, one("#session"));
    Bokeh.documents.at(-1).on_event("connection_lost", lose);
  } catch {
    lose();
  }
})();
