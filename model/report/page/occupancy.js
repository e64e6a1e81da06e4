// How full links, pools and slots were, and whether they were busy, starved or blocked.

const kStates = [["busy", "busy_cycles"], ["blocked", "blocked_cycles"], ["starved", "starved_cycles"], ["idle", "idle_cycles"]];

function stateBar(o) {
  const total = o.cycles || kStates.reduce((sum, [, key]) => sum + (o[key] ?? 0), 0) || 1;
  const parts = kStates.map(([name, key]) => ({name, share: (o[key] ?? 0) / total}));
  return el("span", {class: "states", role: "img", "aria-label": parts.map((p) => `${p.name} ${percent(p.share)}`).join(", ")},
    parts.filter((p) => p.share > 0).map((p) => withTip(el("span", {class: p.name, style: `width:${(100 * p.share).toFixed(2)}%`}),
      () => tipLines(o.name, parts.map((q) => [q.name, percent(q.share, 2)])))));
}

function meanLevel(o) {
  const cycles = (o.histogram ?? []).reduce((sum, n) => sum + n, 0);
  return cycles === 0 ? null : o.histogram.reduce((sum, n, level) => sum + n * level, 0) / cycles;
}

// Cycles at each level, as small bars; the shape is what matters, the numbers stand in the tip.
function histogramBar(o) {
  const h = o.histogram ?? [];
  const total = h.reduce((sum, n) => sum + n, 0);
  if (total === 0) return "";
  const bins = 16, width = 96, step = Math.ceil(h.length / bins);
  const sums = [];
  for (let i = 0; i < h.length; i += step) sums.push(h.slice(i, i + step).reduce((sum, n) => sum + n, 0) / total);
  const drawing = svg("svg", {class: "spark", width, height: 20, role: "img", "aria-label": `mean occupancy ${number(meanLevel(o), 2)} of ${o.capacity}`},
    sums.map((share, i) => svg("rect", {x: (i * width) / sums.length, width: Math.max(1, width / sums.length - 1), y: 20 - 20 * share, height: 20 * share})));
  return withTip(drawing, () => tipLines(`${o.name}: occupancy`, sums.map((share, i) =>
    [step === 1 ? String(i) : `${i * step}\u2013${Math.min(h.length, (i + 1) * step) - 1}`, percent(share, 2)]).filter(([, v]) => v !== "0.00 %")));
}

function occupancySection(run) {
  const list = run.stats.occupancy ?? [];
  const title = "Occupancy";
  if (list.length === 0) return section(title, missing("This run's stats.json has no occupancy: a newer rnicsim writes it."));
  const share = (key) => (o) => (o.cycles > 0 && isNumber(o[key]) ? o[key] / o.cycles : null);
  const rows = [...list].sort((a, b) => (share("busy_cycles")(b) ?? 0) - (share("busy_cycles")(a) ?? 0));
  return section(title,
    el("p", {class: "heat-key"}, kStates.map(([name]) => [el("span", {class: `chip ${name}`, "aria-hidden": "true"}), name])),
    table([
      {title: "resource", get: (o) => o.name, head: true},
      {title: "node", get: (o) => o.node},
      {title: "kind", get: (o) => o.kind},
      {title: "capacity", get: (o) => o.capacity ?? null},
      {title: "mean", get: (o) => meanLevel(o), decimals: 2},
      {title: "occupancy", get: (o) => meanLevel(o), node: (v, o) => histogramBar(o)},
      {title: "busy", get: share("busy_cycles"), text: (v) => percent(v)},
      {title: "blocked", get: share("blocked_cycles"), text: (v) => percent(v)},
      {title: "starved", get: share("starved_cycles"), text: (v) => percent(v)},
      {title: "idle", get: share("idle_cycles"), text: (v) => percent(v)},
      {title: "cycles", get: (o) => o.cycles ?? null, node: (v, o) => stateBar(o)},
    ], rows, {caption: "Occupancy, the busiest first", filter: "Find a resource, a node or a kind", csv: "occupancy.csv", most: 25}));
}
