// How full links, pools and slots were, and whether they were busy, starved or blocked.

// What the states of a pool, a link or a slot mean, for notes and tips.
const kStateMeanings = {busy: "some are taken", blocked: "all are taken, and somebody waits for one", starved: "none is taken, though there is work", idle: "there is no work"};
const kStates = [["busy", "busy_cycles"], ["blocked", "blocked_cycles"], ["starved", "starved_cycles"], ["idle", "idle_cycles"]];

function stateBar(o) {
  const total = o.cycles || kStates.reduce((sum, [, key]) => sum + (o[key] ?? 0), 0) || 1;
  const parts = kStates.map(([name, key]) => ({name, share: (o[key] ?? 0) / total}));
  return el("span", {class: "states", role: "img", "aria-label": parts.map((p) => `${p.name} ${percent(p.share)}`).join(", ")},
    parts.filter((p) => p.share > 0).map((p) => withTip(el("span", {class: p.name, style: `width:${(100 * p.share).toFixed(2)}%`}),
      () => tipLines(o.name, parts.map((q) => [`${q.name}: ${kStateMeanings[q.name]}`, percent(q.share, 2)])))));
}

// Bin 0 is the occupancy 0. Each further bin covers bin_width values, and its middle stands for all of them.
function binLevel(o, i) {
  const width = o.bin_width ?? 1;
  const level = i === 0 ? 0 : (i - 1) * width + (width + 1) / 2;
  return o.capacity > 0 ? Math.min(level, o.capacity) : level;
}
function binText(o, i) {
  const width = o.bin_width ?? 1;
  return i === 0 || width === 1 ? String(i) : `${number((i - 1) * width + 1)}\u2013${number(i * width)}`;
}

function meanLevel(o) {
  const cycles = (o.histogram ?? []).reduce((sum, n) => sum + n, 0);
  return cycles === 0 ? null : o.histogram.reduce((sum, n, i) => sum + n * binLevel(o, i), 0) / cycles;
}

// Shares of the cycles with work: in use, used up and waited for, and the mean fill level if it is known.
function workShares(o) {
  const working = o.cycles - (o.idle_cycles ?? 0);
  if (!(working > 0)) return null;
  const mean = meanLevel(o);
  return {
    used: Math.min(1, ((o.busy_cycles ?? 0) + (o.blocked_cycles ?? 0)) / working),
    blocked: (o.blocked_cycles ?? 0) / working,
    full: o.capacity > 0 && mean !== null ? Math.min(1, (mean * o.cycles) / working / o.capacity) : null,
  };
}

// Cycles at each level, as small bars for the shape; the tip has the numbers.
function histogramBar(o) {
  const h = o.histogram ?? [];
  const total = h.reduce((sum, n) => sum + n, 0);
  if (total === 0) return "";
  const most = 24, width = 96, step = Math.ceil(h.length / most);
  const bins = [];
  for (let i = 0; i < h.length; i += step) {
    const last = Math.min(h.length, i + step) - 1;
    bins.push({share: h.slice(i, last + 1).reduce((sum, n) => sum + n, 0) / total,
      text: last === i ? binText(o, i) : `${binText(o, i).split("\u2013")[0]}\u2013${binText(o, last).split("\u2013").pop()}`});
  }
  const drawing = svg("svg", {class: "spark", width, height: 20, role: "img", "aria-label": `mean occupancy ${number(meanLevel(o), 2)}${o.capacity > 0 ? ` of ${o.capacity}` : ""}`},
    bins.map(({share}, i) => svg("rect", {x: (i * width) / bins.length, width: Math.max(1, width / bins.length - 1), y: 20 - 20 * share, height: 20 * share})));
  return withTip(drawing, () => tipLines(`${o.name}: occupancy`, bins.filter((b) => b.share > 0.00005).map((b) => [b.text, percent(b.share, 2)])));
}

function occupancyContent(run) {
  const list = run.stats.occupancy ?? [];
  if (list.length === 0) return missing("This run's stats.json has no occupancy: a newer rnicsim writes it.");
  const share = (key) => (o) => (o.cycles > 0 && isNumber(o[key]) ? o[key] / o.cycles : null);
  const rank = (o) => (share("blocked_cycles")(o) ?? 0) * 2 + (share("busy_cycles")(o) ?? 0);
  const rows = [...list].sort((a, b) => rank(b) - rank(a));
  return [phaseNote(run),
    prose(`${Object.entries(kStateMeanings).map(([name, meaning]) => `${name[0].toUpperCase()}${name.slice(1)}: ${meaning}`).join(". ")}.`, {class: "note"}),
    el("p", {class: "heat-key"}, kStates.map(([name]) => [el("span", {class: `chip ${name}`, "aria-hidden": "true"}), name])),
    table([
      {title: "resource", get: (o) => o.name, head: true},
      {title: "node", get: (o) => o.node},
      {title: "kind", get: (o) => o.kind},
      {title: "capacity", get: (o) => (o.capacity > 0 ? o.capacity : null)},
      {title: "mean", get: (o) => meanLevel(o), decimals: 2},
      {title: "occupancy", get: (o) => meanLevel(o), node: (v, o) => histogramBar(o)},
      ...kStates.map(([name, key]) => ({title: name, tip: kStateMeanings[name], get: share(key), text: (v) => percent(v)})),
      {title: "cycles", get: (o) => o.cycles ?? null, node: (v, o) => stateBar(o)},
    ], rows, {caption: "Occupancy, what was waited for first", filter: "Find a resource, a node or a kind", csv: "occupancy.csv", most: 25})];
}

function occupancySection(run) {
  return section("Occupancy", ofPhase(run, occupancyContent));
}
