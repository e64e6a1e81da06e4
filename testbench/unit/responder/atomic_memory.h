// Host memory behind both DMA engines, for the stages that execute atomics.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "testbench/support/fake_dma.h"

namespace rnic::test {

// Takes a write a cycle into the memory of a FakeDma. In `hold` cycles the octets are there; it answers if asked.
class FakeDmaWrite final : public Stage {
 public:
  PopPort<DmaWriteRequest> in{*this, "in"};
  PushPort<DmaWriteDone> out{*this, "out"};
  Cycle hold = 3;
  Pattern pause;  // takes nothing

  FakeDmaWrite(sc_core::sc_module_name nm, ClockDomain& clk, std::vector<std::uint8_t>& memory)
      : Stage(nm, clk), memory_(memory) {}
  const std::vector<Cycle>& cycles() const { return cycles_; }
  const std::vector<std::uint64_t>& addresses() const { return addresses_; }
  // Somebody else's write enters the link in this cycle: in order with those of the stage.
  void write_of_another(std::uint64_t address, BufferRef octets, std::uint32_t bytes) {
    held_.push_back({now() + hold, {address, bytes, std::move(octets), 0, 0, false}});
    wake(now() + 1);
  }
  // Called with each write in the order in which they come to be in memory.
  std::function<void(std::uint64_t address, const std::uint8_t* octets, std::uint32_t bytes)> on_landing = [](auto...) {
  };

  Wake tick() override {
    if (in->can_pop() && !pause.pauses(now())) {
      held_.push_back({now() + hold, in->pop()});
      cycles_.push_back(now());
      addresses_.push_back(held_.back().request.address);
    }
    if (!held_.empty() && held_.front().at <= now() && out->can_push()) {
      const DmaWriteRequest& r = held_.front().request;
      RNIC_CHECK(r.address + r.bytes <= memory_.size());
      std::memcpy(&memory_[r.address], r.src->bytes() + r.src_offset, r.bytes);
      on_landing(r.address, r.src->bytes() + r.src_offset, r.bytes);
      if (r.notify) out->push({r.tag});
      held_.pop_front();
    }
    return held_.empty() && !in->can_pop() ? Wake::on_traffic() : Wake::next_cycle();
  }

 private:
  struct Held {
    Cycle at;
    DmaWriteRequest request;
  };
  std::vector<std::uint8_t>& memory_;
  std::deque<Held> held_;
  std::vector<Cycle> cycles_;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace rnic::test
