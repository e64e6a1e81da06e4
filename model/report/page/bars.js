// Stacked bars of named parts.

// What a stage of a request's way belongs to, by its name: neighbours of one family are shades of one colour.
const kFamilies = [
  ["Host", /^(driver|poll|post|host|program|core|interrupt)/i],
  ["Acknowledgement", /\back\b|acknowledg|acked/i],
  ["Wire", /\b(wire|cable|propagation|serialization)\b/i],
  ["Peer", /\b(peer|responder|irrq|remote|mac_rx|tcp_rx|rx)\b|receiv|deframer|crc_check|placement|dispatch|rqe/i],
  ["PCIe", /\b(pcie|dma|msi-?x?)\b|wqe|payload|cqe|doorbell/i],
  ["Transmit", /\b(tx|tcp_tx|mac_tx|mac)\b|segmenter|framer|marker|crc_insert|tcp|frame/i],
];
const kFamilyColours = {Host: 4, PCIe: 5, Transmit: 1, Wire: 8, Peer: 3, Acknowledgement: 7, Other: 6};

function familyOf(name) {
  return kFamilies.find(([, pattern]) => pattern.test(name))?.[0] ?? "Other";
}

// A colour for each name: that of its family, lighter with each further one.
function partColours(names) {
  const seen = {};
  return new Map(names.map((name) => {
    const family = familyOf(name);
    const n = (seen[family] = (seen[family] ?? -1) + 1);
    const keep = [100, 72, 50, 86, 60, 40][n % 6];
    return [name, `color-mix(in oklab, var(--s${kFamilyColours[family]}) ${keep}%, var(--surface))`];
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
      const part = el("span", {class: "part", "data-part": p.name,
        style: `width:${(100 * p.value / most).toFixed(3)}%;background:${colours.get(p.name)}`},
        p.value / most > 0.07 ? el("span", null, p.name) : null);
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
