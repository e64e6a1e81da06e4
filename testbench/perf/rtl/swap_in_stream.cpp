#include "model/common/prng.h"
#include "rtl-stubs/verilated/verilated_crc.h"
#include "rtl-stubs/verilated/verilated_ddp_placement.h"
#include "rtl-stubs/verilated/verilated_marker_inserter.h"
#include "rtl-stubs/verilated/verilated_mpa_deframer.h"
#include "rtl-stubs/verilated/verilated_mpa_framer.h"
#include "testbench/perf/rtl/neighbours.h"
#include "testbench/perf/rtl/swap_in_blocks.h"
#include "testbench/support/contexts.h"
#include "testbench/support/llps.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/segment_beats.h"

namespace rnic::perf {
namespace {

using test::Bytes;

constexpr unsigned kBeatBytes = 64;
constexpr std::size_t kUlpduBytes = 1454;  // in an FPDU of 1460 octets without markers

constexpr auto kNoTables = [](auto&, auto&&) {};

// The same beats again and again, in buffers that stay.
template <class Beat>
class Loop {
 public:
  void add(const std::vector<Beat>& beats) {
    refs_.push_back(BufferRef::adopt(beats.front().buf));
    beats_.insert(beats_.end(), beats.begin(), beats.end());
  }
  Beat* next() {
    if (at_ == beats_.size()) at_ = 0;
    Beat* const beat = &beats_[at_++];
    if (beat->first) lend(beat->buf);
    return beat;
  }
  bool at_end() const { return at_ == beats_.size(); }

 private:
  // Adds the reference that travels with the beats.
  static void lend(Buffer* buf) {
    BufferRef stays = BufferRef::adopt(buf);
    BufferRef(stays).release();
    stays.release();
  }
  std::vector<BufferRef> refs_;
  std::vector<Beat> beats_;
  std::size_t at_ = 0;
};

struct Next {
  Loop<FpduBeat>& fpdus;
  const FpduBeat* operator()() const { return fpdus.next(); }
};
struct End {
  void operator()(const FpduBeat& beat) const {
    if (beat.last) BufferRef::adopt(beat.buf);
  }
};

// A stage between a source of FPDUs without markers, as from the framer, and a sink.
struct Bench {
  ClockDomain clk{"clk", {4000, 38}};
  BufferPool pool{2048};
  Loop<FpduBeat> fpdus;
  Feed<FpduBeat, Next> source{"source", clk, {fpdus}};
  Drain<FpduBeat, End> sink{"sink", clk, {}};
  Link<FpduBeat> in{"in", clk, {4, 1, 1}}, out;

  explicit Bench(const LinkConfig& output) : out("out", clk, output) {
    Prng rng(1);
    Ulpdu start;
    start.markers = true;
    for (int i = 0; i < 8; ++i) {
      test::MpaReference plain;
      std::vector<FpduBeat> beats =
          test::cut_fpdu(pool, plain.fpdu(test::random_bytes(rng, kUlpduBytes)), kBeatBytes, false, 0, FlowId{0});
      start.position = static_cast<std::uint16_t>(64 * i);
      beats.front().set_start(start);
      fpdus.add(beats);
    }
  }
  template <class Block>
  Block& around(Block& block) {
    source.out(in);
    block.in(in);
    block.out(out);
    sink.in(out);
    return block;
  }
};

template <class Pins, class Config>
SwappedIn measure_crc() {
  Bench bench(LinkConfig::pipeline(Config{}));
  typename Pins::Block block("block", bench.clk);
  return measure_swapped_in<Pins>(bench.around(block), kNoTables);
}

}  // namespace

SwappedIn measure_crc_insert() { return measure_crc<rtl::CrcInsertPins, CrcInsertConfig>(); }
SwappedIn measure_crc_check() { return measure_crc<rtl::CrcCheckPins, CrcCheckConfig>(); }

SwappedIn measure_marker_inserter() {
  Bench bench(LinkConfig::pipeline(MarkerInserterConfig{}));
  MarkerInserter block("block", bench.clk, {}, bench.pool);
  return measure_swapped_in<rtl::MarkerInserterPins>(bench.around(block), kNoTables, bench.pool);
}

SwappedIn measure_mpa_framer() {
  ClockDomain clk("clk", {4000, 38});
  BufferPool pool(2048);
  Prng rng(1);
  Ulpdu ulpdu;
  ulpdu.buf = pool.take();
  ulpdu.bytes = kUlpduBytes;
  for (std::size_t i = 0; i < kUlpduBytes; ++i) {
    ulpdu.buf->bytes()[Ulpdu::kOffset + i] = static_cast<std::uint8_t>(rng.next());
  }
  Link<Ulpdu> in("in", clk, {4, 1, 1});
  Link<FpduBeat> out("out", clk, LinkConfig::pipeline(MpaFramerConfig{}));
  auto source = feed<Ulpdu>("source", clk, [&] { return &ulpdu; });
  auto sink = drain<FpduBeat>("sink", clk, End{});
  MpaFramer block("block", clk, {});
  source.out(in);
  block.in(in);
  block.out(out);
  sink.in(out);
  return measure_swapped_in<rtl::MpaFramerPins>(block, [](auto& m, auto&& f) { f(m.mem_data_i); });
}

// Segments that begin with an FPDU, in a stream with markers whose length is several marker intervals.
SwappedIn measure_mpa_deframer() {
  ClockDomain clk("clk", {4000, 38});
  BufferPool pool(2048), frames(2048);
  Prng rng(1);
  test::MpaReference reference{true};
  Loop<StreamBeat> segments;
  const auto add = [&](std::size_t ulpdu_bytes) {
    const std::uint64_t offset = reference.pos;
    segments.add(
        test::cut_segment(pool, reference.fpdu(test::random_bytes(rng, ulpdu_bytes)), offset, kBeatBytes, FlowId{0}));
  };
  for (int i = 0; i < 8; ++i) add(1442);
  std::size_t rest = 1;
  for (auto after = reference; after.fpdu(Bytes(rest)), after.pos % 512 != 0; after = reference) ++rest;
  add(rest);
  const std::uint64_t length = reference.pos;
  Link<StreamBeat> in("in", clk, {4, 1, 1});
  Link<FpduBeat> out("out", clk, LinkConfig::pipeline(MpaDeframerConfig{}));
  Link<RxConsumed> consumed("consumed", clk, {});
  StreamBeat sent;
  auto source = feed<StreamBeat>("source", clk, [&, round = std::uint64_t{0}]() mutable {
    if (segments.at_end()) round += length;
    sent = *segments.next();
    sent.offset += round;
    sent.markers = true;
    return &sent;
  });
  auto sink = drain<FpduBeat>("sink", clk, End{});
  auto credit = drain<RxConsumed>("credit", clk);
  MpaDeframer block("block", clk, {}, {}, 1, frames);
  source.out(in);
  block.in(in);
  block.out(out);
  block.consumed(consumed);
  sink.in(out);
  credit.in(consumed);
  return measure_swapped_in<rtl::MpaDeframerPins>(
      block, [](auto& m, auto&& f) { f(m.place_i, m.head_row_i, m.head_marker_i); });
}

// Segments of RDMA Writes, each a message.
SwappedIn measure_ddp_placement() {
  ClockDomain clk("clk", {4000, 38});
  ContextStore contexts(clk, {2, 2, 1, 2});
  test::open_qp(contexts, 1, test::rts_qp(1));
  contexts.write(Stag{test::stag_of(1)}, test::region(0x100000, 0x10000, abi::kRemoteWrite));
  contexts.commit();
  BufferPool pool(2048);
  Prng rng(1);
  Loop<FpduBeat> fpdus;
  for (std::uint64_t i = 0; i < 8; ++i) {
    wire::DdpTaggedHeader header;
    header.rdmap = wire::RdmapControl::pack(wire::Opcode::kWrite, 1);
    header.stag = test::stag_of(1);
    header.to = 0x100000 + 0x1000 * i;
    Bytes ulpdu = test::random_bytes(rng, kUlpduBytes);
    header.emit({ulpdu.data(), wire::DdpTaggedHeader::kBytes});
    test::MpaReference plain;
    auto beats = test::cut_fpdu(pool, plain.fpdu(ulpdu), kBeatBytes, false, 0, FlowId{1});
    beats.back().crc_ok = true;
    fpdus.add(beats);
  }
  Link<FpduBeat> in("in", clk, {8, 1, 1});
  Link<FpduBeat> sctp_in("sctp_in", clk, {});
  Link<RqDoorbell> posted("posted", clk, {});
  Link<FetchedRqe> rqe("rqe", clk, {});
  Link<SrqArm> srq_arm("srq_arm", clk, {});
  Link<ReadIssued> read_issued("read_issued", clk, {});
  Link<ReadResponseSent> answered("answered", clk, {});
  Link<RqFlush> flush("flush", clk, {});
  Link<DmaWriteRequest> dma("dma", clk, {4, 3, 1});
  Link<PlacedSegment> out("out", clk, {4, 1, 1});
  Link<QpEvent> event("event", clk, {});
  Link<RqeTaken> rqe_taken("rqe_taken", clk, {});
  Link<SrqEvent> srq_event("srq_event", clk, {});
  auto source = feed<FpduBeat>("source", clk, Next{fpdus});
  auto writes = drain<DmaWriteRequest>("writes", clk);
  auto placed = drain<PlacedSegment>("placed", clk, [](const PlacedSegment& s) { RNIC_CHECK(!s.flushed); });
  auto errors =
      drain<QpEvent>("errors", clk, [](const QpEvent& e) { RNIC_CHECK(e.kind == QpEvent::Kind::kFirstFpdu); });
  DdpPlacement block("block", clk, contexts, test::llp_traits());
  source.out(in);
  block.in[LlpId::kMpaTcp](in);
  block.in[LlpId::kSctp](sctp_in);
  block.posted(posted);
  block.rqe(rqe);
  block.srq_arm(srq_arm);
  block.read_issued(read_issued);
  block.answered(answered);
  block.flush(flush);
  block.dma(dma);
  block.out(out);
  block.event(event);
  block.rqe_taken(rqe_taken);
  block.srq_event(srq_event);
  writes.in(dma);
  placed.in(out);
  errors.in(event);
  return measure_swapped_in<rtl::DdpPlacementPins>(
      block,
      [](auto& m, auto&& f) {
        f(m.in_offset_i, m.sctp_in_offset_i, m.overrun_i, m.unused_valid_i, m.unused_i, m.one_port_i, m.posted_epoch_i,
          m.event_row_ready_i, m.event_row_valid_i, m.event_row_tag_i, m.event_row_i, m.mpa_row_ready_i,
          m.mpa_row_valid_i, m.mpa_row_ok_i, m.mpa_row_i, m.mpa_oldest_i, m.sctp_row_ready_i, m.sctp_row_valid_i,
          m.sctp_row_ok_i, m.sctp_row_i, m.sctp_oldest_i, m.rq_next_i, m.rq_front_i, m.mpa_peek_there_i, m.mpa_peek_i,
          m.mpa_stag_ready_i, m.mpa_stag_valid_i, m.mpa_stag_i, m.mpa_region_ready_i, m.mpa_region_valid_i,
          m.mpa_region_row_i, m.mpa_region_i, m.mpa_scatter_ready_i, m.mpa_scatter_valid_i, m.mpa_scatter_i,
          m.sctp_peek_there_i, m.sctp_peek_i, m.sctp_stag_ready_i, m.sctp_stag_valid_i, m.sctp_stag_i,
          m.sctp_region_ready_i, m.sctp_region_valid_i, m.sctp_region_row_i, m.sctp_region_i, m.sctp_scatter_ready_i,
          m.sctp_scatter_valid_i, m.sctp_scatter_i, m.freed_valid_i, m.freed_i, m.shared_event_valid_i,
          m.shared_event_i);
      },
      contexts);
}

}  // namespace rnic::perf
