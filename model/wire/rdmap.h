// RDMAP opcodes and headers (RFC 5040 section 4, RFC 7306 sections 4 and 6). The headers here follow the untagged DDP
// header and are parsed from its payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/wire/fields.h"

namespace rnic::wire {

inline constexpr std::uint8_t kRdmapVersion = 1;       // RFC 5040
inline constexpr std::uint8_t kRdmapVersionRdmac = 0;  // RDMAC peers

enum class Opcode : std::uint8_t {
  kWrite = 0x0,
  kReadRequest = 0x1,
  kReadResponse = 0x2,
  kSend = 0x3,
  kSendInvalidate = 0x4,
  kSendSe = 0x5,
  kSendSeInvalidate = 0x6,
  kTerminate = 0x7,
  kImmediate = 0x8,
  kImmediateSe = 0x9,
  kAtomicRequest = 0xa,
  kAtomicResponse = 0xb,
};
constexpr bool is_assigned(Opcode op) { return op <= Opcode::kAtomicResponse; }
constexpr bool is_tagged(Opcode op) { return op == Opcode::kWrite || op == Opcode::kReadResponse; }
constexpr bool is_send(Opcode op) { return op >= Opcode::kSend && op <= Opcode::kSendSeInvalidate; }
constexpr bool is_immediate(Opcode op) { return op == Opcode::kImmediate || op == Opcode::kImmediateSe; }
constexpr bool invalidates(Opcode op) { return op == Opcode::kSendInvalidate || op == Opcode::kSendSeInvalidate; }
constexpr bool solicits_event(Opcode op) {
  return op == Opcode::kSendSe || op == Opcode::kSendSeInvalidate || op == Opcode::kImmediateSe;
}
constexpr const char* to_string(Opcode op) {
  switch (op) {
    case Opcode::kWrite:
      return "RDMA Write";
    case Opcode::kReadRequest:
      return "Read Request";
    case Opcode::kReadResponse:
      return "Read Response";
    case Opcode::kSend:
      return "Send";
    case Opcode::kSendInvalidate:
      return "Send with Invalidate";
    case Opcode::kSendSe:
      return "Send with SE";
    case Opcode::kSendSeInvalidate:
      return "Send with SE and Invalidate";
    case Opcode::kTerminate:
      return "Terminate";
    case Opcode::kImmediate:
      return "Immediate Data";
    case Opcode::kImmediateSe:
      return "Immediate Data with SE";
    case Opcode::kAtomicRequest:
      return "Atomic Request";
    case Opcode::kAtomicResponse:
      return "Atomic Response";
  }
  return "unassigned";
}

// DDP queue numbers.
inline constexpr std::uint32_t kQnSend = 0, kQnReadRequest = 1, kQnTerminate = 2, kQnAtomicResponse = 3;
constexpr std::uint32_t queue_number(Opcode untagged) {
  switch (untagged) {
    case Opcode::kReadRequest:
    case Opcode::kAtomicRequest:
      return kQnReadRequest;
    case Opcode::kTerminate:
      return kQnTerminate;
    case Opcode::kAtomicResponse:
      return kQnAtomicResponse;
    default:
      return kQnSend;
  }
}

// The RDMAP control octet; its two reserved bits are sent as 0 and ignored.
struct RdmapControl {
  static constexpr Opcode opcode(std::uint8_t octet) { return static_cast<Opcode>(octet & 0x0f); }
  static constexpr std::uint8_t version(std::uint8_t octet) { return static_cast<std::uint8_t>(octet >> 6); }
  static constexpr std::uint8_t pack(Opcode op, std::uint8_t version = kRdmapVersion) {
    return static_cast<std::uint8_t>((version & 3) << 6 | static_cast<std::uint8_t>(op));
  }
};

struct ReadRequest {
  static constexpr std::size_t kBytes = 28;
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_to = 0;
  std::uint32_t size = 0;  // octets to read
  std::uint32_t src_stag = 0;
  std::uint64_t src_to = 0;

  template <class Self, class F>
  static constexpr void fields(Self& h, F& f) {
    f(h.sink_stag, h.sink_to, h.size, h.src_stag, h.src_to);
  }
  static constexpr std::optional<ReadRequest> parse(ByteSpan bytes) { return parse_fields<ReadRequest>(bytes); }
  constexpr std::size_t emit(MutableByteSpan out) const { return emit_fields(*this, out); }
};

struct ImmediateData {
  static constexpr std::size_t kBytes = 8;
  std::uint64_t data = 0;

  template <class Self, class F>
  static constexpr void fields(Self& h, F& f) {
    f(h.data);
  }
  static constexpr std::optional<ImmediateData> parse(ByteSpan bytes) { return parse_fields<ImmediateData>(bytes); }
  constexpr std::size_t emit(MutableByteSpan out) const { return emit_fields(*this, out); }
};

enum class AtomicOpcode : std::uint8_t { kFetchAdd = 0, kCmpSwap = 2 };  // 1 and 3 to 15 are reserved

struct AtomicRequest {
  static constexpr std::size_t kBytes = 52;
  std::uint32_t operation = 0;  // 28 reserved bits and AOpCode
  std::uint32_t request_id = 0;
  std::uint32_t stag = 0;
  std::uint64_t to = 0;
  std::uint64_t data = 0;       // to add, or to swap in
  std::uint64_t data_mask = 0;  // field boundaries for the addition, or bits to swap
  std::uint64_t compare = 0;
  std::uint64_t compare_mask = 0;

  template <class Self, class F>
  static constexpr void fields(Self& h, F& f) {
    f(h.operation, h.request_id, h.stag, h.to, h.data, h.data_mask, h.compare, h.compare_mask);
  }
  constexpr AtomicOpcode opcode() const { return static_cast<AtomicOpcode>(operation & 0x0f); }
  static constexpr AtomicRequest fetch_add(std::uint64_t add, std::uint64_t mask) {
    return {static_cast<std::uint32_t>(AtomicOpcode::kFetchAdd), 0, 0, 0, add, mask, 0, ~std::uint64_t{0}};
  }
  static constexpr AtomicRequest cmp_swap(std::uint64_t swap, std::uint64_t swap_mask, std::uint64_t compare,
                                          std::uint64_t compare_mask) {
    return {static_cast<std::uint32_t>(AtomicOpcode::kCmpSwap), 0, 0, 0, swap, swap_mask, compare, compare_mask};
  }
  static constexpr std::optional<AtomicRequest> parse(ByteSpan bytes) { return parse_fields<AtomicRequest>(bytes); }
  constexpr std::size_t emit(MutableByteSpan out) const { return emit_fields(*this, out); }
};

struct AtomicResponse {
  static constexpr std::size_t kBytes = 12;
  std::uint32_t request_id = 0;
  std::uint64_t original = 0;  // value before the operation

  template <class Self, class F>
  static constexpr void fields(Self& h, F& f) {
    f(h.request_id, h.original);
  }
  static constexpr std::optional<AtomicResponse> parse(ByteSpan bytes) { return parse_fields<AtomicResponse>(bytes); }
  constexpr std::size_t emit(MutableByteSpan out) const { return emit_fields(*this, out); }
};

}  // namespace rnic::wire
