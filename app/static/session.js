// A served page and its Panel session: the page is complete without it and loads it when it stands.
"use strict";

(async () => {
  const plate = globalThis.plate;
  const root = document.documentElement;
  const TELL_MS = 100;
  let closed = false;
  const python = root.dataset.engine === "python";
  const LOST = "The server cannot be reached. This page goes on working by itself;"
    + " reload it to connect again.";

  // Called by the component's module (session.mjs) once Panel shows it. `model.page` is what the
  // page tells the server, `model.server` what the server tells the page. One message is under way
  // at a time, and the newest state goes next.
  plate.attach = (model) => {
    let number = 0;
    let busy = false;
    let waiting = null;
    const send = (inputs) => {
      waiting = inputs;
      if (busy || closed) return;
      busy = true;
      waiting = null;
      model.page = {number: ++number, inputs};
    };
    model.on("server", () => {
      const {answer, inputs, readings, columns} = model.server;
      if (!answer) {
        plate.set(inputs);
        return;
      }
      if (readings) plate.show(inputs, readings, columns);
      busy = false;
      if (waiting) send(waiting);
    });
    // Where the page computes, Python hears of a drag now and then, and of where it ends.
    let later = null;
    const tell = () => {
      later ??= setTimeout(() => {
        later = null;
        send(plate.state());
      }, TELL_MS);
    };
    if (python) plate.compute = send;
    else plate.on("draw", tell);
    send(plate.state());
    root.dataset.session = "attached";
  };

  const lost = () => {
    closed = true;
    plate.compute = plate.computeHere;
    plate.set({});
    plate.notice("connection", LOST);
  };

  const load = (source) => new Promise((done, failed) => {
    const script = document.createElement("script");
    Object.assign(script, {src: source, onload: done, onerror: failed});
    document.head.append(script);
  });

  try {
    const answer = await fetch(`${root.dataset.session}${location.search}`);
    const {scripts, token, socket} = await answer.json();
    for (const source of scripts) await load(source);
    const url = new URL(socket, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const place = document.querySelector("#session");
    await Bokeh.embed.add_document_from_session(url.href, token, place);
    Bokeh.documents.at(-1).on_event("connection_lost", lost);
  } catch {
    lost();
  }
})();
