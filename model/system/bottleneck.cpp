#include "model/system/bottleneck.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rnic {
namespace {

// The rest is gaps between frames, TLPs or FPDUs.
constexpr double kSaturated = 0.95;
// Doubling its rate gains more time than the time in which it is not busy.
constexpr double kMostly = 2.0 / 3;
// Less than half of the time is no limit of the whole; neither is a share that is so much smaller than that of a
// resource in front of it.
constexpr double kExhausted = 0.5, kMuchLess = 0.25;
// If nothing is exhausted: a resource this busy has queues.
constexpr double kBusy = 0.8, kBusyInAll = 0.7;
// If something is exhausted, and its holders wait for a resource that is this busy: before the PCIe link that carries
// their reads and writes, before the slow stretch of a link, or anywhere on the path of a request. A resource that is
// not on the path must be busy for this much longer than the other is waited for, or be full; then relieving anything
// else could gain little.
constexpr double kQueueOfPcie = kMostly, kQueueOnWay = 0.8, kLonger = 0.25, kFull = 0.9;
// Losses of a full queue are charged to the resource that drains it.
constexpr double kOverflows = 0.3;
// The part of the gain of doubling a resource that halving memory's time must reach. If several resources run out for
// part of the time, one after the other, and all of them for reads that spend most of their life in memory, memory is
// the limit.
constexpr double kAsGood = 0.95, kPartly = 0.2, kMostInMemory = 0.8;
// Of the time in which flows have octets in flight.
constexpr double kRepairing = 0.3;
// The least share that is worth a line.
constexpr double kNoted = 0.05;

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

struct Candidate {
  Bottleneck what;
  Reach reach = Reach::kProcessor;
  bool limits = false;
  std::string node;
  // For busy resources.
  std::optional<UseKind> kind;
  double share_in_use = 0;
  // For repairs of losses: the share of the frames that a full queue lost.
  const FullQueues* full = nullptr;

  bool is_busy() const { return reach == Reach::kProcessor; }
};

class PhaseJudge {
 public:
  PhaseJudge(const Accounting& accounting, const WorkPhase& phase) : accounting_(accounting), phase_(phase) {}

  // First the limits, then other causes that act on their own; in a chain, the last one before those that it blocks.
  std::vector<Candidate> candidates() const {
    std::vector<Candidate> list;
    for (const PhaseUse& use : phase_.busy) {
      if (use.share >= kNoted) list.push_back(busy(use));
    }
    for (std::size_t i = 0; i < accounting_.things().size(); ++i) add_busy(i, list);
    double most = 0;
    for (const Candidate& c : list) most = std::max(most, c.what.share);
    for (std::size_t i = 0; i < accounting_.things().size(); ++i) add(i, most, list);
    const double longest = longest_wait(list);
    for (Candidate& c : list) {
      c.limits = c.limits && (c.is_busy() || c.reach == Reach::kElse || c.what.share >= longest - kMuchLess);
    }
    std::stable_sort(list.begin(), list.end(), [](const Candidate& x, const Candidate& y) {
      if (x.limits != y.limits) return x.limits;
      if (x.limits && x.reach != y.reach) return x.reach > y.reach;
      return x.what.share > y.what.share;
    });
    put_busiest_first(list);
    return list;
  }

 private:
  static double longest_wait(const std::vector<Candidate>& list) {
    double longest = 0;
    for (const Candidate& c : list) longest = std::max(longest, c.limits && !c.is_busy() ? c.what.share : 0);
    return longest;
  }

  // The busiest resource, though not saturated, before an exhausted one whose holders wait for it, or if nothing is
  // exhausted.
  static void put_busiest_first(std::vector<Candidate>& list) {
    if (list.empty() || (list.front().limits && list.front().is_busy())) return;
    const Candidate first = list.front();
    const double longest = longest_wait(list);
    const auto comes_first = [&](const Candidate& c) {
      if (!c.is_busy()) return false;
      if (first.limits && overflows(first, c)) return c.what.share >= kOverflows;
      if (!first.limits || first.reach == Reach::kElse) {
        return c.what.share >= kBusyInAll && (c.share_in_use >= kBusy || c.kind == UseKind::kLinkRate);
      }
      return c.what.share >= enough_before(first, c, longest);
    };
    const auto found = std::find_if(list.begin(), list.end(), comes_first);  // they are sorted
    if (found == list.end()) return;
    found->limits = true;
    std::rotate(list.begin(), found, found + 1);
  }

  // Whether the losses of one are those of a queue before the other.
  static bool overflows(const Candidate& lossy, const Candidate& busy) {
    if (lossy.full == nullptr) return false;
    if (busy.kind == UseKind::kLinkRate) return lossy.full->at_link != 0 && busy.node == lossy.full->sender;
    const bool takes_frames = busy.kind == UseKind::kReceive || busy.kind == UseKind::kPcie;
    return takes_frames && lossy.full->at_receiver != 0 && busy.node == lossy.full->receiver;
  }

  // `longest`: the longest wait of all.
  static double enough_before(const Candidate& waited, const Candidate& busy, double longest) {
    if (waited.reach >= Reach::kRequests && waited.reach <= Reach::kTransmitMemory) {
      return busy.kind == UseKind::kLinkRate ? std::min(longest, kQueueOnWay) : kQueueOnWay;
    }
    return busy.kind == UseKind::kPcie && busy.node == waited.node ? kQueueOfPcie : std::min(longest + kLonger, kFull);
  }

  // Before its first use, requests are on their way to it, and after its last one on their way from it. In a phase of
  // few requests that takes long.
  static Candidate busy(const PhaseUse& use) {
    const bool limits = use.share_in_use >= kSaturated && use.share >= kMostly;
    Candidate c = busy(use.resource.name, "", limits ? use.share_in_use : use.share);
    c.limits = limits;
    c.node = use.resource.node;
    c.kind = use.resource.kind;
    c.share_in_use = use.share_in_use;
    if (limits)
      c.what.evidence = {fmt::format("busy {} of the time from its first to its last use, {} of the phase",
                                     percent(use.share_in_use), percent(use.share))};
    return c;
  }

  static Candidate busy(const std::string& name, const std::string& where, double share) {
    Candidate c{{name, where, share, {}, {}}, Reach::kProcessor, share >= kSaturated, {}, {}, share, nullptr};
    c.what.evidence.push_back(fmt::format("busy {} of the time", percent(share)));
    c.what.line = fmt::format("{}{} ({} busy)", name, where.empty() ? "" : " of " + where, percent(share));
    return c;
  }

  void add_busy(std::size_t i, std::vector<Candidate>& list) const {
    const Accounted& t = accounting_.things()[i];
    if (t.spec.reach != Reach::kProcessor) return;
    const Account::Totals& totals = phase_.totals[i];
    const double share = share_of(totals.busy + totals.blocked, totals.cycles);
    if (share >= kNoted) list.push_back(busy(t.spec.limit, "node " + t.node, share));
  }

  // Flows that repair losses wait for acknowledgements and for timers, and no resource of the chip has to be exhausted.
  void add_losses(std::size_t i, std::vector<Candidate>& list) const {
    const Accounted& t = accounting_.things()[i];
    const double share = share_of(phase_.totals[i].taken, of(t.node, AccountRole::kInFlight).taken);
    if (share < kNoted) return;
    Candidate c{{t.spec.limit, "node " + t.node, share, {}, {}},
                t.spec.reach,
                share >= kRepairing,
                t.node,
                {},
                0,
                full(t.node)};
    note_full(c);
    c.what.line = fmt::format("{} of {} (under repair {} of the time in which octets are in flight)", c.what.name,
                              c.what.where, percent(share));
    list.push_back(std::move(c));
  }

  // `most`: the share of the busiest.
  void add(std::size_t i, double most, std::vector<Candidate>& list) const {
    const Accounted& t = accounting_.things()[i];
    if (t.spec.reach == Reach::kProcessor) return;
    if (t.spec.reach == Reach::kElse) return add_losses(i, list);
    const Account::Totals& totals = phase_.totals[i];
    const std::string where = "node " + t.node;
    const double share = share_of(totals.blocked, totals.cycles);
    if (t.spec.reach == Reach::kNobodyWaits || share < kNoted) return;
    Candidate c{{t.spec.limit, where, share, {}, {}}, t.spec.reach, share >= kExhausted, t.node, {}, 0, nullptr};
    const unsigned capacity = t.account(t.clk->next()).capacity();
    c.what.evidence.push_back(fmt::format("{} cycles of {} somebody waited, {} it was in use, {} it was not",
                                          totals.blocked, totals.cycles, totals.busy, totals.empty));
    c.what.evidence.push_back(
        fmt::format("{}: {:.2f} in use at a time", t.spec.name, share_of(totals.taken, totals.cycles)) +
        (capacity == 0 ? "" : fmt::format(", of {}", capacity)));
    if (t.spec.role == AccountRole::kSendWindow) name_window(i, c);
    if (t.spec.reads_memory) blame_memory(i, most, c);
    c.what.line = fmt::format("{} of {} (used up and waited for {} of the time)", c.what.name, where, percent(share));
    list.push_back(std::move(c));
  }

  // That of a node in this role; nullptr: it has none.
  const Accounted* find(const std::string& node, AccountRole role) const {
    for (const Accounted& t : accounting_.things()) {
      if (t.node == node && t.spec.role == role) return &t;
    }
    return nullptr;
  }
  Account::Totals of(const std::string& node, AccountRole role) const {
    const Accounted* const found = find(node, role);
    if (found == nullptr) return {};
    return phase_.totals[static_cast<std::size_t>(found - accounting_.things().data())];
  }

  const FullQueues* full(const std::string& sender) const {
    for (const FullQueues& q : phase_.full) {
      if (q.sender == sender) return &q;
    }
    return nullptr;
  }
  static void note_full(Candidate& c) {
    if (c.full == nullptr || (c.full->at_link == 0 && c.full->at_receiver == 0)) return;
    c.what.evidence.push_back(
        fmt::format("{} frames lost as the queue of the link was full, {} as that of the receiver was", c.full->at_link,
                    c.full->at_receiver));
  }

  // The smaller of the two windows is the exhausted one. Losses make the congestion window small.
  void name_window(std::size_t i, Candidate& c) const {
    const std::string& node = accounting_.things()[i].node;
    const Account::Totals octets = of(node, AccountRole::kUnacknowledged);
    const Account::Totals congested = of(node, AccountRole::kCongested);
    const double share = share_of(congested.busy, congested.cycles);
    if (share > kExhausted) {
      c.what.name = "TCP congestion window";
      c.full = full(node);
      note_full(c);
    }
    c.what.evidence.push_back(
        fmt::format("{:.0f} octets unacknowledged at a time; the congestion window was the "
                    "smaller one of the two windows {} of the time",
                    share_of(octets.taken, octets.cycles), percent(share)));
  }

  // A wait for a read is a wait for memory, if halving memory's time would be as good as doubling the exhausted
  // resource: until the busiest is full.
  void blame_memory(std::size_t i, double most, Candidate& c) const {
    const Accounted& t = accounting_.things()[i];
    const double tags_ps = taken_ps(t.node, AccountRole::kReadTags);
    if (tags_ps == 0) return;
    const double share =
        (taken_ps(t.node, AccountRole::kMemoryReads) - taken_ps(t.node, AccountRole::kAnsweredReads)) / tags_ps;
    c.what.evidence.push_back(fmt::format("a read of host memory spends {} of its time in memory", percent(share)));
    const double twice = most <= 0.5 ? 2 : 1 / most;
    const bool as_good = share > 0.5 && 1 / (1 - share / 2) >= kAsGood * twice;
    const bool in_parts = !c.limits && c.what.share >= kPartly && share >= kMostInMemory;
    if (!in_parts && !(c.limits && as_good)) return;
    c.reach = c.limits ? Reach::kHostMemory : Reach::kElse;
    c.limits = true;
    c.what.evidence.push_back("what it makes run out: " + c.what.name);
    c.what.name = "host memory";
  }

  double taken_ps(const std::string& node, AccountRole role) const {
    const Accounted* const found = find(node, role);
    if (found == nullptr) return 0;
    return static_cast<double>(of(node, role).taken) * static_cast<double>(found->clk->period_ps());
  }

  const Accounting& accounting_;
  const WorkPhase& phase_;
};

// If nothing is exhausted, more requests at a time would be served as well as these.
Candidate too_few_requests(const std::vector<Candidate>& noted) {
  Candidate c{{"requests", "programs", 1, {}, {}}, Reach::kNobodyWaits, true, {}, {}, 0, nullptr};
  const std::string busiest = noted.empty() ? "" : "; busiest: " + noted.front().what.line;
  c.what.line = fmt::format("too few requests outstanding (nothing is used up{})", busiest);
  return c;
}

}  // namespace

BottleneckReport find_bottleneck(const Accounting& accounting, const std::function<std::string(unsigned)>& name) {
  std::uint64_t work_ps = 0;
  for (const WorkPhase& p : accounting.phases()) work_ps += p.time_ps;
  if (work_ps == 0) return {{"none", "", 0, "bottleneck: none, as no work was begun", {}}, {}, {}};

  BottleneckReport report;
  std::uint64_t longest_ps = 0;
  for (const WorkPhase& p : accounting.phases()) {
    std::vector<Candidate> list = PhaseJudge(accounting, p).candidates();
    if (list.empty() || !list.front().limits) list.insert(list.begin(), too_few_requests(list));
    const std::string when = accounting.phases().size() == 1 ? ""
                                                             : fmt::format(" in {}, {} of the time", name(p.number),
                                                                           percent(share_of(p.time_ps, work_ps)));
    for (std::size_t i = 1; i < list.size() && list[i].limits; ++i) {
      list.front().what.evidence.push_back("a limit, too: " + list[i].what.line);
    }
    list.front().what.line += when;
    report.phases.push_back({p.number, name(p.number), p.time_ps, list.front().what, {}});
    for (std::size_t i = 1; i < list.size(); ++i) report.phases.back().others.push_back(list[i].what);
    if (p.time_ps <= longest_ps) continue;
    longest_ps = p.time_ps;
    report.first = list.front().what;
    report.others = report.phases.back().others;
  }
  if (report.phases.size() > 1) {
    for (const BottleneckReport::Phase& p : report.phases) report.first.evidence.push_back(p.what.line);
  }
  report.first.line = "bottleneck: " + report.first.line;
  return report;
}

void add_bottleneck(nlohmann::ordered_json& j, const BottleneckReport& report) {
  const auto json = [](const Bottleneck& b) {
    return nlohmann::ordered_json{
        {"name", b.name}, {"where", b.where}, {"share", b.share}, {"evidence", b.evidence}, {"line", b.line}};
  };
  const auto list_json = [&json](const std::vector<Bottleneck>& bottlenecks) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Bottleneck& b : bottlenecks) list.push_back(json(b));
    return list;
  };
  j["bottleneck"] = json(report.first);
  j["bottleneck_candidates"] = list_json(report.others);
  j["phases"] = nlohmann::ordered_json::array();
  for (const BottleneckReport::Phase& p : report.phases) {
    j["phases"].push_back({{"phase", p.number},
                           {"name", p.name},
                           {"time_ps", p.time_ps},
                           {"bottleneck", json(p.what)},
                           {"candidates", list_json(p.others)}});
  }
}

}  // namespace rnic
