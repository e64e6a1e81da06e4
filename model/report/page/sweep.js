// A sweep: a measure over each axis, over two axes, against another measure, and the limiter of each point.

// {key, title, values, label: value => text, unit, mean}: the sweep's axes, or else the settings of its points.
function axesOf(sweep) {
  const keyOf = (a) => a.keys?.[0] ?? a.key;
  const given = (Array.isArray(sweep.axes) ? sweep.axes : []).filter(keyOf);
  const keys = [...new Set([...given.map(keyOf), ...(given.length > 0 ? [] : sweep.points.flatMap((p) => Object.keys(p.settings ?? {})))])];
  return keys.map((key) => {
    const axis = given.find((a) => keyOf(a) === key);
    const at = (point) => point.settings?.[key] ?? axis?.baseline ?? null;
    const values = [...new Set(sweep.points.map(at).filter((v) => v !== null))];
    if (values.every(isNumber)) values.sort((a, b) => a - b);
    const label = (v) => {
      const i = axis?.values?.findIndex((w) => w === v) ?? -1;
      return v === null ? "\u2013" : i >= 0 && axis.labels?.[i] !== undefined && axis.labels[i] !== String(v) ? String(axis.labels[i]) : setting(v);
    };
    const unit = (DATA.settings ?? []).find((s) => s.key === key || key.endsWith(`.${s.key}`))?.unit ?? "";
    return {key, title: axis?.title ?? key, values, label, unit, at, mean: axis?.mean === true, baseline: axis?.baseline};
  }).filter((a) => a.values.length > 0);
}

function axisLabel(axis) {
  return axis.unit && !axis.title.includes(axis.unit) ? `${axis.title}, ${axis.unit}` : axis.title;
}

const kLimiter = -1;  // in place of a measure's index

function sweepReport(sweep) {
  const axes = axesOf(sweep);
  // The page shows the mean over the seeds of a point.
  const varied = axes.filter((a) => a.values.length > 1 && !a.mean);
  const points = sweep.points.map((p, i) => ({...p, index: i}));
  const frequency = (name) => points.filter((p) => p.bottleneck?.name === name).length;
  const limiters = [...new Set(points.map((p) => p.bottleneck?.name).filter(Boolean))].sort((a, b) => frequency(b) - frequency(a));
  limiters.forEach((name, i) => limiterColours.set(name, i));
  const failed = points.filter((p) => p.exit_code !== undefined && p.exit_code !== 0);
  const measures = sweep.measures ?? [];
  return {
    title: sweep.scenario ?? sweep.name,
    subtitle: `Report of a sweep: ${points.length} points over ${axes.length} ${axes.length === 1 ? "axis" : "axes"}`,
    about: facts([
      ["points", number(points.length)], ["axes", axes.map((a) => `${a.title} (${a.values.length})`).join(", ")],
      ["mode", sweep.mode?.replaceAll("_", " ") ?? null], ["complete", sweep.complete === false ? "no: --resume goes on" : "yes"],
      ["failed", failed.length === 0 ? "none" : failed.map((p) => p.folder ?? p.index).join(", ")],
      ["folder", el("code", null, sweep.folder)],
    ]),
    sections: [
      () => limiterSection(points, varied, limiters),
      () => kneesSection(sweep),
      () => linesSection(points, varied, measures, limiters),
      () => heatSection(points, varied, measures, limiters),
    ].map(guarded).concat([
      measures.length < 2 ? null : folded("Pareto front", () => paretoSection(points, axes, measures)),
      folded("All points", () => pointsSection(points, axes, measures)),
    ]).filter(Boolean),
  };
}

// The selects of a section: a value for each axis that is not drawn.
function fixings(axes, drawn, chosen, redraw) {
  return axes.filter((a) => !drawn.includes(a)).map((a) =>
    select(a.title, [["", "all"], ...a.values.map((v, i) => [String(i), a.label(v)])], chosen.get(a.key) ?? "", (v) => {
      chosen.set(a.key, v);
      redraw();
    }));
}
function isChosen(point, axes, drawn, chosen) {
  return axes.every((a) => drawn.includes(a) || (chosen.get(a.key) ?? "") === "" || a.at(point) === a.values[Number(chosen.get(a.key))]);
}

function limiterSection(points, axes, limiters) {
  if (limiters.length === 0) return section("What limits", missing("The points' stats.json name no bottleneck: a newer rnicsim writes it."));
  const counts = limiters.map((name) => ({name, points: points.filter((p) => p.bottleneck?.name === name)}))
    .sort((a, b) => b.points.length - a.points.length);
  const around = axes.some((a) => a.baseline !== undefined);
  const content = [table([
    {title: "limiter", get: (c) => c.name, node: (v) => limiterName(v), head: true},
    {title: "points", get: (c) => c.points.length},
    {title: "of all", get: (c) => c.points.length / points.length, node: (v) => bar(v)},
    ...(around ? [] : axes).map((a) => ({title: a.title, get: (c) => {
      const values = a.values.filter((v) => c.points.some((p) => a.at(p) === v));
      return values.length === a.values.length ? "all" : values.length > 3 ? `${a.label(values[0])} \u2026 ${a.label(values[values.length - 1])}` : values.map(a.label).join(", ");
    }})),
  ], counts, {caption: around ? "Limiters" : "Limiters, and the values at which they bind"})];
  content.push(el("div", {class: "strips"}, axes.filter((a) => a.values.length <= 40).map((a) => limiterStrip(points, axes, a))));
  return section("What limits", content);
}
// A line of values, with their limiters below it; neighbours with the same limiter share a cell.
function limiterStrip(points, axes, axis) {
  const cells = [];
  for (const value of axis.values) {
    const here = points.filter((p) => axis.at(p) === value && p.bottleneck?.name && isAround(p, axes, axis));
    const names = [...new Set(here.map((p) => p.bottleneck.name))].sort();
    const last = cells[cells.length - 1];
    const counts = names.map((name) => here.filter((p) => p.bottleneck.name === name).length);
    if (last && last.names.join() === names.join()) {
      last.span += 1;
      last.counts = last.counts.map((count, i) => count + counts[i]);
    } else {
      cells.push({names, counts, span: 1});
    }
  }
  return el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Limiters over ${axis.title}`},
    el("table", {class: "heat"}, el("caption", null, `Limiters over ${axisLabel(axis)}`),
      el("thead", null, el("tr", null, axis.values.map((v) => el("th", {scope: "col"}, axis.label(v))))),
      el("tbody", null, el("tr", null, cells.map(stripCell)))));
}

// The limiters of a cell's points, as shares of a bar if there are several.
function stripCell({names, counts, span}) {
  const all = counts.reduce((sum, n) => sum + n, 0);
  const share = (i) => percent(counts[i] / all, 0);
  return el("td", {class: "cell strip", colspan: span},
    el("div", {class: "shares", role: "img", "aria-label": names.map((name, i) => `${name} ${share(i)}`).join(", ")},
      names.map((name, i) => withTip(el("span", {style: `width:${(100 * counts[i] / all).toFixed(2)}%;background:${limiterColour(name)}`}),
        () => tipLines(name, [["points", `${counts[i]} of ${all}`], ["share", share(i)]])))),
    names.map((name, i) => el("div", null, limiterName(name), names.length > 1 ? share(i) : null)));
}

// True if the other axes have their baselines at the point.
function isAround(point, axes, axis) {
  return axes.every((b) => b === axis || b.baseline === undefined || b.at(point) === b.baseline);
}
// Colours of limiters, the same in all charts: the most frequent first.
const limiterColours = new Map();
function limiterColour(name) {
  return colour(limiterColours.get(name) ?? kColours - 1);
}
function limiterName(name) {
  return el("span", {class: "limiter"}, el("span", {class: "chip", style: `background:${limiterColour(name)}`, "aria-hidden": "true"}), name);
}

// Where each axis begins to limit, and what limits the phase of the column's item there.
function kneesSection(sweep) {
  const knees = Array.isArray(sweep.knees) ? sweep.knees : [];
  if (knees.length === 0) return null;
  const all = axesOf(sweep);
  const axisOf = (k) => all.find((a) => a.key === (sweep.axes?.[k.axis]?.keys?.[0] ?? sweep.axes?.[k.axis]?.key));
  const where = (k) => (isNumber(k.limits_below) ? `below ${number(k.limits_below)}` : isNumber(k.limits_above) ? `above ${number(k.limits_above)}` : "does not limit");
  return section("Knees", table([
    {title: "axis", get: (k) => axisOf(k)?.title ?? k.axis, head: true},
    {title: "limits", get: where},
    {title: "unit", get: (k) => axisOf(k)?.unit ?? ""},
    {title: "baseline", get: (k) => axisOf(k)?.baseline ?? null, text: (v, k) => (v === null ? "\u2013" : axisOf(k).label(v))},
    {title: "best", get: (k) => k.best ?? null},
    {title: "of", get: (k) => k.column ?? ""},
    ...(knees.some((k) => k.limited_by?.length) ? [{title: "limited there by", get: (k) => (k.limited_by ?? []).join(", "),
      node: (_, k) => (k.limited_by ?? []).map(limiterName)}] : []),
  ], knees, {caption: "Where the result is less than 95 % of the best of its axis", csv: "knees.csv"}));
}

const kMostLines = 8;

// Student's t at 97.5 % for 1, 2 … degrees of freedom; for more, the normal distribution is close enough.
const kStudent = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086];

// The mean, and half of its 95 % confidence interval.
function sampleOf(values) {
  const n = values.length;
  if (n === 0) return {mean: null, interval: 0};
  const mean = values.reduce((sum, v) => sum + v, 0) / n;
  const variance = n < 2 ? 0 : values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (n - 1);
  return {mean, interval: n < 2 ? 0 : (kStudent[n - 2] ?? 1.96) * Math.sqrt(variance / n)};
}

// The limiter at each point of a single line.
function drawLimiters(u, limitersAt) {
  const {ctx} = u;
  ctx.save();
  limitersAt.forEach((names, i) => {
    const value = u.data[1][i];
    if (names.length !== 1 || !isNumber(value)) return;
    ctx.fillStyle = resolve(limiterColour(names[0]));
    ctx.beginPath();
    ctx.arc(u.valToPos(u.data[0][i], "x", true), u.valToPos(value, "y", true), 5 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
  });
  ctx.restore();
}

function drawBaseline(u, axis) {
  const value = axis.baseline === undefined || axis.baseline === null ? null
    : axis.values.every(isNumber) ? axis.baseline : axis.values.indexOf(axis.baseline);
  if (!isNumber(value) || value < u.scales.x.min || value > u.scales.x.max) return;
  const {ctx} = u;
  const x = u.valToPos(value, "x", true);
  ctx.save();
  ctx.strokeStyle = css("--muted");
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, u.bbox.top);
  ctx.lineTo(x, u.bbox.top + u.bbox.height);
  ctx.stroke();
  ctx.restore();
}

function drawIntervals(u, samples) {
  const {ctx} = u;
  ctx.save();
  ctx.lineWidth = 1.5 * devicePixelRatio;
  samples.forEach((list, n) => {
    if (!u.series[n + 1].show) return;
    ctx.strokeStyle = u.series[n + 1].stroke(u, n + 1);
    ctx.beginPath();
    list.forEach((s, i) => {
      if (!(s.interval > 0)) return;
      const x = u.valToPos(u.data[0][i], "x", true);
      ctx.moveTo(x, u.valToPos(s.mean - s.interval, "y", true));
      ctx.lineTo(x, u.valToPos(s.mean + s.interval, "y", true));
    });
    ctx.stroke();
  });
  ctx.restore();
}

function linesSection(points, axes, measures, limiters) {
  if (axes.length === 0 || measures.length === 0) return section("Over each axis", missing("The points have no numbers to draw."));
  let measure = 0;
  const chosen = new Map();
  const box = el("div", {class: "grid"});
  const tools = el("div", {class: "tools"});
  const linesOf = (drawn) => {
    const groups = new Map();
    const known = points.filter((p) => isChosen(p, axes, [drawn], chosen) && isNumber(p.values?.[measure]));
    for (const p of known) {
      const others = axes.filter((a) => a !== drawn);
      const key = JSON.stringify(others.map((a) => a.at(p)));
      const label = others.filter((a) => (chosen.get(a.key) ?? "") === "").map((a) => `${a.title} ${a.label(a.at(p))}`).join(", ");
      if (!groups.has(key)) groups.set(key, {label: label || measures[measure], points: []});
      groups.get(key).points.push(p);
    }
    const lines = [...groups.values()].filter((g) => new Set(g.points.map(drawn.at)).size > 1);  // one point is no line
    if (lines.length === 1) lines[0].label = measures[measure];
    return lines.length > 0 ? lines : [{label: "points", points: known, scattered: true}];
  };
  // Few enough lines to tell apart: fixes one value of the later axes.
  for (let i = axes.length - 1; i >= 0 && Math.max(...axes.map((a) => linesOf(a).length)) > kMostLines; --i) {
    chosen.set(axes[i].key, String(Math.max(0, axes[i].values.indexOf(axes[i].baseline))));
  }
  const several = axes.some((a) => linesOf(a).length > 1) || chosen.size > 0;
  const chart = (a) => {
    const numeric = a.values.every(isNumber);
    const log = numeric && spansDecades(a.values, 16);
    const groups = linesOf(a);
    const numbersAt = (g, v) => g.points.filter((p) => a.at(p) === v).map((p) => p.values[measure]);
    const x = numeric ? {label: axisLabel(a), values: a.values, log, text: (v) => (a.values.includes(v) ? a.label(v) : number(v)), splits: a.values.length <= 12 ? a.values : undefined}
      : {label: axisLabel(a), values: a.values.map((_, i) => i), categories: a.values.map(a.label)};
    const samples = groups.map((g) => a.values.map((v) => sampleOf(numbersAt(g, v))));
    const limitersAt = a.values.map((v) => [...new Set(groups.flatMap((g) => g.points.filter((p) => a.at(p) === v)).map((p) => p.bottleneck?.name).filter(Boolean))]);
    const limit = (i) => (limitersAt[i].length === 0 ? [] : [["limited by", limitersAt[i].join(", ")]]);
    const colours = groups.length === 1 && limitersAt.some((names) => names.length > 0);
    const repeated = samples.flat().some((s) => s.interval > 0);
    return lineChart(x, groups.map((g, n) => ({label: g.label, points: true, colour: colours ? "var(--s8)" : undefined, line: g.scattered ? false : undefined, spanGaps: true, values: samples[n].map((s) => s.mean)})),
      {title: `${measures[measure]} over ${a.title}`, y: measures[measure], height: 240, mayLog: true, tip: limit, describe: `${groups.length} lines over ${a.values.length} values.`,
        hooks: {drawAxes: [(u) => drawBaseline(u, a)], draw: [(u) => drawIntervals(u, samples), (u) => colours && drawLimiters(u, limitersAt)]},
        note: [groups.length > kMostLines ? `The first ${kMostLines} of ${groups.length} lines are drawn; the checkboxes and the choices above change that.` : "",
          repeated ? "Bars are 95 % confidence intervals of the mean." : ""].join(" ").trim() || undefined});
  };
  const draw = () => {
    tools.replaceChildren(select("Measure", measures.map((m, i) => [String(i), m]), String(measure), (v) => {
      measure = Number(v);
      draw();
    }), ...(several ? fixings(axes, [], chosen, draw) : []));
    box.replaceChildren(...axes.map(chart));
  };
  draw();
  const colours = limiters.length > 0 && !several;
  return section("Over each axis", tools,
    colours ? el("ul", {class: "key"}, limiters.map((name) => el("li", null, limiterName(name)))) : null, box,
    axes.some((a) => a.baseline !== undefined) ? prose("The dashed line is the baseline, at which the other axes stay.", {class: "note"}) : null);
}

function heatSection(points, axes, measures, limiters) {
  if (axes.length < 2) return null;
  // The two axes with the largest share of crossings that have points. If one axis varies at a time, hardly any have.
  const pairs = axes.flatMap((x, i) => axes.slice(i + 1).map((y) => ({x, y,
    filled: new Set(points.map((p) => JSON.stringify([x.at(p), y.at(p)]))).size / (x.values.length * y.values.length)})));
  const best = pairs.reduce((p, q) => (q.filled > p.filled ? q : p));
  if (best.filled < 0.6) return section("Over two axes", missing("No two axes have points at the crossings of their values, so there is no heat map."));
  let [down, across] = [best.x, best.y];
  let measure = limiters.length > 0 && measures.length === 0 ? kLimiter : 0;
  const chosen = new Map();
  const tools = el("div", {class: "tools"});
  const box = el("div");
  const draw = () => {
    const names = axes.map((a) => [a.key, a.title]);
    const byKey = (key) => axes.find((a) => a.key === key);
    tools.replaceChildren(
      select("Measure", [...measures.map((m, i) => [String(i), m]), ...(limiters.length > 0 ? [[String(kLimiter), "bottleneck"]] : [])], String(measure), (v) => {
        measure = Number(v);
        draw();
      }),
      select("Down", names, down.key, (key) => {
        if (byKey(key) === across) across = down;
        down = byKey(key);
        draw();
      }),
      select("Across", names, across.key, (key) => {
        if (byKey(key) === down) down = across;
        across = byKey(key);
        draw();
      }),
      ...fixings(axes, [down, across], chosen, draw));
    const cells = down.values.map((d) => across.values.map((a) => points.filter((p) =>
      down.at(p) === d && across.at(p) === a && isChosen(p, axes, [down, across], chosen))));
    const valueOf = (list) => {
      const numbers = list.map((p) => p.values?.[measure]).filter(isNumber);
      return numbers.length === 0 ? null : numbers.reduce((x, y) => x + y, 0) / numbers.length;
    };
    const values = measure === kLimiter ? [] : cells.flat().map(valueOf).filter(isNumber);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const decimals = decimalsOf(values);
    const several = cells.flat().some((list) => list.length > 1);
    const cell = (list) => {
      if (measure === kLimiter) {
        const found = [...new Set(list.map((p) => p.bottleneck?.name).filter(Boolean))];
        return el("td", {class: "cell"}, found.map((name) => limiterName(name)));
      }
      const value = valueOf(list);
      if (value === null) return el("td", {class: "cell none"}, "\u2013");
      const share = most > least ? (value - least) / (most - least) : 0.5;
      const found = el("td", {class: `cell number${isDeep(share) ? " deep" : ""}`, style: `background:${heat(share)}`}, number(value, decimals));
      return withTip(found, () => tipLines(measures[measure], list.map((p) => [axes.map((a) => `${a.title} ${a.label(a.at(p))}`).join(", "),
        `${number(p.values?.[measure])}${p.bottleneck?.name ? `, ${p.bottleneck.name}` : ""}`])));
    };
    const title = `${measure === kLimiter ? "bottleneck" : measures[measure]} over ${down.title} and ${across.title}`;
    box.replaceChildren(el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": title},
      el("table", {class: "heat"}, el("caption", null, title), el("thead", null,
        el("tr", null, el("td", null), el("th", {scope: "colgroup", colspan: across.values.length}, axisLabel(across))),
        el("tr", null, el("th", {scope: "col"}, axisLabel(down)), across.values.map((v) => el("th", {scope: "col", class: "number"}, across.label(v))))),
      el("tbody", null, down.values.map((v, i) => el("tr", null, el("th", {scope: "row", class: "number"}, down.label(v)), cells[i].map(cell)))))),
    several && measure !== kLimiter ? prose("Where several points meet in a cell, it has their mean; the choices above take one of them.", {class: "note"}) : "");
  };
  draw();
  return section("Over two axes", tools, box);
}

// True if less of a measure is better, judging by its name.
function lessIsBetter(measure) {
  return /latency|\bns\b|again|retrans|timeout|drop|fail|recover|most kept|stall/i.test(measure);
}

// Points that no other beats in one measure without losing in the other.
function paretoFront(points, x, y, lessX, lessY) {
  const better = (a, b, less) => (less ? a < b : a > b);
  const sorted = [...points].sort((p, q) => (lessX ? p.values[x] - q.values[x] : q.values[x] - p.values[x]) ||
    (lessY ? p.values[y] - q.values[y] : q.values[y] - p.values[y]));
  const front = [];
  for (const p of sorted) {
    if (front.length === 0 || better(p.values[y], front[front.length - 1].values[y], lessY)) front.push(p);
  }
  return front;
}

// One point for all seeds of a setting: its means of these measures with their intervals, by the measures' numbers.
function meansOf(points, axes, chosen) {
  const groups = new Map();
  for (const p of points.filter((q) => chosen.every((m) => isNumber(q.values?.[m])))) {
    const key = JSON.stringify(axes.filter((a) => !a.mean).map((a) => a.at(p)));
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(p);
  }
  return [...groups.values()].map((list) => {
    const samples = Object.fromEntries(chosen.map((m) => [m, sampleOf(list.map((p) => p.values[m]))]));
    return {...list[0], values: Object.fromEntries(chosen.map((m) => [m, samples[m].mean])), intervals: Object.fromEntries(chosen.map((m) => [m, samples[m].interval]))};
  });
}

// Confidence intervals in both directions.
function drawCrosses(u, list, x, y) {
  const {ctx} = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  ctx.clip();
  ctx.strokeStyle = css("--muted");
  ctx.lineWidth = 1.25 * devicePixelRatio;
  ctx.beginPath();
  const line = (x1, y1, x2, y2) => {
    ctx.moveTo(u.valToPos(x1, "x", true), u.valToPos(y1, "y", true));
    ctx.lineTo(u.valToPos(x2, "x", true), u.valToPos(y2, "y", true));
  };
  for (const {values, intervals} of list) {
    if (intervals[x] > 0) line(values[x] - intervals[x], values[y], values[x] + intervals[x], values[y]);
    if (intervals[y] > 0) line(values[x], values[y] - intervals[y], values[x], values[y] + intervals[y]);
  }
  ctx.stroke();
  ctx.restore();
}

function paretoSection(points, axes, measures) {
  if (measures.length < 2) return null;
  const find = (pattern, not) => measures.findIndex((m, i) => pattern.test(m) && i !== not);
  let x = Math.max(0, find(/p99 latency|latency/));
  let y = find(/goodput|rate/, x);
  if (y < 0) y = x === 0 ? 1 : 0;
  let lessX = lessIsBetter(measures[x]), lessY = lessIsBetter(measures[y]);
  const tools = el("div", {class: "tools"});
  const box = el("div");
  const varied = axes.filter((a) => !a.mean);
  const name = (p) => varied.map((a) => `${a.title} ${a.label(a.at(p))}`).join(", ");
  const sense = [["less", "less is better"], ["more", "more is better"]];
  const draw = () => {
    const options = measures.map((m, i) => [String(i), m]);
    tools.replaceChildren(
      select("Across", options, String(x), (v) => {
        x = Number(v);
        lessX = lessIsBetter(measures[x]);
        draw();
      }),
      select("of which", sense, lessX ? "less" : "more", (v) => {
        lessX = v === "less";
        draw();
      }),
      select("Up", options, String(y), (v) => {
        y = Number(v);
        lessY = lessIsBetter(measures[y]);
        draw();
      }),
      select("of which", sense, lessY ? "less" : "more", (v) => {
        lessY = v === "less";
        draw();
      }));
    const known = meansOf(points, axes, [x, y]).sort((p, q) => p.values[x] - q.values[x]);
    if (known.length === 0) return box.replaceChildren(missing("No point has both."));
    const front = new Set(paretoFront(known, x, y, lessX, lessY));
    const repeated = known.some((p) => p.intervals[x] > 0 || p.intervals[y] > 0);
    const chart = lineChart({label: measures[x], values: known.map((p) => p.values[x]), log: spansDecades(known.map((p) => p.values[x]))}, [
      {label: "on the front", points: true, size: 8, spanGaps: true, stepped: false, values: known.map((p) => (front.has(p) ? p.values[y] : null))},
      {label: "beaten by another point", points: true, size: 5, line: false, values: known.map((p) => (front.has(p) ? null : p.values[y])), colour: "var(--s8)", dash: []},
    ], {title: `${measures[y]} against ${measures[x]}`, y: measures[y], height: 320, mayLog: true, describe: `${front.size} of ${known.length} points are on the Pareto front.`,
      tip: (i) => [["point", name(known[i])], ...(known[i].bottleneck?.name ? [["limited by", known[i].bottleneck.name]] : [])],
      hooks: {draw: [(u) => drawCrosses(u, known, x, y)]}, note: repeated ? "Points are means over the seeds; bars are their 95 % confidence intervals." : undefined});
    const interval = (m) => (repeated ? [{title: "\u00b1", get: (p) => p.intervals[m]}] : []);
    box.replaceChildren(chart, table([
      ...varied.map((a, i) => ({title: a.title, get: (p) => a.at(p), text: (v) => a.label(v), head: i === 0})),
      {title: measures[x], get: (p) => p.values[x]}, ...interval(x),
      {title: measures[y], get: (p) => p.values[y]}, ...interval(y),
    ], [...front], {caption: "Points on the Pareto front", csv: "pareto.csv", most: 20}));
  };
  draw();
  return section("Pareto front", tools, box);
}

function pointsSection(points, axes, measures) {
  const outcome = (p) => (p.exit_code === undefined || p.exit_code === 0 ? "ok" : `exit code ${p.exit_code}`);
  return section("All points", table([
    {title: "point", get: (p) => p.index, head: true},
    ...axes.map((a) => ({title: a.title, get: (p) => a.at(p), text: (v) => (v === null ? "\u2013" : a.label(v))})),
    ...(points.some((p) => p.bottleneck?.name) ? [{title: "bottleneck", get: (p) => p.bottleneck?.name ?? "", node: (v) => (v ? limiterName(v) : "")}] : []),
    ...measures.map((m, i) => ({title: m, get: (p) => p.values?.[i] ?? null})),
    ...(points.some((p) => p.error) ? [{title: "error", get: (p) => p.error ?? ""}] : []),
    {title: "outcome", get: outcome, node: (v) => el("span", {class: v === "ok" ? "good" : "bad"}, v)},
  ], points, {caption: "Points of the sweep", filter: "Find a point", csv: "sweep.csv", most: 100, rowClass: (p) => (outcome(p) === "ok" ? null : "failed")}));
}
