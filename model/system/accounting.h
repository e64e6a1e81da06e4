// The cycles of every exhaustible resource, per phase of the work. See accounting.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/common/description.h"
#include "model/system/system.h"
#include "model/system/utilization.h"

namespace rnic {

class LinkAccount;

// An account of a part of a node.
struct Accounted {
  std::string node;
  AccountSpec spec;
  const ClockDomain* clk;
  std::function<Account&(Cycle at)> account;
};

// A wire, PCIe link or datapath in a phase. Gaps at the beginning or the end of the phase are outside of its first and
// last use.
struct PhaseUse {
  UtilizationMeter::Resource resource;
  double share = 0, share_in_use = 0;  // of the phase, and of the time from the first use to the last one
};

// Frames of a node that were lost because a queue on their path was full: before the slow stretch of the link, or in
// the packet buffer of the receiving node.
struct FullQueues {
  std::string sender, receiver;
  std::uint64_t at_link = 0, at_receiver = 0;
};

// A stretch of work: a phase of the workload, without the set-up before it and the teardown after it.
struct WorkPhase {
  unsigned number = 0;
  std::uint64_t time_ps = 0;
  std::vector<Account::Totals> totals;  // by Accounted
  std::vector<PhaseUse> busy;
  std::vector<FullQueues> full;  // by way of the cable
};

class Accounting final {
 public:
  // Both must outlive this. The chips' links have accounts only on request (sim.account_links): they cost time.
  Accounting(const System& system, const UtilizationMeter& meter);
  ~Accounting();

  // To be called after each step of the kernel. Not working: set-up and teardown. First and last uses are known to the
  // step, as if the resource was busy from or to them without a gap.
  void follow(bool working, unsigned phase);
  void end() { follow(false, 0); }
  // What came before does not count.
  void restart();

  const std::vector<Accounted>& things() const { return things_; }
  const std::vector<WorkPhase>& phases() const { return phases_; }
  // Until now: for the whole run, and for the counted part.
  std::vector<Account::Totals> all() const;
  std::vector<Account::Totals> totals() const;
  // One object each: `occupancy` of stats.json. Of a node's host cores at most as many as sim.account_cores says.
  nlohmann::ordered_json json() const;
  // Of a phase: `utilization`, and `occupancy` of what it used, without histograms.
  nlohmann::ordered_json json(const WorkPhase& phase) const;
  // By node, how many host cores are not in it; without nodes where all are.
  std::map<std::string, std::size_t> cores_left_out() const;

 private:
  void add_links(const Station& s);
  void follow_uses();
  std::map<std::string, std::vector<std::size_t>> many_cores() const;
  std::vector<bool> shown(const std::vector<Account::Totals>& all) const;
  std::vector<FullQueues> full_queues() const;

  const System& system_;
  const UtilizationMeter& meter_;
  std::vector<std::unique_ptr<LinkAccount>> links_;
  std::vector<Accounted> things_;
  std::vector<Account::Totals> before_;                    // the part that does not count, by Accounted
  std::vector<std::vector<std::uint64_t>> cycles_before_;  // of the histograms
  std::vector<WorkPhase> phases_;
  bool working_ = false;
  WorkPhase open_;  // the value at its start
  // For the open phase, by resource, in ps: total busy time, at its start, and now; and first and last use.
  struct Use {
    double begin = 0, now = 0, first = -1, last = 0;
  };
  std::vector<Use> uses_;
  std::vector<double> busy_;  // for follow_uses()
  double followed_ps_ = 0;    // the step before
};

}  // namespace rnic
