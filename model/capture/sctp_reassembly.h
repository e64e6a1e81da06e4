// One direction of an association: takes DATA chunks in any order, delivers each user message once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "model/capture/numbers_seen.h"
#include "model/capture/undecoded.h"
#include "model/common/bytes.h"
#include "model/wire/sctp.h"

namespace rnic::capture {

struct SctpMessage {
  Place at;     // of the frame of its first octet
  Place whole;  // of the frame that completed it
  std::uint16_t stream = 0;
  std::uint32_t ppid = 0;
  bool unordered = false;
  ByteSpan octets;
  std::size_t missing = 0;  // octets after those, which the capture did not keep
};

class SctpReassembly {
 public:
  using Deliver = std::function<void(const SctpMessage& message)>;

  SctpReassembly(std::string name, UndecodedList& undecoded) : name_(std::move(name)), undecoded_(undecoded) {}

  void start(std::uint32_t initial_tsn) { tsns_.start(initial_tsn); }
  // Delivers a message once all its fragments have arrived. `missing` octets at the end of the user data were not kept.
  // Time is O(n log n) in the octets given.
  void data(std::uint8_t flags, const wire::SctpData& header, ByteSpan user_data, std::size_t missing, const Place& at,
            const Deliver& deliver);
  // At the end of the capture: reports fragments that make no complete message.
  void finish();

  const NumbersSeen<std::uint32_t>& tsns() const { return tsns_; }
  std::uint64_t fragmented() const { return fragmented_; }  // messages

 private:
  struct Piece {
    std::uint8_t flags;
    wire::SctpData header;
    std::vector<std::uint8_t> octets;
    std::size_t missing;
    Place at;
  };
  using Pieces = std::map<std::int64_t, Piece>;
  void join(std::int64_t position, const Place& at, const Deliver& deliver);
  void assemble(std::int64_t first, std::int64_t last, const Place& at, const Deliver& deliver);

  const std::string name_;
  UndecodedList& undecoded_;
  NumbersSeen<std::uint32_t> tsns_;
  Pieces pieces_;                              // by unwrapped TSN
  std::map<std::int64_t, std::int64_t> runs_;  // first and last fragment of each run of one message
  std::uint64_t fragmented_ = 0;
};

}  // namespace rnic::capture
