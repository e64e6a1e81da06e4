// Chooses the report, and makes its head and its contents.

const DATA = JSON.parse(document.getElementById("data").textContent);

function chosenReport() {
  if (DATA.sweep) return sweepReport(DATA.sweep);
  return DATA.runs.length === 1 ? runReport(DATA.runs[0]) : comparison(DATA.runs);
}

const report = chosenReport();
document.title = `${report.title} \u2013 rnicsim`;
document.getElementById("head").append(el("p", {class: "over"}, report.subtitle), el("h1", null, report.title), report.about);
document.getElementById("contents").append(el("ul", null, report.sections.map((s) =>
  el("li", null, el("a", {href: `#${s.id}`}, s.dataset.title)))));
document.getElementById("content").append(...report.sections);
document.getElementById("foot").append(el("p", null, `Made by ${DATA.program}. Charts by uPlot (MIT licence, in this file's source). This file loads nothing from anywhere.`));
document.body.append(tip, announcer);
addEventListener("scroll", hideTip, {passive: true});
// Charts that were never in view are printed, too.
addEventListener("beforeprint", () => document.querySelectorAll(".plot").forEach((plot) => plot.dispatchEvent(new CustomEvent("draw"))));
