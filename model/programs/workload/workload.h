// All programs of a run: makes them from the plan, synchronizes and measures them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/programs/workload/churn.h"
#include "model/programs/workload/endpoint.h"
#include "model/programs/workload/openings.h"
#include "model/programs/workload/results.h"
#include "model/programs/workload/tcp_limit.h"
#include "model/programs/workload/window.h"

namespace rnic::workload {

// The workload's view of a node of the plan.
struct HostNode {
  host::Context* context = nullptr;
  std::uint32_t ip = 0;
  TcpPath path{};                         // for the payload that it sends
  std::uint32_t max_setups = UINT32_MAX;  // connections that its firmware sets up at a time
};

// Construct it before the simulation starts and run until done() or failed(). Between stages each program waits until
// all programs and their devices are ready. The next stage begins kBarrierNs later or, if that is later, when no clock
// has run ahead any more.
class Workload final : private Barrier {
 public:
  static constexpr std::uint64_t kBarrierNs = 2000;

  // `hosts` are in the order of the plan's nodes. ConfigError for work that the programs cannot do.
  Workload(const Plan& plan, const std::vector<HostNode>& hosts, const WireParams& wire);
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  bool done() const { return done_; }  // all phases are over and all connections closed
  // In a phase: connections and memory regions exist.
  bool working() const { return !done_ && !failed() && endpoints_.front().is_phase(stage_); }
  // The running phase, or the previous one.
  unsigned phase() const { return stage_ < 2 ? 0 : (stage_ - 2) / 2; }
  std::string phase_name(unsigned phase) const;
  // Name of a number of Core::work(): an item in one direction. "" if there is none.
  std::string work_name(std::uint32_t work) const {
    return work == 0 || work > groups_.size() ? "" : groups_[work - 1].name;
  }
  bool is_ping_pong(std::uint32_t work) const {
    return work != 0 && work <= groups_.size() && groups_[work - 1].item->mode == Mode::kPingPong;
  }
  bool failed() const { return !errors_.empty(); }
  const std::vector<std::string>& errors() const { return errors_; }

  // Grows whenever a message completes or a stage ends; for a watchdog.
  std::uint64_t progress() const;
  // What each program waits for, one line each.
  std::string waiting_for() const;
  // For one side of a queue pair of a connection of the plan.
  const std::optional<Ending>& ending(unsigned connection, std::size_t qp, bool from) const {
    const Pair& pair = pairs_[connection][qp];
    return (from ? pair.from : pair.to)->ending();
  }
  // Results count from now on: completed messages, and the time.
  void restart(std::uint64_t now_ps);
  // Records of all items so far, in the order of the plan.
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
  using Windows = std::map<unsigned, Window*>;  // of an item, by node
  void assign(std::size_t phase, const WorkItem& item, bool reverse, Windows& windows);
  Window* window_for(const WorkItem& item, unsigned requester_node, Windows& windows);
  CountedWords* words_for(const WorkItem& item, unsigned responder_node, std::map<unsigned, CountedWords*>& shared);
  std::uint16_t unused_port(unsigned node) const;
  ChurnSide churn_side(unsigned connection, std::size_t qp, bool from) const;
  void add_roles(std::size_t phase, Group& group, unsigned connection, std::size_t qp, Window* window);
  void limit(Group& group) const;
  WorkResult result_of(const Group& group) const;
  void arrived(Endpoint& endpoint, std::uint64_t ready_ps, std::uint64_t at_ps) override;
  void aborted(const std::string& reason) override;
  void left(Endpoint& endpoint, std::uint64_t at_ps) override;
  void proceed(std::uint64_t at_ps);
  void begin_setup(std::uint64_t begin_ps);
  void set_up(const Endpoint& endpoint, std::uint64_t at_ps);
  std::uint64_t ahead_ps() const;

  const Plan plan_;
  const std::vector<HostNode> hosts_;
  const WireParams wire_;
  struct Pair {
    Endpoint *from, *to;
  };
  std::deque<Endpoint> endpoints_;
  struct Opener {  // a node
    Opening opening;
    std::vector<Endpoint*> endpoints;  // that connect, in that order
  };
  std::vector<Opener> openers_;
  std::vector<std::vector<Pair>> pairs_;  // by connection, then queue pair
  std::deque<Transfer> transfers_;
  std::deque<CountedWords> words_;
  std::deque<Window> windows_;
  std::deque<Group> groups_;
  unsigned stage_ = 0;
  std::size_t arrived_ = 0, left_ = 0;
  std::uint64_t last_arrival_ps_ = 0;
  bool done_ = false;
  std::vector<std::string> errors_;
};

}  // namespace rnic::workload
