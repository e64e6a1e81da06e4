// The command ring and its private data slots.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "model/common/bytes.h"
#include "model/host/driver/resource.h"
#include "model/host/host_memory.h"

namespace rnic::host {

// Commands beyond the ring's size wait here until a slot is free. A slot is free when its command is done, since its
// private data may be read until then.
class CommandQueue {
 public:
  CommandQueue(HostCpu& cpu, HostMemory& memory, unsigned log_entries);

  std::uint64_t base() const { return base_; }
  std::uint64_t data_base() const { return data_base_; }
  unsigned log_entries() const { return log_; }

  // Rings the doorbell at once if there is room. `target` gets the result, and must live until then.
  void submit(abi::Command command, ByteSpan private_data, CommandTarget& target);
  // A kCommandDone event. InternalError for a command that was not outstanding.
  void done(const abi::Event& event);
  // After a fatal fault: outstanding and later commands end with kDeviceFatal.
  void fail();
  // The device was reset, and starts at the beginning of the ring.
  void restart();
  std::size_t outstanding() const { return outstanding_ + backlog_.size(); }

 private:
  struct Waiting {
    abi::Command command;
    std::vector<std::uint8_t> private_data;
    CommandTarget* target;
  };
  struct Slot {
    CommandTarget* target = nullptr;
    std::uint32_t cookie = 0;
    abi::CommandOp op = abi::CommandOp::kNop;
  };
  void put(abi::Command command, ByteSpan private_data, CommandTarget& target);
  Slot& next_slot() { return slots_[producer_ & (slots_.size() - 1)]; }

  HostCpu& cpu_;
  HostMemory& memory_;
  const unsigned log_;
  const std::uint64_t base_, data_base_;
  std::vector<Slot> slots_;
  std::deque<Waiting> backlog_;
  std::uint32_t producer_ = 0;
  std::uint64_t locked_until_ps_ = 0;  // programs take turns, so that doorbells never go backwards
  std::size_t outstanding_ = 0;
  bool failed_ = false;
};

}  // namespace rnic::host
