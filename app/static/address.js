// The address: read once, written when the reader rests, and given away. And a page that holds this one
// in a frame: it hears of height and state, and may set things.
"use strict";

const VIEW = {view: ["full", "workshop"], theme: ["auto", "light", "dark"], points: ["off", "on"]};

function notice(about, text) {
  const line = one(`#notices [data-about="${about}"]`) ?? document.createElement("p");
  line.dataset.about = about;
  line.textContent = text;
  one("#notices").append(line);
}

function readAddress() {
  const asked = new URLSearchParams(location.search);
  const take = (name, range, holder, good, value) => {
    const given = asked.getAll(name);
    if (given.length === 0) return;
    if (given.length === 1 && good(given[0])) {
      holder[name] = value(given[0]);
      return;
    }
    const text = given.join(", ").slice(0, 60);
    notice(name, filled(plate.words.wrong_address, {name, text, range, value: holder[name]}));
    timers.settling ??= setTimeout(settle, SETTLED_MS);
  };
  for (const [name, {range}] of Object.entries(plate.inputs)) {
    take(name, range, state, (text) => allowed(name, parsed(name, text)), (text) => parsed(name, text));
  }
  for (const [name, choices] of Object.entries(VIEW)) {
    const range = filled(plate.words.range_one, {options: choices.join(", ")});
    take(name, range, root.dataset, (it) => choices.includes(it), String);
  }
  // What is set behind the fold is not hidden behind it.
  if (Object.keys(state).some((name) => plate.inputs[name].more && state[name] !== defaults[name])) {
    one("#more").open = true;
  }
}

// What the address says: the main inputs, and of the others those that were ever set.
const told = (asked) => Object.fromEntries(Object.entries(state).filter(([name, value]) =>
  !plate.inputs[name].more || value !== defaults[name] || asked.has(name)));

// The query with what is the plate's own as given. The rest stays as it is written and where it stands:
// the page may be found by it.
function queryWith(own) {
  const left = new Map(Object.entries(own));
  const parts = location.search.slice(1).split("&").map((part) => {
    const [name] = new URLSearchParams(part).keys();
    if (!(Object.hasOwn(plate.inputs, name) || Object.hasOwn(VIEW, name))) return part;
    const said = left.has(name) ? `${new URLSearchParams({[name]: left.get(name)})}` : "";
    left.delete(name);
    return said;
  });
  return [...parts, `${new URLSearchParams([...left])}`].filter(Boolean).join("&");
}

const points = () => (root.dataset.points === "on" ? {points: "on"} : {});

function writeAddress(hash = location.hash) {
  const asked = new URLSearchParams(location.search);
  const views = Object.keys(VIEW).filter((name) => asked.has(name)).map((name) => [name, root.dataset[name]]);
  const query = queryWith({...told(asked), ...Object.fromEntries(views), ...points()});
  try {
    history.replaceState(history.state, "", `?${query}${hash}`);
  } catch {
    // A page from disk or in a sandbox has no address of its own to write.
  }
}

function addressWith(more) {
  const url = new URL(location.href);
  url.search = queryWith({...told(new URLSearchParams()), ...points(), ...more});
  url.hash = "";
  return url.href;
}

async function copyLink() {
  const {theme} = Object.fromEntries(new URLSearchParams(location.search));
  const link = addressWith(theme ? {theme} : {});
  try {
    await navigator.clipboard.writeText(link);
    say(one("#copied"), plate.words.copied);
  } catch {
    say(one("#copied"), link);
  }
}

function showCode() {
  const {code, script} = one("#embed textarea").dataset;
  // A file on this disk has no address that another page could use.
  const hosted = (address) => String(address).replace(/^file:.*\//, "https://your.host/");
  one("#embed textarea").value = code
    .replace("{address}", hosted(addressWith({view: "workshop"})))
    .replace("{script}", hosted(new URL(script, location.href)));
}

function withState(link, lead) {
  if (link === null) return;
  when.settled.push(() => lead(link));
  lead(link);
}

function startLinks() {
  when.settled.push(() => writeAddress());
  // A page without an address of its own, as in srcdoc, has none to give away.
  if (!/^(http|file)/.test(location.protocol)) {
    for (const part of all(".linked")) part.hidden = true;
    return;
  }
  one("#copy").addEventListener("click", copyLink);
  when.shown.push(() => timers.settling && say(one("#copied"), ""));
  when.settled.push(showCode);
  showCode();
  withState(one("#lab"), (link) => { link.search = new URLSearchParams(told(new URLSearchParams())); });
  withState(one("#measure"), (link) => {
    const {measure, of} = link.dataset;
    link.href = `${measure}${state[of]}.py`;
    // What a reader gave themselves has no script.
    link.hidden = Boolean(plate.inputs[of].options[state[of]].given_by);
  });
}

// ---- the page that holds this one

function startFrame() {
  if (parent === window) return;
  const post = (message) => parent.postMessage({...message, plate: plate.id}, "*");
  const followsHost = root.dataset.theme === "auto";
  let height = 0;
  let asked = false;
  const postHeight = () => post({type: "plate:height", height});
  const measure = () => {
    const before = height;
    height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height !== before) postHeight();
  };
  new ResizeObserver(measure).observe(document.body);
  // A frame that is out of sight is not laid out by itself, so its observer stays silent.
  measure();
  when.settled.push(({inputs, values}) =>
    post({type: "plate:state", inputs, readings: outcome(values)}));
  addEventListener("message", ({source, data}) => {
    if (source !== parent || !data) return;
    if (data.type === "plate:set") setInputs(Object(data.inputs));
    if (data.type !== "plate:theme" || !VIEW.theme.includes(data.theme)) return;
    if (followsHost && root.dataset.theme !== data.theme) root.dataset.theme = data.theme;
    // A host whose script came late has missed the height.
    if (!asked) postHeight();
    asked = true;
  });
}
