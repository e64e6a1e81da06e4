// A debugger's session with the processors of a run, each of which is a thread: gdb's remote serial protocol (GDB
// manual, appendix E). While it is served, simulated time stands still.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/rnic/fwcpu/gdb/debug_target.h"
#include "model/rnic/fwcpu/gdb/rsp_packet.h"

namespace rnic {

// The octets to and from the debugger.
class DebugChannel {
 public:
  virtual ~DebugChannel() = default;
  virtual void send(std::string_view octets) = 0;
  // Received octets; waits if there are none and `wait`. False when the debugger is gone.
  virtual bool receive(std::string& octets, bool wait) = 0;
};

class GdbSession final : public DebugObserver {
 public:
  struct Thread {
    std::string name;
    DebugTarget* target;
  };
  GdbSession(std::vector<Thread> threads, DebugChannel& channel);

  // Before the run: serves until the debugger lets the processors go.
  void begin();
  // Called now and then during the run: whether the debugger has sent something.
  void poll();
  // After it.
  void end(bool passed);
  bool killed() const { return state_ == State::kKilled; }

  void before_instruction(DebugTarget& target, std::uint32_t pc) override;
  void faulted(DebugTarget& target, abi::FaultCause cause) override;

 private:
  // kGone: nothing stops the processors any more.
  enum class State : std::uint8_t { kStopped, kRunning, kGone, kKilled };

  void stop(std::size_t thread, int signal);
  void serve();
  bool receive(bool wait);
  void take(const RspInput& input);
  void reply(std::string_view payload);
  std::string answer(std::string_view packet);
  std::string query(std::string_view packet);
  std::string read_feature(std::string_view range) const;
  std::string read_registers() const;
  std::string write_registers(std::string_view digits);
  std::string read_register(std::string_view text) const;
  std::string write_register(std::string_view text);
  std::string read_memory(std::string_view text) const;
  std::string write_memory(std::string_view text);
  std::string breakpoint(std::string_view packet);
  std::string resume(std::string_view packet);
  std::string select(std::string_view text);
  std::string stop_reply() const;
  std::size_t number_of(const DebugTarget& target) const;
  DebugTarget& selected() const { return *threads_[selected_].target; }

  const std::vector<Thread> threads_;
  DebugChannel& channel_;
  RspDecoder decoder_;
  std::string last_sent_;
  State state_ = State::kStopped;
  std::size_t stopped_ = 0, selected_ = 0;  // the thread that stopped, and the one whose registers are requested
  int signal_ = 0;
  std::set<std::uint32_t> breakpoints_;
  const DebugTarget* stepping_ = nullptr;
  bool interrupted_ = false;
  unsigned until_poll_ = 0;
};

}  // namespace rnic
