// How requests spend their time, and the distribution of their latency.

const kBreakdowns = [["mean_ns", "mean"], ["p50_ns", "p50"], ["p99_ns", "p99"], ["worst_ns", "worst"]];

// A breakdown belongs to a work item's operation on a node, or to no work item.
function breakdownName(b) {
  const isWay = b.operation === "one way" || b.operation === "half a round trip";  // of a ping-pong
  const what = b.node ? `${b.operation} ${isWay ? "from" : "of"} node ${b.node}` : b.operation;
  return b.work ? `${b.work}: ${what}` : what;
}

function breakdownBars(work, label, which = kBreakdowns) {
  return which.filter(([key]) => isNumber(work.total?.[key])).map(([key, name]) => ({
    label: label ? `${label}, ${name}` : name,
    note: work.examples?.[name] ?? (name === "mean" ? `of ${number(work.requests)}` : null),
    total: work.total[key],
    parts: work.parts.map((p) => ({name: p.name, value: p[key] ?? 0})),
  }));
}

// A request passes some forty parts. Those too small for any bar are joined; the table has them all.
function shownParts(bars, names) {
  const least = 0.005;
  const shown = names.filter((name) => bars.some((b) => b.parts.some((p) => p.name === name && p.value >= least * b.total)));
  if (names.length - shown.length < 2) return [bars, names];
  const rest = `${names.length - shown.length} parts below ${percent(least)}`;
  const sum = (parts) => parts.reduce((all, p) => all + (shown.includes(p.name) ? 0 : p.value), 0);
  return [bars.map((b) => ({...b, parts: [...b.parts.filter((p) => shown.includes(p.name)), {name: rest, value: sum(b.parts)}]})), [...shown, rest]];
}

// The way there, the peer and the way back of Reads and atomics; of receives, the wait for a message apart from it.
function hopBars(work) {
  if (!work.hops?.length) return null;
  return stackedBars(breakdownBars({...work, parts: work.hops}), work.hops.map((h) => h.name), time);
}

// A receive request may wait for its message so long that nothing else could be seen.
function partBars(work) {
  const parts = work.parts.filter((p) => p.hop !== "no message");
  const total = Object.fromEntries(kBreakdowns.map(([key]) => [key, parts.reduce((sum, p) => sum + (p[key] ?? 0), 0)]));
  const shown = parts.length < work.parts.length && parts.length > 0 ? {...work, parts, total} : work;
  return stackedBars(...shownParts(breakdownBars(shown), shown.parts.map((p) => p.name)), time);
}

function breakdownTable(work) {
  const rows = [...work.parts, {name: "total", ...work.total}];
  return table([
    {title: "part", get: (p) => p.name, head: true},
    ...(work.hops ? [{title: "hop", get: (p) => p.hop ?? ""}] : []),
    ...kBreakdowns.map(([key, name]) => ({title: name, unit: "ns", get: (p) => p[key] ?? null, decimals: 1})),
    {title: "of mean", get: (p) => (work.total.mean_ns ? p.mean_ns / work.total.mean_ns : null), text: (v) => percent(v)},
  ], rows, {caption: `${breakdownName(work)}: parts of the latency`, csv: "breakdown.csv", rowClass: (p) => (p.name === "total" ? "total" : null)});
}

const kFewRequests = 0.02;

function breakdownSection(run) {
  const works = run.stats.latency_breakdown ?? [];
  if (works.length === 0) return section("Latency breakdown", missing("This run's stats.json has no latency_breakdown: rnicsim run --breakdown writes it."));
  const figure = (work) => el("figure", {class: "chart"},
    el("figcaption", null, `${breakdownName(work)}, ${number(work.requests)} request${work.requests === 1 ? "" : "s"}`),
    hopBars(work),
    partBars(work),
    details("Data as a table", () => breakdownTable(work)));
  // Single Sends that open a connection or tell of an end would hide the work.
  const most = Math.max(...works.map((work) => work.requests));
  const few = works.filter((work) => work.requests < kFewRequests * most);
  const content = works.filter((work) => !few.includes(work)).map(figure);
  if (few.length > 0) content.push(details(`${few.length} more with less than ${percent(kFewRequests, 0)} of the requests`, () => el("div", null, few.map(figure))));
  content.push(prose("From the post to the completion that the program polls. The bars of p50, p99 and worst are of the one request whose id stands beside them; its parts sum to its latency. A queue is the wait in front of a block. One way: from the post until the program at the other end sees the message of a ping-pong; half a round trip, which the results report, is the mean of the way there and back. Of receives the wait for a message stands apart.", {class: "note"}));
  return section("Latency breakdown", content);
}

// list: [{label, cdf: {share, ns}}]: steps of distributions on one axis.
function cdfChart(list, title) {
  const all = [...new Set(list.flatMap((s) => s.cdf.ns))].sort((a, b) => a - b);
  const {unit, size} = timeUnit(median(all));
  const most = all[all.length - 1], least = all.find((ns) => ns > 0) ?? 1;
  const series = list.map((s) => ({label: s.label, unit: "%", points: false, stepped: true, values: all.map((ns) => {
    let share = s.cdf.ns[0] <= ns ? 0 : null;
    for (let i = 0; i < s.cdf.ns.length && s.cdf.ns[i] <= ns; ++i) share = 100 * s.cdf.share[i];
    return share;
  })}));
  return lineChart({label: `latency, ${unit}`, values: all.map((ns) => ns / size), log: most / least > 30}, series,
    {title, y: "requests done within, %", describe: "Share of requests over latency.", decimals: 1, height: 280, legend: true});
}

function cdfsOf(run, prefix = "") {
  return (run.stats.results ?? []).filter((r) => r.latency_cdf?.ns?.length > 1)
    .map((r) => ({label: prefix + r.name, work: r.name, cdf: r.latency_cdf}));
}

function cdfSection(run) {
  const list = cdfsOf(run);
  if (list.length === 0) return section("Latency distribution", missing("This run's stats.json has no latency_cdf: a newer rnicsim writes it."));
  return section("Latency distribution", cdfChart(list, "Cumulative distribution of the latency"));
}
