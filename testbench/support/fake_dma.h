// DMA engines for tests: host memory is an array of octets, and the test sets the latency of the answers.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/rnic/messages/dma.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

// A request taken in cycle c is answered, its octets copied, in cycle c + latency, one answer a cycle. A separate
// latency for some requests (counted from 0) makes answers overtake each other. A request outside the memory fails.
class FakeDma final : public Answerer<DmaReadRequest, DmaReadDone> {
 public:
  using Answerer::Answerer;
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(1 << 16);
  Cycle latency = 10;
  Pattern pause;  // takes nothing
  std::map<unsigned, Cycle> latency_of;
  std::set<unsigned> fails;

  const std::vector<DmaReadRequest>& requests() const { return requests_; }
  // Address and octets of each request.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> reads() const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
    for (const DmaReadRequest& r : requests_) all.emplace_back(r.address, r.bytes);
    return all;
  }
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

// Takes one write a cycle into the memory of a FakeDma. The octets land `hold` cycles later; the answer follows if the
// write asks for one.
class FakeDmaWrite final : public Answerer<DmaWriteRequest, DmaWriteDone> {
 public:
  Cycle hold = 3;
  std::set<std::uint64_t> lost;  // answered as writes without a page
  Pattern pause;                 // takes nothing

  FakeDmaWrite(PushPort<DmaWriteRequest>& requests, PopPort<DmaWriteDone>& answers, std::vector<std::uint8_t>& memory)
      : Answerer(requests, answers), memory_(memory) {}
  const std::vector<Cycle>& cycles() const { return cycles_; }
  // Address and octets of each write.
  const std::vector<std::pair<std::uint64_t, std::uint32_t>>& writes() const { return writes_; }
  std::vector<std::uint64_t> addresses() const {
    std::vector<std::uint64_t> all;
    for (const auto& [address, bytes] : writes_) all.push_back(address);
    return all;
  }
  // Of each write.
  const std::vector<PageList>& lists() const { return lists_; }
  // Another master's write enters the link in this cycle, in order with the stage's own.
  void write_of_another(std::uint64_t address, BufferRef octets, std::uint32_t bytes) {
    held_.push_back({now() + hold, {address, bytes, std::move(octets), 0, 0, false}});
    wake(now() + 1);
  }
  // Called with each write in the order in which they reach memory.
  std::function<void(std::uint64_t address, const std::uint8_t* octets, std::uint32_t bytes)> on_landing = [](auto...) {
  };

  Wake tick() override {
    if (in->can_pop() && !pause.pauses(now())) {
      held_.push_back({now() + hold, in->pop()});
      cycles_.push_back(now());
      writes_.emplace_back(held_.back().request.address, held_.back().request.bytes);
      lists_.push_back(held_.back().request.list);
    }
    if (!held_.empty() && held_.front().at <= now() && out->can_push()) {
      const DmaWriteRequest& r = held_.front().request;
      RNIC_CHECK(r.address + r.bytes <= memory_.size());
      std::memcpy(&memory_[r.address], r.src->bytes() + r.src_offset, r.bytes);
      on_landing(r.address, r.src->bytes() + r.src_offset, r.bytes);
      if (r.notify) out->push({r.tag, lost.count(r.address) == 0});
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
  std::vector<std::pair<std::uint64_t, std::uint32_t>> writes_;
  std::vector<PageList> lists_;
};

}  // namespace rnic::test
