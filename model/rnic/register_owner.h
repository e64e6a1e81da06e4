// The owner of a host's access to a register: a doorbell belongs to its queue, or to the entries that it announces.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/ids.h"
#include "model/rnic/context/tables.h"
#include "model/rnic/pcie/access_owner.h"
#include "model/rnic/pcie/config_space.h"

namespace rnic {

class RegisterOwner final : public pcie::AccessOwner {
 public:
  RegisterOwner(const ContextTables& contexts, const pcie::PcieLinkConfig& link) : contexts_(contexts), config_(link) {}
  RequestId of(const pcie::Tlp& tlp) override;
  void reset() override;
  std::uint32_t offset(const pcie::Tlp& tlp) const override {
    return static_cast<std::uint32_t>(tlp.address - config_.bar0());
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

  const ContextTables& contexts_;
  pcie::ConfigRegisters config_;  // as they are where the TLP arrives
  Count commands_, events_;
  std::vector<SharedQueue> shared_;
};

}  // namespace rnic
