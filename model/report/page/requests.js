// The life of chosen requests, as a sequence of events between the hosts and the chips.

// The lane of an event: the host that posts and polls, or one of the chip's groups.
function laneOf(event) {
  const where = event.where ?? "";
  if (/^(posted|polled)$/.test(event.kind) || /driver|host/.test(where)) return `${event.node} host`;
  const group = /(?:^|\.)(pcie|tx|rx|responder|completion|firmware|terminate|host)\b/.exec(where)?.[1];
  if (/^cable\.|\bmac_|_frames$/.test(where) || event.kind.startsWith("frame_")) return `${event.node} wire`;
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

// The events before each one that led to it: of its FPDU, the one before. The first of an FPDU follows the last event of
// the whole request on its node. Those of the whole request follow the last one on their node, FPDUs included; PCIe
// packets lead to nothing.
function causesOf(events) {
  const lastOfPart = new Map(), lastOnNode = new Map(), lastOfWhole = new Map();
  return events.map((event) => {
    const isTlp = event.kind.startsWith("tlp_");
    const before = event.part === undefined ? isTlp ? null : lastOnNode.get(event.node) : lastOfPart.get(event.part) ?? lastOfWhole.get(event.node);
    if (event.part !== undefined) lastOfPart.set(event.part, event);
    else if (!isTlp) lastOfWhole.set(event.node, event);
    if (!isTlp) lastOnNode.set(event.node, event);
    return before ?? null;
  });
}

const kLane = 152, kLine = 20;  // px: a lane has room for the name of an event beside its dot
const kLongWait = 8;            // times the median between two events, and a tenth of all

// [{event}, {wait: ns}, {more: text}…]: a row for each event, for each long wait, and for the FPDUs that are left out.
function sequenceRows(request) {
  const {events} = request;
  const gaps = events.slice(1).map((e, i) => e.time_ps - events[i].time_ps);
  const long = Math.max(kLongWait * median(gaps.length > 0 ? gaps : [0]), 0.1 * (events[events.length - 1].time_ps - events[0].time_ps));
  const most = Math.max(...events.map((e) => e.left_out ?? 0));
  const more = (request.parts ?? 0) - (request.drawn_parts ?? 0);
  return events.flatMap((event, i) => [
    ...(i > 0 && gaps[i - 1] > long ? [{wait: gaps[i - 1] / 1000}] : []),
    ...(more > 0 && event.left_out === most ? [{more: `and ${number(more)} more FPDUs`}] : []),
    {event}]);
}

function laneHeads(lanes, x) {
  const nodes = [...new Set(lanes.map(nodeOf))].map((node) => {
    const its = lanes.filter((lane) => nodeOf(lane) === node);
    return svg("text", {x: x(its[0]) - 4, y: 16, class: "node"}, fitted(`node ${node}`, its.length * kLane - 16, 500));
  });
  return svg("svg", {class: "sequence", width: lanes.length * kLane, height: 40, "aria-hidden": "true"}, nodes,
    lanes.map((lane) => svg("text", {x: x(lane) - 4, y: 34, class: "lane"}, nameOf(lane))));
}

// "segmented #3": of the third FPDU; "tlp_read, 128": of the whole request.
function nameOfEvent(event) {
  return event.part !== undefined ? `${event.kind} #${event.part + 1}` : event.bytes ? `${event.kind}, ${number(event.bytes)}` : event.kind;
}

// The mark of a wait that is cut, or of what is left out: a broken line over all lanes, and what it stands for.
function breakMark(text, y, width) {
  const teeth = Array.from({length: Math.floor(width / 12)}, (_, i) => `L${(i + 1) * 12} ${y + (i % 2 === 0 ? 4 : 0)}`).join(" ");
  return [svg("path", {d: `M0 ${y} ${teeth}`, class: "break"}), svg("text", {x: 30, y: y + 16, class: "cut"}, text)];
}

function sequenceOf(request) {
  const {events} = request, all = request.all ?? events.length;
  const lanes = lanesOf(events);
  const begin = events[0].time_ps, span = (events[events.length - 1].time_ps - begin) / 1000;
  const rows = sequenceRows(request);
  const when = (event) => number((event.time_ps - begin) / 1000, 0);
  const left = Math.max(...events.map((event) => widthOf(when(event)))) + 20;
  const x = (lane) => 10 + lanes.indexOf(lane) * kLane;
  const y = (i) => 12 + i * kLine;
  const width = lanes.length * kLane, height = y(rows.length);
  const row = new Map(rows.map((r, i) => [r.event, i]));
  const causes = causesOf(events);
  const marker = newId("arrow");
  const arrows = events.map((event, i) => {
    const before = causes[i];
    if (!before || laneOf(before) === laneOf(event)) return null;
    const [x1, x2] = [x(laneOf(before)), x(laneOf(event))];
    return svg("line", {x1, y1: y(row.get(before)), x2: x2 + (x1 < x2 ? -5 : 5), y2: y(row.get(event)) - 1, class: "message", "marker-end": `url(#${marker})`});
  });
  const dots = events.map((event) => {
    const [cx, cy] = [x(laneOf(event)), y(row.get(event))];
    return [withTip(svg("circle", {cx, cy, r: 4, class: `dot${/retrans|drop|termin|lost|corrupt|refused|injected/.test(event.kind) ? " bad" : ""}`}), () => tipLines(event.kind, [
      ["where", event.where ?? event.node], ["after the post", time((event.time_ps - begin) / 1000)],
      ...(event.part !== undefined ? [["FPDU", `${number(event.part + 1)} of ${number(request.parts)}`]] : []),
      ...(event.bytes ? [["octets", number(event.bytes)]] : []), ...(event.text ? [["", event.text]] : [])])),
    svg("text", {x: cx + 8, y: cy + 4, class: "what"}, fitted(nameOfEvent(event), kLane - 14))];
  });
  const times = svg("svg", {class: "sequence", width: left, height, "aria-hidden": "true"},
    events.map((event) => svg("text", {x: left - 10, y: y(row.get(event)) + 4, class: "when"}, when(event))));
  const body = svg("svg", {class: "sequence", width, height, role: "img", "aria-label": `${all} events of request ${request.id} over ${time(span)}. The table below has them.`},
    svg("defs", null, svg("marker", {id: marker, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"}, svg("path", {d: "M0 0 L8 4 L0 8 z", class: "arrow-head"}))),
    lanes.map((lane) => svg("line", {x1: x(lane), y1: 0, x2: x(lane), y2: height, class: "life"})),
    arrows, rows.map((r, i) => (r.event ? null : breakMark(r.more ?? `${time(r.wait)} without an event`, y(i) - 8, width))), dots);
  return el("div", null,
    events.length < all ? prose(`${number(request.drawn_parts ?? 0)} of ${number(request.parts ?? 0)} FPDUs are drawn: those to which something happened, the first ones and the last; ` +
      `and of other events the first and last six of a kind. ${number(events.length)} of ${number(all)} events.`, {class: "note"}) : null,
    prose("#3 is the third FPDU that was cut. Arrows follow an FPDU, and the request before and after its FPDUs. The rows have no scale of time.", {class: "note"}),
    el("div", {class: "scroll sequence-box", tabindex: "0", role: "region", "aria-label": `Sequence of request ${request.id}`},
      el("div", {class: "sequence-grid", style: `grid-template-columns:${left}px ${width}px`},
        el("div", {class: "corner"}, svg("svg", {class: "sequence", width: left, height: 40, "aria-hidden": "true"}, svg("text", {x: left - 10, y: 34, class: "when"}, "ns"))),
        el("div", {class: "heads"}, laneHeads(lanes, x)), el("div", {class: "times"}, times), el("div", null, body))),
    details("Data as a table", () => table([
      {title: "time", unit: "ns", get: (e) => e.time_ps / 1000, decimals: 3},
      {title: "after the post", unit: "ns", get: (e) => (e.time_ps - begin) / 1000, decimals: 3},
      {title: "node", get: (e) => e.node},
      {title: "where", get: (e) => e.where ?? ""},
      {title: "event", get: (e) => e.kind, head: true},
      {title: "FPDU", get: (e) => (e.part === undefined ? null : e.part + 1)},
      {title: "octets", get: (e) => e.bytes ?? null},
      {title: "", get: (e) => e.text ?? ""},
    ], events, {caption: `Events of request ${request.id}`, csv: `request-${request.id}.csv`, most: 200})));
}

// Chooses the request in this section, if it is there.
let showRequest = () => {};

function requestsSection(run) {
  const title = "Sequence of a request";
  const requests = (run.requests ?? []).filter((r) => r.events?.length > 0);
  if (requests.length === 0) return section(title, missing("No events in the folder: rnicsim run --db run.sqlite writes them, and rnicsim report --request ID chooses."));
  const box = el("div", null, sequenceOf(requests[0]));
  const options = requests.map((r, i) => [String(i), `${r.id}${r.why ? ` (${r.why})` : ""}`]);
  const choice = select("Request", options, "0", (i) => box.replaceChildren(sequenceOf(requests[Number(i)])));
  showRequest = (id) => {
    const i = requests.findIndex((r) => r.id === id);
    if (i < 0) return;
    choice.querySelector("select").value = String(i);
    box.replaceChildren(sequenceOf(requests[i]));
  };
  return section(title, el("div", {class: "tools"}, choice), box);
}
