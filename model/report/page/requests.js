// The life of chosen requests, as a sequence of events between the hosts and the chips.

// The lane of an event: the host that posts and polls, or one of the chip's groups.
function laneOf(event) {
  const where = event.where ?? "";
  if (/^(posted|polled)$/.test(event.kind) || /driver|host/.test(where)) return `${event.node} host`;
  const group = /(?:^|\.)(pcie|tx|rx|responder|completion|firmware|terminate|host)\b/.exec(where)?.[1];
  if (/mac|frame/.test(`${where} ${event.kind}`)) return `${event.node} wire`;
  return `${event.node} ${group === "host" ? "pcie" : group ?? "chip"}`;
}
const kLaneOrder = ["host", "pcie", "tx", "completion", "rx", "responder", "terminate", "firmware", "chip", "wire"];

function lanesOf(events) {
  const nodes = [...new Set(events.map((e) => e.node))].sort();
  const rank = (lane) => {
    const n = nodes.indexOf(nodeOf(lane)), place = kLaneOrder.indexOf(nameOf(lane));
    return n === 0 ? place : 100 * n - place;  // the second chip is mirrored, so that the wires meet
  };
  return [...new Set(events.map(laneOf))].sort((a, b) => rank(a) - rank(b));
}

const nodeOf = (lane) => lane.slice(0, lane.lastIndexOf(" "));
const nameOf = (lane) => lane.slice(lane.lastIndexOf(" ") + 1);

// The distance of lanes that fits each lane's name, and each node's name over all its lanes.
function laneStep(lanes) {
  const ofNode = (node) => lanes.filter((lane) => nodeOf(lane) === node).length;
  return Math.max(...lanes.map((lane) => Math.max(widthOf(nameOf(lane), 500), widthOf(nodeOf(lane), 500) / ofNode(nodeOf(lane))) + 12));
}

const kMostEvents = 160, kPageWidth = 1180;

function sequenceOf(request) {
  const all = request.events, many = request.all ?? all.length;
  const events = all.length <= kMostEvents ? all : [...all.slice(0, kMostEvents / 2), ...all.slice(-kMostEvents / 2)];
  const lanes = lanesOf(events);
  const begin = all[0].time_ps, line = 20, top = 54;
  const when = (event) => number((event.time_ps - begin) / 1000, 0);
  const what = (event) => `${event.kind}${event.bytes ? `, ${number(event.bytes)}` : ""}`;
  const left = Math.max(...events.map((event) => widthOf(when(event)))) + 12, right = Math.max(...events.map((event) => widthOf(what(event)))) + 8;
  const step = Math.max(laneStep(lanes), Math.min(118, (kPageWidth - left - right) / lanes.length));
  const x = (lane) => left + step / 2 + lanes.indexOf(lane) * step;
  const y = (i) => top + 14 + i * line;
  const height = y(events.length), width = left + lanes.length * step + right;
  const marker = newId("arrow");
  const nodes = [...new Set(lanes.map(nodeOf))].map((node) => {
    const its = lanes.filter((lane) => nodeOf(lane) === node).map(x);
    return svg("text", {x: (its[0] + its[its.length - 1]) / 2, y: 16, class: "node"}, node);
  });
  const rows = events.map((event, i) => {
    const lane = laneOf(event);
    const before = i > 0 ? laneOf(events[i - 1]) : null;
    const gap = i > 0 ? (event.time_ps - events[i - 1].time_ps) / 1000 : 0;
    return [
      before !== null && before !== lane ? svg("line", {x1: x(before), y1: y(i - 1), x2: x(lane) + (x(before) < x(lane) ? -5 : 5), y2: y(i) - 2, class: "message", "marker-end": `url(#${marker})`}) : null,
      svg("text", {x: left - 8, y: y(i) + 4, class: "when"}, when(event)),
      withTip(svg("circle", {cx: x(lane), cy: y(i), r: 4, class: `dot${/retrans|drop|termin/.test(event.kind) ? " bad" : ""}`}), () => tipLines(event.kind, [
        ["where", event.where ?? event.node], ["after the post", time((event.time_ps - begin) / 1000)], ["after the one before", time(gap)],
        ...(event.bytes ? [["octets", number(event.bytes)]] : []), ...(event.text ? [["", event.text]] : [])])),
      svg("text", {x: left + lanes.length * step + 6, y: y(i) + 4, class: "what"}, what(event)),
    ];
  });
  return el("div", null,
    events.length < many ? prose(`The first and the last ${kMostEvents / 2} of ${number(many)} events; the table has ${all.length < many ? number(all.length) : "all"}.`, {class: "note"}) : null,
    el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Sequence of request ${request.id}`},
      svg("svg", {class: "sequence", width, height, role: "img", "aria-label": `${all.length} events of request ${request.id} over ${time((all[all.length - 1].time_ps - begin) / 1000)}. The table below has them.`},
        svg("defs", null, svg("marker", {id: marker, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"}, svg("path", {d: "M0 0 L8 4 L0 8 z", class: "arrow-head"}))),
        svg("text", {x: left - 8, y: 34, class: "when"}, "ns"),
        nodes,
        lanes.map((lane) => [svg("text", {x: x(lane), y: 34, class: "lane"}, nameOf(lane)), svg("line", {x1: x(lane), y1: 42, x2: x(lane), y2: height - 6, class: "life"})]),
        rows)),
    details("Data as a table", () => table([
      {title: "time", unit: "ns", get: (e) => e.time_ps / 1000, decimals: 3},
      {title: "after the post", unit: "ns", get: (e) => (e.time_ps - begin) / 1000, decimals: 3},
      {title: "node", get: (e) => e.node},
      {title: "where", get: (e) => e.where ?? ""},
      {title: "event", get: (e) => e.kind, head: true},
      {title: "octets", get: (e) => e.bytes ?? null},
      {title: "", get: (e) => e.text ?? ""},
    ], all, {caption: `Events of request ${request.id}`, csv: `request-${request.id}.csv`, most: 200})));
}

function requestsSection(run) {
  const title = "Sequence of a request";
  const requests = (run.requests ?? []).filter((r) => r.events?.length > 0);
  if (requests.length === 0) return section(title, missing("No events in the folder: rnicsim run --db run.sqlite writes them, and rnicsim report --request ID chooses."));
  const box = el("div", null, sequenceOf(requests[0]));
  const options = requests.map((r, i) => [String(i), `${r.id}${r.why ? ` (${r.why})` : ""}`]);
  return section(title, el("div", {class: "tools"}, select("Request", options, "0", (i) => box.replaceChildren(sequenceOf(requests[Number(i)])))), box);
}
