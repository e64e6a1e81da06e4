// A DMA read engine for tests: host memory is an array of octets, answers take as long as the test says.
#pragma once

#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "model/rnic/messages/dma.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

// A request that is taken in cycle c is answered, its octets copied, in cycle c + latency, one answer a cycle. A
// latency of its own for some requests (counted from 0) makes answers overtake each other. What lies outside the memory
// fails.
class FakeDma final : public Stage {
 public:
  PopPort<DmaReadRequest> in{*this, "in"};
  PushPort<DmaReadDone> out{*this, "out"};
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(1 << 16);
  Cycle latency = 10;
  Pattern pause;  // takes nothing
  std::map<unsigned, Cycle> latency_of;
  std::set<unsigned> fails;

  FakeDma(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  const std::vector<DmaReadRequest>& requests() const { return requests_; }
  const std::vector<Cycle>& cycles() const { return cycles_; }

  Wake tick() override {
    if (in->can_pop() && !pause.pauses(now())) {
      const unsigned n = static_cast<unsigned>(requests_.size());
      requests_.push_back(in->pop());
      cycles_.push_back(now());
      due_.emplace(now() + (latency_of.count(n) != 0 ? latency_of[n] : latency), n);
    }
    if (!due_.empty() && due_.begin()->first <= now() && out->can_push()) {
      answer(due_.begin()->second);
      due_.erase(due_.begin());
    }
    return due_.empty() && !in->can_pop() ? Wake::on_traffic() : Wake::next_cycle();
  }

 private:
  void answer(unsigned n) {
    DmaReadRequest& r = requests_[n];
    const bool ok = fails.count(n) == 0 && r.address <= memory.size() && r.bytes <= memory.size() - r.address;
    if (ok) std::memcpy(r.dst, &memory[r.address], r.bytes);
    out->push({r.tag, ok});
    r.hold = {};
  }

  std::vector<DmaReadRequest> requests_;
  std::vector<Cycle> cycles_;
  std::multimap<Cycle, unsigned> due_;
};

}  // namespace rnic::test
