// What the host has said of a completion queue and is not in its row yet. It is always on the chip, so that neither a
// doorbell nor the answer to a read waits for a row. See cqe_writer.md.
#pragma once

#include <cstdint>
#include <optional>

#include "model/rnic/context/cq_table.h"

namespace rnic {

class CqTold {
 public:
  static constexpr std::uint32_t kIndexMask = 0x7ff;  // of the host's consumer index
  struct Arm {
    std::uint32_t consumer;
    bool solicited_only;
  };
  CqTold() : consumer_(0), armed_(0), solicited_only_(0), queued_(0), record_(0), recorded_(0), life_(0) {}

  // Of the use `epoch` of the queue's number. An arm joins one that still waits: the newer index counts, and any entry
  // if one of them asks for any. True: none is queued yet.
  bool arm(std::uint32_t epoch, const Arm& arm) {
    begin(epoch);
    solicited_only_ = arm.solicited_only && (!armed_ || solicited_only_);
    consumer_ = arm.consumer & kIndexMask;
    armed_ = 1;
    const bool queued = queued_;
    queued_ = 1;
    return !queued;
  }
  // What stands in the host's memory.
  void record(std::uint32_t epoch, std::uint32_t taken) {
    begin(epoch);
    record_ = taken & kIndexMask;
    recorded_ = 1;
  }

  // How far the host is.
  void tell(CqState& s) const {
    if (life_ != (s.epoch & kLifeMask)) return;
    if (recorded_) s.take((record_ - s.taken) & kIndexMask);
    if (armed_) s.take((consumer_ - s.taken) & kIndexMask);
  }
  // It is in the row, but for the arm.
  void told() { recorded_ = 0; }
  // The arm, whose turn it is. Nothing if it was for another use of the number.
  std::optional<Arm> take_arm(std::uint32_t epoch) {
    const bool counts = armed_ && life_ == (epoch & kLifeMask);
    armed_ = queued_ = 0;
    return counts ? std::optional(Arm{consumer_, solicited_only_ != 0}) : std::nullopt;
  }

 private:
  static constexpr std::uint32_t kLifeMask = 0x3f;
  void begin(std::uint32_t epoch) {
    if (life_ == (epoch & kLifeMask)) return;
    armed_ = recorded_ = 0;
    life_ = epoch & kLifeMask;
  }
  std::uint32_t consumer_ : 11, armed_ : 1, solicited_only_ : 1, queued_ : 1;
  std::uint32_t record_ : 11, recorded_ : 1;
  std::uint32_t life_ : 6;
};
static_assert(sizeof(CqTold) == 4, "one word a queue");

}  // namespace rnic
