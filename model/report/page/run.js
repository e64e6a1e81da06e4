// The report of one run.

function runReport(run) {
  return {
    title: run.stats.scenario ?? run.name,
    subtitle: "Report of a run",
    about: aboutRun(run),
    sections: [whySection, bottleneckSection, resultsSection, breakdownSection, cdfSection, diagramSection, occupancySection, memoriesSection, pcieSection, seriesSection,
      requestsSection, sequenceSection, firmwareSection, (r) => settingsSection([r]), statisticsSection].map((make) => guarded(() => make(run))),
  };
}
