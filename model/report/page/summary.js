// The outcome of a run: bottleneck, results, checks.

function bottleneckLine(run) {
  const b = run.stats.bottleneck;
  if (b?.line) return b.line.replace(/^bottleneck: /, "");
  if (b?.name) return `${b.name}${b.where ? `, ${b.where}` : ""}${isNumber(b.share) ? ` (${percent(b.share)})` : ""}`;
  const busiest = Object.entries(run.stats.utilization ?? {}).sort((x, y) => y[1] - x[1])[0];
  if (!busiest) return "No work was measured.";
  return `${busiest[1] > 0.95 ? "Saturated" : "Nothing is saturated; busiest"}: ${busiest[0]} (${percent(busiest[1])})`;
}

function limiterContent(run) {
  const {bottleneck, bottleneck_candidates: candidates = []} = run.stats;
  const content = [phaseNote(run), el("p", {class: "headline"}, bottleneckLine(run))];
  if (bottleneck?.evidence?.length) content.push(el("ul", {class: "evidence"}, bottleneck.evidence.map((e) => el("li", null, e))));
  if (!bottleneck) content.push(missing("This run's stats.json names no bottleneck: a newer rnicsim writes it."));
  if (candidates.length > 0) {
    content.push(table([
      {title: "candidate", get: (c) => c.name, head: true},
      {title: "where", get: (c) => c.where ?? ""},
      {title: "share", get: (c) => c.share ?? null, node: (v) => bar(v)},
      {title: "evidence", get: (c) => (c.evidence ?? []).join("; ")},
    ], candidates, {caption: "What was looked at"}));
  }
  return content;
}

function bottleneckSection(run) {
  return section("Bottleneck", phaseTable(run), phaseChoice(run), ofPhase(run, limiterContent));
}

function resultColumns() {
  return [
    {title: "work", get: (r) => r.name, head: true},
    {title: "operation", get: (r) => r.op},
    {title: "count", get: (r) => r.count},
    {title: "payload", unit: "octets", get: (r) => r.bytes},
    {title: "goodput", unit: "Gb/s", get: (r) => r.goodput_gbps, decimals: 2},
    {title: "of limit", get: (r) => (r.limit_gbps ? r.goodput_gbps / r.limit_gbps : null), text: (v) => percent(v)},
    {title: "rate", unit: "M/s", get: (r) => r.rate_mops, decimals: 3},
    {title: "p50", unit: "\u00b5s", get: (r) => micro(r.latency_ns?.p50), decimals: 2},
    {title: "p99", unit: "\u00b5s", get: (r) => micro(r.latency_ns?.p99), decimals: 2},
    {title: "p99.9", unit: "\u00b5s", get: (r) => micro(r.latency_ns?.["p99.9"]), decimals: 2},
    {title: "max", unit: "\u00b5s", get: (r) => micro(r.latency_ns?.max), decimals: 2},
    {title: "fairness", get: (r) => r.fairness ?? null, decimals: 3},
    {title: "data", get: (r) => (r.data_ok === undefined ? "" : r.data_ok ? "ok" : r.error ?? "wrong")},
  ];
}
function micro(ns) {
  return isNumber(ns) ? ns / 1000 : null;
}

function resultsSection(run) {
  const results = run.stats.results ?? [];
  const content = [results.length === 0 ? missing("This run has no work items.")
    : table(resultColumns(), results, {caption: "Results of the work", csv: "results.csv"})];
  content.push(checksTable(run));
  for (const error of run.stats.errors ?? []) content.push(el("p", {class: "bad"}, typeof error === "string" ? error : JSON.stringify(error)));
  return section("Results", content);
}

function checksTable(run) {
  const checks = run.stats.checks ?? [];
  if (checks.length === 0) return null;
  return table([
    {title: "check", get: (c) => c.name, head: true},
    {title: "outcome", get: (c) => (c.passed ? "passed" : "FAILED"), node: (v) => el("span", {class: v === "passed" ? "good" : "bad"}, v)},
    {title: "", get: (c) => c.text},
  ], checks, {caption: "Checks", sorts: false});
}

// Whether the run came to its end and passed its checks, as its exit code says, and what limits it. Work that fails as a
// check expects is no fault.
function verdictLine(run) {
  const {checks = [], errors = [], end, complete, results = [], programs = [], comparison} = run.stats;
  const failed = checks.filter((c) => !c.passed).length, wrong = results.filter((r) => r.data_ok === false || r.error).length;
  const undone = programs.filter((p) => p.error).length, differing = (comparison?.differences ?? []).filter((d) => !d.explained_by).length;
  const faults = [...(end && end !== "done" ? [complete === false ? `incomplete: ${end}` : end === "failed" ? "the run failed" : `ended with ${end}`] : []),
    ...(failed > 0 ? [`${failed} of ${checks.length} checks failed`] : []), ...(wrong > 0 && (failed > 0 || checks.length === 0) ? [`${wrong} of ${results.length} work items failed`] : []),
    ...(undone > 0 ? [`${undone} of ${programs.length} programs failed`] : []),
    ...(differing > 0 ? [`${differing} differences from the capture`] : []), ...(errors.length > 0 ? [`${errors.length} error${errors.length === 1 ? "" : "s"}`] : [])];
  const passed = checks.length === 0 ? "Done; no checks" : checks.length === 1 ? "Done; its check passed" : `Done; all ${checks.length} checks passed`;
  return el("p", {class: `verdict ${faults.length > 0 ? "bad" : "good"}`}, faults.length > 0 ? `Failed: ${faults.join("; ")}` : end ? passed : "No end is recorded",
    el("span", {class: "limit"}, `Bottleneck: ${bottleneckLine(run)}`));
}

// The facts at the head of a run.
function aboutRun(run) {
  const s = run.stats;
  return facts([
    ["scenario", s.scenario],
    ["ended", s.complete === false ? `${s.end}, incomplete` : s.end],
    ["simulated", isNumber(s.sim_time_ps) ? time(s.sim_time_ps / 1000) : null],
    ["processor time", isNumber(s.cpu_s) ? `${number(s.cpu_s)} s` : null],
    ["frames", isNumber(s.frames) ? number(s.frames) : null],
    ["seed", s.seed === undefined ? null : String(s.seed)],
    ["digest", s.digest ? el("code", null, s.digest) : null],
    ["program", s.versions?.rnicsim ? `rnicsim ${s.versions.rnicsim}` : null],
    ["folder", el("code", null, run.folder)],
  ]);
}
