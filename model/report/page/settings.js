// Settings: differences from the defaults, between nodes, and between runs.

// A setting's value if all nodes agree, otherwise the value of each node by name.
function valueOfRun(run, key) {
  const nodes = Object.entries(run.stats.config ?? {});
  const values = nodes.map(([node, config]) => [node, at(config, key)]).filter(([, v]) => v !== undefined);
  if (values.length === 0) return null;
  if (values.every(([, v]) => v === values[0][1])) return setting(values[0][1]);
  return values.map(([node, v]) => `${node}: ${setting(v)}`).join(", ");
}

function differsFromDefault(run, s) {
  return Object.values(run.stats.config ?? {}).some((config) => {
    const value = at(config, s.key);
    return value !== undefined && value !== s.default;
  });
}

function settingColumns(runs) {
  return [
    {title: "setting", get: (s) => s.key, node: (v) => el("code", null, v), head: true},
    ...runs.map((run) => ({title: runs.length === 1 ? "value" : run.name, get: (s) => valueOfRun(run, s.key), align: "right"})),
    {title: "default", get: (s) => setting(s.default)},
    {title: "unit", get: (s) => s.unit},
    {title: "meaning", get: (s) => s.meaning},
  ];
}

function assignedTable(runs) {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.stats.assigned ?? {})))];
  if (names.length === 0) return null;
  return table([{title: "value of the scenario", get: (n) => n, node: (v) => el("code", null, v), head: true},
    ...runs.map((run) => ({title: runs.length === 1 ? "value" : run.name, get: (n) => {
      const value = run.stats.assigned?.[n];
      return value === undefined ? null : setting(value);
    }}))], names, {caption: "Changed by --set or by a sweep"});
}

function settingsSection(runs) {
  const known = DATA.settings ?? [];
  const differing = known.filter((s) => runs.some((run) => differsFromDefault(run, s)));
  const content = [];
  if (differing.length === 0) content.push(el("p", null, "All settings have their defaults."));
  else content.push(table(settingColumns(runs), differing, {caption: "Settings that differ from their defaults"}));
  content.push(assignedTable(runs));
  const older = runs.filter((run) => `rnicsim ${run.stats.versions?.rnicsim}` !== DATA.program);
  if (older.length > 0) {
    content.push(prose(`Defaults are those of ${DATA.program}; ${older.map((r) => `${r.name} is of rnicsim ${r.stats.versions?.rnicsim ?? "?"}`).join(", ")}.`, {class: "note"}));
  }
  content.push(details(`All ${known.length} settings in effect`, () =>
    table(settingColumns(runs), known, {caption: "All settings", filter: "Find a setting", csv: "settings.csv"})));
  return section("Configuration", content);
}
