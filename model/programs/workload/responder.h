// The other side of a Requester: takes Sends, or offers the memory for Writes and Reads.
#pragma once

#include "model/programs/workload/request_fault.h"
#include "model/programs/workload/role.h"

namespace rnic::workload {

// Each Send, and each Write with immediate data, is compared on arrival, and its receive is posted again. All Writes
// are compared at the end, together with the octets between them, which must still be zero. If a requester has more
// Sends than there are receives, it learns of new receives by an RDMA Write to a word of its memory.
class Responder final : public Role {
 public:
  using Role::Role;
  RingNeeds needs() const override;
  bool prepare(host::Context& context, host::Qp& qp, host::Pd pd) override;
  void completed(const host::Wc& wc, WrId id, std::uint64_t at_ps) override;
  void advance() override;
  bool done() const override;
  std::string waiting_for() const override;

 private:
  static constexpr std::uint32_t kCreditSends = 8;  // maximum number of credits in flight
  bool prepare_region(host::Pd pd);
  void post_receive(std::uint32_t message);
  void received(const host::Wc& wc, std::uint32_t message, std::uint64_t at_ps);
  void check_send(const host::Wc& wc, std::uint32_t message);
  void check_immediate(const host::Wc& wc, std::uint32_t message);
  void check_region();
  void post_credit();

  LocalMemory memory_{item_.pages};
  OtherRegions other_regions_;
  std::uint64_t credit_word_ = 0;
  bool filled_ = false;
  std::uint32_t stride_ = 0, slots_ = 0;
  std::uint32_t posted_ = 0, received_ = 0;
  std::uint32_t announced_ = 0, credits_outstanding_ = 0, credits_posted_ = 0;
};

}  // namespace rnic::workload
