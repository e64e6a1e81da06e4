// The firmware's activity over time: states of connections as bars, everything else as marks.

// "a   1378      1512064 ns  connection_state: connection 0x803b0006: tcp_opening -> wait_reply"
const kLogLine = /^(\S+)\s+(\d+)\s+(\d+) ns\s+(\w+): ?(.*)$/;
const kState = /^connection (\S+): (\S+) -> (\S+)$/;

function firmwareEvents(run) {
  const events = (run.firmware_log?.lines ?? []).map((line) => kLogLine.exec(line)).filter(Boolean)
    .map(([, node, , ns, code, text]) => ({node, ns: Number(ns), code, text}));
  for (const c of run.commands ?? []) {  // recorded at completion
    const length = (c.cycles * (run.stats.config?.[c.node]?.rnic?.clock_period_ps ?? 0)) / 1000;
    events.push({node: c.node, ns: c.time_ps / 1000 - length, code: "command", text: c.text, length});
  }
  return events.sort((a, b) => a.ns - b.ns);
}

// [{node, name, bars: [{from, to, state}], marks: [event]}]: a lane for each connection, and one per node for the rest.
function firmwareLanes(events) {
  const lanes = new Map();
  const lane = (node, name) => {
    const key = `${node} ${name}`;
    if (!lanes.has(key)) lanes.set(key, {node, name, bars: [], marks: []});
    return lanes.get(key);
  };
  for (const e of events) {
    const state = e.code === "connection_state" ? kState.exec(e.text) : null;
    if (!state) {
      lane(e.node, "firmware").marks.push(e);
      continue;
    }
    const {bars} = lane(e.node, state[1]);
    if (bars.length > 0) bars[bars.length - 1].to = e.ns;
    if (!/^(free|closed|none)$/.test(state[3])) bars.push({from: e.ns, to: null, state: state[3]});
  }
  return [...lanes.values()].sort((a, b) => a.node.localeCompare(b.node) || (a.name === "firmware" ? -1 : b.name === "firmware" ? 1 : 0));
}

const kMostLanes = 24;

function firmwareSection(run) {
  const title = "Firmware timeline";
  const events = firmwareEvents(run);
  if (events.length === 0) {
    return section(title, missing("The firmware's log is empty: --set rnic.fwcpu.log_level=4 logs every state of a connection, and --db every command."));
  }
  const end = Math.max(events[events.length - 1].ns, (run.stats.sim_time_ps ?? 0) / 1000);
  const first = events[0].ns, begin = first < 0.1 * end ? 0 : first - 0.02 * (end - first);
  const all = firmwareLanes(events);
  const lanes = all.slice(0, kMostLanes);
  const states = [...new Set(lanes.flatMap((l) => l.bars.map((b) => b.state)))];
  const left = 150, width = 1000, line = 24, height = 30 + lanes.length * line;
  const x = (ns) => left + ((ns - begin) / (end - begin || 1)) * (width - left - 40);
  const {unit, size} = timeUnit(end);
  const ticks = Array.from({length: 6}, (_, i) => begin + ((end - begin) * i) / 5);
  const texts = tickTexts(ticks.map((ns) => Number((ns / size).toPrecision(4))));
  const moment = svg("rect", {y: 18, height: height - 18, class: "moment"});
  const inside = (ns) => Math.min(width - 40, Math.max(left, x(ns)));
  const showMoment = () => {
    moment.style.display = shownTime === null ? "none" : "";
    if (shownTime === null) return;
    moment.setAttribute("x", inside(shownTime.from));
    moment.setAttribute("width", Math.max(2, inside(shownTime.to) - inside(shownTime.from)));
  };
  timePanels.add(showMoment);
  showMoment();
  const picture = svg("svg", {class: "timeline", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${events.length} entries of the firmware's log in ${lanes.length} lanes. The table below has them.`},
    ticks.map((ns, i) => [svg("line", {x1: x(ns), x2: x(ns), y1: 18, y2: height, class: "grid"}), svg("text", {x: x(ns), y: 12, class: "tick"}, `${texts[i]} ${unit}`)]),
    moment,
    lanes.map((l, i) => {
      const y = 24 + i * line;
      return svg("g", null, svg("text", {x: left - 8, y: y + 13, class: "lane"}, fitted(`${l.node} ${l.name}`, left - 12)),
        l.bars.map((b) => withTip(svg("rect", {x: x(b.from), y: y + 2, width: Math.max(1.5, x(b.to ?? end) - x(b.from)), height: line - 8, style: `fill:${colour(states.indexOf(b.state))}`}),
          () => tipLines(`${l.node} ${l.name}`, [["state", b.state], ["from", time(b.from)], ["for", b.to === null ? "to the end" : time(b.to - b.from)]]))),
        l.marks.map((e) => withTip(e.length ? svg("rect", {x: x(e.ns), y: y + 2, width: Math.max(1.5, x(e.ns + e.length) - x(e.ns)), height: line - 8, class: "mark"})
          : svg("circle", {cx: x(e.ns), cy: y + 10, r: 3.5, class: "mark"}), () => tipLines(e.code, [["time", time(e.ns)], ...(e.length ? [["for", time(e.length)]] : []), ["", e.text]]))));
    }));
  const {lines, all: total} = run.firmware_log ?? {lines: [], all: 0};
  return section(title,
    el("ul", {class: "key"}, states.map((s, i) => el("li", null, el("span", {class: "chip", style: `background:${colour(i)}`, "aria-hidden": "true"}), s))),
    el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Firmware timeline"}, picture),
    all.length > lanes.length ? prose(`${lanes.length} of ${all.length} lanes.`, {class: "note"}) : null,
    total > lines.length ? prose(`The first ${lines.length} of ${total} lines of the log.`, {class: "note"}) : null,
    details("Data as a table", () => table([
      {title: "time", unit: "ns", get: (e) => e.ns},
      {title: "node", get: (e) => e.node},
      {title: "entry", get: (e) => e.code, head: true},
      {title: "", get: (e) => e.text},
    ], events, {caption: "The firmware's log", filter: "Find an entry", csv: "firmware.csv", most: 200})));
}
