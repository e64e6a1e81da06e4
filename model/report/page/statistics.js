// All counters, for readers who know their names.

function statisticsSection(run) {
  const rows = flatten(run.stats.stats);
  if (rows.length === 0) return section("Statistics", missing("stats.json has no statistics."));
  return section("Statistics", table([
    {title: "name", get: (r) => r.path, node: (v) => el("code", null, v), head: true},
    {title: "value", get: (r) => r.value},
    {title: "unit", get: (r) => r.unit},
    {title: "meaning", get: (r) => r.description ?? ""},
  ], rows, {caption: "Statistics", filter: "Find a statistic", csv: "statistics.csv", most: 100}));
}
