// mpa_framer, marker_inserter and crc_insert.
#include "model/rnic/tx/crc_insert.h"
#include "model/rnic/tx/marker_inserter.h"
#include "model/rnic/tx/mpa_framer.h"
#include "rtl-stubs/verilated/verilated_crc.h"
#include "rtl-stubs/verilated/verilated_marker_inserter.h"
#include "rtl-stubs/verilated/verilated_mpa_framer.h"
#include "testbench/cosim/boards.h"
#include "testbench/cosim/stream_cosim.h"
#include "testbench/support/mpa_tx_chain.h"

namespace rnic::test {
namespace {

constexpr unsigned kFlows = 8, kBeatBytes = sizeof(Vcrc_insert::in_data_i);

// Odd flows have markers; the first two of every four have CRC.
constexpr bool has_markers(unsigned flow) { return flow % 2 != 0; }
constexpr bool has_crc(unsigned flow) { return flow / 2 % 2 == 0; }

Ulpdu placed(Ulpdu ulpdu, wire::StreamPosition position) {
  ulpdu.markers = has_markers(ulpdu.flow.v);
  ulpdu.crc = has_crc(ulpdu.flow.v);
  ulpdu.position = static_cast<std::uint16_t>(position % wire::kMarkerInterval);
  return ulpdu;
}

// The flows in random order.
class SentUlpdus {
 public:
  FpdusUnderWay under_way;
  SentUlpdus() {
    for (unsigned i = 0; i < kFlows; ++i) flows_[i].markers = has_markers(i);
  }

 protected:
  struct Sent {
    FlowId flow;
    Bytes ulpdu;
    bool completes;
    wire::StreamPosition position;
  };
  Sent next(Prng& rng) {
    const FlowId id{static_cast<std::uint32_t>(rng.below(kFlows))};
    FlowEnd& flow = flows_[id.v];
    const std::size_t bytes = random_ulpdu_bytes(rng, flow, kBeatBytes);
    const wire::StreamPosition position = flow.position;
    under_way.sent(id, position);
    flow.append(bytes);
    return {id, random_octets(rng, bytes), rng.below(2) != 0, position};
  }

 private:
  std::array<FlowEnd, kFlows> flows_;
};

struct FramerSide : Chain<MpaFramer, Ulpdu, rtl::MpaFramerPins> {
  static constexpr const char* kBlock = "mpa_framer";
  FramerSide(const std::string& name, ClockDomain& clk)
      : Chain(name, clk, LinkConfig::pipeline(MpaFramerConfig{}), DatapathConfig{kBeatBytes}) {}
  void attach_twin() { rtl.emplace(block); }
};
struct UlpduSource : SentUlpdus {
  std::size_t send(Prng& rng, Cycle from, const std::vector<FramerSide*>& sides) {
    const Sent sent = next(rng);
    for (FramerSide* side : sides) {
      side->source.send_at(from, placed(make_ulpdu(side->pool, sent.ulpdu, sent.flow, sent.completes), sent.position));
    }
    return (wire::fpdu_bytes(sent.ulpdu.size()) + kBeatBytes - 1) / kBeatBytes;
  }
};
using FramerCosim = StreamCosim<FramerSide, UlpduSource>;
TEST_P(FramerCosim, AgreesInEveryBeatAndEveryCycle) { agree(20260102); }
TEST_P(FramerCosim, BehavesAsNewAfterAResetAmidAnFpdu) { agree_after_resets(20260112); }
INSTANTIATE_TEST_SUITE_P(Patterns, FramerCosim, kTraffics, traffic_name);

using FramerBoard = FramerCosim;
TEST_P(FramerBoard, IsRight) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge_by_board(kBeatBytes);
  agree(20260122);
  expect_right();
}
TEST_P(FramerBoard, IsRightAfterResetsAmidAnFpdu) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge_by_board(kBeatBytes);
  agree_after_resets(20260132);
  expect_right();
}
INSTANTIATE_TEST_SUITE_P(Once, FramerBoard, kBoth, traffic_name);

// An FPDU in the framer's output form.
std::vector<FpduBeat> framed(BufferPool& pool, const Bytes& ulpdu, FlowId flow, bool completes,
                             wire::StreamPosition position) {
  MpaReference plain;
  plain.crc = false;
  auto beats = cut_fpdu(pool, plain.fpdu(ulpdu), kBeatBytes, false, 0, flow);
  for (FpduBeat& b : beats) b.crc_on = has_crc(flow.v);
  beats.back().completes_wqe = completes;
  Ulpdu start;
  start.flow = flow;
  beats.front().set_start(placed(start, position));
  return beats;
}
template <class Side>
struct FramedSource : SentUlpdus {
  std::size_t send(Prng& rng, Cycle from, const std::vector<Side*>& sides) {
    const Sent sent = next(rng);
    std::size_t count = 0;
    for (Side* side : sides) {
      const auto beats = framed(side->pool, sent.ulpdu, sent.flow, sent.completes, sent.position);
      side->source.send_at(from, beats);
      count = beats.size();
    }
    return count;
  }
};

struct InserterSide : Chain<MarkerInserter, FpduBeat, rtl::MarkerInserterPins> {
  static constexpr const char* kBlock = "marker_inserter";
  BufferPool marked{pool.block_bytes()};
  InserterSide(const std::string& name, ClockDomain& clk)
      : Chain(name, clk, LinkConfig::pipeline(MarkerInserterConfig{}), DatapathConfig{kBeatBytes}, marked) {}
  void attach_twin() { rtl.emplace(block, marked); }
};
struct InserterCosim : StreamCosim<InserterSide, FramedSource<InserterSide>> {
  void compare() override {
    StreamCosim::compare();
    EXPECT_EQ(model.block.counters().markers, twin.block.counters().markers);
    EXPECT_EQ(model.pool.in_use() + model.marked.in_use(), 0u);
    EXPECT_EQ(twin.pool.in_use() + twin.marked.in_use(), 0u);
  }
};
TEST_P(InserterCosim, AgreesInEveryBeatAndEveryCycle) {
  agree(20260103);
  EXPECT_GT(model.block.counters().markers, 100u);
}
TEST_P(InserterCosim, BehavesAsNewAfterAResetAmidAnFpdu) { agree_after_resets(20260113); }
INSTANTIATE_TEST_SUITE_P(Patterns, InserterCosim, kTraffics, traffic_name);

using InserterBoard = InserterCosim;
TEST_P(InserterBoard, IsRight) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge_by_board(kBeatBytes);
  agree(20260123);
  expect_right();
}
TEST_P(InserterBoard, IsRightAfterResetsAmidAnFpdu) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge_by_board(kBeatBytes);
  agree_after_resets(20260133);
  expect_right();
}
INSTANTIATE_TEST_SUITE_P(Once, InserterBoard, kBoth, traffic_name);

struct CrcInsertSide : Chain<CrcInsert, FpduBeat, rtl::CrcInsertPins> {
  static constexpr const char* kBlock = "crc_insert";
  CrcInsertSide(const std::string& name, ClockDomain& clk)
      : Chain(name, clk, LinkConfig::pipeline(CrcInsertConfig{})) {}
  void attach_twin() { rtl.emplace(block); }
};
using CrcInsertCosim = StreamCosim<CrcInsertSide, FramedSource<CrcInsertSide>>;
TEST_P(CrcInsertCosim, AgreesInEveryBeatAndEveryCycle) { agree(20260104); }
TEST_P(CrcInsertCosim, BehavesAsNewAfterAResetAmidAnFpdu) { agree_after_resets(20260114); }
INSTANTIATE_TEST_SUITE_P(Patterns, CrcInsertCosim, kTraffics, traffic_name);

using CrcInsertBoard = CrcInsertCosim;
TEST_P(CrcInsertBoard, IsRight) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge_by_board(kBeatBytes);
  agree(20260124);
  expect_right();
}
TEST_P(CrcInsertBoard, IsRightAfterResetsAmidAnFpdu) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge_by_board(kBeatBytes);
  agree_after_resets(20260134);
  expect_right();
}
INSTANTIATE_TEST_SUITE_P(Once, CrcInsertBoard, kBoth, traffic_name);

}  // namespace
}  // namespace rnic::test
