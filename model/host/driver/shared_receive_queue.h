// Shared receive queues (ibv_srq).
#pragma once

#include <utility>
#include <vector>

#include "model/host/driver/resource.h"
#include "model/host/driver/verbs.h"
#include "model/host/host_memory.h"

namespace rnic::host {

class Cq;

struct SrqInitAttr {
  Pd pd;
  std::uint32_t max_wr = 128;  // rounded up to a power of two; 1 to 2048
};

// Streams complete their requests in any order, so the device gets the number of a slot in a table as an entry's wr_id.
// A request whose message is not complete has already left the ring: when a slot is free, so is the ring's next entry.
class Srq final : public Resource {
 public:
  Srq(Core& owner, HostCpu& cpu, HostMemory& memory, Srqn number, const SrqInitAttr& attr);

  Srqn number() const { return number_; }
  std::uint64_t base() const { return base_; }
  unsigned log_entries() const { return log_; }
  std::uint32_t max_wr() const { return 1u << log_; }
  std::uint32_t free() const { return static_cast<std::uint32_t>(free_.size()); }

  // ibv_post_srq_recv. EINVAL: too many SGEs, or the queue is in error; ENOMEM: no room for all of them. No side effect
  // on an error.
  int post_recv(const RecvWr* wrs, unsigned n);
  int post_recv(const RecvWr& wr) { return post_recv(&wr, 1); }

  // IBV_EVENT_SRQ_LIMIT_REACHED: takes it; false when there is none. It disarms the limit.
  bool get_limit_event() { return std::exchange(limit_event_, false); }
  // IBV_EVENT_SRQ_ERR: the queue overran, or the device has lost its context; the queue pairs that use it are in error.
  bool in_error() const { return error_; }
  // Whether Context::modify_srq and query_srq are answered; how the last one ended; the limit that the last query saw.
  bool answered() const { return outstanding_ == 0; }
  abi::CommandStatus answer() const { return answer_; }
  std::uint32_t queried_limit() const { return queried_limit_; }

  // A completion names this slot: the caller's wr_id. InternalError if it is not outstanding, unless the completion has
  // an error: the octets of an overwritten entry are arbitrary, and are returned unchanged; its slot is lost.
  std::uint64_t release(std::uint64_t wr_id, abi::WcStatus status);

  // A queue pair's completions go to this CQ: entries are reserved in it once, for any number of queue pairs. False
  // if there are not enough.
  bool join(Cq& cq);
  void leave(Cq& cq);

  void submitted() override { ++outstanding_; }
  void limit_reached();
  void fail();
  void answered_with(const abi::Event& event) override { queried_limit_ = event.srq_limit; }
  void command_done(abi::CommandOp op, abi::CommandStatus status) override;

 private:
  struct Slot {
    std::uint64_t wr_id = 0;
    bool used = false;
  };
  HostCpu& cpu_;
  HostMemory& memory_;
  const Srqn number_;
  const unsigned log_;
  const std::uint64_t base_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;  // slots, the next one last
  std::uint64_t posted_ = 0;
  std::vector<std::pair<Cq*, unsigned>> cqs_;  // with their users
  unsigned outstanding_ = 0;                   // modify and query commands
  abi::CommandStatus answer_ = abi::CommandStatus::kOk;
  std::uint32_t queried_limit_ = 0;
  bool limit_event_ = false, error_ = false;
};

}  // namespace rnic::host
