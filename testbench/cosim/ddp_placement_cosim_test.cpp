// ddp_placement against its twin: each with contexts, buffers and neighbours of its own.
#include <set>
#include <tuple>

#include "rtl-stubs/verilated/ddp_placement_pins.h"
#include "testbench/cosim/placement_traffic.h"

namespace rnic::test {
namespace {

namespace ddp = wire::ddp;
namespace rdma = wire::rdma;
namespace mpa = wire::mpa;

// Every error that the stage knows.
constexpr wire::TerminateCause kCauses[] = {mpa::kCrcMismatch,
                                            mpa::kMarkerMismatch,
                                            ddp::kTaggedInvalidVersion,
                                            ddp::kInvalidStag,
                                            ddp::kStagNotAssociated,
                                            ddp::kToWrap,
                                            ddp::kBaseOrBounds,
                                            ddp::kLocalCatastrophic,
                                            ddp::kUntaggedInvalidVersion,
                                            ddp::kInvalidQn,
                                            ddp::kInvalidMsnRange,
                                            ddp::kInvalidMsnNoBuffer,
                                            ddp::kInvalidMo,
                                            ddp::kMessageTooLong,
                                            rdma::kLocalCatastrophic,
                                            rdma::kInvalidVersion,
                                            rdma::kUnexpectedOpcode,
                                            rdma::kOperationUnspecified,
                                            rdma::kUnknownStagCannotBeInvalidated,
                                            rdma::kForeignStagCannotBeInvalidated};

class DdpPlacementCosim : public StageTest, public testing::WithParamInterface<Traffic> {
 protected:
  PlacementBench model{"model", clk, PlacementTraffic::sizes()};
  PlacementBench twin{"twin", clk, PlacementTraffic::sizes()};
  rtl::Twin<rtl::DdpPlacementPins> rtl{twin.block, twin.contexts};

  std::set<std::uint32_t> causes;
  std::set<wire::Opcode> opcodes;
  std::size_t pieces = 0, unused = 0, absorbed = 0, malformed = 0, shared = 0;

  // Everything both have given in this round, which is then forgotten.
  void compare() {
    ASSERT_NO_FATAL_FAILURE(expect_same(model.dma, twin.dma));
    ASSERT_NO_FATAL_FAILURE(expect_same(model.placed, twin.placed));
    ASSERT_NO_FATAL_FAILURE(expect_same(model.events, twin.events));
    ASSERT_NO_FATAL_FAILURE(expect_same(model.taken, twin.taken));
    ASSERT_NO_FATAL_FAILURE(expect_same(model.srq_events, twin.srq_events));
    for (std::size_t i = 0; i < model.dma.beats().size(); ++i) {
      ASSERT_EQ(octets(model.dma.beats()[i]), octets(twin.dma.beats()[i]));
    }
    for (const QpEvent& e : model.events.beats()) causes.insert(wire::terminate_word(e.cause));
    for (const PlacedSegment& s : model.placed.beats()) {
      if (!s.flushed) opcodes.insert(s.opcode);
      unused += s.flushed;
      absorbed += s.absorbed;
      malformed += s.malformed;
    }
    pieces += model.dma.beats().size();
    shared += model.srq_events.beats().size();
    model.clear();
    twin.clear();
    ASSERT_EQ(model.pool.in_use(), 0u);
    ASSERT_EQ(twin.pool.in_use(), 0u);
  }
  static Bytes octets(const DmaWriteRequest& w) {
    const std::uint8_t* const from = w.src->bytes() + w.src_offset;
    return {from, from + w.bytes};
  }
};

TEST_P(DdpPlacementCosim, AgreesInEveryMessageAndEveryCycle) {
  Prng rng = seeded(20260110);
  PlacementTraffic traffic(rng);
  model.run_as(GetParam());
  twin.run_as(GetParam());
  for (unsigned round = 80 * rounds(40'000); round-- > 0;) {
    const PlacementRound next = traffic.round();
    model.play(next);
    twin.play(next);
    run_until_idle(1'000'000);
    ASSERT_NO_FATAL_FAILURE(compare()) << "round " << round;
  }
  EXPECT_EQ(model.block.errors().value(), twin.block.errors().value());
  EXPECT_EQ(model.contexts.in_flight.begun(), twin.contexts.in_flight.begun());
  for (const wire::TerminateCause& cause : kCauses) {
    EXPECT_EQ(causes.count(wire::terminate_word(cause)), 1u) << to_string(cause);
  }
  EXPECT_EQ(opcodes.size(), 12u);
  EXPECT_GT(pieces, 1'000u);
  EXPECT_GT(std::min({unused, absorbed, malformed, shared}), 0u);
}

INSTANTIATE_TEST_SUITE_P(Patterns, DdpPlacementCosim, kTraffics, traffic_name);

}  // namespace
}  // namespace rnic::test
