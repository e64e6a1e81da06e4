// Tables that sort, filter and download.

function csvCell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv(columns, rows) {
  const title = (column) => (column.unit ? `${column.title} (${column.unit})` : column.title);
  const lines = [columns.map(title), ...rows.map((row) => columns.map((column) => column.get(row)))];
  return lines.map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

function download(name, type, text) {
  const link = el("a", {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function compareValues(a, b) {
  const empty = (v) => v === null || v === undefined || v === "";
  if (empty(a) || empty(b)) return Number(empty(a)) - Number(empty(b));
  if (isNumber(a) && isNumber(b)) return a - b;
  return String(a).localeCompare(String(b), "en", {numeric: true});
}

// columns: {title, get: row => value, unit, text: (value, row) => text, node: (value, row) => element, decimals, head: the row's heading, tip: what the title means}.
// A column of numbers is aligned right. options: {caption, csv: file name, filter: placeholder, sorts: false,
// most: rows at first, rowClass: row => class}.
function table(columns, rows, options = {}) {
  const numeric = columns.map((c) => rows.some((r) => isNumber(c.get(r))) && rows.every((r) => typeof c.get(r) !== "string"));
  const decimals = columns.map((c, i) => c.decimals ?? (numeric[i] ? decimalsOf(rows.map(c.get)) : undefined));
  const body = el("tbody");
  const headings = columns.map((column, i) => {
    const title = [column.title, column.unit ? el("span", {class: "unit"}, ` ${column.unit}`) : null];
    const inner = options.sorts === false ? title : el("button", {type: "button", onclick: () => sortBy(i)}, title,
      el("span", {class: "order", "aria-hidden": "true"}));
    const heading = el("th", {scope: "col", class: numeric[i] ? "number" : null}, inner);
    return column.tip ? withTip(heading, () => tipLines(column.title, [["", column.tip]])) : heading;
  });
  let shown = rows;
  let order = rows;
  let all = !options.most || rows.length <= options.most;

  function cell(column, i, row) {
    const value = column.get(row);
    const content = column.node ? column.node(value, row) : column.text ? column.text(value, row)
      : numeric[i] ? number(value, Number.isInteger(value) ? 0 : decimals[i]) : number(value);
    return el(column.head ? "th" : "td", {scope: column.head ? "row" : null, class: numeric[i] ? "number" : null}, content);
  }
  function draw() {
    const visible = all ? shown : shown.slice(0, options.most);
    body.replaceChildren(...visible.map((row) =>
      el("tr", {class: options.rowClass?.(row)}, columns.map((column, i) => cell(column, i, row)))));
    if (count) count.textContent = `${shown.length === rows.length ? "" : `${number(shown.length)} of `}${number(rows.length)} row${rows.length === 1 ? "" : "s"}`;
    if (more) more.hidden = all || shown.length <= options.most;
  }
  function sortBy(i) {
    const down = headings[i].getAttribute("aria-sort") === "ascending" ||
      (!headings[i].hasAttribute("aria-sort") && numeric[i]);  // for numbers the largest first
    headings.forEach((heading) => heading.removeAttribute("aria-sort"));
    headings[i].setAttribute("aria-sort", down ? "descending" : "ascending");
    const {get} = columns[i];
    order = [...rows].sort((a, b) => {
      const [x, y] = [get(a), get(b)];
      const none = (v) => v === null || v === undefined || v === "";
      return none(x) || none(y) || !down ? compareValues(x, y) : compareValues(y, x);
    });
    search();
    announce(`sorted by ${columns[i].title}, ${down ? "descending" : "ascending"}`);
  }
  function search() {
    const words = (filter?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const text = (row) => columns.map((c) => c.get(row) ?? "").join(" ").toLowerCase();
    shown = words.length === 0 ? order : order.filter((row) => words.every((w) => text(row).includes(w)));
    draw();
  }

  const filter = options.filter ? el("input", {type: "search", placeholder: options.filter, "aria-label": options.filter,
    oninput: search}) : null;
  const count = options.filter || options.csv ? el("span", {class: "count", role: "status"}) : null;
  const save = options.csv ? el("button", {type: "button", class: "action",
    onclick: () => download(options.csv, "text/csv", csv(columns, shown))}, "Download CSV") : null;
  const more = all ? null : el("button", {type: "button", class: "action", onclick: () => {
    all = true;
    draw();
  }}, "Show all rows");
  draw();
  const scroll = el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": options.caption ?? "table"},
    el("table", null, options.caption ? el("caption", null, options.caption) : null,
      el("thead", null, el("tr", null, headings)), body));
  return el("div", {class: "tabular"}, filter || save ? el("div", {class: "tools"}, filter, save, count) : null, scroll, more);
}

// Two columns without sorting: names and values.
function facts(pairs) {
  return el("dl", {class: "facts"}, pairs.filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))));
}

// A share as a bar in a cell, with the number beside it.
function bar(share) {
  if (!isNumber(share)) return "\u2013";
  return el("span", {class: "bar"}, el("span", {class: "track", "aria-hidden": "true"},
    el("span", {style: `width:${Math.min(100, 100 * share).toFixed(2)}%`})), el("span", null, percent(share)));
}
