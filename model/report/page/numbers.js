// Numbers as text. A thin space separates thousands, and the values of a column have the same number of decimals.

const kThin = "\u202f";
const kMinus = "\u2212";

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

// Four significant digits, unless `decimals` is given.
function number(value, decimals) {
  if (!isNumber(value)) return value === null || value === undefined ? "\u2013" : String(value);
  const size = Math.abs(value);
  if (decimals === undefined) {
    if (Number.isInteger(value)) decimals = 0;
    else if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(3).replace("-", kMinus);
    else decimals = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(size === 0 ? 1 : size))));
  }
  const [whole, fraction] = size.toFixed(decimals).split(".");
  const text = whole.replace(/\B(?=(\d{3})+$)/g, kThin) + (fraction ? `.${fraction}` : "");
  return value < 0 && Number(size.toFixed(decimals)) !== 0 ? kMinus + text : text;
}

function percent(share, decimals = 1) {
  return isNumber(share) ? `${number(100 * share, decimals)} %` : "\u2013";
}

// The unit of time in which `ns` is easy to read, and its length in ns.
function timeUnit(ns) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]]) {
    if (Math.abs(ns) >= size) return {unit, size};
  }
  return {unit: "ns", size: 1};
}

function time(ns) {
  if (!isNumber(ns)) return "\u2013";
  const {unit, size} = timeUnit(ns);
  return `${number(ns / size)} ${unit}`;
}

function octets(value) {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (value >= size) return `${number(value / size)} ${unit}`;
  }
  return `${number(value)} octets`;
}

// "+3.1 %" from a to b; "new" if a is 0.
function change(a, b) {
  if (!isNumber(a) || !isNumber(b)) return "\u2013";
  if (a === b) return "=";
  if (a === 0) return "new";
  const share = (b - a) / Math.abs(a);
  return `${share > 0 ? "+" : ""}${percent(share, Math.abs(share) < 0.1 ? 2 : 1)}`;
}

function setting(value) {
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "string") return value === "" ? "\u201c\u201d" : value;
  return number(value);
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

// The decimals for all values of a column: enough for four significant digits of their median, at most 4.
function decimalsOf(values) {
  const sizes = values.filter((v) => isNumber(v) && !Number.isInteger(v)).map(Math.abs).filter((v) => v > 0);
  if (sizes.length === 0) return 0;
  const size = median(sizes);
  return Math.min(4, Math.max(0, 3 - Math.floor(Math.log10(size))));
}

// Flattens {a: {b: {value, unit}}} to [{path, value, unit, description}], and a histogram to one line per figure; ratios in percent.
function flatten(tree, prefix = "", list = []) {
  for (const [name, node] of Object.entries(tree ?? {})) {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    if (node === null || typeof node !== "object") continue;
    if (typeof node.unit !== "string") {
      flatten(node, path, list);
      continue;
    }
    const {description} = node;
    const [unit, factor] = node.unit === "ratio" ? ["%", 100] : [node.unit, 1];
    const scaled = (value) => (isNumber(value) ? factor * value : value);
    if ("value" in node) list.push({path, value: scaled(node.value), unit, description});
    else for (const [figure, value] of Object.entries(node)) {
      if (isNumber(value)) list.push({path: `${path}.${figure}`, value: figure === "count" ? value : scaled(value), unit: figure === "count" ? "" : unit, description});
    }
  }
  return list;
}

// The value at a path of nested objects; undefined if there is none.
function at(tree, path) {
  let node = tree;
  for (const part of path.split(".")) {
    if (node === null || typeof node !== "object" || !(part in node)) return undefined;
    node = node[part];
  }
  return node;
}
