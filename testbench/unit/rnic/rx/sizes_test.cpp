// The stages that receive FPDUs, each alone, with the sizes and at the paces of the whole datapath.
#include "testbench/support/sizes.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "model/rnic/rx/crc_check.h"
#include "model/rnic/rx/ddp_placement.h"
#include "model/rnic/rx/early_placement.h"
#include "model/rnic/rx/mpa_deframer.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"
#include "testbench/support/llps.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/stream_segments.h"

namespace rnic::test {
namespace {

constexpr FlowId kMarked{1};
constexpr std::size_t kBlockBytes = kFrameHeadroom + wire::marked_fpdu_bytes(0, kLargestUlpdu);

class ReceiveSizes : public StageTest, public testing::WithParamInterface<std::tuple<unsigned, Traffic>> {
 protected:
  const unsigned beat_bytes = std::get<0>(GetParam());
  const Traffic traffic = std::get<1>(GetParam());
  BufferPool pool{kBlockBytes};
  std::vector<Bytes> fpdus;  // of one stream with markers

  ReceiveSizes() {
    MpaReference reference{true, true};
    for (const std::size_t n : sizes_of_each_marker_phase()) fpdus.push_back(reference.fpdu(counting(n, 1)));
    for (const std::size_t n : sizes(beat_bytes)) fpdus.push_back(reference.fpdu(counting(n, 2)));
  }
  template <class In>
  std::vector<ReceivedFpdu> run(Source<In>& source, Sink<FpduBeat>& sink) {
    source.pause(traffic.produce);
    sink.pause(traffic.consume);
    run_until_idle();
    std::vector<ReceivedFpdu> received = receive_fpdus(sink.messages(), beat_bytes);
    EXPECT_EQ(received.size(), fpdus.size());
    for (std::size_t i = 0; i < std::min(received.size(), fpdus.size()); ++i) {
      EXPECT_EQ(received[i].wire, fpdus[i]) << "FPDU " << i;
    }
    EXPECT_EQ(pool.in_use(), 0u);
    return received;
  }
};

TEST_P(ReceiveSizes, MpaDeframer) {
  MpaDeframer dut("mpa_deframer", clk, {}, DatapathConfig{beat_bytes}, 2, pool);
  Source<StreamBeat> source = drive(dut.in, [](StreamBeat& beat) { beat.markers = true; });
  Sink<FpduBeat> sink = collect(dut.out, LinkConfig::pipeline(MpaDeframerConfig{}));
  const Stubs others = stub(dut.consumed);
  const Bytes stream = joined(fpdus);
  for (std::size_t at = 0; at < stream.size(); at += 1460) {
    source.send(cut_segment(pool, ByteSpan(stream).subspan(at, 1460), at, beat_bytes, kMarked));
  }
  for (const ReceivedFpdu& fpdu : run(source, sink)) EXPECT_TRUE(fpdu.marker_ok);
}

TEST_P(ReceiveSizes, CrcCheck) {
  CrcCheck dut("crc_check", clk);
  Source<FpduBeat> source = drive(dut.in);
  Sink<FpduBeat> sink = collect(dut.out, LinkConfig::pipeline(CrcCheckConfig{}));
  std::uint64_t position = 0;
  for (const Bytes& fpdu : fpdus) {
    source.send(cut_fpdu(pool, fpdu, beat_bytes, true, position, kMarked));
    position += fpdu.size();
  }
  for (const ReceivedFpdu& fpdu : run(source, sink)) EXPECT_TRUE(fpdu.crc_ok);
}

INSTANTIATE_TEST_SUITE_P(Datapath, ReceiveSizes, testing::Combine(testing::Values(16u, 64u, 128u), kTraffics),
                         width_and_traffic);

// RDMA Writes of each size, one after the other in a region.
class PlacementSizes : public StageTest, public testing::WithParamInterface<Traffic> {
 protected:
  static constexpr std::uint64_t kBase = 0x1000;
  static constexpr unsigned kBeatBytes = 64;
  ContextStore contexts{clk, {2, 2, 2, 16, 1, 16}};
  BufferPool pool{kBlockBytes};
  Bytes memory = Bytes(1 << 20), expected = memory;
  std::uint64_t end = kBase;

  PlacementSizes() {
    open_qp(contexts, 1, rts_qp(1));
    contexts.write(Stag{stag_of(3)}, region(kBase, 0x40000, abi::kLocalWrite | abi::kRemoteWrite));
    contexts.commit();
  }
  Bytes write(std::size_t payload_bytes) {
    constexpr std::size_t kHeader = wire::DdpTaggedHeader::kBytes;
    Bytes ulpdu = from_hex("C140 00000000 0000000000000000");
    store_be32(&ulpdu[2], stag_of(3));
    store_be64(&ulpdu[6], end);
    const Bytes payload = counting(payload_bytes, static_cast<std::uint8_t>(1 + payload_bytes));
    ulpdu.insert(ulpdu.end(), payload.begin(), payload.end());
    std::copy(payload.begin(), payload.end(), expected.begin() + static_cast<std::ptrdiff_t>(end));
    end += ulpdu.size() - kHeader;
    return ulpdu;
  }
};

TEST_P(PlacementSizes, DdpPlacement) {
  DdpPlacement dut("ddp_placement", clk, contexts, llp_traits());
  Source<FpduBeat> wire = drive(dut.in[LlpId::kMpaTcp], CurrentUse(contexts));
  Sink<DmaWriteRequest> writes = collect(dut.dma);
  Sink<PlacedSegment> placed = collect(dut.out);
  Sink<QpEvent> errors = collect(dut.event);
  const Stubs others = stub(dut.in[LlpId::kSctp], dut.posted, dut.rqe, dut.srq_arm, dut.read_issued, dut.answered,
                            dut.flush, dut.rqe_taken, dut.srq_event);
  wire.pause(GetParam().produce);
  writes.pause(GetParam().consume);
  placed.pause(GetParam().consume);
  MpaReference reference;
  const std::vector<std::size_t> all = sizes(kBeatBytes, kLargestUlpdu - wire::DdpTaggedHeader::kBytes);
  for (const std::size_t n : all) {
    auto beats = cut_fpdu(pool, reference.fpdu(write(n)), kBeatBytes, false, 0, FlowId{1});
    beats.back().crc_ok = true;
    wire.send(beats);
  }
  run_until_idle();
  for (const DmaWriteRequest& w : writes) std::memcpy(&memory[w.address], w.src->bytes() + w.src_offset, w.bytes);
  EXPECT_EQ(memory, expected);
  EXPECT_EQ(placed.size(), all.size());
  EXPECT_TRUE(errors.empty());
}

// Each FPDU is its own segment, after a gap, and begins with a marker.
TEST_P(PlacementSizes, EarlyPlacement) {
  EarlyPlacement dut("early_placement", clk, {}, contexts, pool, llp_traits());
  Source<StreamBeat> segments = drive(dut.in[LlpId::kMpaTcp], [](StreamBeat& beat) {
    beat.set({Qpn{1}, 1, true, true});
  });
  Sink<EarlyPlaced> told = collect(dut.out[LlpId::kMpaTcp]);
  const Stubs others = stub(dut.read_issued, dut.read_over, dut.in[LlpId::kSctp], dut.out[LlpId::kSctp]);
  FakeDmaWrite engine(dut.dma, dut.written, memory);
  segments.pause(GetParam().produce);
  engine.pause = GetParam().consume;
  told.pause(GetParam().consume);
  const std::vector<std::size_t> all = sizes(kBeatBytes, wire::mulpdu(1460, true) - wire::DdpTaggedHeader::kBytes);
  MpaReference reference{true, true, 4096};
  std::size_t sent = 0;
  for (const std::size_t n : all) {
    if (n > all.back()) continue;  // longer than a segment
    const std::uint64_t at = reference.pos = (reference.pos + 511) / 512 * 512;
    segments.send(cut_segment(pool, reference.fpdu(write(n)), at, kBeatBytes, kMarked));
    ++sent;
  }
  run_until_idle();
  EXPECT_EQ(memory, expected);
  EXPECT_EQ(dut.counters().fpdus, sent - 1);  // one has no payload
  told.clear();
  EXPECT_EQ(pool.in_use(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Datapath, PlacementSizes, kTraffics, traffic_name);

}  // namespace
}  // namespace rnic::test
