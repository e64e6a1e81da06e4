// The messages of an MPA stream, and their header fields by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/wire/mpa_frame.h"
#include "model/wire/rdmap.h"

namespace rnic::inject {

// An MPA startup frame, or an RDMAP message by its opcode.
class MessageKind {
 public:
  constexpr MessageKind(wire::MpaFrameKind frame) : index_(static_cast<std::size_t>(frame)) {}
  constexpr MessageKind(wire::Opcode opcode) : index_(kFrames + static_cast<std::size_t>(opcode)) {}
  static constexpr std::size_t kCount = 14;

  // "mpa_request", "mpa_reply", "write", "read_request", ... in the order of index().
  static const std::vector<std::string>& names();
  static constexpr MessageKind of(std::size_t index) {
    return index < kFrames ? MessageKind(static_cast<wire::MpaFrameKind>(index))
                           : MessageKind(static_cast<wire::Opcode>(index - kFrames));
  }
  constexpr std::size_t index() const { return index_; }
  const std::string& name() const { return names()[index_]; }
  constexpr bool is_startup() const { return index_ < kFrames; }
  constexpr wire::Opcode opcode() const { return static_cast<wire::Opcode>(index_ - kFrames); }
  friend constexpr bool operator==(MessageKind a, MessageKind b) { return a.index_ == b.index_; }

 private:
  static constexpr std::size_t kFrames = 2;
  std::size_t index_;
};

// A bit field in network order. Bits of a message count from the first octet of the startup frame or of the ULPDU.
struct Field {
  enum class Where : std::uint8_t { kMessage, kLength, kMarker, kCrc };  // the others belong to its FPDU
  std::string name;
  std::size_t bit = 0;
  unsigned bits = 0;
  Where where = Where::kMessage;
};

// All fields of a message of this kind, in order.
std::vector<Field> fields_of(MessageKind kind);

}  // namespace rnic::inject
