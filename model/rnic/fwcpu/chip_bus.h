// The firmware's bus inside the model: each access costs cycles, each operation takes effect when its last register
// write is done.
#pragma once

#include <array>
#include <deque>
#include <variant>
#include <vector>

#include "model/abi/firmware_operations.h"
#include "model/abi/firmware_sram.h"
#include "model/common/bytes.h"
#include "model/common/cycle.h"
#include "model/rnic/context/context.h"
#include "model/rnic/fwcpu/fwcpu_config.h"
#include "model/rnic/fwcpu/page_memory.h"
#include "model/rnic/messages/firmware.h"
#include "model/rnic/messages/llp_firmware.h"

namespace rnic {

// It has a life of that flow, too.
template <class Op, class = void>
inline constexpr bool kIsOfFlow = false;
template <class Op>
inline constexpr bool kIsOfFlow<Op, std::void_t<decltype(Op::flow)>> = true;

// An operation on its way to the hardware.
struct TimedOperation {
  using Action =
      std::variant<LlpOp, fw::WriteQp, fw::WriteFlow, fw::WriteCq, fw::WriteSrq, fw::WritePage, fw::WriteStag, SrqArm,
                   TxInternalWork, HostEvent, fw::SetTimer, fw::CancelTimer, fw::Log, HomeOp>;
  Cycle due;
  Action action;
};

// The firmware's notes, with their times.
struct LoggedLine {
  Cycle at = 0;
  fw::Log line;
};

class ChipBus {
 public:
  // `setups` is the number of startup frame slots in SRAM.
  ChipBus(const FwCpuConfig& config, BufferPool& pool, const ContextStore& contexts, std::uint32_t setups,
          std::uint32_t timers);

  // The firmware's side.
  template <class Op>
  void write(const Op& op) {
    check_time();
    spend(std::uint64_t{Op::kCsrWords} * config_.csr_write_cycles);
    apply(op);
  }
  // An entry of a level that is not wanted costs nothing.
  void write(const fw::Log& op) {
    check_time();
    if (is_wanted(op)) spend(std::uint64_t{fw::Log::kCsrWords} * config_.csr_write_cycles);
    apply(op);
  }
  MutableByteSpan sram(fw::SramRange range);

  // A target that counts its own cycles, from start() on: an operation with the cycle of its last register write, and
  // the end of the handler. It has the SRAM in its address space.
  template <class Op>
  void write_at(std::uint64_t firmware_cycles, const Op& op) {
    advance_to(firmware_cycles);
    apply(op);
  }
  void advance_to(std::uint64_t firmware_cycles) { time_ = begin_ + firmware_cycles * config_.clock_divider; }
  MutableByteSpan memory() { return memory_; }

  // The model's side. The firmware's data in SRAM and its operations in progress are dropped.
  void reset();
  // A handler runs at once; its accesses are laid out in time from `at` on.
  void start(Cycle at);
  void set_log_level(fw::LogLevel level) { log_level_ = level; }
  Cycle end() const { return time_; }  // when the handler ends, if no operation had to wait
  std::deque<TimedOperation>& operations() { return operations_; }
  // Hardware writes octets into SRAM, at no cost to the firmware.
  void put_private_data(const FetchedCommand& command);
  void put_octets(const LlpEvent& event);
  std::uint8_t put_terminate(const QpEvent& event);  // its header's octets
  void raise(const abi::Event& event);               // the processor itself notifies the host, now
  const std::deque<LoggedLine>& last_entries() const { return last_entries_; }  // of all levels
  const std::uint64_t& log_count(fw::LogCode code) const { return logs_[static_cast<std::size_t>(code)]; }

 private:
  void spend(std::uint64_t firmware_cycles) { time_ += firmware_cycles * config_.clock_divider; }
  // FirmwareFault if native firmware continues although its time is over: the watchdog, in the middle of a handler.
  void check_time() const {
    if (time_ > deadline_) fail_late();
  }
  [[noreturn]] void fail_late() const;
  bool is_wanted(const fw::Log& op) const {
    return static_cast<unsigned>(op.code) < fw::kLogCodes && fw::describe(op.code).level <= log_level_;
  }
  void post(TimedOperation::Action action) { operations_.push_back({time_, std::move(action)}); }
  BufferRef copy_out(fw::SramRange range);
  void check_window(fw::SramRange range) const;
  // FirmwareFault for a number that the chip does not have.
  static void need(const char* what, std::size_t number, std::size_t entries);

  // For a lower layer: some with octets, or with a place for them; the others as they are.
  template <class Op>
  auto apply(const Op& op) -> decltype(void(Op::kLlp)) {
    if constexpr (kIsOfFlow<Op>) need_flow(op.flow);
    post(LlpOp(op));
  }
  void apply(const fw::TcpStreamSend& op);
  void apply(const fw::SctpSend& op);
  void apply(const fw::TcpStreamRead& op);
  void apply(const fw::TcpClose& op);
  void apply(const fw::TcpAbort& op);
  void apply(const fw::SctpStream& op);
  void apply(const fw::WriteQp& op);
  void apply(const fw::WriteFlow& op);
  void apply(const fw::WriteCq& op);
  void apply(const fw::WriteSrq& op);
  void apply(const fw::ArmSrq& op) { need("SRQ", op.arm.srqn.v, contexts_.srqs()), post(op.arm); }
  void apply(const fw::WritePage& op);
  void apply(const fw::WriteHomePage& op);
  void apply(const fw::ReleaseHome&) { post(HomeOp{HomeOp::Kind::kRelease}); }
  void apply(const fw::WriteStag& op) { need("STag index", op.stag.v >> 8, contexts_.stags()), post(op); }
  void apply(const fw::PostWork& op) { need("QP", op.work.qpn.v, contexts_.qps()), post(op.work); }
  void apply(const fw::PostEvent& op);
  void apply(const fw::SetTimer& op) { need("timer", op.id, timers_), post(op); }
  void apply(const fw::CancelTimer& op) { need("timer", op.id, timers_), post(op); }
  void apply(const fw::Log& op);
  [[noreturn]] void apply(const fw::Panic& op);
  void need_flow(FlowId flow) const { need("flow", flow.v, contexts_.flows()); }

  const FwCpuConfig config_;
  BufferPool& pool_;
  const ContextStore& contexts_;
  const std::uint32_t timers_;
  const PageMemory memory_;
  std::vector<fw::SramRange> read_into_;  // by flow; empty: nothing is to be read
  Cycle begin_ = 0, time_ = 0, deadline_ = kNever;
  std::deque<TimedOperation> operations_;
  std::array<std::uint64_t, fw::kLogCodes> logs_{};
  std::deque<LoggedLine> last_entries_;
  fw::LogLevel log_level_ = fw::LogLevel::kInfo;
};

}  // namespace rnic
