// All programs of a run: made from the plan, kept in step, and measured.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/programs/workload/churn.h"
#include "model/programs/workload/endpoint.h"
#include "model/programs/workload/results.h"
#include "model/programs/workload/tcp_limit.h"

namespace rnic::workload {

// A node of the plan as the workload needs it.
struct HostNode {
  host::Context* context = nullptr;
  std::uint32_t ip = 0;
  TcpPath path{};  // of the payload that it sends
};

// Construct it before the simulation starts and run until done() or failed(). Between stages all programs wait until
// the last one is ready, and all devices know of it; the next stage begins kBarrierNs later, or when no clock has run
// ahead any more.
class Workload final : private Barrier {
 public:
  static constexpr std::uint64_t kBarrierNs = 2000;

  // `hosts` in the order of the plan's nodes. ConfigError for work that the programs cannot do.
  Workload(const Plan& plan, const std::vector<HostNode>& hosts, const WireParams& wire);
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  bool done() const { return done_; }  // all phases are over and all connections closed
  // In a phase: connections and memory regions are there.
  bool working() const { return !done_ && !failed() && endpoints_.front().is_phase(stage_); }
  // The one that runs, or the one before.
  unsigned phase() const { return stage_ < 2 ? 0 : (stage_ - 2) / 2; }
  std::string phase_name(unsigned phase) const;
  // Of what Core::work() numbers: an item in one direction. "" if there is none.
  std::string work_name(std::uint32_t work) const {
    return work == 0 || work > groups_.size() ? "" : groups_[work - 1].name;
  }
  bool failed() const { return !errors_.empty(); }
  const std::vector<std::string>& errors() const { return errors_; }

  // Grows whenever any message completes or a stage ends: a watchdog looks at it.
  std::uint64_t progress() const;
  // Who waits for what, one line each.
  std::string waiting_for() const;
  // Of one side of a queue pair of a connection of the plan.
  const std::optional<Ending>& ending(unsigned connection, std::size_t qp, bool from) const {
    const Pair& pair = pairs_[connection][qp];
    return (from ? pair.from : pair.to)->ending();
  }
  // Results count from now on: messages that complete, and the time.
  void restart(std::uint64_t now_ps);
  // Records of all items, in the order of the plan, as far as the run has come.
  std::vector<WorkResult> results() const;

 private:
  struct Group {  // a work item in one direction
    const WorkItem* item;
    std::string name;
    unsigned phase;
    bool reverse;
    std::vector<Transfer*> transfers;
    std::vector<const Role*> roles;
    double limit_gbps = 0, tcp_limit_gbps = 0;
    Latencies latencies;
  };
  void connect(unsigned connection);
  void assign(std::size_t phase, const WorkItem& item, bool reverse);
  CountedWords* words_for(const WorkItem& item, unsigned responder_node, std::map<unsigned, CountedWords*>& shared);
  std::uint16_t unused_port(unsigned node) const;
  ChurnSide churn_side(unsigned connection, std::size_t qp, bool from) const;
  void add_roles(std::size_t phase, Group& group, unsigned connection, std::size_t qp);
  void limit(Group& group) const;
  WorkResult result_of(const Group& group) const;
  void arrived(Endpoint& endpoint, std::uint64_t ready_ps, std::uint64_t at_ps) override;
  void aborted(const std::string& reason) override;
  void left(Endpoint& endpoint, std::uint64_t at_ps) override;
  void proceed(std::uint64_t at_ps);
  std::uint64_t ahead_ps() const;

  const Plan plan_;
  const std::vector<HostNode> hosts_;
  const WireParams wire_;
  struct Pair {
    Endpoint *from, *to;
  };
  std::deque<Endpoint> endpoints_;
  std::vector<std::vector<Pair>> pairs_;  // by connection, then queue pair
  std::deque<Transfer> transfers_;
  std::deque<CountedWords> words_;
  std::deque<Group> groups_;
  unsigned stage_ = 0;
  std::size_t arrived_ = 0, left_ = 0;
  std::uint64_t last_arrival_ps_ = 0;
  bool done_ = false;
  std::vector<std::string> errors_;
};

}  // namespace rnic::workload
