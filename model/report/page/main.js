// Unpacks the data, chooses the report, and makes its head and its contents.

// JSON that page.cpp has deflated, in base64.
async function unpacked(text) {
  const octets = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return JSON.parse(await new Response(new Blob([octets]).stream().pipeThrough(new DecompressionStream("deflate"))).text());
}

function chosenReport() {
  if (DATA.sweep) return sweepReport(DATA.sweep);
  return DATA.runs.length === 1 ? runReport(DATA.runs[0]) : comparison(DATA.runs);
}

// No paper scrolls, so what is wider than it is printed smaller.
const kPaper = 1000;  // px: A4 across, without its margins
function fitToPaper() {
  for (const wide of document.querySelectorAll(".scroll > *")) {
    wide.style.removeProperty("--fit");
    wide.style.setProperty("--fit", Math.min(1, kPaper / wide.getBoundingClientRect().width).toFixed(3));
  }
}

function show() {
  const report = chosenReport();
  document.title = `${report.title} \u2013 rnicsim`;
  document.getElementById("head").append(el("p", {class: "over"}, report.subtitle), el("h1", null, report.title), report.about);
  const content = document.getElementById("content");
  content.append(...report.sections);
  const unfold = (s) => s.querySelector(":scope > .folded:not([open]) > summary")?.click();
  document.getElementById("contents").append(el("ul", null, [...content.querySelectorAll("section")].map((s) =>
    el("li", null, el("a", {href: `#${s.id}`, onclick: () => unfold(s)}, s.dataset.title)))));
  document.getElementById("foot").append(el("p", null, `Made by ${DATA.program}. Charts by uPlot (MIT licence, in this file's source). This file loads nothing from anywhere.`));
  document.body.append(tip, announcer);
  addEventListener("scroll", hideTip, {passive: true});
  addEventListener("beforeprint", () => {
    // Charts that were never in view are printed, too.
    document.querySelectorAll(".plot").forEach((plot) => plot.dispatchEvent(new CustomEvent("draw")));
    fitToPaper();
  });
  matchMedia("print").addEventListener("change", (event) => event.matches && fitToPaper());
  if (matchMedia("print").matches) fitToPaper();
  document.documentElement.dataset.shown = "";  // a script that drives the page waits for this
}

unpacked(document.getElementById("data").textContent).then((data) => {
  DATA = data;
  for (const run of DATA.runs ?? []) sharesInPercent(run.series);
  show();
}).catch((error) => document.getElementById("content").append(
  el("p", {class: "bad"}, `The data of this page could not be shown: ${error}. It needs a browser with DecompressionStream: Chromium 80, Firefox 113, Safari 16.4 or newer.`)));
