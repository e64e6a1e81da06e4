// Rates and levels over time.

// Groups columns into charts: by unit and name without the node, or by unit alone without a node (wires, PCIe links,
// datapaths). The groups that matter most to an architect come first.
function seriesGroups(columns, rows) {
  const groups = new Map();
  columns.forEach((column, i) => {
    const dot = column.name.indexOf(".");
    const name = dot < 0 ? "wires, PCIe links and datapaths" : column.name.slice(dot + 1).replace(/^qp\d+\./, "QPs: ");
    const key = `${name}|${column.unit ?? ""}|${column.kind ?? ""}`;
    if (!groups.has(key)) groups.set(key, {name, unit: column.unit ?? "", kind: column.kind ?? "", columns: []});
    groups.get(key).columns.push({...column, index: i});
  });
  const most = (g) => Math.max(...g.columns.map((c) => rows.reduce((m, row) => Math.max(m, Math.abs(row[c.index] ?? 0)), 0)));
  const rank = (g) => (g.columns[0].name.includes(".") ? g.kind === "rate" && g.unit === "Gb/s" ? 1 : g.name.endsWith(".blocked") && most(g) > 0.05 ? 2
    : g.kind === "rate" ? 4 : 3 : 0);
  return [...groups.values()].filter((g) => most(g) > 0).sort((x, y) => rank(x) - rank(y));
}

const kMostPoints = 4000;
// Means of neighbours, if there are more points than a screen has.
function thinned(series) {
  const every = Math.ceil(series.rows.length / kMostPoints);
  if (every <= 1) return {times: series.time_ps.map((ps) => ps / 1e6), rows: series.rows, every};
  const times = [], rows = [];
  for (let i = 0; i < series.rows.length; i += every) {
    const block = series.rows.slice(i, i + every);
    times.push(series.time_ps[Math.min(i + every, series.rows.length) - 1] / 1e6);
    rows.push(series.columns.map((_, c) => meanOf(block.map((row) => row[c]))));
  }
  return {times, rows, every};
}

function meanOf(values) {
  const known = values.filter(isNumber);
  return known.length === 0 ? null : known.reduce((sum, v) => sum + v, 0) / known.length;
}

function seriesSection(run) {
  const title = "Throughput and occupancy over time";
  const {series} = run;
  if (!series) return section(title, missing("No series.json in the folder: rnicsim run --stats-every 10us writes it."));
  if (series.rows.length === 0) return section(title, missing("series.json has no rows: the run was shorter than its interval."));
  const {times, rows, every} = thinned(series);
  const live = seriesGroups(series.columns, rows);
  const chart = (g) => lineChart({label: "time, \u00b5s", values: times},
    g.columns.map((c) => ({label: c.name, unit: c.unit, points: false, values: rows.map((row) => row[c.index])})),
    {title: `${g.name}${g.kind === "rate" ? " (rate)" : ""}`, y: g.unit, height: 200, describe: `${g.columns.length} series over time.`, legend: true});
  const first = live.slice(0, 6), rest = live.slice(6);
  const content = [el("p", null, `One value every ${time((series.interval_ps ?? 0) / 1000)}` +
    `${series.warmup_ps ? `, after a warm-up of ${time(series.warmup_ps / 1000)}` : ""}; ${rows.length} values${every > 1 ? ` shown, each the mean of ${every}` : ""}.`),
  el("div", {class: "grid"}, first.map(chart))];
  if (rest.length > 0) content.push(details(`${rest.length} more charts`, () => el("div", {class: "grid"}, rest.map(chart))));
  content.push(prose("What is 0 throughout is not shown.", {class: "note"}));
  return section(title, content);
}
