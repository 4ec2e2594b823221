// The workshop in a notebook: the page in a frame, in step with `model.inputs` both ways.
const unzipped = (base64) => {
  const zipped = new Blob([Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0))]);
  return new Response(zipped.stream().pipeThrough(new DecompressionStream("gzip"))).text();
};

export function render({model}) {
  const frame = document.createElement("iframe");
  frame.title = model.title;
  frame.sandbox = "allow-scripts";
  frame.style = "width: 100%; height: 760px; border: 0";
  unzipped(model.page).then((html) => { frame.srcdoc = html; });
  let told = null;

  function tell() {
    if (told === JSON.stringify(model.inputs)) return;
    frame.contentWindow.postMessage({type: "plate:set", inputs: model.inputs}, "*");
  }

  function hear({source, data}) {
    if (source !== frame.contentWindow) return;
    if (data.type === "plate:height") {
      frame.style.height = `${data.height}px`;
      if (told === null) tell();
    }
    if (data.type === "plate:state") {
      told = JSON.stringify(data.inputs);
      model.inputs = data.inputs;
    }
  }

  addEventListener("message", hear);
  model.on("inputs", tell);
  model.on("remove", () => removeEventListener("message", hear));
  return frame;
}
