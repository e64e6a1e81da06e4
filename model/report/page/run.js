// The report of one run: what happened and why, then what it was made of, then the folded rest.

function runReport(run) {
  const make = (one) => guarded(() => one(run));
  const fold = (title, one) => folded(title, () => one(run));
  return {
    title: run.stats.scenario ?? run.name,
    subtitle: "Report of a run",
    about: el("div", null, verdictLine(run), aboutRun(run)),
    sections: [
      ...[whySection, resultsSection, bottleneckSection].map(make), pair(make(diagramSection), make(breakdownSection)),
      ...[requestsSection, seriesSection, sequenceSection, cdfSection].map(make),
      fold("PCIe by purpose", pcieSection), fold("Occupancy", occupancySection), fold("Firmware timeline", firmwareSection), fold("Memories", memoriesSection),
      fold("Configuration", (r) => settingsSection([r])), fold("Statistics", statisticsSection),
    ],
  };
}
