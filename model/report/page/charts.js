// Line charts by uPlot, with additions: a legend of checkboxes, the keyboard, a table of the data, colours that follow
// the colour scheme and the printer.

const kColours = 8;
const kDashes = [[], [7, 3], [2, 3], [8, 3, 2, 3]];

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
function colour(i) {
  return `var(--s${(i % kColours) + 1})`;
}
function dash(i) {
  return kDashes[Math.floor(i / kColours) % kDashes.length];
}

const charts = new Set();
function redrawCharts() {
  for (const chart of charts) chart.redraw(false, true);
}
for (const query of ["(prefers-color-scheme: dark)", "print"]) {
  matchMedia(query).addEventListener("change", () => requestAnimationFrame(redrawCharts));
}

function axis(options) {
  return {
    stroke: () => css("--muted"),
    grid: {stroke: () => css("--grid"), width: 1},
    ticks: {stroke: () => css("--grid"), width: 1, size: 4},
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    labelGap: 4,
    ...options,
  };
}

// The time that panels with an axis of time show: {from, to} in ns; null is the whole run. Those that are not drawn yet
// take it when they are.
let shownTime = null;
const timePanels = new Set();
function showTime(from, to) {
  shownTime = from === null ? null : {from, to};
  for (const show of timePanels) show();
}

// A chart is drawn when it first comes into view, so that a page of a hundred charts stays quick.
const coming = new IntersectionObserver((entries) => {
  for (const {isIntersecting, target} of entries) {
    if (!isIntersecting) continue;
    coming.unobserve(target);
    target.dispatchEvent(new CustomEvent("draw"));
  }
}, {rootMargin: "600px"});

// x: {label, values, text: value => text, categories: labels, log, ns: of its unit, if it is the time of the run}; series: [{label, values, unit, colour, dash, points, line}].
// options: {title, y: label, height, decimals, describe: what it shows, log, mayLog: if the values span decades, hooks, from0, tip: index => pairs}.
function lineChart(x, series, options) {
  const xText = x.text ?? ((v) => (x.categories ? x.categories[v] ?? "" : number(v)));
  const yText = options.text ?? ((v) => number(v, options.decimals));
  const shown = series.map((s, i) => s.shown ?? i < kColours);
  const host = el("div", {class: "plot", tabindex: "0", role: "application", "aria-roledescription": "chart",
    "aria-label": `${options.title}. ${options.describe ?? ""} Arrow keys read the values, plus and minus zoom, Escape shows all.`});
  let plot = null;
  let index = null;
  let fits = options.from0 === false;
  const numbers = series.flatMap((s) => s.values);
  const log = options.log ?? (options.mayLog === true && spansDecades(numbers));

  const values = series.map(() => el("output", {class: "value"}));
  const boxes = series.map((s, i) => el("input", {type: "checkbox", checked: shown[i], onchange: () => {
    shown[i] = boxes[i].checked;
    plot?.setSeries(i + 1, {show: shown[i]});
  }}));
  const legend = el("div", {class: "legend", role: "group", "aria-label": "Series"}, series.map((s, i) =>
    el("label", null, boxes[i], swatch(s.colour ?? colour(i), s.dash ?? dash(i), s.points && !s.line), el("span", null, s.label),
      values[i])));

  function pairsAt(i) {
    return series.flatMap((s, n) => {
      const value = s.values[i];
      return shown[n] && value !== null && value !== undefined ? [[s.label, `${yText(value)}${s.unit ? ` ${s.unit}` : ""}`]] : [];
    }).concat(options.tip?.(i) ?? []);
  }
  function leave() {
    index = null;
    plot?.setCursor({left: -10, top: -10}, false);
    readOut(null);
  }
  function readOut(i, fromKeyboard) {
    series.forEach((s, n) => { values[n].textContent = i === null || s.values[i] === null || s.values[i] === undefined ? "" : yText(s.values[i]); });
    if (i === null) return hideTip();
    const title = `${x.label} ${xText(x.values[i])}`;
    const box = plot.over.getBoundingClientRect();
    const left = box.left + plot.valToPos(x.values[i], "x");
    if (fromKeyboard) announce(`${title}: ${pairsAt(i).map((p) => p.join(" ")).join(", ")}`);
    showTip(left, fromKeyboard ? box.top + 20 : lastY, tipLines(title, pairsAt(i)));
  }
  let lastY = 0;
  function move(i) {
    index = Math.min(x.values.length - 1, Math.max(0, i));
    plot.setCursor({left: plot.valToPos(x.values[index], "x"), top: 10}, false);
    readOut(index, true);
  }
  const whole = el("button", {type: "button", class: "action", hidden: true, onclick: showAll}, "Show the whole range");
  // From 0 on, or from the smallest value that is shown.
  const fit = log || !numbers.some((v) => v > 0) ? null : el("label", {class: "fit"}, el("input", {type: "checkbox", checked: fits, onchange: (event) => {
    fits = event.target.checked;
    plot?.setData(plot.data, false);
    plot?.redraw(true, true);
  }}), "fit to the data");
  function showAll() {
    const {min, max} = rangeOf(x);
    plot.setScale("x", {min, max});
  }
  // Three times as much as asked for, and at least a fiftieth of the axis, so that what surrounds it is seen.
  function showMoment() {
    if (!plot?.root.isConnected) return;
    if (shownTime === null) return showAll();
    const {min, max} = rangeOf(x);
    const [from, to] = [shownTime.from / x.ns, shownTime.to / x.ns];
    const around = Math.max(to - from, (max - min) / 100);
    plot.setScale("x", {min: Math.max(min, Math.min(from - around, max - around)), max: Math.min(max, Math.max(to + around, min + around))});
  }
  function drawMoment() {
    if (shownTime === null) return;
    const {ctx, bbox} = plot;
    const [from, to] = [shownTime.from, shownTime.to].map((ns) => Math.min(bbox.left + bbox.width, Math.max(bbox.left, plot.valToPos(ns / x.ns, "x", true))));
    ctx.save();
    ctx.fillStyle = css("--moment");
    ctx.fillRect(from, bbox.top, Math.max(2 * devicePixelRatio, to - from), bbox.height);
    ctx.restore();
  }
  function zoom(factor) {
    const {min, max} = plot.scales.x;
    const centre = index === null ? (min + max) / 2 : x.values[index];
    plot.setScale("x", {min: centre - (centre - min) * factor, max: centre + (max - centre) * factor});
  }
  host.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 10 : 1;
    const actions = {
      ArrowRight: () => move(index === null ? 0 : index + step),
      ArrowLeft: () => move(index === null ? x.values.length - 1 : index - step),
      Home: () => move(0),
      End: () => move(x.values.length - 1),
      "+": () => zoom(0.5),
      "-": () => zoom(2),
      Escape: () => {
        leave();
        showAll();
      },
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey || !plot) return;
    event.preventDefault();
    actions[event.key]();
  });
  host.addEventListener("blur", leave);

  function draw() {
    const xScale = x.log ? scaleOf(x.values) : {};
    const {min, max} = rangeOf(x);
    plot = new uPlot({
      width: Math.max(280, host.clientWidth),
      height: options.height ?? 260,
      legend: {show: false},
      cursor: {y: false, drag: {x: true, y: false}, points: {size: 7}},
      scales: {
        x: {time: false, range: (u, a, b) => (a === b ? [a - 1, b + 1] : [a, b]), ...xScale},
        y: log ? scaleOf(numbers) : {range: (u, a, b) => yRange(a, b, !fits)},
      },
      axes: [
        axis({label: x.label, labelSize: 20, size: 34, space: 80, ...(x.splits ? {filter: (u, splits) => splits} : {}), values: (u, ticks) => (x.categories ? ticks.map((v) => (Number.isInteger(v) ? xText(v) : "")) : x.text ? ticks.map((v) => (isNumber(v) ? xText(v) : "")) : tickTexts(ticks)),
          ...(x.log && !x.splits ? {splits: (u) => logTicks(u.scales.x.min, u.scales.x.max), filter: (u, splits) => splits} : {}),
          ...(x.splits ? {splits: () => x.splits} : x.categories ? {splits: () => x.categories.map((_, i) => i)} : {})}),
        axis({label: options.y, labelSize: 20, size: (u, texts) => Math.max(42, ...(texts ?? []).map((text) => widthOf(text ?? "") + 14)), values: (u, ticks) => tickTexts(ticks)}),
      ],
      series: [{}, ...series.map((s, i) => ({
        label: s.label,
        show: shown[i],
        stroke: () => resolve(s.colour ?? colour(i)),
        width: s.line === false ? 0 : 1.75,
        dash: s.dash ?? dash(i),
        spanGaps: s.spanGaps ?? false,
        paths: s.line === false ? () => null : s.stepped ? uPlot.paths.stepped({align: 1}) : undefined,
        points: {show: s.points ?? x.values.length <= 40, size: s.size ?? 6, fill: () => resolve(s.colour ?? colour(i))},
      }))],
      hooks: {
        ...(options.hooks ?? {}),
        ...(x.ns ? {drawClear: [drawMoment]} : {}),
        setCursor: [(u) => {
          if (index !== null && document.activeElement === host) return;
          readOut(u.cursor.left >= 0 && u.cursor.idx !== null && u.cursor.idx !== undefined ? u.cursor.idx : null);
        }],
        setScale: [(u, key) => {
          if (key === "x") whole.hidden = Math.abs(u.scales.x.min - min) + Math.abs(u.scales.x.max - max) <= 1e-9 * Math.abs(max - min);
        }],
      },
    }, [x.values, ...series.map((s) => s.values)], host);
    plot.over.addEventListener("pointermove", (event) => { lastY = event.clientY; });
    plot.over.addEventListener("pointerleave", hideTip);
    charts.add(plot);
    if (x.ns) {
      timePanels.add(showMoment);
      if (shownTime !== null) showMoment();
    }
    new ResizeObserver(() => {
      const width = Math.max(280, Math.floor(host.clientWidth));
      if (width !== plot.width) plot.setSize({width, height: plot.height});
    }).observe(host);
  }
  host.style.minHeight = `${options.height ?? 260}px`;
  host.addEventListener("draw", draw, {once: true});
  coming.observe(host);

  const columns = [{title: x.label, get: (i) => (x.categories ? x.categories[x.values[i]] : x.values[i]), text: (v, i) => xText(x.values[i]), head: true},
    ...series.map((s) => ({title: s.label, unit: s.unit, get: (i) => s.values[i] ?? null}))];
  return el("figure", {class: "chart"}, el("figcaption", null, options.title),
    series.length > 1 || options.legend ? legend : null, host, el("div", {class: "below"}, whole, fit,
      details("Data as a table", () => table(columns, x.values.map((_, i) => i), {caption: options.title, csv: "chart.csv", most: 200}))),
    options.note ? prose(options.note, {class: "note"}) : null);
}

// With the decimals that the smallest step needs; a logarithmic axis leaves some ticks out as null.
function tickTexts(ticks) {
  const known = ticks.filter(isNumber);
  const exact4 = (v) => Number(v.toPrecision(4));
  if (known.length < 2 || (known[known.length - 1] / (known.find((v) => v > 0) ?? 1) > 100)) {
    return ticks.map((v) => (!isNumber(v) ? "" : v > 0 && v < 1 ? number(v, (String(exact4(v)).split(".")[1] ?? "").length || undefined) : number(exact4(v))));
  }
  const step = Math.min(...known.slice(1).map((v, i) => v - known[i]));
  const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step * 1.0001))));
  const exact = Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) < 1e-6 ? decimals : decimals + 1;
  return ticks.map((v) => (isNumber(v) ? number(v, exact) : ""));
}

// Powers of ten, and where they are few also twice and five times as much.
function logTicks(min, max) {
  const low = min > 0 ? min : max / 1e4;
  const factors = Math.log10(max / low) < 2.5 ? [1, 2, 5] : [1];
  const ticks = min > 0 ? [] : [0];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(max); ++e) ticks.push(...factors.map((f) => f * 10 ** e).filter((v) => v >= low && v <= max));
  return ticks;
}

// True if values span so much that a linear axis would put most of them in its corner.
function spansDecades(values, ratio = 100) {
  const known = values.filter((v) => isNumber(v) && v !== 0).map(Math.abs);
  return known.length > 2 && values.every((v) => !isNumber(v) || v >= 0) && Math.max(...known) >= ratio * Math.min(...known);
}
// A logarithmic scale; with a 0 among the values it is linear below the smallest other one.
function scaleOf(values) {
  const known = values.filter((v) => isNumber(v) && v > 0);
  return values.some((v) => v === 0) ? {distr: 4, asinh: Math.min(...known)} : {distr: 3};
}

function resolve(value) {
  const variable = /^var\((--[\w-]+)\)$/.exec(value);
  return variable ? css(variable[1]) : value;
}
function rangeOf(x) {
  const [min, max] = [x.values[0], x.values[x.values.length - 1]];
  return min === max ? {min: min - 1, max: max + 1} : {min, max};
}
function yRange(a, b, from0) {
  if (a === null || b === null) return [0, 1];
  const low = from0 ? Math.min(0, a) : a;
  const high = from0 ? Math.max(0, b) : b;
  const space = (high - low || Math.abs(high) || 1) * 0.06;
  return [from0 && low === 0 ? 0 : low - space, high + space];
}
function swatch(stroke, dashes, point) {
  return svg("svg", {class: "swatch", width: 22, height: 10, "aria-hidden": "true"}, point
    ? svg("circle", {cx: 11, cy: 5, r: 4, style: `fill:${stroke}`})
    : svg("line", {x1: 0, y1: 5, x2: 22, y2: 5, style: `stroke:${stroke}`, "stroke-width": 2.5, "stroke-dasharray": dashes.join(" ") || null}));
}

// A colour from light to dark for a share of 0 to 1, mixed from two colours of the style.
function heat(share) {
  return `color-mix(in oklab, var(--heat-1) ${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%, var(--heat-0))`;
}
// True if text on it needs the other colour.
function isDeep(share) {
  return share > 0.7;
}
