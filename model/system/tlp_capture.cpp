#include "model/system/tlp_capture.h"

#include <cstring>

#include "model/common/bytes.h"
#include "model/host/root_complex.h"
#include "model/rnic/pcie/access_owner.h"
#include "model/rnic/pcie/pcie_port.h"

namespace rnic {
namespace {

using pcie::Tlp;
using pcie::TlpType;

// PCI Express Base Specification, section 2.2: functions are 00:00.0, the root, and 01:00.0, the device.
constexpr std::uint16_t kRoot = 0x0000, kDevice = 0x0100;
constexpr std::uint8_t kFourDoubleWords = 0x20, kWithData = 0x40, kCompletion = 0x0a, kConfig = 0x04, kPoisoned = 0x40;
// Version 2 has the node on its own, for one that is too high for a packed id.
constexpr std::uint8_t kPseudoVersion = 1, kPseudoVersionWithNode = 2;

struct Extent {
  std::uint32_t offset;        // of the first octet in its double word
  std::uint32_t double_words;  // one at least
  std::uint8_t first_enables, last_enables;
};

// Section 2.2.5: a request of no octets has a length of one double word and no byte enables.
Extent extent_of(const Tlp& tlp) {
  const auto address = tlp.type == TlpType::kCplD ? tlp.lower_address : static_cast<std::uint32_t>(tlp.address);
  const std::uint32_t offset = address & 3, end = offset + tlp.bytes;
  Extent e{offset, end == offset ? 1 : (end + 3) / 4, 0, 0};
  const std::uint32_t in_first = end < 4 ? end : 4;
  e.first_enables = static_cast<std::uint8_t>((1u << in_first) - (1u << offset));
  if (e.double_words > 1) e.last_enables = static_cast<std::uint8_t>((1u << (end - 4 * (e.double_words - 1))) - 1);
  return e;
}

class TlpWriter {
 public:
  void put8(std::uint32_t v) { octets_.push_back(static_cast<std::uint8_t>(v)); }
  void put16(std::uint32_t v) { put8(v >> 8), put8(v); }
  void put32(std::uint32_t v) { put16(v >> 16), put16(v); }
  void put64(std::uint64_t v) { put32(static_cast<std::uint32_t>(v >> 32)), put32(static_cast<std::uint32_t>(v)); }
  void put(ByteSpan bytes) { octets_.insert(octets_.end(), bytes.begin(), bytes.end()); }
  void pad(std::size_t n) { octets_.resize(octets_.size() + n); }
  std::vector<std::uint8_t> take() { return std::move(octets_); }

 private:
  std::vector<std::uint8_t> octets_;
};

void put_header(TlpWriter& to, const Tlp& tlp, const Extent& e, bool to_device) {
  const bool completion = tlp.flow_class() == pcie::FlowClass::kCompletion, four = tlp.header_bytes() == 16;
  const std::uint32_t words = tlp.type == TlpType::kCpl ? 0 : e.double_words;
  to.put8((completion ? kCompletion : 0) | (tlp.is_config() ? kConfig : 0) | (four ? kFourDoubleWords : 0) |
          (tlp.has_data() ? kWithData : 0));
  to.put8((tlp.tag >> 9 & 1) << 7 | (tlp.tag >> 8 & 1) << 3);
  to.put16((tlp.poisoned ? kPoisoned << 8 : 0) | (words & 0x3ff));  // 1024 is 0
  const std::uint16_t sender = to_device ? kRoot : kDevice, receiver = to_device ? kDevice : kRoot;
  to.put16(sender);
  if (completion) {
    to.put16(static_cast<std::uint32_t>(tlp.status) << 13 | (tlp.byte_count & 0xfff));  // 4096 is 0
    to.put16(receiver);
    to.put8(tlp.tag);
    to.put8(tlp.lower_address);
  } else {
    to.put8(tlp.tag);
    to.put8(e.last_enables << 4 | e.first_enables);
    if (tlp.is_config()) to.put16(receiver);
    if (tlp.is_config()) return to.put16(static_cast<std::uint32_t>(tlp.address) & 0xffc);
    if (four) to.put32(static_cast<std::uint32_t>(tlp.address >> 32));
    to.put32(static_cast<std::uint32_t>(tlp.address) & ~3u);
  }
}

}  // namespace

std::vector<std::uint8_t> tlp_octets(const Tlp& tlp, const TlpPlace& place) {
  const Extent e = extent_of(tlp);
  TlpWriter to;
  const bool packs = place.request.packs();
  to.put8(packs ? kPseudoVersion : kPseudoVersionWithNode);
  to.put8(place.to_device ? 1 : 2);
  to.put8(static_cast<std::uint32_t>(place.space));
  to.put8(0);
  to.put32(place.offset);
  to.put64(packs ? place.request.packed() : place.request.place());
  if (!packs) {
    to.put32(place.request.node());
    to.put32(0);
  }
  put_header(to, tlp, e, place.to_device);
  if (tlp.has_data()) {
    to.pad(e.offset);
    to.put({tlp.data(), tlp.bytes});
    to.pad(4 * e.double_words - e.offset - tlp.bytes);
  }
  return to.take();
}

class TlpCapture::Port final : public pcie::TlpTap {
 public:
  Port(const Described& parts, bool to_device, WireCapture& capture, unsigned interface,
       std::function<std::string(RequestId)> comment)
      : to_device_(to_device), capture_(capture), interface_(interface), comment_(std::move(comment)) {
    if (to_device) accesses_ = parts.access_owners();
  }

  void reset() override { accesses_->reset(); }
  void sent(const Tlp& tlp, std::uint64_t begins_ps, std::uint64_t) override {
    TlpPlace place;
    place.to_device = to_device_;
    place.request = to_device_ ? accesses_->of(tlp) : tlp.owner;
    if (tlp.flow_class() != pcie::FlowClass::kCompletion) {
      if (tlp.is_config()) {
        place.space = TlpPlace::Space::kConfig;
        place.offset = static_cast<std::uint32_t>(tlp.address);
      } else if (to_device_) {
        place.space = TlpPlace::Space::kBar0;
        place.offset = accesses_->offset(tlp);
      } else if (tlp.address - host::RootComplex::kMsiAddress < host::RootComplex::kMsiBytes) {
        place.space = TlpPlace::Space::kInterrupt;
      }
    }
    capture_.packet(interface_, to_device_ ? Direction::kInbound : Direction::kOutbound, begins_ps,
                    tlp_octets(tlp, place), comment_ ? comment_(place.request) : std::string());
  }

 private:
  const bool to_device_;
  WireCapture& capture_;
  const unsigned interface_;
  const std::function<std::string(RequestId)> comment_;
  std::unique_ptr<pcie::AccessOwner> accesses_;
};

TlpCapture::TlpCapture(const std::string& name, const Described& parts, WireCapture& capture,
                       std::function<std::string(RequestId request)> comment) {
  const unsigned interface = capture.add_interface(name + ".pcie", LinkType::kUser0);
  for (const Described::TlpsOf& of : parts.tlps) {
    of.port->tap(ports_.emplace_back(parts, of.to_device, capture, interface, comment));
  }
}

TlpCapture::~TlpCapture() = default;

}  // namespace rnic
