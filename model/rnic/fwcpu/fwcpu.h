// The processor that runs the firmware. See fwcpu.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "firmware/lib/capacity.h"
#include "model/abi/srq_events.h"
#include "model/common/account.h"
#include "model/common/firmware_view.h"
#include "model/common/link.h"
#include "model/common/timer_wheel.h"
#include "model/common/trace_point.h"
#include "model/common/value_words.h"
#include "model/rnic/context/context.h"
#include "model/rnic/fwcpu/firmware_fault.h"
#include "model/rnic/fwcpu/firmware_profile.h"
#include "model/rnic/fwcpu/fwcpu_config.h"
#include "model/rnic/fwcpu/log_ring.h"
#include "model/rnic/messages/completion.h"
#include "model/rnic/messages/firmware.h"
#include "model/rnic/messages/llp_firmware.h"
#include "model/rnic/messages/per_llp.h"
#include "model/rnic/messages/stag_work.h"

namespace rnic {

class ProbeGroup;
class StatsGroup;

// The firmware's own headers are included by sources only: changing them does not recompile the chip.
class ChipBus;
class FirmwareTarget;
struct CodePlace;
struct TimedOperation;

struct FwCpuCounters {
  std::uint64_t events = 0, operations = 0, busy_cycles = 0, stall_cycles = 0;
  template <class V>
  static void fields(V& v) {
    v("events", &FwCpuCounters::events, "events", "events that the firmware handled");
    v("operations", &FwCpuCounters::operations, "operations", "operations that the firmware issued");
    v("busy_cycles", &FwCpuCounters::busy_cycles, "cycles", "time in handlers, without stalls");
    v("stall_cycles", &FwCpuCounters::stall_cycles, "cycles", "time in which a register write waited for its block");
  }
};

class FwCpu final : public Stage, public FirmwareView {
 public:
  PopPort<FetchedCommand> commands{*this, "commands"};
  PerLlp<PopPort<LlpEvent>> llp_events{*this, "llp_events"};
  PopPort<QpEvent> qp_events{*this, "qp_events"};
  PopPort<CqOverflow> cq_overflows{*this, "cq_overflows"};
  PopPort<SrqEvent> srq_events{*this, "srq_events"};
  PopPort<HomeEvent> home_events{*this, "home_events"};
  PushPort<SrqArm> srq_arms{*this, "srq_arms"};
  PerLlp<PushPort<LlpOp>> llp_ops{*this, "llp_ops"};
  PushPort<HomeOp> home_ops{*this, "home_ops"};
  static constexpr LinkConfig kHomeOps{1, 1, 1};  // of home_ops: while there is an operation, nothing can be pushed
  PushPort<StagWrite> stag_writes{*this, "stag_writes"};
  PopPort<StagWritten> stag_written{*this, "stag_written"};
  PushPort<TxInternalWork> tx_work{*this, "tx_work"};
  PushPort<HostEvent> events{*this, "events"};

  // Blocks of the pool hold a startup frame or more. Throws ConfigError if the chip has more of any resource than the
  // firmware can manage.
  FwCpu(sc_core::sc_module_name nm, ClockDomain& clk, const FwCpuConfig& config, ContextStore& contexts,
        BufferPool& pool);
  ~FwCpu() override;

  // The destination of log entries, and the wanted level; without it there are none above LogLevel::kInfo.
  void attach(LogRing& log) { log_ = &log; }

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const FwCpuCounters& counters() const { return counters_; }
  const std::optional<FirmwareStop>& fault() const override { return fault_; }
  std::vector<std::string> log() const override;
  void on_fault(std::function<void()> f) { on_fault_ = std::move(f); }  // called when it stops
  Iss* processor() const override;

 private:
  void describe_figures(const StatsGroup& group) const;
  void describe_state(const ProbeGroup& group) const;
  bool issue(TimedOperation& operation);
  void issue_due();
  bool dispatch_next();
  void handle(bool timer);
  void die(const FirmwareFault& fault);
  std::string text_of(const FirmwareFault& fault) const;
  std::string handled() const;
  bool handles_command() const;
  void record_handled() const;
  void record_refused() const;
  template <class Event>
  void run(const Event& event);
  PopPort<LlpEvent>* next_of_llp();
  void dispatch(const LlpEvent& event);
  void dispatch(const QpEvent& event);
  void dispatch(const SrqEvent& event);
  void dispatch(const HomeEvent& event);
  Cycle busy_until() const;
  bool busy(Cycle at) const;
  Cycle code_cycle(Cycle at) const;
  const CodePlace* code_place(Cycle at) const;
  Cycle next_place(Cycle at) const;

  FwCpu(sc_core::sc_module_name nm, ClockDomain& clk, const FwCpuConfig& config, ContextStore& contexts,
        BufferPool& pool, const fw::Settings& settings);

  const FwCpuConfig config_;
  const fw::Room room_;  // what the firmware is built for
  ContextStore& contexts_;
  std::unique_ptr<ChipBus> bus_;
  std::unique_ptr<FirmwareTarget> firmware_;
  Cycle slip_ = 0;              // added to the running handler's times by waits for links
  bool stalled_ = false;        // an operation waits for its link
  Cycle writes_stag_ = kNever;  // since then stag_work changes an STag: later operations wait for it
  TimerWheel timers_;
  std::optional<FirmwareStop> fault_;
  std::function<void()> on_fault_;
  LogRing* log_ = nullptr;
  // For probes: the running handler's event (0: none yet), command, begin and way.
  unsigned handler_ = 0, command_ = 0;
  Cycle handler_at_ = 0;
  // For events: the commands taken since the reset; whom the running handler works for, and its flow.
  std::uint32_t taken_commands_ = 0;
  RequestId works_for_;
  FlowId flow_ = kNoFlow;
  const std::unique_ptr<std::vector<CodePlace>> way_;
  ValueWords functions_;  // of an image
  FirmwareProfile profile_;
  Account account_{1};  // taken: in a handler; blocked: a register write waits for its block
  FwCpuCounters counters_;
  TracePoint handlers_;
};

}  // namespace rnic
