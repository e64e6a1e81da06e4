// The TLPs of one node's PCIe link in the capture, as an interface of their own. trace.md describes the octets.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "model/common/description.h"
#include "model/rnic/pcie/tlp.h"
#include "model/system/wire_capture.h"

namespace rnic {

// The pseudo header's fields of a TLP.
struct TlpPlace {
  enum class Space : std::uint8_t { kMemory = 0, kBar0 = 1, kInterrupt = 2, kConfig = 3 };
  bool to_device = false;
  Space space = Space::kMemory;  // addressed by a request
  std::uint32_t offset = 0;      // in BAR0 or in configuration space
  RequestId request{};           // as in TraceEvent
};

// Pseudo header, then the TLP as it is on the wire: header and data in whole double words, without framing and LCRC.
std::vector<std::uint8_t> tlp_octets(const pcie::Tlp& tlp, const TlpPlace& place);

class TlpCapture final {
 public:
  // `comment` of a request; it may be nothing.
  TlpCapture(const std::string& name, const Described& parts, WireCapture& capture,
             std::function<std::string(RequestId request)> comment);
  ~TlpCapture();

 private:
  class Port;
  std::deque<Port> ports_;
};

}  // namespace rnic
