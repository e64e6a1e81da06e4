// The producer's side of a send or receive queue: a ring of work queue entries that the device reads.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "model/abi/host_abi.h"
#include "model/common/check.h"
#include "model/host/host_memory.h"

namespace rnic::host {

// The smallest power of two that is not below n, as an exponent.
constexpr unsigned log2_ceil(std::uint32_t n) {
  unsigned log = 0;
  while ((std::uint32_t{1} << log) < n) ++log;
  return log;
}

// The device sees an entry's sequence number as its wr_id; the caller's own wr_id stays here. A completion names the
// newest entry that it frees, so unsignaled entries before it are freed with it.
class WorkQueue {
 public:
  // Producer indices are modulo 4096: with this size a full ring and an empty one still differ.
  static constexpr unsigned kMaxLogEntries = 11;

  WorkQueue(HostMemory& memory, unsigned log_entries)
      : memory_(memory),
        log_(log_entries),
        base_(memory.alloc(abi::kWqeBytes << log_entries, 4096)),
        wr_ids_(std::size_t{1} << log_entries),
        parts_(std::size_t{1} << log_entries) {
    RNIC_CHECK(log_entries <= kMaxLogEntries);
  }
  ~WorkQueue() { memory_.free(base_, abi::kWqeBytes << log_); }
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  std::uint64_t base() const { return base_; }
  unsigned log_entries() const { return log_; }
  std::uint32_t entries() const { return 1u << log_; }
  std::uint32_t outstanding() const { return static_cast<std::uint32_t>(posted_ - released_); }
  std::uint32_t free() const { return entries() - outstanding(); }
  std::uint64_t posted() const { return posted_; }

  // kFirst and kSecond together are one request of the caller.
  enum class Part : std::uint8_t { kWhole, kFirst, kSecond, kToldAlready };
  void push(abi::Wqe wqe, Part part = Part::kWhole) {
    RNIC_CHECK(free() > 0);
    const std::uint32_t slot = posted_ & (entries() - 1);
    wr_ids_[slot] = wqe.wr_id;
    parts_[slot] = part;
    wqe.wr_id = posted_++;
    std::memcpy(memory_.span(base_ + slot * abi::kWqeBytes, abi::kWqeBytes).data(), &wqe, abi::kWqeBytes);
  }

  // Whether a completion of the entry is passed to the caller: a first part completes only with an error, and then the
  // flushed second one is not reported.
  bool tells(std::uint64_t sequence) {
    Part& part = parts_[sequence & (entries() - 1)];
    if (part == Part::kFirst) parts_[(sequence + 1) & (entries() - 1)] = Part::kToldAlready;
    return part != Part::kToldAlready;
  }

  // The entry that a completion names. An overwritten entry completes with an error and an
  // arbitrary number: it is the oldest, since entries complete in order.
  std::uint64_t named(std::uint64_t sequence, abi::WcStatus status) const {
    const bool outstanding = sequence >= released_ && sequence < posted_;
    return outstanding || status == abi::WcStatus::kSuccess || released_ == posted_ ? sequence : released_;
  }

  // Frees the entry and all before it; returns the caller's wr_id. InternalError for an entry that is not outstanding:
  // the device completed it twice, or something that was never posted.
  std::uint64_t release(std::uint64_t sequence) {
    RNIC_CHECK_MSG(sequence >= released_ && sequence < posted_,
                   "completion of entry " + std::to_string(sequence) + ", but " + std::to_string(released_) + " to " +
                       std::to_string(posted_) + " (exclusive) are outstanding");
    released_ = sequence + 1;
    return wr_ids_[sequence & (entries() - 1)];
  }

 private:
  HostMemory& memory_;
  const unsigned log_;
  const std::uint64_t base_;
  std::vector<std::uint64_t> wr_ids_;
  std::vector<Part> parts_;
  std::uint64_t posted_ = 0, released_ = 0;
};

}  // namespace rnic::host
