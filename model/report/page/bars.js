// Stacked bars of named parts.

// Families of latency parts, by name: the parts of one family are shades of one colour.
const kFamilies = [
  ["Retransmission", 2, /retransmission/i],
  ["Host", 4, /^(driver|poll|post|host|program|core|interrupt)/i],
  ["Peer", 3, /^peer\b/i],
  ["Wire", 8, /\b(wire|message)\b/i],
  ["Acknowledgement", 7, /\back\b|acknowledg|completion/i],
  ["PCIe", 5, /\b(pcie|dma|wqe|rqe|cqe|doorbell)\b/i],
  ["Receive", 6, /\b(rx|tcp_rx|sctp_rx|sctp_association receive|mac_rx|mpa_deframer|crc_check|ddp_placement|rdmap_dispatch|placement)\b/i],
  ["Transmit", 1, /./],
];

// A colour for each name: the colour of its family, lighter with each further name.
function partColours(names) {
  const seen = {};
  return new Map(names.map((name) => {
    const [family, stroke] = kFamilies.find(([, , pattern]) => pattern.test(name));
    const n = (seen[family] = (seen[family] ?? -1) + 1);
    const strength = [100, 72, 50, 86, 60, 40][n % 6];
    return [name, `color-mix(in oklab, var(--s${stroke}) ${strength}%, var(--surface))`];
  }));
}

// bars: [{label, note, total, parts: [{name, value}]}], all to one scale; text: value => text.
function stackedBars(bars, names, text) {
  const colours = partColours(names);
  const most = Math.max(...bars.map((b) => b.total), Number.MIN_VALUE);
  const box = el("div", {class: "stacks", role: "img", "aria-label": bars.map((b) => `${b.label}: ${text(b.total)}`).join("; ")});
  for (const b of bars) {
    const parts = b.parts.filter((p) => p.value > 0).map((p) => {
      const share = p.value / b.total;
      const part = el("span", {class: `part${p.value / most < 0.006 ? " thin" : ""}`, "data-part": p.name,
        style: `width:${(100 * p.value / most).toFixed(3)}%;background:${colours.get(p.name)}`},
        p.value / most > 0.03 ? el("span", {style: `--room:${widthOf(p.name) + 16}px`}, p.name) : null);
      return withTip(part, () => tipLines(p.name, [[b.label, text(p.value)], ["share", percent(share)]]));
    });
    box.append(el("div", {class: "stack-label"}, b.label, b.note ? el("small", null, b.note) : null),
      el("div", {class: "stack"}, parts, el("span", {class: "stack-total"}, text(b.total))));
  }
  const key = el("ul", {class: "key"}, names.map((name) => {
    const item = el("li", null, el("span", {class: "chip", style: `background:${colours.get(name)}`, "aria-hidden": "true"}), name);
    item.addEventListener("pointerenter", () => box.setAttribute("data-only", name));
    item.addEventListener("pointerleave", () => box.removeAttribute("data-only"));
    item.addEventListener("pointerenter", () => box.querySelectorAll(".part").forEach((p) => p.classList.toggle("faint", p.dataset.part !== name)));
    item.addEventListener("pointerleave", () => box.querySelectorAll(".part").forEach((p) => p.classList.remove("faint")));
    return item;
  }));
  return el("div", null, key, box);
}
