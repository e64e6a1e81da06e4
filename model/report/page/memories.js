// The chip's memories: what each has, how full it was, how much it is read, and what twice the entries would cost.

const kMemoryFacts = ["entries", "used", "bits", "size"];
const kPortFacts = ["ports", "banks", "accesses", "most_accesses", "busy", "conflicts"];  // of tables alone

// Each part of the statistics that describes a memory, with the cache whose rows it has, if there is one.
function memoriesOf(run) {
  const found = [];
  const visit = (node, path, part, siblings) => {
    if (part === null || typeof part !== "object") return;
    const fact = (name) => part[name]?.value ?? null;
    if (kMemoryFacts.every((name) => isNumber(fact(name)))) {
      const memory = Object.fromEntries([...kMemoryFacts, ...kPortFacts].map((name) => [name, fact(name)]));
      const cache = siblings[path[path.length - 1].replace(/_table$/, "_cache")];
      found.push({...memory, name: path.slice(1).join("."), node,
        hits: cache?.hits?.value > 0 || cache?.misses?.value > 0 ? cache.hit_rate?.value ?? null : null,
        onChip: Math.round((8 * memory.size) / memory.bits)});
      return;
    }
    for (const [key, inner] of Object.entries(part)) visit(node, [...path, key], inner, part);
  };
  for (const [node, parts] of Object.entries(run.stats.stats ?? {})) visit(node, [], parts, {});
  return found;
}

function twice(memory) {
  return memory.onChip < memory.entries ? "none on the chip" : `${number(memory.size / 1024, 1)} KiB`;
}

function memoriesSection(run) {
  const title = "Memories";
  const rows = memoriesOf(run);
  if (rows.length === 0) return section(title, missing("This run's stats.json has no memories: a newer rnicsim writes them."));
  const dash = (v, text) => (isNumber(v) ? text : "\u2013");
  return section(title,
    prose("Tables that are read through ports, registers, pools of elements, and buffers of octets. Used: at a time, at most; " +
      "of a table, the rows that were ever written. With fewer rows on the chip than there are, the others are in their home. " +
      "A pool that held more than its entries is bounded by the host or the peer alone.", {class: "note"}),
    table([
      {title: "memory", get: (m) => m.name, node: (v) => el("code", null, v), head: true},
      {title: "node", get: (m) => m.node},
      {title: "entries", get: (m) => m.entries},
      {title: "used", get: (m) => m.used},
      {title: "on the chip", get: (m) => m.onChip},
      {title: "entry", unit: "bits", get: (m) => m.bits},
      {title: "ports", get: (m) => (m.ports === null ? null : m.ports * m.banks),
        text: (v, m) => dash(v, m.banks > 1 ? `${m.ports} in each of ${m.banks} banks` : String(m.ports))},
      {title: "size", unit: "KiB", get: (m) => m.size / 1024, decimals: 1},
      {title: "twice the entries cost", get: (m) => (m.onChip < m.entries ? 0 : m.size), text: (v, m) => twice(m)},
      {title: "reads", get: (m) => m.accesses},
      {title: "most in a cycle", get: (m) => m.most_accesses},
      {title: "busy", get: (m) => m.busy, node: (v) => (isNumber(v) ? bar(v) : el("span", null, "\u2013"))},
      {title: "waits for a port", unit: "cycles", get: (m) => m.conflicts},
      {title: "hits", get: (m) => m.hits, text: (v) => (isNumber(v) ? percent(v) : "\u2013")},
    ], rows, {caption: "Memories of the chips", csv: "memories.csv"}));
}
