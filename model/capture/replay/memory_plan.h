// What memory the real side must have had, read from what the capture shows of its use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/capture/replay/message_reader.h"
#include "model/capture/replay/recording.h"
#include "model/capture/replay/terminate_reader.h"

namespace rnic::replay {

// A range of the real side's tagged offsets under one of its STags. An STag that is invalidated and used again means
// another region: `generation` counts.
struct Region {
  std::uint32_t stag = 0;
  unsigned generation = 0;
  std::uint64_t base = 0;
  std::uint8_t access = 0;  // abi::AccessFlags
  bool foreign = false;     // of another protection domain than the connection
  std::vector<std::uint8_t> octets;

  std::uint64_t end() const { return base + octets.size(); }
  bool contains(std::uint64_t to, std::uint64_t bytes) const {
    return to >= base && bytes <= end() - to && to <= end();
  }
};

// What the real side's program did to its memory before it let a segment come: it wrote to it before a Read Request, or
// ended an STag before an access that was refused.
struct MemoryChange {
  std::size_t before = 0;  // octet of the fed stream at which the segment's FPDU begins
  std::size_t region = 0;
  std::uint64_t offset = 0;
  std::vector<std::uint8_t> octets;
  bool ends = false;  // nothing is written, the region's STag ends
};

// A receive, for a Send of the fed stream.
struct Receive {
  std::size_t message = 0;
  std::uint32_t bytes = 0;
};

struct MemoryPlan {
  std::vector<Region> regions;        // by STag, generation and base; contents as the first access finds them
  std::vector<MemoryChange> changes;  // in order; one that ends an STag is the last
  bool ends_sink = false;             // that is the sink of a Read of the real side
  std::vector<std::vector<std::uint8_t>> final;                     // their contents at the end
  std::map<std::uint32_t, std::vector<std::size_t>> invalidations;  // segments of the fed stream, by STag
  std::map<std::size_t, unsigned> sinks;  // generation of the sink STag of the real side's Reads, by message
  std::optional<std::size_t> failing;     // the fed segment that the real side answered by a Terminate
  std::vector<Receive> receives;          // in order

  // Invalidations of `stag` by the first `segments` segments of the fed stream.
  unsigned generation(std::uint32_t stag, std::size_t segments) const;
  // The region for an access of the connection; the STag's nearest one if it lies outside, none if the STag has none.
  std::optional<std::size_t> find(std::uint32_t stag, unsigned generation, std::uint64_t to) const;
};

// True if octets at `to` reach beyond the last tagged offset (DDP-7.1-10).
constexpr bool wraps(std::uint64_t to, std::uint64_t bytes) { return to + bytes < to; }

// `fed` is the stream that the replay sends, `real` what the real side answered. plan() throws ConfigError for memory
// that no host has.
class MemoryPlanner {
 public:
  MemoryPlanner(const MessageReader& fed, const MessageReader& real, const RecordedStream& fed_stream,
                const RecordedStream& real_stream);
  MemoryPlan plan();

 private:
  struct Access {
    std::uint32_t stag = 0;
    unsigned generation = 0;
    std::uint64_t to = 0, bytes = 0;
    std::uint8_t right = 0;
    bool foreign = false;
  };
  void add(Access access);
  std::optional<std::size_t> find_failing() const;
  bool is_in(const ReadTerminate& terminate, const DdpSegment& segment) const;
  std::optional<Access> failing_access() const;
  void collect_fed();
  void collect_real();
  void collect_failing();
  void collect_receives();
  bool absorbs_rtr_send() const;
  std::optional<std::uint32_t> room_for(const DdpSegment& failing) const;
  void find_invalidations();
  void collect_invalidated();
  void make_regions();
  void fill();
  void end_stag();
  void write(const DdpSegment& segment, std::size_t index);
  void read(const DdpSegment& segment, std::size_t index, const Message& response);
  bool told(std::uint32_t stag) const;

  const MessageReader& fed_;
  const MessageReader& real_;
  const RecordedStream& fed_stream_;
  const RecordedStream& real_stream_;
  MemoryPlan plan_;
  std::vector<Access> accesses_;
  std::vector<std::vector<bool>> known_;  // by region and octet of final
};

}  // namespace rnic::replay
