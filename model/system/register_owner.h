// The owner of a host's access to a register: a doorbell belongs to its queue, or to the entries that it announces.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/ids.h"
#include "model/common/request_id.h"
#include "model/rnic/pcie/tlp.h"

namespace rnic {

class Rnic;

class RegisterOwner final {
 public:
  explicit RegisterOwner(const Rnic& chip);
  // The owner of a TLP to the device, to be called for each in order. Accesses that set up the device have none. For
  // others it is the TLP's own.
  RequestId of(const pcie::Tlp& tlp);

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

  const Rnic& chip_;
  Count commands_, events_;
  std::vector<SharedQueue> shared_;
};

}  // namespace rnic
