// Reads commands and their private data from host memory, one after another. See command_fetch.md.
#pragma once

#include <cstdint>

#include "model/common/link.h"
#include "model/rnic/fwcpu/queue_regs.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/doorbells.h"
#include "model/rnic/messages/firmware.h"

namespace rnic {

struct CommandFetchCounters {
  std::uint64_t commands = 0, ignored_doorbells = 0;
  template <class V>
  static void fields(V& v) {
    v("commands", &CommandFetchCounters::commands, "commands", "commands passed to the firmware");
    v("ignored_doorbells", &CommandFetchCounters::ignored_doorbells, "doorbells",
      "command doorbells while the device was disabled");
  }
};

class CommandFetch final : public Stage {
 public:
  PopPort<CommandDoorbell> doorbells{*this, "doorbells"};
  PushPort<DmaReadRequest> read{*this, "read"};
  PopPort<DmaReadDone> read_done{*this, "read_done"};
  PushPort<FetchedCommand> commands{*this, "commands"};

  // Blocks of the pool hold abi::kPrivateDataBytes or more.
  CommandFetch(sc_core::sc_module_name nm, ClockDomain& clk, QueueRegsReader regs, BufferPool& pool,
               std::uint32_t node = 0);

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;

  // A command could not be read: no more are taken.
  bool failed() const { return failed_; }
  void describe(const Description& d) override;
  const CommandFetchCounters& counters() const { return counters_; }

 private:
  enum class State { kIdle, kReadsCommand, kNeedsData, kReadsData, kDelivers };
  bool request_command();
  bool request_data();
  bool take_answer();
  RequestId owner() const { return {node_, RequestId::Kind::kCommand, 0, 0, head_}; }
  std::uint32_t slot(const QueueRegs& regs) const { return head_ & ((1u << regs.command_log_entries) - 1); }

  const QueueRegsReader regs_;
  BufferPool& pool_;
  const std::uint32_t node_;
  State state_ = State::kIdle;
  bool failed_ = false;
  std::uint32_t producer_ = 0, head_ = 0;  // head: the command being fetched, or the next one
  std::uint8_t raw_[abi::kCommandBytes] = {};
  FetchedCommand fetched_;
  CommandFetchCounters counters_;
};

}  // namespace rnic
