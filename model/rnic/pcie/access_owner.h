// Whose work a host's access to a device's registers is.
#pragma once

#include <cstdint>

#include "model/common/request_id.h"
#include "model/rnic/pcie/tlp.h"

namespace rnic::pcie {

class AccessOwner {
 public:
  virtual ~AccessOwner() = default;
  // The owner of a TLP to the device, to be called for each in order. Accesses that set up the device have none. For
  // others it is the TLP's own.
  virtual RequestId of(const Tlp& tlp) = 0;
  // The host resets the link.
  virtual void reset() = 0;
  // Of a request to the device, in octets from the start of BAR0.
  virtual std::uint32_t offset(const Tlp& tlp) const = 0;
};

}  // namespace rnic::pcie
