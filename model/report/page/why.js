// What went wrong or was slow, and why: the answers of `rnicsim explain --why --json` as they are. The rules are in model/why.

const kSymptoms = {stalled: "Stalled", check: "Failed check", terminate: "Terminate", startup: "Failed set-up", slow: "Slowest request",
  slow_in_turn: "Slowest once it had its turn", slow_setup: "Slowest set-up", resent: "Sent again", reduced: "Congestion window reduced", connection_lost: "Connection lost", throughput: "What limits the run"};

const picoseconds = (ps) => time(ps / 1000);

// What the symptom is of, and when.
function symptomLine({node, request, text, from, to}) {
  const who = [request || node, text].filter(Boolean).join(", ");
  return to > from ? `${who}: ${picoseconds(to - from)}, from ${moment(from)} to ${moment(to)}` : `${who}${to > 0 ? ` at ${moment(to)}` : ""}`;
}

function causeText(cause) {
  return [`${cause.end}: ${cause.text}${cause.frame === null ? "" : `: frame ${cause.frame}`}`, cause.setting ? [" ", el("code", null, cause.setting)] : null];
}

// The cause, others of the same rank, and what a rule would have needed.
function causeLines({symptom, cause, also, not_recorded: notRecorded}) {
  const first = cause !== null ? el("p", {class: "cause"}, "CAUSE ", causeText(cause))
    : symptom.kind === "throughput" ? null : el("p", {class: "note"}, "No cause: it is not slower than others, or than its parts must be.");
  return [first, also.map((other) => el("p", null, "also ", causeText(other))), notRecorded.map((what) => el("p", {class: "note"}, `Not recorded: ${what}`))];
}

// What mattered at a step: windows, octets in flight.
const stateText = (state = {}) => Object.entries(state).map(([name, value]) => `${name} ${number(value)}`).join(", ");

const cableText = (counts) => `The cable: ${counts.map((c) => `${c.from} to ${c.to}: ${number(c.frames)} ${c.kind} (${c.setting})`).join(", ")}.`;

function waitsBar(waits, colours) {
  const all = waits.reduce((sum, w) => sum + w.ps, 0);
  const shown = waits.filter((w) => w.ps > 0).sort((a, b) => b.ps - a.ps);
  return [el("div", {class: "waits", role: "img", "aria-label": shown.map((w) => `${w.name} ${picoseconds(w.ps)}`).join(", ")},
    shown.map((w) => withTip(el("span", {style: `width:${(100 * w.ps / all).toFixed(3)}%;background:${colours.get(w.name)}`}),
      () => tipLines(w.name, [["waited", picoseconds(w.ps)], ["share", percent(w.ps / all)]])))),
  el("ul", {class: "key"}, shown.map((w) => el("li", null, el("span", {class: "chip", style: `background:${colours.get(w.name)}`, "aria-hidden": "true"}),
    `${w.name} ${picoseconds(w.ps)}`)))];
}

// A time of the run with all its digits, as neighbours in a chain are close.
const moment = (ps) => `${number(ps / 1e6, 3)} \u00b5s`;

function chainTable(chain, caption) {
  return el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption}, el("table", null,
    el("thead", null, el("tr", null, ["time", "node", "what happened", "frame"].map((t, i) => el("th", {scope: "col", class: i % 3 === 0 ? "number" : null}, t)))),
    el("tbody", null, chain.map((step) => el("tr", null,
      el("td", {class: "number"}, el("button", {type: "button", class: "when", onclick: () => showTime(step.ps / 1000, step.ps / 1000)}, moment(step.ps))),
       el("td", null, step.node), el("td", null, step.text, step.state ? el("span", {class: "note"}, ` ${stateText(step.state)}`) : null), el("td", {class: "number"}, step.frame ?? ""))))));
}

function whyCard(answer, colours) {
  const {symptom, chain, waits} = answer;
  const title = kSymptoms[symptom.kind] ?? symptom.kind;
  const times = [...(symptom.to > 0 ? [symptom.from, symptom.to] : []), ...chain.map((step) => step.ps)];
  const card = el("article", {class: "card"}, el("h3", null, title), el("p", null, symptomLine(symptom)), causeLines(answer),
    chain.length > 0 ? chainTable(chain, `${title}: from the cause to the symptom`) : null, waits.length > 0 ? waitsBar(waits, colours) : null);
  if (times.length === 0) return card;
  card.append(el("button", {type: "button", class: "action", onclick: () => {
    document.querySelectorAll(".card.shown").forEach((other) => other.classList.remove("shown"));
    card.classList.add("shown");
    showTime(Math.min(...times) / 1000, Math.max(...times) / 1000);
    if (symptom.request) showRequest(symptom.request);
    announce(`The panels show ${moment(Math.min(...times))} to ${moment(Math.max(...times))}`);
  }}, "Show this time in the panels below"));
  return card;
}

function whySection(run) {
  const title = "Why";
  if (!run.why) return section(title, missing("No database in the folder: rnicsim run --db writes it, and this page has the cause of each failure and of the slowest requests."));
  const {answers, left_out: leftOut, cable = []} = run.why;
  if (answers.length === 0) return section(title, el("p", null, "Nothing failed, and no program posted a request and saw it complete."));
  const colours = partColours([...new Set(answers.flatMap((a) => a.waits.map((w) => w.name)))]);
  const rest = Object.entries(leftOut).filter(([, count]) => count > 0).map(([kind, count]) => `${number(count)} more: ${(kSymptoms[kind] ?? kind).toLowerCase()}`);
  return section(title, el("div", {class: "cards"}, answers.map((a) => whyCard(a, colours))),
    cable.length > 0 ? el("p", null, cableText(cable)) : null,
    el("div", {class: "tools"}, el("button", {type: "button", class: "action", onclick: () => {
      document.querySelectorAll(".card.shown").forEach((card) => card.classList.remove("shown"));
      showTime(null);
    }}, "Show the whole run in the panels")),
    rest.length > 0 ? prose(`And ${rest.join(", ")}: \`rnicsim explain ${run.folder} --why --all\` prints them.`, {class: "note"}) : null);
}
