// Derives the real side's memory from the accesses in the capture.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/capture/replay/message_reader.h"
#include "model/capture/replay/recording.h"
#include "model/capture/replay/terminate_reader.h"

namespace rnic::replay {

// A range of tagged offsets under an STag of the real side. An STag that is invalidated and used again names another
// region, with the next `generation`.
struct Region {
  std::uint32_t stag = 0;
  unsigned generation = 0;
  std::uint64_t base = 0;
  std::uint8_t access = 0;  // abi::AccessFlags
  bool foreign = false;     // in another protection domain than the connection's
  std::vector<std::uint8_t> octets;

  std::uint64_t end() const { return base + octets.size(); }
  bool contains(std::uint64_t to, std::uint64_t bytes) const {
    return to >= base && bytes <= end() - to && to <= end();
  }
};

// A change of memory by the real side's program before a segment arrived: it wrote before a Read Request, or ended an
// STag before an access that was refused.
struct MemoryChange {
  std::size_t before = 0;  // octet of the fed stream at which the segment's FPDU begins
  std::size_t region = 0;
  std::uint64_t offset = 0;
  std::vector<std::uint8_t> octets;
  bool ends = false;  // ends the region's STag instead of writing
};

// A receive, for a Send of the fed stream.
struct Receive {
  std::size_t message = 0;
  std::uint32_t bytes = 0;
};

struct MemoryPlan {
  std::vector<Region> regions;        // by STag, generation and base; contents as the first access finds them
  std::vector<MemoryChange> changes;  // in order; one that ends an STag is the last
  bool ends_sink = false;             // that STag is the sink of a Read of the real side
  std::vector<std::vector<std::uint8_t>> final;                     // the regions' contents at the end
  std::map<std::uint32_t, std::vector<std::size_t>> invalidations;  // segments of the fed stream, by STag
  std::map<std::size_t, unsigned> sinks;  // generation of the sink STag of the real side's Reads, by message
  std::optional<std::size_t> failing;     // the fed segment that the real side answered with a Terminate
  std::vector<Receive> receives;          // in order

  // Invalidations of `stag` by the first `segments` segments of the fed stream.
  unsigned generation(std::uint32_t stag, std::size_t segments) const;
  // The region of an access by the connection, or the STag's nearest one if none contains it; nullopt if it has none.
  std::optional<std::size_t> find(std::uint32_t stag, unsigned generation, std::uint64_t to) const;
};

// True if octets at `to` extend beyond the last tagged offset (DDP-7.1-10).
constexpr bool wraps(std::uint64_t to, std::uint64_t bytes) { return to + bytes < to; }

// `fed` is the stream that the replay sends, `real` the real side's answer. plan() throws ConfigError for memory that
// no host has.
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
