// The phase of the run that limiter, diagram and occupancy show: one choice for all of them.

const phaseViews = new Set();
let shownPhase = null;  // the run with the figures of the chosen phase; null before a choice

// The run with the figures of one phase alone; the whole run for null. What the phase does not have (counters, the fill
// level of pools) is left out.
function inPhase(run, phase) {
  if (phase === null) return run;
  const whole = new Map((run.stats.occupancy ?? []).map((o) => [`${o.node} ${o.name}`, o]));
  const occupancy = (phase.occupancy ?? []).map((o) => {
    const {kind, capacity, cycle_ps: cycle} = whole.get(`${o.node} ${o.name}`) ?? {};
    return {kind: kind ?? "", capacity: capacity ?? 0, cycle_ps: cycle, idle_cycles: 0, ...o};
  });
  return {...run, phase, stats: {...run.stats, bottleneck: phase.bottleneck, bottleneck_candidates: phase.candidates ?? [],
    utilization: phase.utilization ?? {}, occupancy, stats: {}}};
}

// A box that `make` fills for the chosen phase, again for each choice.
function ofPhase(run, make) {
  const box = el("div", null, make(shownPhase ?? run));
  phaseViews.add((view) => box.replaceChildren(...[make(view)].flat(Infinity).filter(Boolean)));
  return box;
}

// Nothing for a run of one phase, which is the whole run.
function phaseChoice(run) {
  const phases = run.stats.phases ?? [];
  if (phases.length < 2) return null;
  const all = phases.reduce((sum, p) => sum + (p.time_ps ?? 0), 0);
  const options = [["", "the whole run"], ...phases.map((p, i) => [String(i), `${p.name}${all > 0 && isNumber(p.time_ps) ? ` (${percent(p.time_ps / all)} of the time)` : ""}`])];
  return el("div", {class: "tools phase"}, select("Phase, for limiter, utilization and occupancy", options, "", (value) => {
    const view = shownPhase = inPhase(run, value === "" ? null : phases[Number(value)]);
    for (const show of phaseViews) show(view);
    announce(`Limiter, utilization and occupancy of ${view.phase?.name ?? "the whole run"}`);
  }));
}

// Says which phase is shown where the choice is out of sight.
function phaseNote(run) {
  return run.phase ? prose(`In the phase of ${run.phase.name}. Of a pool the share of time in which it was in use: its fill level is known of the whole run alone.`, {class: "note"}) : null;
}

// Each phase with its limiter.
function phaseTable(run) {
  const phases = run.stats.phases ?? [];
  if (phases.length < 2) return null;
  return table([
    {title: "phase", get: (p) => p.name, head: true},
    {title: "time", unit: "\u00b5s", get: (p) => (isNumber(p.time_ps) ? p.time_ps / 1e6 : null), decimals: 2},
    {title: "limiter", get: (p) => p.bottleneck.name || "none"},
    {title: "where", get: (p) => p.bottleneck.where ?? ""},
    {title: "share", get: (p) => p.bottleneck.share ?? null, node: (v) => bar(v)},
    {title: "evidence", get: (p) => (p.bottleneck.evidence ?? []).join("; ")},
  ], phases, {caption: "What limits each phase", sorts: false});
}
