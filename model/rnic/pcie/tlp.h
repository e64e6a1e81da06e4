// A transaction layer packet as both ends of the PCIe link see it, and the link's TLM-2.0 protocol.
#pragma once

#include <cstdint>
#include <cstring>
#include <tlm>
#include <type_traits>
#include <utility>

#include "model/common/buffer.h"
#include "model/common/clock_domain.h"
#include "model/common/value_words.h"
#include "model/rnic/pcie/purpose.h"

namespace rnic::pcie {

// Bit 0: has data. Bit 1: a completion. Bit 2: of configuration space.
enum class TlpType : std::uint8_t { kMRd, kMWr, kCpl, kCplD, kCfgRd0, kCfgWr0 };
inline const ValueWords& value_words(TlpType) {
  static const ValueWords kWords{"MRd", "MWr", "Cpl", "CplD", "CfgRd0", "CfgWr0"};
  return kWords;
}
// Completion status codes of the PCI Express Base Specification, section 2.2.9.
enum class CplStatus : std::uint8_t { kSc = 0, kUr = 1, kCa = 4 };

// Flow control classes (section 2.6.1): each has its own receive buffer and its own credits.
enum class FlowClass : std::uint8_t { kPosted, kNonPosted, kCompletion };
inline constexpr unsigned kFlowClasses = 3;

// What a TLP says. Copied as a block: a TLP is moved from stage to stage, and its fields are many and small.
struct TlpFields {
  static constexpr std::uint32_t kInlineBytes = 8;

  std::uint64_t address = 0;  // requests; of configuration space: the offset
  const std::uint8_t* far_data = nullptr;
  Cycle issued = 0;  // when its source handed it over: order is by age
  RequestId owner;
  std::uint8_t near_data[kInlineBytes] = {};  // up to 8 octets need no buffer
  std::uint16_t bytes = 0;                    // of data, or requested: 4096 at most
  std::uint16_t tag = 0;                      // non-posted requests and their completions
  std::uint16_t byte_count = 0;    // completions: octets of the request still to come, these included (1 to 4096)
  std::uint8_t lower_address = 0;  // completions: bits 6..0 of the first octet's address
  TlpType type = TlpType::kMWr;
  CplStatus status = CplStatus::kSc;
  bool poisoned = false;
  Purpose purpose = Purpose::kRegister;  // completions: that of their request
};
static_assert(std::is_trivially_copyable_v<TlpFields>);

// At most a cache line, so that it travels by value. Lengths are octets: the double words, byte enables and header
// sizes of the wire follow from address and length.
struct Tlp : TlpFields {
  BufferRef hold;  // owner of `far_data`

  bool is_config() const { return (static_cast<unsigned>(type) & 4) != 0; }
  bool has_data() const { return (static_cast<unsigned>(type) & 1) != 0; }
  const std::uint8_t* data() const { return far_data != nullptr ? far_data : near_data; }
  FlowClass flow_class() const {
    if ((static_cast<unsigned>(type) & 2) != 0) return FlowClass::kCompletion;
    return type == TlpType::kMWr ? FlowClass::kPosted : FlowClass::kNonPosted;
  }

  // Octets of data on the wire: whole double words from the first to the last octet (byte enables mask the rest).
  std::uint32_t wire_data_bytes() const {
    if (!has_data() || bytes == 0) return 0;
    const std::uint32_t offset = (type == TlpType::kCplD ? lower_address : static_cast<std::uint32_t>(address)) & 3;
    return (offset + bytes + 3) & ~3u;
  }
  // Three double words, or four for an address above 4 GiB (section 2.2.4.1).
  std::uint32_t header_bytes() const { return flow_class() != FlowClass::kCompletion && address >> 32 != 0 ? 16 : 12; }
  // Data credits are units of 16 octets (section 2.6.1).
  std::uint32_t data_credits() const { return data_credits(wire_data_bytes()); }
  static constexpr std::uint32_t data_credits(std::uint32_t data_bytes) { return (data_bytes + 15) / 16; }

  static Tlp write(std::uint64_t to, const std::uint8_t* from, std::uint32_t n, BufferRef owner) {
    Tlp t;
    t.type = TlpType::kMWr;
    t.address = to;
    t.bytes = static_cast<std::uint16_t>(n);
    if (owner) t.owner = owner->owner();
    t.hold = std::move(owner);
    t.far_data = from;
    return t;
  }
  static Tlp write32(std::uint64_t to, std::uint32_t value) {
    Tlp t;
    t.type = TlpType::kMWr;
    t.address = to;
    t.set_word(value);
    return t;
  }
  static Tlp read(std::uint64_t from, std::uint32_t n, std::uint16_t tag, RequestId owner = {}) {
    Tlp t;
    t.type = TlpType::kMRd;
    t.address = from;
    t.bytes = static_cast<std::uint16_t>(n);
    t.tag = tag;
    t.owner = owner;
    return t;
  }
  // Configuration space (section 2.2.7): a double word is read; 1, 2 or 4 octets of one are written.
  static Tlp config_read(std::uint32_t offset) {
    Tlp t = read(offset, 4, 0);
    t.type = TlpType::kCfgRd0;
    return t;
  }
  static Tlp config_write(std::uint32_t offset, std::uint32_t n, std::uint32_t value) {
    Tlp t = write32(offset, value);
    t.type = TlpType::kCfgWr0;
    t.bytes = static_cast<std::uint16_t>(n);
    return t;
  }
  // The one completion of a request that is refused, or of one that asks for no data (section 2.3.2).
  static Tlp answer(const Tlp& request, CplStatus status) {
    Tlp t;
    t.type = TlpType::kCpl;
    t.status = status;
    t.tag = request.tag;
    t.owner = request.owner;
    t.purpose = request.purpose;
    t.byte_count = static_cast<std::uint16_t>(request.is_config() ? 4 : request.bytes);
    t.lower_address = static_cast<std::uint8_t>(request.is_config() ? 0 : request.address & 0x7f);
    return t;
  }
  // A completion with `n` of the octets that a request is still missing, the first one at `address`.
  static Tlp completion(const Tlp& request, std::uint64_t address, std::uint32_t n) {
    Tlp t;
    t.type = TlpType::kCplD;
    t.tag = request.tag;
    t.owner = request.owner;
    t.purpose = request.purpose;
    t.bytes = static_cast<std::uint16_t>(n);
    t.byte_count = static_cast<std::uint16_t>(request.address + request.bytes - address);
    t.lower_address = static_cast<std::uint8_t>(address & 0x7f);
    return t;
  }
  // Four octets of data, least significant first.
  void set_word(std::uint32_t value) {
    bytes = 4;
    for (unsigned i = 0; i < 4; ++i) near_data[i] = static_cast<std::uint8_t>(value >> 8 * i);
  }

  static constexpr const char* kMessage = "tlp";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("type", 3, m.type);
    v("address", 64, m.address);
    v("bytes", 32, m.bytes);
    v("tag", 16, m.tag);
    v("byte_count", 13, m.byte_count);
    v("lower_address", 7, m.lower_address);
    v("status", 3, m.status);
    v("poisoned", 1, m.poisoned);
  }
};
static_assert(sizeof(Tlp) <= 64);

// nb_transport_fw(tlp, BEGIN_REQ, delay): one call per TLP, answered with TLM_COMPLETED; `delay` counts from the
// kernel's time to the arrival of its last octet. The receiver may move the TLP out of the argument.
// nb_transport_fw(tlp, LINK_RESET, delay), from the host: the device's end starts again, and what lies in its receive
// buffers or is on its way is lost. It answers with nb_transport_fw(tlp, LINK_UP, delay): nothing of before comes after
// this call, and both ends can send from then on. The TLP of these two says nothing.
// nb_transport_bw(tlp, END_REQ, delay): UpdateFC; the receive buffer of that TLP is free, and its credits are back with
// the sender after `delay`. Only type, address and length count.
TLM_DECLARE_EXTENDED_PHASE(LINK_RESET);
TLM_DECLARE_EXTENDED_PHASE(LINK_UP);
struct PcieProtocol {
  using tlm_payload_type = Tlp;
  using tlm_phase_type = tlm::tlm_phase;
};

}  // namespace rnic::pcie
