// Starts each part of the page; what a page does not have is not started.
"use strict";

attempt(readAddress);
shown.inputs = {...state};
Object.keys(plate.inputs).forEach((name) => attempt(startControl, name));
for (const button of all("[data-state]")) {
  button.addEventListener("click", () => setInputs(plate.states[button.dataset.state]));
}
one("#reset").addEventListener("click", () => setInputs(defaults));
for (const echo of all(".lead [data-echo], .prose [data-echo]")) attempt(startScrub, echo);
attempt(startNumbers);
all("[data-scope]").forEach((scope) => attempt(startScope, scope));
all(".plot > .tip").forEach((tip) => attempt(startTip, tip.parentElement));
if (one("#measured")) attempt(startMeasured);
if (parent !== window) root.dataset.framed = "";
else if (one(".dock") && one(".stage .control")) attempt(startDock);
if (one(".guesses")) attempt(startGuesses);
if (one(".tour")) attempt(startTour);
attempt(startTerms);
attempt(startLights);
attempt(startTake);
attempt(startLinks);
attempt(startFrame);
attempt(startLabels);
when.settled.push(() => say(one("#spoken"), sentence(plate.readout, shown)));

for (const listener of when.set) attempt(listener);
attempt(computeHere, {...state});
root.dataset.plate = "ready";
