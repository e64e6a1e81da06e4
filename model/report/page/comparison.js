// Two or more runs side by side; differences are to the first.

// Columns with the value of each run, and its difference from the first run. get: (row, run index) => value.
function sideBySide(runs, get, options = {}) {
  return runs.flatMap((run, i) => [
    {title: run.name, get: (row) => get(row, i) ?? null, ...options},
    ...(i === 0 ? [] : [{title: runs.length === 2 ? "change" : `change of ${run.name}`, get: (row) => relative(get(row, 0), get(row, i)),
      node: (_, row) => el("span", {class: verdict(row.less, get(row, 0), get(row, i))}, change(get(row, 0), get(row, i)))}]),
  ]);
}
// Whether a change is good or worse, if `less` says which is better. A change of less than a percent is neither.
function verdict(less, a, b) {
  if (less === undefined || !isNumber(a) || !isNumber(b) || Math.abs(b - a) < 0.01 * Math.abs(a)) return null;
  return b < a === less ? "good" : "worse";
}
function relative(a, b) {
  return isNumber(a) && isNumber(b) && a !== 0 ? (b - a) / Math.abs(a) : isNumber(a) && isNumber(b) && b !== a ? null : isNumber(a) && isNumber(b) ? 0 : null;
}

function comparedBottlenecks(runs) {
  return section("Bottlenecks", table([
    {title: "run", get: (r) => r.name, head: true},
    {title: "bottleneck", get: (r) => r.stats.bottleneck?.name ?? ""},
    {title: "", get: (r) => bottleneckLine(r)},
  ], runs, {caption: "What limits each run", sorts: false}));
}

function comparedResults(runs) {
  const names = [...new Set(runs.flatMap((run) => (run.stats.results ?? []).map((r) => r.name)))];
  const result = (name, i) => (runs[i].stats.results ?? []).find((r) => r.name === name);
  const figures = [
    ["goodput", "Gb/s", (r) => r?.goodput_gbps], ["rate", "M/s", (r) => r?.rate_mops], ["p50 latency", "\u00b5s", (r) => micro(r?.latency_ns?.p50)],
    ["p99 latency", "\u00b5s", (r) => micro(r?.latency_ns?.p99)], ["p99.9 latency", "\u00b5s", (r) => micro(r?.latency_ns?.["p99.9"])],
  ];
  const rows = names.flatMap((name) => figures.map(([figure, unit, get]) => ({name, figure, unit, less: unit === "\u00b5s", values: runs.map((_, i) => get(result(name, i)) ?? null)})))
    .filter((row) => row.values.some((v) => v !== null));
  return section("Results", table([
    {title: "work", get: (r) => r.name, head: true},
    {title: "figure", get: (r) => r.figure},
    {title: "unit", get: (r) => r.unit},
    ...sideBySide(runs, (r, i) => r.values[i], {text: (v) => number(v)}),
  ], rows, {caption: "Results, and their change from the first run", csv: "comparison.csv"}),
  runs.map((run) => el("div", null, run.stats.checks?.some((c) => !c.passed) ? el("p", {class: "bad"}, `${run.name}: a check failed`) : null)));
}

function comparedSettings(runs) {
  const known = DATA.settings ?? [];
  const differing = known.filter((s) => new Set(runs.map((run) => valueOfRun(run, s.key))).size > 1);
  const content = [differing.length === 0 ? el("p", null, "All settings are the same.")
    : table(settingColumns(runs), differing, {caption: "Settings that differ between the runs"})];
  content.push(assignedTable(runs));
  content.push(details("All settings that differ from their defaults", () =>
    table(settingColumns(runs), known.filter((s) => runs.some((run) => differsFromDefault(run, s))), {caption: "Settings that differ from their defaults"})));
  return section("Configuration", content);
}

function comparedUtilization(runs) {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.stats.utilization ?? {})))];
  if (names.length === 0) return section("Utilization", missing("No run has a utilization."));
  return section("Utilization", table([
    {title: "resource", get: (n) => n, head: true},
    ...runs.flatMap((run, i) => [
      {title: run.name, get: (n) => run.stats.utilization?.[n] ?? null, node: (v) => bar(v)},
      ...(i === 0 ? [] : [{title: "difference", unit: "points", get: (n) => {
        const [a, b] = [runs[0].stats.utilization?.[n], run.stats.utilization?.[n]];
        return isNumber(a) && isNumber(b) ? 100 * (b - a) : null;
      }, text: (v) => (v > 0 ? "+" : "") + number(v, 1)}]),
    ]),
  ], names, {caption: "Utilization while work is done", csv: "utilization.csv"}),
  details("Block diagrams", () => el("div", null, heatKey(), runs.map((run) => [el("h3", null, run.name),
    Object.keys(run.stats.config ?? {}).map((node) => diagramOf(run, node))]))));
}

function comparedOccupancy(runs) {
  const key = (o) => `${o.node} ${o.name}`;
  const names = [...new Set(runs.flatMap((run) => (run.stats.occupancy ?? []).map(key)))];
  if (names.length === 0) return null;
  const of = (name, i) => (runs[i].stats.occupancy ?? []).find((o) => key(o) === name);
  const share = (name, i) => busyShare(of(name, i));
  return section("Occupancy", table([
    {title: "resource", get: (n) => n, head: true},
    ...runs.map((run, i) => ({title: `${run.name}: busy`, get: (n) => share(n, i), text: (v) => percent(v)})),
    ...runs.map((run, i) => ({title: run.name, get: (n) => share(n, i), node: (v, n) => (of(n, i) ? stateBar(of(n, i)) : "")})),
  ], [...names].sort((a, b) => Math.max(...runs.map((_, i) => share(b, i) ?? 0)) - Math.max(...runs.map((_, i) => share(a, i) ?? 0))),
  {caption: "Busy, blocked, starved and idle cycles", filter: "Find a resource", csv: "occupancy.csv", most: 20}));
}

function comparedLatency(runs) {
  const works = [...new Set(runs.flatMap((run) => (run.stats.latency_breakdown ?? []).map(breakdownName)))];
  const content = works.map((name) => {
    const with_ = runs.map((run) => [run, (run.stats.latency_breakdown ?? []).find((w) => breakdownName(w) === name)]).filter(([, w]) => w);
    const parts = [...new Set(with_.flatMap(([, w]) => w.parts.map((p) => p.name)))];
    const bars = [["mean_ns", "mean"], ["p99_ns", "p99"]].flatMap((which) => with_.flatMap(([run, w]) => breakdownBars(w, run.name, [which])));
    return el("figure", {class: "chart"}, el("figcaption", null, name), stackedBars(...shownParts(bars, parts), time),
      details("Data as a table", () => table([
        {title: "part", get: (p) => p, head: true},
        ...sideBySide(with_.map(([run]) => run), (p, i) => with_[i][1].parts.find((q) => q.name === p)?.mean_ns, {unit: "ns, mean", decimals: 1}),
      ], parts, {caption: `${name}: mean of each part`, csv: `breakdown-${name}.csv`})));
  });
  if (works.length === 0) content.push(missing("No run's stats.json has a latency_breakdown: rnicsim run --breakdown writes it."));
  const names = [...new Set(runs.flatMap((run) => cdfsOf(run).map((c) => c.work)))];
  for (const name of names) {
    const list = runs.flatMap((run) => cdfsOf(run).filter((c) => c.work === name).map((c) => ({...c, label: run.name})));
    content.push(cdfChart(list, `Distribution of the latency of ${name}`));
  }
  return section("Latency", content);
}

function comparedSeries(runs) {
  const with_ = runs.filter((run) => run.series?.rows > 0);
  const title = "Over time";
  if (with_.length === 0) return section(title, missing("No series.json in the folders: rnicsim run --stats-every 10us writes it."));
  const names = [...new Set(with_.flatMap((run) => run.series.columns.map((c) => c.name)))];
  const times_ = with_.map((run) => seriesTimes(run.series));
  const draw = (name) => {
    const times = [...new Set(times_.flat())].sort((a, b) => a - b);
    const unit = with_.flatMap((run) => run.series.columns).find((c) => c.name === name)?.unit ?? "";
    return lineChart({label: "time, \u00b5s", values: times}, with_.map((run, i) => {
      const column = run.series.columns.find((c) => c.name === name);
      const byTime = new Map(column ? valuesOf(run.series, column).map((v, n) => [times_[i][n], v]) : []);
      return {label: run.name, unit, points: false, spanGaps: true, values: times.map((t) => byTime.get(t) ?? null)};
    }), {title: name, y: unit, legend: true});
  };
  const box = el("div", null, draw(names[0]));
  return section(title, el("div", {class: "tools"}, select("Column", names.map((n) => [n, n]), names[0], (name) => box.replaceChildren(draw(name)))), box);
}

function comparedStatistics(runs) {
  const lists = runs.map((run) => new Map(flatten(run.stats.stats).map((r) => [r.path, r])));
  const paths = [...new Set(lists.flatMap((list) => [...list.keys()]))];
  const rows = paths.map((path) => {
    const found = lists.map((list) => list.get(path));
    return {path, unit: found.find(Boolean).unit, values: found.map((f) => f?.value ?? null)};
  });
  const differing = rows.filter((r) => r.values.some((v) => v !== r.values[0]));
  return section("Statistics", el("p", null, `${differing.length} of ${rows.length} statistics differ.`),
    details("Statistics that differ", () => table([
      {title: "name", get: (r) => r.path, node: (v) => el("code", null, v), head: true},
      {title: "unit", get: (r) => r.unit},
      ...sideBySide(runs, (r, i) => r.values[i], {text: (v) => number(v)}),
    ], differing, {caption: "Statistics that differ", filter: "Find a statistic", csv: "statistics.csv", most: 100})));
}

function comparison(runs) {
  return {
    title: runs.map((run) => run.name).join(" and "),
    subtitle: `Comparison of ${runs.length} runs`,
    about: el("div", {class: "abouts"}, runs.map((run) => el("div", null, el("h3", null, run.name), aboutRun(run)))),
    sections: [comparedBottlenecks, comparedResults, comparedSettings, comparedUtilization, comparedOccupancy, comparedLatency,
      comparedSeries, comparedStatistics].map((make) => guarded(() => make(runs))).filter(Boolean),
  };
}
