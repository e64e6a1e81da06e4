// One direction of a TCP connection: takes segments in any order, delivers the stream in order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "model/capture/place.h"
#include "model/common/bytes.h"

namespace rnic::capture {

// Octets of a stream from one frame, and how many more followed that the capture did not keep.
struct StreamPart {
  ByteSpan octets;
  std::size_t missing = 0;
  Place at;

  std::size_t size() const { return octets.size() + missing; }
};

class TcpReassembly {
 public:
  // Receives each octet of the stream once and in order.
  using Deliver = std::function<void(const StreamPart& part)>;

  bool started() const { return started_; }
  // `first_seq` is the sequence number of the stream's first octet, the one after the SYN.
  void start(std::uint32_t first_seq) {
    started_ = true;
    first_seq_ = first_seq;
  }
  std::uint32_t first_seq() const { return first_seq_; }

  // Trims duplicates and overlaps; octets after a hole wait until it is filled. If overlapping segments differ, the
  // octets that could be delivered first count. Takes O(n log n) time and O(n) memory in the octets given.
  void segment(std::uint32_t seq, const StreamPart& part, const Deliver& deliver);

  // At the end of the capture: the first segment still waiting, and the number of octets missing before it.
  struct Hole {
    Place at;
    std::uint64_t octets = 0;
  };
  std::optional<Hole> hole() const;

 private:
  struct Waiting {
    std::vector<std::uint8_t> octets;
    std::size_t missing;
    Place at;
  };
  void deliver_new(std::uint64_t position, const StreamPart& part, const Deliver& deliver);

  bool started_ = false;
  std::uint32_t first_seq_ = 0;
  std::uint64_t next_ = 0;                         // stream position of the next octet to deliver; does not wrap
  std::multimap<std::uint64_t, Waiting> waiting_;  // by stream position
};

}  // namespace rnic::capture
