#include "model/rnic/messages/datapath.h"
#include "model/rnic/terminate/terminate_generator.h"
#include "rtl-stubs/verilated/verilated_terminate_generator.h"
#include "testbench/cosim/boards.h"
#include "testbench/cosim/cosim.h"
#include "testbench/cosim/number_uses.h"
#include "testbench/support/contexts.h"

namespace rnic::test {
namespace {

constexpr unsigned kQps = 8;

struct TerminateEnds {
  BufferPool pool{1024};
  TerminateGenerator block;
  Source<QpEvent> stages = drive(block.in);
  Sink<TerminateMessage> segmenter = collect(block.out);
  Sink<QpEvent> firmware = collect(block.event);

  TerminateEnds(const std::string& name, ClockDomain& clk, const ContextStore& contexts, const TerminateConfig& cfg)
      : block(name.c_str(), clk, contexts, pool, cfg) {}
  void run_as(const Traffic& traffic) {
    stages.pause(traffic.produce);
    segmenter.pause(traffic.consume);
    firmware.pause(traffic.control);
  }
  Bytes octets(std::size_t i) const {
    const TerminateMessage& m = segmenter[i];
    const std::uint8_t* const at = m.buf->bytes() + Ulpdu::kOffset + wire::DdpUntaggedHeader::kBytes;
    return {at, at + m.bytes};
  }
  void clear() {
    segmenter.clear();
    firmware.clear();
  }
};

// Every layer and type, including undefined ones; headers of every kind, and a length of 0.
QpEvent random_error(Prng& rng, Qpn qpn) {
  constexpr wire::TerminateCause kForeign[] = {wire::ddp::kStagNotAssociated, wire::rdma::kStagNotAssociated};
  QpEvent e;
  e.kind = rng.below(2) == 0 ? QpEvent::Kind::kStreamError : QpEvent::Kind::kLocalError;
  e.qpn = qpn;
  e.cause = {static_cast<wire::Layer>(rng.below(4)), static_cast<std::uint8_t>(rng.below(4)),
             static_cast<std::uint8_t>(rng.below(16))};
  if (rng.below(4) == 0) e.cause = kForeign[rng.below(2)];
  e.failed.length = static_cast<std::uint16_t>(rng.below(8) == 0 ? 0 : rng.next());
  constexpr std::uint8_t kDdpBytes[] = {0, 14, 18};
  e.failed.ddp_bytes = kDdpBytes[rng.below(3)];
  e.failed.request_bytes = e.failed.ddp_bytes != 0 && rng.below(2) == 0 ? 28 : 0;
  for (std::uint8_t& octet : e.failed.octets) octet = static_cast<std::uint8_t>(rng.next());
  return e;
}

class TerminateGeneratorCosim : public StageTest, public testing::WithParamInterface<std::tuple<Traffic, bool>> {
 protected:
  const TerminateConfig cfg{std::get<1>(GetParam())};
  ContextStore contexts{clk, {kQps, kQps, 1, 1}};
  TerminateEnds model{"terminate_generator", clk, contexts, cfg}, twin{"twin", clk, contexts, cfg};
  rtl::Twin<rtl::TerminateGeneratorPins> rtl{twin.block, contexts, twin.pool, cfg};
  At firmware{"firmware", clk};
  Qpn any_qp(Prng& rng) const { return Qpn{static_cast<std::uint32_t>(rng.below(kQps))}; }
};
TEST_P(TerminateGeneratorCosim, AgreesInEveryMessageAndEveryCycle) {
  Prng rng = seeded(20260107);
  for (std::uint32_t n = 0; n < kQps; ++n) open_qp(contexts, n, rts_qp(n));
  model.run_as(std::get<0>(GetParam()));
  twin.run_as(std::get<0>(GetParam()));
  std::size_t terminates = 0;
  for (unsigned round = rounds(10'000); round-- > 0;) {
    const Cycle from = clk.now() + 1;
    for (int i = 0; i < 10'000; ++i) {
      const QpEvent error = random_error(rng, any_qp(rng));
      model.stages.send_at(from, error);
      twin.stages.send_at(from, error);
    }
    for (Cycle c = from; c < from + 10'000; c += 1 + rng.below(8)) {
      const Qpn qpn = any_qp(rng);
      QpContext context = rts_qp(qpn.v, static_cast<std::uint32_t>(c));
      context.valid = rng.below(16) != 0;
      firmware.at(c, [this, qpn, context] { contexts.write(qpn, context); });
    }
    run_until_idle();
    expect_same(model.segmenter, twin.segmenter);
    expect_same(model.firmware, twin.firmware);
    for (std::size_t i = 0; i < model.segmenter.size(); ++i) {
      expect_same("octets of message " + std::to_string(i), model.octets(i), twin.octets(i));
    }
    terminates += model.segmenter.size();
    model.clear();
    twin.clear();
  }
  EXPECT_GT(terminates, 200u);
  EXPECT_EQ(figures(model.block), figures(twin.block));
}
std::string traffic_and_draft(const testing::TestParamInfo<std::tuple<Traffic, bool>>& run) {
  return std::string(std::get<0>(run.param).name) + (std::get<1>(run.param) ? "_foreign_is_invalid" : "");
}
INSTANTIATE_TEST_SUITE_P(Patterns, TerminateGeneratorCosim, testing::Combine(kTraffics, testing::Bool()),
                         traffic_and_draft);

// By transaction, with queue pairs that end while their errors come.
using TerminateGeneratorBoard = TerminateGeneratorCosim;
TEST_P(TerminateGeneratorBoard, IsRight) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  Judge judge(twin.block, "terminate_generator", {64, &contexts, &cfg});
  Prng rng = seeded(20260127);
  twin.run_as(std::get<0>(GetParam()));
  constexpr Cycle kCycles = 100'000;
  const NumberUses uses(rng, kQps, kCycles);
  for (const NumberUses::Row& row : uses.rows()) {
    QpContext context = rts_qp(row.qpn.v, row.epoch);
    context.valid = row.valid;
    firmware.at(row.at, [this, qpn = row.qpn, context] { contexts.write(qpn, context); });
  }
  for (Cycle at = 1; at < kCycles; at += 1 + rng.below(16)) {
    const Qpn qpn = any_qp(rng);
    if (uses.at(qpn, at) == 0) continue;
    QpEvent error = random_error(rng, qpn);
    error.cause.layer = static_cast<wire::Layer>(rng.below(3));  // those that there are
    twin.stages.send_at(at, error);
  }
  run_until_idle();
  judge.expect_right(400);
}
INSTANTIATE_TEST_SUITE_P(Once, TerminateGeneratorBoard, testing::Combine(kBoth, testing::Bool()), traffic_and_draft);

}  // namespace
}  // namespace rnic::test
