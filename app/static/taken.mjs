// What a grid may not hold by itself: what scrolls, and the pages to go to.
const ROLES = {
  ".tabulator-tableholder": "rowgroup", ".tabulator-table": "none", ".tabulator-footer": "rowgroup",
  ".tabulator-footer-contents": "row", ".tabulator-paginator": "gridcell",
};

// Watch what is shown below, so that the parts of a table have their roles.
function watch(root, seen = new Set()) {
  if (seen.has(root)) return;
  seen.add(root);
  const look = () => {
    for (const [part, role] of Object.entries(ROLES)) {
      for (const it of root.querySelectorAll(part)) it.setAttribute("role", role);
    }
    for (const it of root.querySelectorAll("*")) if (it.shadowRoot) watch(it.shadowRoot, seen);
  };
  new MutationObserver(look).observe(root, {childList: true, subtree: true});
  look();
}

// A file that is picked or dropped, or a text that is typed, is given to Python once, and not kept.
export function render({model}) {
  const whole = document.createElement("section");
  whole.className = "lab";
  whole.innerHTML = model.html;
  const form = whole.querySelector("form");
  const [file, text] = [form.querySelector("input"), form.querySelector("textarea")];
  const say = (words) => { form.querySelector(".problem").textContent = words; };

  async function give(blob, name) {
    if (blob.size > model.largest) {
      const inMB = (bytes) => (bytes / 2 ** 20).toFixed(1);
      say(model.too_large.replace("{size}", inMB(blob.size)).replace("{largest}", inMB(model.largest)));
      return;
    }
    say("");
    model.given = {name, content: await blob.arrayBuffer()};
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    give(new Blob([text.value]), "");
  });
  file?.addEventListener("change", () => {
    if (file.files.length > 0) give(file.files[0], file.files[0].name);
    // So that the same file can be picked again once it has been mended.
    file.value = "";
  });
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", (event) => {
    const dropped = event.dataTransfer.files[0];
    if (!file || !dropped) return;
    event.preventDefault();
    give(dropped, dropped.name);
  });
  model.on("after_render", () => watch(whole.getRootNode().host.getRootNode()));
  model.on("problem", () => say(model.problem));
  return whole;
}
