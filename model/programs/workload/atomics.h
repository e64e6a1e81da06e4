// Both sides of an item of atomics: one counts words in the other's memory.
#pragma once

#include "model/programs/workload/request_fault.h"
#include "model/programs/workload/role.h"

namespace rnic::workload {

// Keeps `depth` atomics outstanding until `count` are complete. A FetchAdd adds 1. A CmpSwap compares with the number
// of earlier ones on its word and swaps in the next number, so each depends on the one before.
class AtomicRequester final : public Role {
 public:
  using Role::Role;
  RingNeeds needs() const override { return {item_.depth, 0}; }
  bool prepare(host::Context& context, host::Qp& qp, host::Pd pd) override;
  void completed(const host::Wc& wc, WrId id, std::uint64_t at_ps) override;
  void advance() override;
  bool done() const override { return transfer_.completed == item_.count; }
  std::string waiting_for() const override;

 private:
  host::SendWr request(std::uint32_t message, unsigned ahead) const;
  std::uint64_t slot(std::uint32_t message) const { return 8 * (message % item_.depth); }
  std::uint64_t turn(std::uint32_t message) const { return message / transfer_.item.words; }
  void check(std::uint32_t message);

  LocalMemory originals_{item_.pages};
  std::uint32_t next_ = 0;
};

// Registers the words for its queue pair. If several responders share words, one of them checks the words at the end.
class AtomicResponder final : public Role {
 public:
  using Role::Role;
  RingNeeds needs() const override { return {0, 0}; }
  bool prepare(host::Context& context, host::Qp& qp, host::Pd pd) override;
  void completed(const host::Wc&, WrId, std::uint64_t) override { RNIC_CHECK(false); }  // it posts nothing
  void advance() override {}
  bool done() const override { return true; }
  bool settle() override;
  std::string unsettled() const override;
  std::string waiting_for() const override { return ""; }

 private:
  LocalMemory words_{item_.pages};
  OtherRegions other_regions_;
  bool looks_ = false;
};

}  // namespace rnic::workload
