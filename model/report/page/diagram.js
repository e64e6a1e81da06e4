// The block diagram of README.md, its blocks coloured by their utilization.

// For each block: column and row in a grid, its resources in stats.json's occupancy, and the counter of its work.
const kBlocks = [
  ["wqe_fetch", 0, 0, ["tx.wqe_prefetch", "tx.wqe_reads"], "wqe_fetch.wqes"],
  ["rdmap_segmenter", 1, 0, ["tx.ord", "tx.credit", "tx.sctp_credit", "tx.fence", "tx.first_fpdu"], "rdmap_segmenter.fpdus"],
  ["payload_fetch", 2, 0, ["tx.jobs"], "payload_fetch.ulpdus"],
  ["mpa_framer", 3, 0, [], "mpa_framer.fpdus"],
  ["marker_inserter", 4, 0, [], "marker_inserter.markers"],
  ["crc_insert", 5, 0, [], "crc_insert.inserted"],
  ["tcp_tx", 6, 0, ["tcp.unacknowledged", "tcp.congested_flows"], "tcp_tx.segments"],
  ["mac_tx", 7, 0, [], "mac_tx.frames"],
  ["rdmap_dispatch", 2, 1, [], "rdmap_dispatch.messages"],
  ["ddp_placement", 3, 1, [], "ddp_placement.segments"],
  ["crc_check", 4, 1, [], "crc_check.good"],
  ["mpa_deframer", 5, 1, [], "mpa_deframer.fpdus"],
  ["tcp_rx", 6, 1, [], "tcp_rx.segments"],
  ["mac_rx", 7, 1, [], "mac_rx.frames"],
  ["rqe_fetch", 3, 2, ["rx.rqe_prefetch", "rx.rqe_reads"], "rqe_fetch.wqes"],
  ["early_placement", 6, 2, [], "early_placement.segments"],
  ["irrq", 1, 1, ["responder.irrq"], "irrq.accepted"],
  ["read_responder", 0, 1, [], "read_responder.reads"],
  ["atomic_alu", 0, 2, ["responder.atomics"], "atomic_alu.fetch_adds"],
  ["response_queue", 1, 2, [], "response_queue.responses"],
  ["stag_work", 2, 2, [], "stag_work.requests"],
  ["cqe_writer", 0, 3, [], "cqe_writer.cqes"],
  ["sq_completion", 1, 3, [], null],
  ["terminate_generator", 2, 3, [], "terminate_generator.terminates"],
  ["event_writer", 3, 3, [], "event_writer.events"],
  ["command_fetch", 4, 3, [], "command_fetch.commands"],
  ["fwcpu", 5, 3, ["fwcpu"], "fwcpu.operations"],
  ["tcp_connection", 6, 3, [], "tcp_connection.opened"],
  ["context_home", 7, 3, ["context.page_cache", "context.page_misses", "context.cq_cache", "context.cq_misses", "context.stag_cache",
    "context.stag_misses", "context.qp_cache", "context.qp_misses", "context.qp_rx_cache", "context.qp_rx_misses",
    "context.flow_cache", "context.flow_misses", "context.srq_cache", "context.srq_misses"], "context_home.fetches"],
  ["sctp_crc_check", 3, 4, [], "sctp_crc_check.good"],
  ["sctp_crc_insert", 4, 4, [], "sctp_crc_insert.inserted"],
  ["sctp_association", 5, 4, [], "sctp_association.segments"],
  ["sctp_tx", 6, 4, [], "sctp_tx.packets"],
  ["sctp_rx", 7, 4, [], "sctp_rx.packets"],
];
const kRows = 5;
// The same outside the chip; the name is the label.
const kHost = [["host cores", 0, /^host\.core\d/], ["host memory", 3, /^host\.memory/]];
const kPcie = [["DMA tags", 2, /^pcie\.(tags|read_requests)$/], ["credits", 3, /^pcie\.to_(host|device)\./]];
const kArrows = [
  ["wqe_fetch", "rdmap_segmenter"], ["rdmap_segmenter", "payload_fetch"], ["payload_fetch", "mpa_framer"],
  ["mpa_framer", "marker_inserter"], ["marker_inserter", "crc_insert"], ["crc_insert", "tcp_tx"], ["tcp_tx", "mac_tx"],
  ["mac_rx", "tcp_rx"], ["tcp_rx", "mpa_deframer"], ["mpa_deframer", "crc_check"], ["crc_check", "ddp_placement"],
  ["ddp_placement", "rdmap_dispatch"], ["rdmap_dispatch", "irrq"], ["irrq", "read_responder"], ["tcp_rx", "early_placement"],
  ["rqe_fetch", "ddp_placement"], ["sq_completion", "cqe_writer"], ["command_fetch", "fwcpu"], ["fwcpu", "tcp_connection"],
  ["sctp_association", "sctp_tx"],
];
// The links on which work leaves a block without pools, if they are accounted for (sim.account_links).
const kLinks = {
  wqe_fetch: ["tx.wqes"], rdmap_segmenter: ["tx.jobs"], payload_fetch: ["tx.ulpdus"], mpa_framer: ["tx.framed"], marker_inserter: ["tx.marked"],
  crc_insert: ["tx.sealed"], tcp_tx: ["tx.tx_frames"], mac_rx: ["rx.rx_frames"], tcp_rx: ["rx.stream"], mpa_deframer: ["rx.deframed"],
  crc_check: ["rx.checked"], ddp_placement: ["rx.placements", "rx.placed"], rdmap_dispatch: ["completion.receive_cqes", "responder.read_requests"],
  rqe_fetch: ["rx.rqes"], early_placement: ["rx.early_writes"], irrq: ["responder.reads_due", "responder.atomics_due"],
  read_responder: ["responder.read_work"], atomic_alu: ["responder.atomic_work"], response_queue: ["completion.original_writes"],
  sq_completion: ["completion.send_cqes"], cqe_writer: ["completion.cqe_writes"], terminate_generator: ["firmware.terminates"],
  event_writer: ["firmware.event_writes"], command_fetch: ["firmware.commands"], tcp_connection: ["firmware.tcp_events"],
  sctp_rx: ["sctp.received"], sctp_association: ["sctp.segments", "sctp.packets"], sctp_tx: ["sctp.tx_frames"], sctp_crc_check: ["sctp.rx_checked"],
  sctp_crc_insert: ["sctp.tx_sealed"], context_home: ["context.home_reads"], stag_work: ["context.stag_requests_done"],
};
// The links of a chip's datapath in the utilization of stats.json.
const kDatapaths = {
  mpa_framer: "transmit datapath", marker_inserter: "transmit datapath", crc_insert: "transmit datapath",
  mpa_deframer: "receive datapath", crc_check: "receive datapath",
};
const kGrid = {x: 330, y: 48, width: 110, height: 62, stepX: 120, stepY: 84};

function busyShare(o) {
  return isNumber(o?.busy_cycles) && o.cycles > 0 ? (o.busy_cycles + (o.blocked_cycles ?? 0)) / o.cycles : null;
}

// Of several resources, the one that was waited for most, then the fullest: {share, blocked, source}. Links are busy
// while a beat is on them.
function fullest(list, links = false) {
  const known = list.map((o) => ({o, w: workShares(o)})).filter(({w}) => w !== null)
    .map(({o, w}) => ({share: links ? w.used : w.full ?? w.used, blocked: w.blocked,
      source: links ? `link ${o.name}` : `${o.name}${w.full === null ? " in use" : ` of ${number(o.capacity)}`}`}));
  return known.length === 0 ? null : known.reduce((x, y) => (y.blocked > x.blocked || (y.blocked === x.blocked && y.share > x.share) ? y : x));
}

// {share, blocked, source} of a block of `node` while there was work.
function utilizationOf(run, node, name, resources) {
  const utilization = run.stats.utilization ?? {};
  const occupancy = (run.stats.occupancy ?? []).filter((o) => o.node === node);
  const found = fullest(occupancy.filter((o) => o.kind !== "link" && (resources.test ? resources.test(o.name) : resources.includes(o.name))));
  if (found) return found;
  const link = fullest(occupancy.filter((o) => o.kind === "link" && (kLinks[name] ?? []).includes(o.name)), true);
  const of = (key) => (key in utilization ? {share: utilization[key], blocked: 0, source: key} : null);
  if (name === "fwcpu") {
    const value = run.stats.stats?.[node]?.rnic?.fwcpu?.utilization?.value;
    if (isNumber(value)) return {share: value, blocked: 0, source: "rnic.fwcpu.utilization"};
  }
  if (name === "mac_tx" || name === "mac_rx") {
    const wire = Object.keys(utilization).find((key) => (name === "mac_tx" ? key.startsWith(`wire ${node} to `)
      : key.startsWith("wire ") && key.endsWith(` to ${node}`)));
    if (wire) return of(wire);
  }
  return link ?? ((kDatapaths[name] && of(`${kDatapaths[name]}, ${node}`)) || {share: null, blocked: 0, source: null});
}

function diagramRows(run, node) {
  const utilization = run.stats.utilization ?? {};
  const of = (key) => ({share: utilization[key] ?? null, blocked: 0, source: key in utilization ? key : null, work: null, unit: ""});
  const rows = kBlocks.map(([name, , , resources, counter]) => {
    const stat = counter === null ? null : at(run.stats.stats?.[node]?.rnic, counter);
    return {name, ...utilizationOf(run, node, name, resources), work: stat?.value ?? null, unit: stat?.unit ?? ""};
  });
  for (const [name, , resources] of [...kHost, ...kPcie]) rows.push({name, ...utilizationOf(run, node, name, resources), work: null, unit: ""});
  rows.push({name: "host to device", ...of(`PCIe host to device, ${node}`)}, {name: "device to host", ...of(`PCIe device to host, ${node}`)});
  for (const key of Object.keys(utilization)) {
    if (key.startsWith(`wire ${node} to `) || (key.startsWith("wire ") && key.endsWith(` to ${node}`))) rows.push({name: key, ...of(key)});
  }
  return rows;
}

// Smaller shares are not worth showing.
const kBlockedShown = 0.05;

function drawBlock(row, x, y, width, height) {
  const known = row.share !== null;
  const blocked = row.blocked >= kBlockedShown;
  const third = blocked ? `blocked ${percent(row.blocked)}` : row.work === null ? null : `${number(row.work)} ${row.unit}`;
  const name = row.name.replace(/^wire /, "");
  const group = svg("g", {class: `block${known ? isDeep(row.share) ? " deep" : "" : " unknown"}${blocked ? " blocked" : ""}`, tabindex: "0", role: "listitem",
    "aria-label": `${row.name}: ${known ? `${percent(row.share)} busy` : "utilization not measured"}${blocked ? `, ${percent(row.blocked)} blocked` : ""}${row.work === null ? "" : `, ${number(row.work)} ${row.unit}`}`},
  svg("rect", {x, y, width, height, rx: 5, style: known ? `fill:${heat(row.share)}` : null}),
  svg("text", {x: x + width / 2, y: y + 18, class: name.length > 14 ? "name long" : "name"}, fitted(name, width + (name.length > 14 ? 6 : -6))),
  svg("text", {x: x + width / 2, y: y + 36, class: "share"}, known ? percent(row.share) : "\u2013"),
  third === null ? null : svg("text", {x: x + width / 2, y: y + 53, class: blocked ? "work waited" : "work"}, third));
  return withTip(group, () => tipLines(row.name, [
    ["busy", known ? percent(row.share, 2) : "not measured"], ...(blocked ? [[`blocked: ${kStateMeanings.blocked}`, percent(row.blocked, 2)]] : []),
    ...(row.source ? [["measured at", row.source]] : []), ...(row.work === null ? [] : [["work", `${number(row.work)} ${row.unit}`]])]));
}

function diagramOf(run, node) {
  const rows = diagramRows(run, node);
  const byName = Object.fromEntries(rows.map((r) => [r.name, r]));
  const place = Object.fromEntries(kBlocks.map(([name, column, line]) =>
    [name, {x: kGrid.x + column * kGrid.stepX, y: kGrid.y + line * kGrid.stepY}]));
  const marker = newId("arrow");
  const arrow = (x1, y1, x2, y2) => svg("line", {x1, y1, x2, y2, class: "arrow", "marker-end": `url(#${marker})`});
  const arrows = kArrows.map(([from, to]) => {
    const [a, b] = [place[from], place[to]];
    if (a.y === b.y) return a.x < b.x ? arrow(a.x + kGrid.width, a.y + 31, b.x - 2, b.y + 31) : arrow(a.x, a.y + 31, b.x + kGrid.width + 2, b.y + 31);
    const x = a.x + kGrid.width / 2;
    return a.y < b.y ? arrow(x, a.y + kGrid.height, x, b.y - 2) : arrow(x, a.y, x, b.y + kGrid.height + 2);
  });
  const wires = rows.filter((r) => r.name.startsWith("wire "));
  const out = wires.find((r) => r.name.startsWith(`wire ${node} to `));
  const into = wires.find((r) => r !== out);
  const right = kGrid.x + 8 * kGrid.stepX + 14;
  const height = kGrid.y + kRows * kGrid.stepY + 10;
  const picture = svg("svg", {viewBox: `0 0 ${right + 132} ${height}`, role: "list", "aria-label": `Block diagram of node ${node} with the utilization of each block`},
    svg("defs", null, svg("marker", {id: marker, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"},
      svg("path", {d: "M0 0 L8 4 L0 8 z", class: "arrow-head"}))),
    svg("rect", {x: 4, y: 28, width: 116, height: height - 36, rx: 8, class: "frame"}),
    svg("text", {x: 62, y: 20, class: "title"}, "host"),
    ["verbs", "driver"].map((name, i) => [
      svg("rect", {x: 14, y: kGrid.y + (i + 1) * kGrid.stepY, width: 96, height: kGrid.height, rx: 5, class: "plain"}),
      svg("text", {x: 62, y: kGrid.y + (i + 1) * kGrid.stepY + 36, class: "name"}, name)]),
    kHost.map(([name, line]) => drawBlock({...byName[name], name}, 14, kGrid.y + line * kGrid.stepY, 96, kGrid.height)),
    kPcie.map(([name, line]) => drawBlock({...byName[name], name}, 148, kGrid.y + line * kGrid.stepY, 140, kGrid.height)),
    svg("rect", {x: kGrid.x - 16, y: 28, width: 8 * kGrid.stepX + 22, height: height - 36, rx: 8, class: "frame"}),
    svg("text", {x: kGrid.x + 4 * kGrid.stepX, y: 20, class: "title"}, fitted(`RNIC of node ${node}`, 800)),
    svg("text", {x: 217, y: 20, class: "title"}, "PCIe"),
    svg("text", {x: right + 68, y: 20, class: "title"}, "Ethernet"),
    arrows,
    arrow(120, kGrid.y + 31, 146, kGrid.y + 31), arrow(288, kGrid.y + 31, kGrid.x - 18, kGrid.y + 31),
    arrow(146, kGrid.y + kGrid.stepY + 31, 122, kGrid.y + kGrid.stepY + 31),
    arrow(kGrid.x - 16, kGrid.y + kGrid.stepY + 31, 290, kGrid.y + kGrid.stepY + 31),
    drawBlock(byName["host to device"], 148, kGrid.y, 140, kGrid.height),
    drawBlock(byName["device to host"], 148, kGrid.y + kGrid.stepY, 140, kGrid.height),
    kBlocks.map(([name]) => drawBlock(byName[name], place[name].x, place[name].y, kGrid.width, kGrid.height)),
    out ? [arrow(place.mac_tx.x + kGrid.width, kGrid.y + 31, right + 10, kGrid.y + 31), drawBlock(out, right + 12, kGrid.y, 112, kGrid.height)] : null,
    into ? [arrow(right + 12, kGrid.y + kGrid.stepY + 31, place.mac_rx.x + kGrid.width + 2, kGrid.y + kGrid.stepY + 31),
      drawBlock(into, right + 12, kGrid.y + kGrid.stepY, 112, kGrid.height)] : null);
  return el("figure", {class: "diagram"}, el("figcaption", null, `Node ${node}`), el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Diagram of node ${node}`}, picture),
    details("Data as a table", () => table([
      {title: "block", get: (r) => r.name, head: true},
      {title: "busy", get: (r) => r.share, text: (v) => percent(v, 2)},
      {title: "blocked", tip: kStateMeanings.blocked, get: (r) => r.blocked, text: (v) => percent(v, 2)},
      {title: "measured at", get: (r) => r.source ?? ""},
      {title: "work", get: (r) => r.work},
      {title: "unit", get: (r) => r.unit},
    ], rows, {caption: `Utilization of node ${node}`, csv: `utilization-${node}.csv`})));
}

function heatKey() {
  return el("p", {class: "heat-key"}, "idle", el("span", {class: "ramp", "aria-hidden": "true"}), "always busy, or full",
    el("span", {class: "chip outlined", "aria-hidden": "true"}), "blocked: used up, and somebody waits", el("span", {class: "chip hatched", "aria-hidden": "true"}), "not measured");
}

function diagramContent(run) {
  const nodes = Object.keys(run.stats.config ?? run.stats.stats ?? {});
  if (nodes.length === 0) return missing("stats.json has no nodes.");
  const content = [phaseNote(run), heatKey(), nodes.map((node) => diagramOf(run, node))];
  if (run.stats.occupancy?.length && !run.stats.occupancy.some((o) => o.kind === "link")) {
    content.push(prose("Blocks without a pool of their own are measured with `--set sim.account_links=true`.", {class: "note"}));
  }
  if (!run.stats.occupancy?.length) {
    content.push(missing("This run's stats.json has no occupancy of the links, so only wires, PCIe links, datapaths and firmware are measured: a newer rnicsim writes it."));
  }
  return content;
}

function diagramSection(run) {
  return section("Utilization", ofPhase(run, diagramContent));
}
