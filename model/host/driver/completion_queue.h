// Completion queues (ibv_cq).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "model/host/driver/phase_ring.h"
#include "model/host/driver/resource.h"
#include "model/host/driver/verbs.h"

namespace rnic::host {

class Qp;
using QpTable = std::vector<std::unique_ptr<Qp>>;  // by number

// Is notified of the device's writes to a range of memory, in the cycle in which they arrive.
class WriteListener {
 public:
  virtual void written(std::uint64_t address, std::uint32_t bytes) = 0;

 protected:
  ~WriteListener() = default;
};

// How the owner learns of completions: its loop polls the ring, or it sleeps until a notification.
enum class CqMode : std::uint8_t { kPolled, kNotified };

// Whether every work request that may complete on the queue has a reserved entry, or the queue has any size that the
// program chooses, and the program must poll in time: an entry that does not fit is lost, and ends the queue.
enum class CqOverrun : std::uint8_t { kPrevented, kPossible };

class Cq final : public Resource, public WriteListener {
 public:
  // CQ_ARM counts modulo 2048, twice the largest ring, so that a full one and an empty one differ.
  static constexpr unsigned kMaxLogEntries = 10;

  Cq(Core& owner, HostCpu& cpu, HostMemory& memory, Cqn number, unsigned log_entries, CqMode mode, CqOverrun overrun,
     const QpTable& qps)
      : Resource(owner),
        cpu_(cpu),
        memory_(memory),
        ring_(memory, cpu.clock(), log_entries, abi::kCqRecordBytes),
        number_(number),
        mode_(mode),
        overrun_(overrun),
        qps_(qps) {}

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

  // IBV_EVENT_CQ_ERR: the queue overran. Earlier completions can still be polled; the queue pairs that complete
  // here are in error, and the queue can only be destroyed after them.
  bool in_error() const { return in_error_; }

  // For the work requests of a queue: false if there are not as many entries left, where CqOverrun::kPrevented.
  bool reserve(std::uint32_t entries);
  void unreserve(std::uint32_t entries) { reserved_ -= entries; }

  void notify();
  void fail();
  void written(std::uint64_t address, std::uint32_t bytes) override;

 private:
  void tell_device();

  HostCpu& cpu_;
  HostMemory& memory_;
  PhaseRing<abi::Cqe> ring_;
  const Cqn number_;
  const CqMode mode_;
  const CqOverrun overrun_;
  const QpTable& qps_;
  std::uint32_t reserved_ = 0;
  bool notified_ = false, in_error_ = false;
  std::vector<abi::Cqe> seen_;  // by this poll_cq, for an observer
};

}  // namespace rnic::host
