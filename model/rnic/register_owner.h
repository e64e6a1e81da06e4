// The owner of a host's access to a register: a doorbell belongs to its queue, or to the entries that it announces.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/ids.h"
#include "model/rnic/context/context.h"
#include "model/rnic/pcie/access_owner.h"

namespace rnic {

class RegisterOwner final : public pcie::AccessOwner {
 public:
  RegisterOwner(const ContextStore& contexts, std::uint64_t bar0_address)
      : contexts_(contexts), bar0_address_(bar0_address) {}
  RequestId of(const pcie::Tlp& tlp) override;
  std::uint32_t offset(const pcie::Tlp& tlp) const override {
    return static_cast<std::uint32_t>(tlp.address - bar0_address_);
  }

 private:
  // Indexes are that many low bits of a count.
  struct Count {
    std::uint64_t value = 0;
    std::uint64_t advance(std::uint32_t index, unsigned bits) {
      return value += (index - value) & ((std::uint64_t{1} << bits) - 1);
    }
  };
  struct SharedQueue {
    std::uint32_t epoch = 0;
    Count posted;
  };
  RequestId shared_receive(Srqn srqn, std::uint32_t producer);
  RequestId newest(RequestId::Kind kind, std::uint64_t count) const;

  const ContextStore& contexts_;
  const std::uint64_t bar0_address_;
  Count commands_, events_;
  std::vector<SharedQueue> shared_;
};

}  // namespace rnic
