#include "model/rnic/fwcpu/command_fetch.h"

#include <algorithm>
#include <cstring>

#include "model/common/description.h"

namespace rnic {

CommandFetch::CommandFetch(sc_core::sc_module_name nm, ClockDomain& clk, QueueRegsReader regs, BufferPool& pool,
                           std::uint32_t node)
    : Stage(nm, clk), regs_(std::move(regs)), pool_(pool), node_(node) {
  RNIC_CHECK(pool.block_bytes() >= abi::kPrivateDataBytes);
}

void CommandFetch::reset() {
  state_ = State::kIdle;
  failed_ = false;
  producer_ = head_ = 0;
  fetched_ = {};
}

// Each step falls through to the next when it is done; a step that must wait leaves the state as it is.
Wake CommandFetch::tick() {
  while (doorbells->can_pop()) {
    const std::uint32_t producer = doorbells->pop().producer;
    if (regs_().enabled) {
      producer_ = producer;
    } else {
      ++counters_.ignored_doorbells;
    }
  }
  if (state_ == State::kReadsCommand && take_answer()) {
    std::memcpy(&fetched_.command, raw_, sizeof raw_);
    state_ = fetched_.command.private_bytes == 0 ? State::kDelivers : State::kNeedsData;
  }
  if (state_ == State::kNeedsData && request_data()) {
    state_ = State::kReadsData;
  } else if (state_ == State::kReadsData && take_answer()) {
    state_ = State::kDelivers;
  }
  if (state_ == State::kDelivers && commands->can_push()) {
    commands->push(std::move(fetched_));
    fetched_ = {};
    ++head_;
    ++counters_.commands;
    state_ = State::kIdle;
  }
  if (state_ == State::kIdle && !failed_ && ring_distance(producer_, head_) != 0 && request_command()) {
    state_ = State::kReadsCommand;
  }
  return Wake::on_traffic();
}

bool CommandFetch::request_command() {
  if (!read->can_push()) return false;
  const QueueRegs regs = regs_();
  DmaReadRequest request;
  request.address = regs.command_base + std::uint64_t{slot(regs)} * abi::kCommandBytes;
  request.bytes = abi::kCommandBytes;
  request.dst = raw_;
  request.owner = owner();
  read->push(std::move(request));
  return true;
}

bool CommandFetch::request_data() {
  if (!read->can_push()) return false;
  const QueueRegs regs = regs_();
  fetched_.private_data = pool_.take(owner());
  DmaReadRequest request;
  request.address = regs.command_data_base + std::uint64_t{slot(regs)} * abi::kPrivateDataBytes;
  request.bytes = std::min<std::uint32_t>(fetched_.command.private_bytes, abi::kPrivateDataBytes);
  request.dst = fetched_.private_data->bytes();
  request.hold = fetched_.private_data;
  read->push(std::move(request));
  return true;
}

bool CommandFetch::take_answer() {
  if (!read_done->can_pop()) return false;
  if (read_done->pop().ok) return true;
  failed_ = true;
  fetched_ = {};
  state_ = State::kIdle;
  return false;
}

std::string CommandFetch::waiting_for() const {
  switch (state_) {
    case State::kReadsCommand:
    case State::kNeedsData:
    case State::kReadsData:
      return "a command from host memory";
    case State::kDelivers:
      return "the firmware to take a command";
    case State::kIdle:
      break;
  }
  return {};
}

void CommandFetch::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic
