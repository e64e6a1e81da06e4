// Places RDMA Writes and Read Responses of segments that are kept after a hole (RFC 5041 section 5.3, RFC 5044 section
// 3). See early_placement.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/link.h"
#include "model/common/node_pool.h"
#include "model/common/ring.h"
#include "model/rnic/context/tables.h"
#include "model/rnic/llp/llp_traits.h"
#include "model/rnic/messages/completion.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/early_placed.h"
#include "model/rnic/messages/per_llp.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/rx/fpdu_search.h"

namespace rnic {

struct EarlyPlacementCounters {
  std::uint64_t segments = 0, fpdus = 0, payload_bytes = 0, not_located = 0, bad_crc = 0, untagged = 0, invalid = 0;
  template <class V>
  static void fields(V& v) {
    v("segments", &EarlyPlacementCounters::segments, "segments",
      "segments received out of order and searched for FPDUs");
    v("fpdus", &EarlyPlacementCounters::fpdus, "FPDUs", "FPDUs placed before the gap was filled");
    v("payload_bytes", &EarlyPlacementCounters::payload_bytes, "octets",
      "payload octets of FPDUs placed before the gap was filled");
    v("not_located", &EarlyPlacementCounters::not_located, "segments",
      "segments in which no FPDU's start could be located");
    v("bad_crc", &EarlyPlacementCounters::bad_crc, "FPDUs", "FPDUs left to the in-order path: wrong CRC32c or marker");
    v("untagged", &EarlyPlacementCounters::untagged, "FPDUs",
      "FPDUs left to the in-order path: untagged, or without payload");
    v("invalid", &EarlyPlacementCounters::invalid, "FPDUs",
      "FPDUs left to the in-order path: wrong stream, STag or bounds");
  }
};

class EarlyPlacement final : public Stage {
 public:
  // Of a lower layer that keeps messages each segment is one DDP segment after its length field, and `offset` is the
  // sender's name for it.
  PerLlp<PopPort<StreamBeat>> in{*this, "in"};
  PopPort<ReadIssued> read_issued{*this, "read_issued"};
  PopPort<ReadDone> read_over{*this, "read_over"};  // the oldest Read of the queue pair must not be answered any more
  PushPort<DmaWriteRequest> dma{*this, "dma"};
  PopPort<DmaWriteDone> written{*this, "written"};
  PerLlp<PushPort<EarlyPlaced>> out{*this, "out"};
  NamedStag sink{*this, "early_placement", "early_placement_region"};

  static constexpr unsigned kCheckCycles = 4;  // the depth of its CRC32c tree
  static constexpr unsigned kUnderWay = 16;    // FPDUs whose writes are not out yet

  // Markers are taken out while an FPDU is copied to a buffer of `pool`.
  EarlyPlacement(sc_core::sc_module_name nm, ClockDomain& clk, const DatapathConfig& datapath, ContextTables& contexts,
                 BufferPool& pool, const PerLlp<LlpTraits>& llps)
      : Stage(nm, clk),
        contexts_(contexts),
        pool_(pool),
        llps_(llps),
        beat_bytes_(datapath.beat_bytes),
        reads_(contexts.qps()),
        reads_pool_({"reads", contexts.qps() * contexts.elements().ord, "queue pairs x fwcpu.max_ord"}) {
    sink.bind_to(contexts.stag_table);
    contexts.rx_table.bind(row_);
  }

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const EarlyPlacementCounters& counters() const { return counters_; }
  const BufferPool& headers() const { return headers_; }

 private:
  struct Segment {
    BufferRef buf;
    const std::uint8_t* data = nullptr;
    std::uint64_t offset = 0;  // in the stream
    std::uint32_t bytes = 0;
    FlowId flow;
    FlowFacts facts;
    LlpId llp = LlpId::kMpaTcp;
    Cycle checked_at = kNever;  // its FPDUs are found and their CRC32c is known
  };
  // An FPDU without its markers.
  struct Plain {
    BufferRef buf;
    const std::uint8_t* data = nullptr;
  };
  // An FPDU with payload whose STag and queue pair are being looked up.
  struct Asked {
    FpduSearch::Found fpdu;
    Plain plain;
  };
  // An FPDU whose writes leave, one per cycle.
  struct Job {
    EarlyPlaced told;
    MemoryPiece piece;
    BufferRef buf;
    std::uint32_t offset = 0;  // of the rest of the payload in the buffer
  };
  struct Answer {
    EarlyPlaced told;
    bool awaits_write = false;
    LlpId llp = LlpId::kMpaTcp;
  };
  struct Reads {
    std::uint32_t epoch = 0;
    PooledQueue outstanding;
  };

  bool learn();
  Reads& reads(Qpn qpn);
  bool tell();
  bool work();
  bool write();
  void begin();
  void take(const FpduSearch::Found& fpdu);
  Plain without_markers(const FpduSearch::Found& fpdu);
  bool judge();
  static std::optional<wire::DdpTaggedView> tagged_view(const Plain& plain);
  bool find_buffer(const wire::DdpTaggedView& v, MemoryPiece& piece);
  bool asked_for(Qpn qpn, const wire::DdpTaggedView& v);
  bool collect();
  bool collect(LlpId llp);

  ContextTables& contexts_;
  RxTable::Reader row_{*this, "early_placement_qp"};
  BufferPool& pool_;
  const PerLlp<LlpTraits> llps_;
  BufferPool headers_{64};
  const unsigned beat_bytes_;

  std::vector<Reads> reads_;  // by queue pair
  NodePool<ReadIssued> reads_pool_;

  Segment incoming_;
  std::optional<Segment> segment_;  // being processed
  FpduSearch search_;
  FpduSearch::Stream stream_;  // of segment_
  bool searched_ = false;
  std::size_t next_ = 0;  // of the search's FPDUs
  std::optional<Asked> asked_;
  std::optional<Job> job_;
  Ring<Answer> answers_;

  EarlyPlacementCounters counters_;
};

}  // namespace rnic
