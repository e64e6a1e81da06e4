// Time-sequence graphs: sequence numbers over time, with acknowledgements, windows and retransmissions.

// Rows of columns that have the differences of neighbours.
function rowsOf(columns) {
  const sums = columns.map(() => 0);
  return columns[0].map((_, i) => columns.map((column, c) => (sums[c] += column[i])));
}

function sequenceChart(direction) {
  const data = rowsOf(direction.data), acks = rowsOf(direction.acks);
  const chunks = direction.unit === "TSN";
  const [unit, size, pieces] = chunks ? ["TSN", 1, "DATA chunks"] : ["KiB", 1024, "segments"];
  const scale = timeUnit(Math.max(1, ...data.slice(-1).map((d) => d[1]), ...acks.slice(-1).map((a) => a[0])));
  const again = data.filter((d) => d[4]);
  const times = [...new Set([...data.flatMap((d) => [d[0], d[1]]), ...acks.map((a) => a[0])])].sort((a, b) => a - b);
  const index = new Map(times.map((t, i) => [t, i]));
  const empty = () => new Array(times.length).fill(null);
  const sent = empty(), repeated = empty(), acknowledged = empty(), window = empty();
  for (const d of data) (d[4] ? repeated : sent)[index.get(d[1])] = d[3] / size;
  for (const a of acks) {
    acknowledged[index.get(a[0])] = a[1] / size;
    if (!chunks) window[index.get(a[0])] = a[2] / size;
  }
  // Strokes from the first to the last octet of data sent together.
  const strokes = (u) => {
    const {ctx} = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    for (const [isAgain, name, width] of [[0, "--s1", 2], [1, "--s2", again.length > 100 ? 2 : 4]]) {
      if (!u.series[isAgain ? 2 : 1].show) continue;
      ctx.strokeStyle = css(name);
      ctx.lineWidth = width * devicePixelRatio;
      ctx.beginPath();
      for (const [from, to, first, last, repeated] of data) {
        if (repeated !== isAgain) continue;
        ctx.moveTo(u.valToPos(from / scale.size, "x", true), u.valToPos(first / size, "y", true));
        ctx.lineTo(u.valToPos(to / scale.size, "x", true), u.valToPos(last / size, "y", true) - (isAgain ? 2 * devicePixelRatio : 0));
      }
      ctx.stroke();
    }
    ctx.restore();
  };
  const chart = lineChart({label: `time, ${scale.unit}`, values: times.map((t) => t / scale.size), ns: scale.size}, [
    {label: "sent", unit, values: sent, line: false, points: false, colour: "var(--s1)", dash: []},
    {label: "sent again", unit, values: repeated, line: false, points: again.length > 0, size: again.length > 100 ? 4 : 8, colour: "var(--s2)", dash: []},
    {label: "acknowledged", unit, values: acknowledged, spanGaps: true, points: false, stepped: true, colour: "var(--s3)", dash: []},
    ...(chunks ? [] : [{label: "end of the window", unit, values: window, spanGaps: true, points: false, stepped: true, colour: "var(--s8)", dash: [4, 3], shown: false}]),
  ], {title: direction.name, y: chunks ? "TSN, from the first one" : "sequence number, KiB", height: 320, hooks: {draw: [strokes]},
    describe: `${number(direction.octets)} octets in ${number(direction.segments)} ${pieces}, ${number(direction.retransmissions)} of them sent again.`});
  return el("div", null, el("p", null, `${octets(direction.octets)} in ${number(direction.segments)} ${pieces}; `,
    el("strong", {class: direction.retransmissions > 0 ? "again" : null}, `${number(direction.retransmissions)} sent again`), "."), chart,
  direction.joined_ns > 0 || again.length < direction.retransmissions ? prose(`${chunks ? "Chunks" : "Segments"} within ${time(direction.joined_ns)} that follow each other are one stroke${again.length < direction.retransmissions
    ? `; of those that were sent again ${number(again.length)} are shown` : "; each one that was sent again has its own mark"}.`, {class: "note"}) : null);
}

function sequenceSection(run) {
  const title = "Time-sequence graph";
  const all = (run.sequences?.connections ?? []).flatMap((c) => c.directions.filter((d) => d.segments > 0));
  if (!run.sequences) return section(title, missing("No wire.pcapng in the folder: a run without --no-capture writes it."));
  if (all.length === 0) return section(title, missing("wire.pcapng has no data of TCP or SCTP."));
  all.sort((a, b) => b.retransmissions - a.retransmissions || b.octets - a.octets);
  const box = el("div", null, sequenceChart(all[0]));
  const options = all.map((d, i) => [String(i), `${d.name} (${octets(d.octets)}${d.retransmissions ? `, ${number(d.retransmissions)} again` : ""})`]);
  return section(title,
    el("div", {class: "tools"}, select("Direction", options, "0", (i) => box.replaceChildren(sequenceChart(all[Number(i)])))), box,
    run.sequences.left_out > 0 ? prose(`${run.sequences.left_out} connections with fewer octets are left out.`, {class: "note"}) : null);
}
