// The host's processor: every program (App) has a core to itself, whose time passes while it executes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "model/common/account.h"
#include "model/common/ids.h"
#include "model/common/request_id.h"
#include "model/common/stage.h"
#include "model/config/field.h"
#include "model/host/host_port.h"

namespace rnic::host {

// The cost of verbs in processor time, during which the calling program does nothing else.
struct HostCpuConfig {
  unsigned post_ns = 40;
  unsigned poll_ns = 15;
  unsigned completion_ns = 15;
  unsigned mmio_write_ns = 5;
  unsigned poll_interval_ns = 20;
  unsigned interrupt_ns = 1500;
  unsigned event_ns = 200;
  unsigned command_ns = 300;
  template <class V>
  static void fields(V& v) {
    v("post_ns", &HostCpuConfig::post_ns, "building one work request in its ring", in_range(0, 1000000), unit("ns"));
    v("poll_ns", &HostCpuConfig::poll_ns, "one poll_cq call", in_range(0, 1000000), unit("ns"));
    v("completion_ns", &HostCpuConfig::completion_ns, "each completion that poll_cq returns", in_range(0, 1000000),
      unit("ns"));
    v("mmio_write_ns", &HostCpuConfig::mmio_write_ns, "one register write, sent at its end", in_range(0, 1000000),
      unit("ns"));
    v("poll_interval_ns", &HostCpuConfig::poll_interval_ns, "period of an idle polling loop", in_range(1, 1000000),
      unit("ns"));
    v("interrupt_ns", &HostCpuConfig::interrupt_ns, "from the MSI-X message to the driver's handler",
      in_range(0, 1000000), unit("ns"));
    v("event_ns", &HostCpuConfig::event_ns, "handling one event of the event queue", in_range(0, 1000000), unit("ns"));
    v("command_ns", &HostCpuConfig::command_ns, "building one command in the command ring", in_range(0, 1000000),
      unit("ns"));
  }
};

// Sees the work requests of all programs of a host, in the order of each program's calls, at the time of its core.
class WorkObserver {
 public:
  // Work requests [first, first + count) of a queue were posted. Receive queues that are shared have their own number.
  virtual void posted(Qpn qpn, std::uint64_t first, unsigned count, std::uint64_t at_ps) = 0;
  virtual void posted(Rqn rqn, std::uint64_t first, unsigned count, std::uint64_t at_ps) = 0;
  // The doorbell of a send queue was written.
  virtual void rang(Qpn qpn, std::uint32_t producer, std::uint64_t at_ps) = 0;
  // poll_cq has returned a completion; `wr_id` is the device's.
  virtual void polled(Qpn qpn, bool receive, std::uint64_t wr_id, std::uint64_t at_ps) = 0;
  // A core has executed a call of its program. Of calls that took no time nobody hears.
  virtual void worked(std::uint32_t core, std::uint64_t from_ps, std::uint64_t to_ps) = 0;
  // The owner of a work request that is about to be posted.
  virtual RequestId owner(Qpn qpn, bool receive, std::uint64_t number) const = 0;
  // A program posts it with an error, which `what` names, and its value: octets of a length, or an STag.
  struct Spoiled {
    const char* what = nullptr;
    std::optional<std::uint32_t> octets{}, stag{};
  };
  virtual void spoiled(RequestId owner, const Spoiled& how, std::uint64_t at_ps) = 0;
  // The program that gets a message has it, by the request that sent it and by its number in its item of work; or not
  // what was sent: `octet` of it is the first that differs.
  virtual void seen(Qpn qpn, RequestId sent, std::uint32_t message, std::uint64_t at_ps) = 0;
  struct Difference {
    std::size_t octet;
    std::uint8_t expected, found;
  };
  virtual void differs(Qpn qpn, RequestId sent, std::uint32_t message, Difference d, std::uint64_t at_ps) = 0;

 protected:
  ~WorkObserver() = default;
};

// A program as a state machine: step() is called when something it may be waiting for has happened, checks, and does
// what can be done. A call with nothing to do must change nothing.
class App {
 public:
  virtual ~App() = default;
  virtual void step() = 0;
  // For the report of a run that hangs; empty when it is at rest.
  virtual std::string waiting_for() const = 0;
};

class HostCpu;

// A core and its own clock, which runs ahead of the simulation while it works: calls of one program follow each other.
class Core {
 public:
  std::uint64_t time_ps() const;
  void spend_ns(unsigned ns) { busy_until_ps_ = time_ps() + std::uint64_t{ns} * 1000; }
  // Spins until then, as for a lock.
  void spin_until(std::uint64_t ps) { busy_until_ps_ = ps > time_ps() ? ps : time_ps(); }
  // Calls step() at the first clock edge at or after at_ps at which the core is free; never within this cycle.
  void wake_at(std::uint64_t at_ps);
  // At the time of the running program, which caused it.
  void wake();
  // The device writes in this cycle to memory that a polling loop reads: step() is called at the loop's next iteration.
  void wake_poller();
  App& app() const { return app_; }
  // The purpose of the program's calls, numbered by the program, for observers of its work requests; 0: none.
  void work_on(std::uint32_t work) { work_ = work; }
  std::uint32_t work() const { return work_; }
  // Completed calls of step().
  std::uint64_t calls() const { return calls_; }
  Account& account() { return account_; }

 private:
  friend class HostCpu;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  Core(HostCpu& cpu, App& app, std::uint32_t number) : cpu_(cpu), app_(app), number_(number) {}
  Cycle due() const;
  void begin_call();

  HostCpu& cpu_;
  App& app_;
  const std::uint32_t number_;
  Cycle called_at_ = kNever;  // the next call, as HostCpu knows it
  std::uint64_t busy_until_ps_ = 0, calls_ = 0;
  std::vector<std::uint64_t> wakes_ps_;  // few, in no order
  std::uint64_t visible_ps_ = kNone;     // the oldest write that was not followed by a call
  std::uint64_t newest_visible_ps_ = 0;
  Account account_{1};
  std::uint32_t work_ = 0;
};

// Lives in the host's clock domain. Costs nothing while all programs wait.
class HostCpu final : public Stage {
 public:
  HostCpu(sc_core::sc_module_name nm, ClockDomain& clk, const HostCpuConfig& config, HostPort& port)
      : Stage(nm, clk), config_(config), port_(port) {}

  // The reference stays valid; `app` must outlive the simulation.
  Core& add(App& app);
  // The core whose program is being called; InternalError outside step().
  Core& running();
  const HostCpuConfig& config() const { return config_; }
  void observe_work(WorkObserver& observer) { work_observer_ = &observer; }
  WorkObserver* work_observer() const { return work_observer_; }
  const std::vector<std::unique_ptr<Core>>& cores() const { return cores_; }

  // Accesses of the running program to the device (HostPort), in the order of time over all cores.
  void mmio_write(std::uint32_t offset, std::uint32_t value);
  void mmio_read(std::uint32_t offset, std::uint32_t cookie);
  void config_read(std::uint32_t offset, std::uint32_t cookie);
  void config_write(std::uint32_t offset, std::uint32_t value, std::uint32_t cookie);
  void reset_device(ResetKind kind);

  Wake tick() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;

 private:
  friend class Core;
  struct Access {
    enum class Kind : std::uint8_t { kWrite, kRead, kConfigWrite, kConfigRead, kReset };
    std::uint64_t at_ps, sequence;
    Kind kind;
    ResetKind reset;
    std::uint32_t offset, value, cookie;
    bool operator>(const Access& o) const { return at_ps != o.at_ps ? at_ps > o.at_ps : sequence > o.sequence; }
  };
  void access(Access::Kind kind, std::uint32_t offset, std::uint32_t value, std::uint32_t cookie, ResetKind reset = {});
  void issue(const Access& access);
  void issue_accesses();
  void run(Core& core);
  void schedule(Core& core);
  Cycle next_call();

  const HostCpuConfig config_;
  HostPort& port_;
  std::vector<std::unique_ptr<Core>> cores_;
  // Calls by their cycles, a heap. An entry counts if its core is still called then.
  struct Call {
    Cycle at;
    std::uint32_t core;
    bool operator>(const Call& o) const { return at > o.at; }
  };
  std::vector<Call> calls_;
  std::vector<std::uint32_t> due_;  // cores to call in this cycle
  Core* running_ = nullptr;
  bool ticking_ = false;
  WorkObserver* work_observer_ = nullptr;
  std::priority_queue<Access, std::vector<Access>, std::greater<>> accesses_;
  std::uint64_t sequence_ = 0;
};

}  // namespace rnic::host
