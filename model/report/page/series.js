// Rates and levels over time.

// Columns that one chart can have: of one unit, and of one kind of thing (the last part of their names).
function seriesGroups(columns) {
  const groups = new Map();
  columns.forEach((column, i) => {
    const key = `${column.unit ?? ""}|${column.kind ?? ""}|${column.name.split(".").pop().replace(/\[.*\]$/, "")}`;
    if (!groups.has(key)) groups.set(key, {unit: column.unit ?? "", kind: column.kind ?? "", name: column.name.split(".").pop(), columns: []});
    groups.get(key).columns.push({...column, index: i});
  });
  return [...groups.values()];
}

const kMostPoints = 4000;
// Means of neighbours, where there are more points than a screen has.
function thinned(series) {
  const every = Math.ceil(series.rows.length / kMostPoints);
  if (every <= 1) return {times: series.time_ps.map((ps) => ps / 1e6), rows: series.rows, every};
  const times = [], rows = [];
  for (let i = 0; i < series.rows.length; i += every) {
    const block = series.rows.slice(i, i + every);
    times.push(series.time_ps[Math.min(i + every, series.rows.length) - 1] / 1e6);
    rows.push(series.columns.map((_, c) => block.reduce((sum, row) => sum + (row[c] ?? 0), 0) / block.length));
  }
  return {times, rows, every};
}

function unitText(column) {
  return column.unit ?? "";
}

function seriesSection(run) {
  const title = "Throughput and occupancy over time";
  const {series} = run;
  if (!series) return section(title, missing("No series.json in the folder: `rnicsim run --stats-every 10us` writes it.".replaceAll("`", "")));
  if (series.rows.length === 0) return section(title, missing("series.json has no rows: the run was shorter than its interval."));
  const {times, rows, every} = thinned(series);
  const groups = seriesGroups(series.columns);
  const moves = (g) => g.columns.some((c) => rows.some((row) => row[c.index]));
  const live = groups.filter(moves);
  const chart = (g) => lineChart({label: "time, \u00b5s", values: times},
    g.columns.map((c) => ({label: c.name, unit: c.unit, points: false, values: rows.map((row) => row[c.index])})),
    {title: `${g.name}${g.kind === "rate" ? " (rate)" : ""}`, y: unitText(g), height: 200, describe: `${g.columns.length} series over time.`, legend: true});
  const first = live.slice(0, 8), rest = live.slice(8);
  const content = [el("p", null, `One value every ${time((series.interval_ps ?? 0) / 1000)}` +
    `${series.warmup_ps ? `, after a warm-up of ${time(series.warmup_ps / 1000)}` : ""}; ${rows.length} values${every > 1 ? ` shown, each the mean of ${every}` : ""}.`),
  first.map(chart)];
  if (rest.length > 0) content.push(details(`${rest.length} more charts`, () => el("div", null, rest.map(chart))));
  if (live.length < groups.length) content.push(prose(`${groups.length - live.length} groups of columns are 0 throughout and are not shown.`, {class: "note"}));
  return section(title, content);
}
