// Completion queues (ibv_cq).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "model/env/host/driver/phase_ring.h"
#include "model/env/host/driver/resource.h"
#include "model/env/host/driver/verbs.h"

namespace rnic::host {

class Qp;
using QpTable = std::vector<std::unique_ptr<Qp>>;  // by number

// Hears of the device's writes to a range of memory, in the cycle in which they arrive.
class WriteListener {
 public:
  virtual void written(std::uint64_t address, std::uint32_t bytes) = 0;

 protected:
  ~WriteListener() = default;
};

// How the owner learns of completions: its loop polls the ring, or it sleeps until a notification.
enum class CqMode : std::uint8_t { kPolled, kNotified };

class Cq final : public Resource, public WriteListener {
 public:
  // CQ_ARM counts modulo 2048, and the difference to the device's count must stay below that.
  static constexpr unsigned kMaxLogEntries = 10;

  Cq(Core& owner, HostCpu& cpu, HostMemory& memory, Cqn number, unsigned log_entries, CqMode mode, const QpTable& qps)
      : Resource(owner), cpu_(cpu), ring_(memory, cpu.clock(), log_entries), number_(number), mode_(mode), qps_(qps) {}

  Cqn number() const { return number_; }
  std::uint64_t base() const { return ring_.base(); }
  std::uint64_t bytes() const { return ring_.bytes(); }
  unsigned log_entries() const { return ring_.log_entries(); }

  // ibv_poll_cq: at most `max` completions, oldest first; returns how many.
  unsigned poll_cq(Wc* wc, unsigned max);
  // ibv_req_notify_cq: one notification at the next completion that was not polled yet; with solicited_only at the
  // next one that is solicited or in error. Poll once more afterwards, as always.
  void req_notify_cq(bool solicited_only = false);
  // ibv_get_cq_event: takes a notification; false when there is none.
  bool get_cq_event() { return std::exchange(notified_, false); }

  // Every work request that may complete here has an entry set aside, so the queue never overflows. False when there
  // are not as many left.
  bool reserve(std::uint32_t entries);
  void unreserve(std::uint32_t entries) { reserved_ -= entries; }

  void notify();
  void written(std::uint64_t address, std::uint32_t bytes) override;

 private:
  HostCpu& cpu_;
  PhaseRing<abi::Cqe> ring_;
  const Cqn number_;
  const CqMode mode_;
  const QpTable& qps_;
  std::uint32_t reserved_ = 0;
  bool notified_ = false;
};

}  // namespace rnic::host
