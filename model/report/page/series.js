// Rates and levels over time.

// Groups columns into charts: by unit and name without the node, or by unit alone without a node (wires, PCIe links,
// datapaths). The groups that matter most to an architect come first.
function seriesGroups(columns) {
  const groups = new Map();
  for (const column of columns) {
    const dot = column.name.indexOf(".");
    const name = dot < 0 ? "wires, PCIe links and datapaths" : column.name.slice(dot + 1).replace(/^qp\d+\./, "QPs: ");
    const key = `${name}|${column.unit ?? ""}|${column.kind ?? ""}`;
    if (!groups.has(key)) groups.set(key, {name, unit: column.unit ?? "", kind: column.kind ?? "", columns: []});
    groups.get(key).columns.push(column);
  }
  const most = (g) => Math.max(...g.columns.flatMap((c) => c.values).map((v) => Math.abs(v ?? 0)));
  const rank = (g) => (g.columns[0].name.includes(".") ? g.kind === "rate" && g.unit === "Gb/s" ? 1 : g.name.endsWith(".blocked") && most(g) > 5 ? 2
    : g.kind === "rate" ? 4 : 3 : 0);
  return [...groups.values()].filter((g) => most(g) > 0).sort((x, y) => rank(x) - rank(y));
}

// All shares of the page are in percent.
function sharesInPercent(series) {
  for (const column of series?.columns ?? []) {
    if (column.unit !== "ratio") continue;
    column.unit = "%";
    column.values = Array.isArray(column.values) ? column.values.map((v) => (v === null ? null : 100 * v)) : 100 * column.values;
  }
}

const seriesTimes = (series) => series.time_ps.map((ps) => ps / 1e6);

// A column that never changes is a single number in the data.
function valuesOf(series, column) {
  return Array.isArray(column.values) ? column.values : series.time_ps.map(() => column.values);
}

function seriesSection(run) {
  const title = "Throughput and occupancy over time";
  const {series} = run;
  if (!series) return section(title, missing("No series.json in the folder: rnicsim run --stats-every 10us writes it."));
  if (series.rows === 0) return section(title, missing("series.json has no rows: the run was shorter than its interval."));
  const times = seriesTimes(series);
  const live = seriesGroups(series.columns);
  const chart = (g) => lineChart({label: "time, \u00b5s", values: times, ns: 1000},
    g.columns.map((c) => ({label: c.name, unit: c.unit, points: false, values: valuesOf(series, c)})),
    {title: `${g.name}${g.kind === "rate" ? " (rate)" : ""}`, y: g.unit, height: 200, describe: `${g.columns.length} series over time.`, legend: true,
      note: g.name.endsWith(".blocked") ? `Blocked: ${kStateMeanings.blocked}.` : undefined});
  const first = live.slice(0, 6), rest = live.slice(6);
  const content = [el("p", null, `One value every ${time((series.interval_ps ?? 0) / 1000)}` +
    `${series.warmup_ps ? `, after a warm-up of ${time(series.warmup_ps / 1000)}` : ""}; ${times.length} values${series.every > 1 ? ` shown, each the mean of ${series.every}` : ""}.`),
  el("div", {class: "grid"}, first.map(chart))];
  if (rest.length > 0) content.push(details(`${rest.length} more charts`, () => el("div", {class: "grid"}, rest.map(chart))));
  content.push(prose("What is 0 throughout is not shown. The page has four digits of each value; series.json has all.", {class: "note"}));
  return section(title, content);
}
