// Hears of the rows that are written, by any part of the chip, without taking part.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"

namespace rnic {

// Each is called in the cycle of the write; a look-up finds it from the next one on. Several writes of a cycle to one
// entry of the STag table come in their order.
class ContextObserver {
 public:
  virtual void wrote(Qpn n, const QpContext& c) = 0;
  virtual void wrote(Srqn n, const SrqContext& c) = 0;
  virtual void wrote_stag(std::uint32_t index, const StagContext& c) = 0;
  virtual void wrote_page(std::uint32_t index, std::uint64_t bus_address) = 0;
  // No row is valid from the next cycle on.
  virtual void emptied() = 0;

 protected:
  ~ContextObserver() = default;
};

}  // namespace rnic
