#include "model/host/driver/command_queue.h"

#include <cstring>
#include <utility>

#include "model/abi/rnic_regs.h"

namespace rnic::host {

CommandQueue::CommandQueue(HostCpu& cpu, HostMemory& memory, unsigned log_entries)
    : cpu_(cpu),
      memory_(memory),
      log_(log_entries),
      base_(memory.alloc(abi::kCommandBytes << log_entries, 4096)),
      data_base_(memory.alloc(abi::kPrivateDataBytes << log_entries, 4096)),
      slots_(std::size_t{1} << log_entries) {}

void CommandQueue::submit(abi::Command command, ByteSpan private_data, CommandTarget& target) {
  RNIC_CHECK(private_data.size() <= abi::kPrivateDataBytes);
  cpu_.running().spend_ns(cpu_.config().command_ns);
  if (failed_) return target.command_done(command.op, abi::CommandStatus::kDeviceFatal);
  if (!backlog_.empty() || next_slot().target != nullptr) {
    backlog_.push_back({command, {private_data.begin(), private_data.end()}, &target});
  } else {
    put(command, private_data, target);
  }
}

void CommandQueue::put(abi::Command command, ByteSpan private_data, CommandTarget& target) {
  const std::uint64_t index = producer_ & (slots_.size() - 1);
  command.cookie = producer_++;
  command.private_bytes = static_cast<std::uint16_t>(private_data.size());
  slots_[index] = {&target, command.cookie, command.op};
  ++outstanding_;
  std::memcpy(memory_.span(base_ + index * abi::kCommandBytes, abi::kCommandBytes).data(), &command, sizeof command);
  if (!private_data.empty()) {
    std::memcpy(memory_.span(data_base_ + index * abi::kPrivateDataBytes, private_data.size()).data(),
                private_data.data(), private_data.size());
  }
  cpu_.running().spin_until(locked_until_ps_);
  cpu_.mmio_write(regs::CmdqDoorbell::kOffset, regs::CmdqDoorbell{producer_ & 0xffff}.pack());
  locked_until_ps_ = cpu_.running().time_ps();
}

void CommandQueue::fail() {
  failed_ = true;
  for (Slot& slot : slots_) {
    if (slot.target == nullptr) continue;
    const Slot ended = std::exchange(slot, {});
    ended.target->command_done(ended.op, abi::CommandStatus::kDeviceFatal);
  }
  for (const Waiting& w : std::exchange(backlog_, {})) {
    w.target->command_done(w.command.op, abi::CommandStatus::kDeviceFatal);
  }
  outstanding_ = 0;
}

void CommandQueue::restart() {
  failed_ = false;
  producer_ = 0;
}

void CommandQueue::done(const abi::Event& event) {
  Slot& slot = slots_[event.cookie & (slots_.size() - 1)];
  RNIC_CHECK_MSG(slot.target != nullptr && slot.cookie == event.cookie,
                 "end of command " + std::to_string(event.cookie) + ", which was not outstanding");
  const Slot ended = slot;
  slot = {};
  --outstanding_;
  ended.target->answered_with(event);
  ended.target->command_done(ended.op, static_cast<abi::CommandStatus>(event.status));
  while (!backlog_.empty() && next_slot().target == nullptr) {
    const Waiting w = std::move(backlog_.front());
    backlog_.pop_front();
    put(w.command, w.private_data, *w.target);
  }
}

}  // namespace rnic::host
