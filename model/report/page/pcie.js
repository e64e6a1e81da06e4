// What the TLPs of each PCIe link are for, in both directions.

const kDirections = [["device_to_host", "device to host"], ["host_to_device", "host to device"]];

const meanNs = (ps, tlps) => (ps === null ? null : ps / tlps / 1000);

// Purposes without a TLP are left out.
function purposesOf(run) {
  return Object.entries(run.stats.stats ?? {}).flatMap(([node, parts]) => kDirections.flatMap(([key, direction]) => {
    const all = parts.pcie?.[key];
    const count = (of, figure) => of[figure]?.value ?? null;
    return Object.entries(all?.by_purpose ?? {}).filter(([, of]) => count(of, "tlps") > 0).map(([purpose, of]) => ({
      node, direction, purpose: purpose.replaceAll("_", " ").replace(/[cw]qe/, (word) => word.toUpperCase()),
      tlps: count(of, "tlps"), data: count(of, "data_bytes"), wire: count(of, "wire_bytes"),
      share: count(of, "wire_bytes") / count(all, "wire_bytes"), stalls: count(of, "credit_stalls"),
      wait: meanNs(count(of, "wait_ps"), count(of, "tlps")), creditWait: meanNs(count(of, "credit_wait_ps"), count(of, "tlps")),
    }));
  }));
}

function pcieSection(run) {
  const title = "PCIe by purpose";
  const rows = purposesOf(run);
  if (rows.length === 0) return section(title, missing("This run's stats.json has no PCIe traffic by purpose: a newer rnicsim writes it."));
  return section(title,
    prose("A completion counts for the purpose of its request. The share is of the octets on the wire in this direction. Credit " +
      "stalls are of the oldest TLP that was ready: the wire was free, but it had no credit. A wait is from when a TLP was ready at its end " +
      "of the link until it went onto the wire.", {class: "note"}),
    table([
      {title: "purpose", get: (r) => r.purpose, head: true},
      {title: "node", get: (r) => r.node},
      {title: "direction", get: (r) => r.direction},
      {title: "TLPs", get: (r) => r.tlps},
      {title: "data", unit: "octets", get: (r) => r.data},
      {title: "on the wire", unit: "octets", get: (r) => r.wire},
      {title: "share", get: (r) => r.share, node: (v) => bar(v)},
      {title: "mean wait", unit: "ns", get: (r) => r.wait},
      {title: "of it for credit", unit: "ns", get: (r) => r.creditWait},
      {title: "credit stalls", get: (r) => r.stalls},
    ], rows, {caption: "PCIe traffic by purpose", csv: "pcie.csv"}));
}
