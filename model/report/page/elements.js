// Elements are created individually and never from markup, so that no text of a run can become markup.

let DATA = null;  // what model/report has read, once it is unpacked

const kSvg = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

// el("p", {class: "note"}, "text", child…); null attributes are left out, and names that begin with "on" are listeners.
function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(kSvg, tag), attributes, children);
}

// Width of a text in pixels, in the font of the drawings (.sequence text in page.css).
const ruler = document.createElement("canvas").getContext("2d");
function widthOf(text, weight = 400) {
  ruler.font = `${weight} 12px system-ui, "Liberation Sans", sans-serif`;
  return Math.ceil(ruler.measureText(text).width);
}

// The text, its middle left out if it is wider than the room for it.
function fitted(text, room, weight = 400) {
  if (widthOf(text, weight) <= room) return text;
  let kept = text.length - 1;
  const cut = () => `${text.slice(0, Math.ceil(kept / 2))}\u2026${text.slice(text.length - Math.floor(kept / 2))}`;
  while (kept > 1 && widthOf(cut(), weight) > room) --kept;
  return cut();
}

let lastId = 0;
function newId(prefix) {
  return `${prefix}-${++lastId}`;
}

// The screen reader's text when the keyboard moves within a chart.
const announcer = el("div", {class: "unseen", "aria-live": "polite"});
function announce(text) {
  if (announcer.textContent !== text) announcer.textContent = text;
}

// A section with a heading, listed in the contents. `content` may be one line that says what is missing.
function section(title, ...content) {
  const id = newId("section");
  const heading = el("h2", {id: `${id}-title`}, title);
  return el("section", {id, "aria-labelledby": heading.id, "data-title": title}, heading, ...content);
}

// Folds a section behind its heading; it is made when it is opened first.
function folded(title, make) {
  const id = newId("section");
  const heading = el("h2", {id: `${id}-title`}, title);
  const box = el("details", {class: "folded"}, el("summary", null, heading));
  box.addEventListener("toggle", () => {
    const made = guarded(make);
    made.querySelector("h2").remove();
    box.append(...made.childNodes);
  }, {once: true});
  return el("section", {id, "aria-labelledby": heading.id, "data-title": title}, box);
}

// Two sections side by side, where the page is wide enough.
function pair(...sections) {
  return el("div", {class: "pair"}, sections);
}

// The section that `make` makes. Unexpected data only affect that section.
function guarded(make) {
  try {
    return make();
  } catch (error) {
    return section("A section that could not be made", el("p", {class: "bad"}, String(error)));
  }
}

function missing(text) {
  return el("p", {class: "missing"}, text);
}

// <code> for text in backquotes.
function prose(text, attributes) {
  const parts = text.split("`");
  return el("p", attributes, parts.map((part, i) => (i % 2 === 0 ? part : el("code", null, part))));
}

function details(summary, make, attributes) {
  const box = el("details", attributes, el("summary", null, summary));
  let made = false;
  const open = () => {
    if (made) return;
    made = true;
    box.append(make());
  };
  box.addEventListener("toggle", () => box.open && open());
  if (box.open) open();
  return box;
}

function select(label, options, chosen, onchange) {
  const box = el("select", {onchange: () => onchange(box.value)},
    options.map(([value, text]) => el("option", {value, selected: value === chosen}, text)));
  return el("label", {class: "choice"}, el("span", null, label), box);
}

// A box that follows the pointer or the keyboard position.
const tip = el("div", {class: "tip", role: "presentation", hidden: true});
function showTip(x, y, ...content) {
  tip.replaceChildren(...content.flat(Infinity));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth ? x - 14 - box.width : x + 14;
  const top = Math.min(Math.max(4, y + 14), innerHeight - box.height - 4);
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${top}px`;
}
function hideTip() {
  tip.hidden = true;
}

// Shows a tip while `element` has the pointer or the focus.
function withTip(element, content) {
  element.addEventListener("pointermove", (event) => showTip(event.clientX, event.clientY, content()));
  element.addEventListener("pointerleave", hideTip);
  element.addEventListener("focus", () => {
    const box = element.getBoundingClientRect();
    showTip(box.left + box.width / 2, box.bottom - 10, content());
  });
  element.addEventListener("blur", hideTip);
  element.addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
  return element;
}

function tipLines(title, pairs) {
  return [el("strong", null, title),
    el("dl", null, pairs.map(([name, value]) => [el("dt", null, name), el("dd", null, value)]))];
}
