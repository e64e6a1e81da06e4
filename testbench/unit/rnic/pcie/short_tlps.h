// The link that these tests assume: short TLPs show the cutting.
#pragma once

#include "model/rnic/pcie/pcie.h"

namespace rnic::test {

inline pcie::PcieLinkConfig short_tlps() {
  pcie::PcieLinkConfig link;
  link.max_payload_bytes = 256;
  link.max_read_request_bytes = 512;
  return link;
}

inline pcie::PcieConfig with_short_tlps() {
  pcie::PcieConfig config;
  config.link = short_tlps();
  return config;
}

}  // namespace rnic::test
