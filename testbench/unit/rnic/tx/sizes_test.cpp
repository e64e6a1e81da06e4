// The stages of MPA's transmit side, each alone, with the sizes and at the paces of the whole datapath.
#include "testbench/support/sizes.h"

#include <tuple>

#include "testbench/support/mpa_tx_chain.h"

namespace rnic::test {
namespace {

constexpr FlowId kPlain{0}, kMarked{1};

class TransmitSizes : public StageTest, public testing::WithParamInterface<std::tuple<unsigned, Traffic>> {
 protected:
  const unsigned beat_bytes = std::get<0>(GetParam());
  const Traffic traffic = std::get<1>(GetParam());
  const DatapathConfig datapath{beat_bytes};
  BufferPool pool{kFrameHeadroom + wire::marked_fpdu_bytes(0, kLargestUlpdu)}, marked{pool.block_bytes()};
  std::vector<Bytes> ulpdus;

  TransmitSizes() {
    for (const std::size_t n : sizes_of_each_marker_phase()) ulpdus.push_back(counting(n, 1));
    for (const std::size_t n : sizes(beat_bytes)) ulpdus.push_back(counting(n, 2));
  }
  template <class In>
  void run(Source<In>& source, Sink<FpduBeat>& sink, const std::vector<Bytes>& expected) {
    source.pause(traffic.produce);
    sink.pause(traffic.consume);
    run_until_idle();
    const std::vector<SentFpdu> fpdus = collect_fpdus(sink.messages(), beat_bytes);
    ASSERT_EQ(fpdus.size(), expected.size());
    for (std::size_t i = 0; i < fpdus.size(); ++i) ASSERT_EQ(fpdus[i].wire, expected[i]) << "FPDU " << i;
    EXPECT_EQ(pool.in_use() + marked.in_use(), 0u);
  }
};

TEST_P(TransmitSizes, MpaFramer) {
  MpaFramer dut("mpa_framer", clk, datapath);
  Source<Ulpdu> source = drive(dut.in);
  Sink<FpduBeat> sink = collect(dut.out, LinkConfig::pipeline(MpaFramerConfig{}));
  std::vector<Bytes> expected;
  MpaReference reference{false, false};
  for (const Bytes& ulpdu : ulpdus) {
    source.send(make_ulpdu(pool, ulpdu, kPlain));
    expected.push_back(reference.fpdu(ulpdu));
  }
  run(source, sink, expected);
}

TEST_P(TransmitSizes, MarkerInserter) {
  MarkerInserter dut("marker_inserter", clk, datapath, marked);
  Source<FpduBeat> source = drive(dut.in);
  Sink<FpduBeat> sink = collect(dut.out, LinkConfig::pipeline(MarkerInserterConfig{}));
  std::vector<Bytes> expected;
  MpaReference framed{false, false}, reference{true, false};
  SentStream stream{true, false};
  for (const Bytes& ulpdu : ulpdus) {
    std::vector<FpduBeat> beats = cut_fpdu(pool, framed.fpdu(ulpdu), beat_bytes, false, 0, kMarked);
    Ulpdu placed;
    placed.bytes = static_cast<std::uint16_t>(ulpdu.size());
    stream.place(placed);
    beats.front().set_start(placed);
    source.send(beats);
    expected.push_back(reference.fpdu(ulpdu));
  }
  run(source, sink, expected);
}

TEST_P(TransmitSizes, CrcInsert) {
  CrcInsert dut("crc_insert", clk);
  Source<FpduBeat> source = drive(dut.in);
  Sink<FpduBeat> sink = collect(dut.out, LinkConfig::pipeline(CrcInsertConfig{}));
  std::vector<Bytes> expected;
  MpaReference without{true, false}, reference{true, true};
  for (const Bytes& ulpdu : ulpdus) {
    source.send(cut_fpdu(pool, without.fpdu(ulpdu), beat_bytes, false, 0, kMarked));
    expected.push_back(reference.fpdu(ulpdu));
  }
  run(source, sink, expected);
}

INSTANTIATE_TEST_SUITE_P(Datapath, TransmitSizes, testing::Combine(testing::Values(16u, 64u, 128u), kTraffics),
                         width_and_traffic);

}  // namespace
}  // namespace rnic::test
