// Finds the FPDUs in received TCP streams and takes their markers out (RFC 5044 sections 4 to 6). See mpa_deframer.md.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/buffer.h"
#include "model/common/burst.h"
#include "model/common/link.h"
#include "model/config/field.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/llp.h"
#include "model/wire/fpdu.h"

namespace rnic {

struct MpaDeframerConfig {
  unsigned pipeline_cycles = 2;
  unsigned queue_fpdus = 2;
  template <class V>
  static void fields(V& v) {
    v("pipeline_cycles", &MpaDeframerConfig::pipeline_cycles,
      "cycles from a beat's exit from the FPDU store to its exit from the stage", in_range(1, 32), unit("cycles"));
    v("queue_fpdus", &MpaDeframerConfig::queue_fpdus, "complete FPDUs in the queue, including the one being sent",
      in_range(2, 64), unit("FPDUs"));
  }
};

struct MpaDeframerCounters {
  std::uint64_t fpdus = 0, straddling = 0, markers = 0, bad_markers = 0;
  template <class V>
  static void fields(V& v) {
    v("fpdus", &MpaDeframerCounters::fpdus, "FPDUs", "FPDUs found");
    v("straddling", &MpaDeframerCounters::straddling, "FPDUs", "FPDUs in more than one TCP segment");
    v("markers", &MpaDeframerCounters::markers, "markers", "markers removed");
    v("bad_markers", &MpaDeframerCounters::bad_markers, "FPDUs",
      "FPDUs with an FPDUPTR that does not point to their length field");
  }
};

class MpaDeframer final : public Stage, private TakesAhead<StreamBeat> {
 public:
  PopPort<StreamBeat> in{*this, "in"};
  PushPort<FpduBeat> out{*this, "out"};
  PushPort<RxConsumed> consumed{*this, "consumed"};  // an FPDU's octets on the wire, when its last beat leaves

  // Markers are taken out while the FPDU is copied to a buffer of `pool`.
  MpaDeframer(sc_core::sc_module_name nm, ClockDomain& clk, const MpaDeframerConfig& cfg,
              const DatapathConfig& datapath, std::size_t flows, BufferPool& pool)
      : Stage(nm, clk), pool_(pool), beat_words_(datapath.beat_bytes / 4), flows_(flows), queue_(cfg.queue_fpdus) {
    in.ahead(*this);
  }

  // The stream position of the flow's next octet, where an FPDU starts, for a stream taken over in its middle.
  // Otherwise a flow's stream is the one that has begun last, at 0.
  void set_position(FlowId flow, std::uint64_t position);

  // Where a flow is in its current FPDU.
  struct Place {
    std::uint64_t next = 0;  // stream position of the next octet
    std::uint32_t seen = 0;  // octets of the current FPDU so far, markers included
    std::uint32_t size = 0;  // all its octets; 0: its length field is not complete
  };
  // For a twin: a flow's position is in the stage's table, and the stage counts what the twin finds.
  std::size_t flows() const { return flows_.size(); }
  const Place& place(FlowId flow) const { return flows_[flow.v]; }
  void set_place(FlowId flow, const Place& place) { static_cast<Place&>(flows_[flow.v]) = place; }
  void count(bool straddles, unsigned markers, bool marker_ok);

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;

  void describe(const Description& d) override;
  const MpaDeframerCounters& counters() const { return counters_; }
  const BufferPool& collecting() const { return collecting_; }
  BufferPool& collecting() { return collecting_; }

 private:
  static constexpr std::size_t kLargestFpdu = wire::marked_fpdu_bytes(0, 0xffff);
  static constexpr std::size_t kMostMarkers = wire::fpdu_markers(0, wire::fpdu_bytes(0xffff));

  struct Flow : Place {
    BufferRef collected;  // the current FPDU's octets, once it reaches beyond a segment
    wire::StreamPosition start() const { return static_cast<wire::StreamPosition>(next - seen); }
  };
  static_assert(sizeof(Flow) <= 48);

  // A complete FPDU, or what is left of it.
  struct Fpdu {
    Cycle from = 0;  // while full: the first beat's earliest cycle; while free: when it can be filled
    BufferRef buf;
    FpduBeat next;  // the beat to send next
    unsigned words_left = 0;
    unsigned markers_left = 0;
    unsigned words_to_marker = 0;           // from the next beat's start to the next marker
    const std::uint8_t* markers = nullptr;  // those taken out, in a row
    std::uint32_t wire_octets = 0;
  };

  void take_ahead() override { tick(); }
  Acceptance accepts(const StreamBeat& first, Cycle at) override;
  Cycle emit(Burst<FpduBeat>& to);
  FpduBeat cut(Fpdu& fpdu) const;
  unsigned beats_to_marker(const Fpdu& fpdu) const;
  Cycle ingest();
  // With the octet at 0: the stream that the flow's number had before is over, wherever it ended.
  bool begins_stream(const StreamBeat& beat) const { return beat.offset == 0 && beat.first && used_ == 0; }
  unsigned whole_beats(const Flow& flow, const StreamBeat& first, Cycle at) const;
  static unsigned beats_before_last(std::uint32_t octets, const StreamBeat& beat) { return (octets - 1) / beat.bytes; }
  void take(Flow& flow, const std::uint8_t* octets, std::uint32_t count);
  void end_segment(const StreamBeat& beat);
  std::uint32_t fpdu_size(const Flow& flow, bool markers, const std::uint8_t* octets, std::size_t count) const;
  Cycle room_at() const { return queued_ == queue_.size() ? kNever : queue_[tail()].from; }
  std::size_t tail() const { return (head_ + queued_) % queue_.size(); }
  static std::uint32_t fpdu_octets(wire::StreamPosition start, bool markers, std::size_t ulpdu_length);
  void complete(Flow& flow, const StreamBeat& beat, Cycle at);
  void stand_in(Flow& flow, const StreamBeat& beat, Cycle at);
  void end(Flow& flow, const StreamBeat& beat, Cycle at);
  bool pass(Flow& flow, const StreamBeat& beat, Cycle at, std::uint8_t kind, std::uint32_t wire_octets);
  void take_out_markers(Fpdu& fpdu, wire::StreamPosition start, bool in_place);

  BufferPool& pool_;
  BufferPool collecting_{static_cast<std::uint32_t>(kLargestFpdu)};
  const unsigned beat_words_;
  std::vector<Flow> flows_;

  Cycle emit_from_ = 0, ingest_from_ = 0;

  // The incoming segment.
  unsigned used_ = 0;                   // octets of the offered beat that are taken
  const std::uint8_t* fpdu_ = nullptr;  // where the current FPDU starts, if it does so in this segment

  std::vector<Fpdu> queue_;  // a ring
  unsigned head_ = 0, queued_ = 0;
  MpaDeframerCounters counters_;
};

}  // namespace rnic
