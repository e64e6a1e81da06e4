// Measures a page of rnicsim report as it is laid out: where its text is cut off, covered or too pale, and where drawings leave their
// panels. report_layout_test.py runs this before the page's own scripts; `pageBoxes()` gives the faults as lines of text.
(() => {
"use strict";

const kTolerance = 1;       // px, and px² of an overlap
const kLeastContrast = 4.5;  // WCAG 2, for text of any size

// The texts that each canvas shows: drawn since it was last cleared.
const drawn = new Map();
const context = CanvasRenderingContext2D.prototype;
const {fillText, clearRect} = context;
context.fillText = function (text, x, y, ...rest) {
  const m = this.measureText(text);
  const t = this.getTransform();
  const corners = [[-m.actualBoundingBoxLeft, -m.actualBoundingBoxAscent], [m.actualBoundingBoxRight, m.actualBoundingBoxDescent]]
    .map(([dx, dy]) => t.transformPoint(new DOMPoint(x + dx, y + dy)));
  const [a, b] = corners;
  if (!drawn.has(this.canvas)) drawn.set(this.canvas, []);
  drawn.get(this.canvas).push({text: String(text), colour: this.fillStyle, left: Math.min(a.x, b.x), right: Math.max(a.x, b.x),
    top: Math.min(a.y, b.y), bottom: Math.max(a.y, b.y)});
  return fillText.call(this, text, x, y, ...rest);
};
context.clearRect = function (x, y, width, height) {
  if (width >= this.canvas.width && height >= this.canvas.height) drawn.delete(this.canvas);
  return clearRect.call(this, x, y, width, height);
};

const isEmpty = (b) => b.right - b.left < 0.5 || b.bottom - b.top < 0.5;
const cut = (a, b) => ({left: Math.max(a.left, b.left), right: Math.min(a.right, b.right), top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom)});
const box = (b) => `[${[b.left, b.top, b.right, b.bottom].map((v) => Math.round(v)).join(" ")}]`;

// Where the element is: the nearest heading above it.
function place(element) {
  return element.closest("section")?.dataset.title ?? element.closest("header, nav, footer")?.tagName.toLowerCase() ?? "page";
}

// What is for screen readers alone, or comes into view when it is needed.
const kElsewhere = ".unseen, .skip, .tip, noscript, script, style, option, title, desc";

// Boxes of a text, cut to what can be seen at first where an ancestor scrolls. `out`: how far it leaves an ancestor that
// cuts it off, or the page.
function visible(rect, element) {
  let seen = {left: rect.left, right: rect.right, top: rect.top, bottom: rect.bottom};
  let out = null;
  let scrolled = false;
  for (let e = element; e && e !== document.documentElement && e !== document.body; e = e.parentElement) {
    const style = getComputedStyle(e);
    if (style.overflowX === "visible" && style.overflowY === "visible") continue;
    const b = e.getBoundingClientRect();
    const scrolls = /auto|scroll/.test(style.overflowX + style.overflowY);
    if (!scrolls && !scrolled) {
      const beyond = Math.max(b.left - seen.left, seen.right - b.right, b.top - seen.top, seen.bottom - b.bottom);
      if (beyond > kTolerance) out = `by ${beyond.toFixed(1)} px out of ${e.tagName.toLowerCase()}.${e.getAttribute("class") ?? ""}`;
    } else if (scrolls) {  // nothing scrolls to what is before the beginning
      const before = Math.max(b.left - e.scrollLeft - seen.left, b.top - e.scrollTop - seen.top);
      if (before > kTolerance) out = `by ${before.toFixed(1)} px before ${e.tagName.toLowerCase()}.${e.getAttribute("class") ?? ""}`;
    }
    scrolled ||= scrolls;
    seen = cut(seen, b);
  }
  const page = Math.max(-seen.left, seen.right - document.documentElement.clientWidth);
  if (page > kTolerance) out ??= `by ${page.toFixed(1)} px out of the page`;
  return {seen, out};
}

function texts() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest(kElsewhere)) continue;
    if (!element.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true})) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      if (isEmpty(rect)) continue;
      found.push({text: node.data.trim(), element, node, ...visible(rect, element)});
    }
  }
  for (const [canvas, list] of drawn) {
    if (!canvas.isConnected || !canvas.checkVisibility()) continue;
    const b = canvas.getBoundingClientRect();
    const [sx, sy] = [b.width / canvas.width, b.height / canvas.height];
    for (const t of list) {
      const rect = {left: b.left + t.left * sx, right: b.left + t.right * sx, top: b.top + t.top * sy, bottom: b.top + t.bottom * sy};
      if (isEmpty(rect)) continue;
      const beyond = Math.max(b.left - rect.left, rect.right - b.right, b.top - rect.top, rect.bottom - b.bottom);
      const {seen, out} = visible(rect, canvas.parentElement);
      found.push({text: t.text, element: canvas, colour: t.colour, seen, out: beyond > kTolerance ? `by ${beyond.toFixed(1)} px out of its canvas` : out});
    }
  }
  return found;
}

function overlaps(list) {
  const faults = [];
  const shown = list.filter((t) => !isEmpty(t.seen)).sort((a, b) => a.seen.top - b.seen.top);
  shown.forEach((a, i) => {
    for (let j = i + 1; j < shown.length && shown[j].seen.top < a.seen.bottom; ++j) {
      const b = shown[j];
      if (a.node && a.node === b.node) continue;  // lines of one text
      const common = cut(a.seen, b.seen);
      if (isEmpty(common)) continue;
      const [width, height] = [common.right - common.left, common.bottom - common.top];
      if (width > kTolerance && height > kTolerance && width * height > kTolerance) {
        faults.push(`overlap: ${place(a.element)}: "${a.text}" ${box(a.seen)} and "${b.text}" ${box(b.seen)}`);
      }
    }
  });
  return faults;
}

// Bars within their tracks, and all that is drawn within its drawing.
const kBars = ".stack > .part, .states > span, .track > span, .waits > span, .shares > span";
function strays() {
  const faults = [];
  const check = (element, panel) => {
    const [a, b] = [element.getBoundingClientRect(), panel.getBoundingClientRect()];
    const beyond = Math.max(b.left - a.left, a.right - b.right, b.top - a.top, a.bottom - b.bottom);
    if (beyond > kTolerance) {
      faults.push(`outside: ${place(element)}: ${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} ${box(a)} leaves ${panel.tagName.toLowerCase()}.${panel.getAttribute("class") ?? ""} ${box(b)}`);
    }
  };
  for (const bar of document.querySelectorAll(kBars)) if (bar.checkVisibility()) check(bar, bar.parentElement);
  for (const shape of document.querySelectorAll("main svg :is(rect, line, circle, path)")) {
    if (shape.checkVisibility() && !shape.closest("defs")) check(shape, shape.ownerSVGElement);
  }
  return faults;
}

// Colours as the browser paints them, whatever the notation.
const painter = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
const known = new Map();
function rgba(text) {
  if (!known.has(text)) {
    painter.clearRect(0, 0, 1, 1);
    painter.fillStyle = "#000";
    painter.fillStyle = text;
    painter.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = painter.getImageData(0, 0, 1, 1).data;
    known.set(text, [r, g, b, a / 255]);
  }
  return known.get(text);
}
const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
function luminance([r, g, b]) {
  const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}

// What is behind a text: the backgrounds of its ancestors, and in a drawing the last filled rectangle around it.
function ground(element, seen) {
  const chain = [];
  for (let e = element; e; e = e.parentElement) chain.unshift(e);
  let colour = [255, 255, 255, 1];
  for (const e of chain) {
    if (!(e instanceof SVGElement)) colour = over(rgba(getComputedStyle(e).backgroundColor), colour);
  }
  const drawing = element.ownerSVGElement;
  if (!drawing) return colour;
  const [x, y] = [(seen.left + seen.right) / 2, (seen.top + seen.bottom) / 2];
  for (const rect of drawing.querySelectorAll("rect")) {
    if (!(rect.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
    const b = rect.getBoundingClientRect();
    const fill = getComputedStyle(rect).fill;
    if (fill !== "none" && x > b.left && x < b.right && y > b.top && y < b.bottom) colour = over(rgba(fill), colour);
  }
  return colour;
}

function opacity(element) {
  let all = 1;
  for (let e = element; e; e = e.parentElement) all *= Number(getComputedStyle(e).opacity);
  return all;
}

function pale(list) {
  const faults = [];
  for (const t of list) {
    if (isEmpty(t.seen)) continue;
    const style = getComputedStyle(t.element);
    const isDrawn = t.element instanceof SVGElement;
    const behind = ground(t.element, t.seen);
    const colour = [...rgba(t.colour ?? (isDrawn ? style.fill : style.color))];
    colour[3] *= opacity(t.element) * (isDrawn ? Number(style.fillOpacity) : 1);
    const [a, b] = [luminance(over(colour, behind)), luminance(behind)].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < kLeastContrast) faults.push(`pale: ${place(t.element)}: "${t.text}" has a contrast of ${contrast.toFixed(2)}`);
  }
  return faults;
}

window.pageBoxes = () => {
  const list = texts();
  return {texts: list.length,
    faults: [...list.filter((t) => t.out).map((t) => `cut off: ${place(t.element)}: "${t.text}" ${t.out}`), ...overlaps(list), ...strays(), ...pale(list)]};
};
})();
