#include "model/system/bottleneck.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rnic {
namespace {

// What remains is between two frames, TLPs or FPDUs.
constexpr double kSaturated = 0.95;
// Less than half of the time is no limit of the whole.
constexpr double kExhausted = 0.5;
// Nothing else runs out, and what has so much to do has queues.
constexpr double kBusy = 0.8;
// What is worth a line.
constexpr double kNoted = 0.05;

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

struct Candidate {
  Bottleneck what;
  Reach reach = Reach::kProcessor;
  bool limits = false;
};

class PhaseJudge {
 public:
  PhaseJudge(const Accounting& accounting, const WorkPhase& phase) : accounting_(accounting), phase_(phase) {}

  // Those that limit first, the last one of a chain before those that it makes wait.
  std::vector<Candidate> candidates() const {
    std::vector<Candidate> list;
    for (const PhaseUse& use : phase_.busy) {
      if (use.share >= kNoted) list.push_back(busy(use));
    }
    for (std::size_t i = 0; i < accounting_.things().size(); ++i) add(i, list);
    std::stable_sort(list.begin(), list.end(), [](const Candidate& x, const Candidate& y) {
      if (x.limits != y.limits) return x.limits;
      if (x.limits && x.reach != y.reach) return x.reach > y.reach;
      return x.what.share > y.what.share;
    });
    return list;
  }

 private:
  // Before its first use, requests are on their way to it, and after its last one on their way from it. In a phase of
  // few requests that is long.
  static Candidate busy(const PhaseUse& use) {
    const bool limits = use.share_in_use >= kSaturated && use.share >= kExhausted;
    Candidate c = busy(use.resource, "", limits ? use.share_in_use : use.share);
    if (limits)
      c.what.evidence = {fmt::format("busy {} of the time from its first to its last use, {} of the phase",
                                     percent(use.share_in_use), percent(use.share))};
    return c;
  }

  static Candidate busy(const std::string& name, const std::string& where, double share) {
    Candidate c{{name, where, share, {}, {}}, Reach::kProcessor, share >= kSaturated};
    c.what.evidence.push_back(fmt::format("busy {} of the time", percent(share)));
    c.what.line = fmt::format("{}{} ({} busy)", name, where.empty() ? "" : " of " + where, percent(share));
    return c;
  }

  void add(std::size_t i, std::vector<Candidate>& list) const {
    const Accounted& t = accounting_.things()[i];
    const Account::Totals& totals = phase_.totals[i];
    const std::string where = "node " + t.node;
    if (t.reach == Reach::kProcessor) {
      const double share = share_of(totals.busy + totals.blocked, totals.cycles);
      if (share >= kNoted) list.push_back(busy(t.limit, where, share));
      return;
    }
    const double share = share_of(totals.blocked, totals.cycles);
    if (t.reach == Reach::kNobodyWaits || share < kNoted) return;
    Candidate c{{t.limit, where, share, {}, {}}, t.reach, share >= kExhausted};
    const unsigned capacity = t.account(t.clk->next()).capacity();
    c.what.evidence.push_back(fmt::format("{} cycles of {} somebody waited, {} it was in use, {} it was not",
                                          totals.blocked, totals.cycles, totals.busy, totals.empty));
    c.what.evidence.push_back(
        fmt::format("{}: {:.2f} in use at a time", t.name, share_of(totals.taken, totals.cycles)) +
        (capacity == 0 ? "" : fmt::format(", of {}", capacity)));
    if (t.name == "tx.credit") name_window(i, c);
    if (t.reads_memory) blame_memory(i, c);
    c.what.line = fmt::format("{} of {} (used up and waited for {} of the time)", c.what.name, where, percent(share));
    list.push_back(std::move(c));
  }

  const Account::Totals& of(const std::string& node, const std::string& name) const {
    const auto& things = accounting_.things();
    const auto found = std::find_if(things.begin(), things.end(),
                                    [&](const Accounted& t) { return t.node == node && t.name == name; });
    return phase_.totals[static_cast<std::size_t>(found - things.begin())];
  }

  // The smaller one of the two windows is the one that ran out.
  void name_window(std::size_t i, Candidate& c) const {
    const std::string& node = accounting_.things()[i].node;
    const Account::Totals& octets = of(node, "tcp.unacknowledged");
    if (octets.taken == 0) {
      c.what.name = "SCTP window";
      return;
    }
    const Account::Totals& congested = of(node, "tcp.congested_flows");
    const double share = share_of(congested.busy, congested.cycles);
    if (share > 0.5) c.what.name = "TCP congestion window";
    c.what.evidence.push_back(
        fmt::format("{:.0f} octets unacknowledged at a time; the congestion window was the "
                    "smaller one of the two windows {} of the time",
                    share_of(octets.taken, octets.cycles), percent(share)));
  }

  // Who waits for a read waits for memory where that is more than half of the read's life.
  void blame_memory(std::size_t i, Candidate& c) const {
    const Accounted& t = accounting_.things()[i];
    const auto& things = accounting_.things();
    double tags_ps = 0, memory_ps = 0;
    for (std::size_t k = 0; k < things.size(); ++k) {
      const double ps = static_cast<double>(phase_.totals[k].taken) * static_cast<double>(things[k].clk->period_ps());
      if (things[k].node == t.node && things[k].name == "pcie.tags") tags_ps = ps;
      if (things[k].node == t.node && things[k].name == "host.memory_reads") memory_ps = ps;
    }
    if (tags_ps == 0) return;
    c.what.evidence.push_back(
        fmt::format("a read of host memory spends {} of its time in memory", percent(memory_ps / tags_ps)));
    if (memory_ps <= tags_ps / 2) return;
    c.what.evidence.push_back("what it makes run out: " + c.what.name);
    c.what.name = "host memory";
    c.reach = Reach::kHostMemory;
  }

  const Accounting& accounting_;
  const WorkPhase& phase_;
};

// Where nothing runs out, more requests at a time would be served as well as these.
Candidate too_few_requests(const std::vector<Candidate>& noted) {
  Candidate c{{"requests", "programs", 1, {}, {}}, Reach::kNobodyWaits, true};
  const std::string busiest = noted.empty() ? "" : "; busiest: " + noted.front().what.line;
  c.what.line = fmt::format("too few requests outstanding (nothing is used up{})", busiest);
  return c;
}

}  // namespace

BottleneckReport find_bottleneck(const Accounting& accounting, const std::function<std::string(unsigned)>& name) {
  std::uint64_t work_ps = 0;
  for (const WorkPhase& p : accounting.phases()) work_ps += p.time_ps;
  if (work_ps == 0) return {{"none", "", 0, "bottleneck: none, as no work was begun", {}}, {}};

  BottleneckReport report;
  std::uint64_t longest_ps = 0;
  std::vector<std::string> phases;
  for (const WorkPhase& p : accounting.phases()) {
    std::vector<Candidate> list = PhaseJudge(accounting, p).candidates();
    const bool named = !list.empty() && (list.front().limits || list.front().what.share >= kBusy);
    if (!named) list.insert(list.begin(), too_few_requests(list));
    const std::string when = accounting.phases().size() == 1 ? ""
                                                             : fmt::format(" in {}, {} of the time", name(p.number),
                                                                           percent(share_of(p.time_ps, work_ps)));
    for (std::size_t i = 1; i < list.size() && list[i].limits; ++i) {
      list.front().what.evidence.push_back("nearer to the programs, or as busy: " + list[i].what.line);
    }
    list.front().what.line += when;
    phases.push_back(list.front().what.line);
    if (p.time_ps <= longest_ps) continue;
    longest_ps = p.time_ps;
    report.first = list.front().what;
    report.others.clear();
    for (std::size_t i = 1; i < list.size(); ++i) report.others.push_back(list[i].what);
  }
  if (phases.size() > 1) {
    for (std::string& p : phases) report.first.evidence.push_back(std::move(p));
  }
  report.first.line = "bottleneck: " + report.first.line;
  return report;
}

void add_bottleneck(nlohmann::ordered_json& j, const BottleneckReport& report) {
  const auto json = [](const Bottleneck& b) {
    return nlohmann::ordered_json{
        {"name", b.name}, {"where", b.where}, {"share", b.share}, {"evidence", b.evidence}, {"line", b.line}};
  };
  j["bottleneck"] = json(report.first);
  j["bottleneck_candidates"] = nlohmann::ordered_json::array();
  for (const Bottleneck& b : report.others) j["bottleneck_candidates"].push_back(json(b));
}

}  // namespace rnic
