// Operations of the firmware for a connection that has ended, at every distance from the next one with the same flow
// number: while it is opened, in streaming mode, in RDMA mode, and after it.
#include <optional>

#include "testbench/unit/rnic/llp/tcp/tcp_chip.h"

namespace rnic::test {
namespace {

using Kind = TcpEvents;

enum class What { kSend, kRead, kSetLimits, kEnterRdma, kClose, kAbort };

class StaleTcpOperations : public TcpTest, public testing::WithParamInterface<What> {
 protected:
  static constexpr Cycle kEnd = 3000;  // of a connection, from its start
  StaleTcpOperations() : TcpTest(one_flow()) {
    b.firmware.listen(5000);
    b.firmware.on_event = [this](const LlpEvent& e) {
      if (e.kind() == Kind::kAccepted) b.firmware.read(e.flow(), 20);
      if (e.kind() == Kind::kStreamData) b.firmware.enter_rdma(e.flow());
    };
  }
  static TcpConfig one_flow() {
    TcpConfig c = small(1);
    c.max_flows = 1;
    return c;
  }
  LlpOp operation(FlowId flow, std::uint16_t life) {
    switch (GetParam()) {
      case What::kSend:
        return LlpOp(fw::TcpStreamSend{flow, {0, 20}, life}, pool.take());
      case What::kRead:
        return fw::TcpStreamRead{flow, {0, 20}, life};
      case What::kSetLimits:
        return fw::TcpSetLimits{flow, {1, abi::KeepAlive::kOn}, life};
      case What::kEnterRdma:
        return fw::TcpEnterRdma{flow, life};
      case What::kClose:
        return fw::TcpClose{flow, life};
      case What::kAbort:
        break;
    }
    return fw::TcpAbort{flow, life};
  }
  // What the wire and both firmwares see of two connections. The first is aborted, and the second gets its number. An
  // operation for the first comes `distance` cycles after the order to abort it.
  struct Story {
    std::vector<std::string> wire;
    std::vector<LlpEvent::Kind> of_a, of_b;
    std::size_t delivered = 0;
    bool operator==(const Story& o) const {
      return wire == o.wire && of_a == o.of_a && of_b == o.of_b && delivered == o.delivered;
    }
  };
  Story play(std::optional<Cycle> distance) {
    wire.seen.clear();
    a.firmware.events.clear();
    b.firmware.events.clear();
    const std::size_t before = b.deframer.beats.size();
    a.firmware.on_event = nullptr;
    a.firmware.open(kIpB, 5000, port_++);
    run_until_idle();
    const FlowId flow = a.firmware.events.back().flow();
    const std::uint16_t life = a.firmware.events.back().life();
    const Cycle at = clk.cycle_at_or_after(static_cast<std::uint64_t>(sc_core::sc_time_stamp().value())) + 10;
    a.firmware.on_event = [this](const LlpEvent& e) {
      if (e.kind() != Kind::kConnected) return;
      a.firmware.send(e.flow(), counting_bytes(20));
      a.firmware.enter_rdma(e.flow(), clk.now() + 200);
      a.segmenter.send(e.flow(), 2, 512, clk.now() + 400);
      a.firmware.abort(e.flow(), clk.now() + kEnd);
    };
    a.firmware.push(fw::TcpAbort{flow, life}, at);
    a.firmware.open(kIpB, 5000, port_++, at + 60);
    if (distance) a.firmware.push(operation(flow, life), at + 1 + *distance);
    run_until_idle();
    Story story{wire.texts(), a.firmware.kinds(), b.firmware.kinds(), 0};
    for (std::size_t i = before; i < b.deframer.beats.size(); ++i) story.delivered += b.deframer.beats[i].bytes;
    return story;
  }

 private:
  std::uint16_t port_ = 6000;
};

TEST_P(StaleTcpOperations, HaveNoEffectAtAnyDistance) {
  const Story expected = play({});
  EXPECT_EQ(expected.delivered, 1024u) << testing::PrintToString(expected.wire);
  EXPECT_EQ(expected.wire.back(), ">RA");
  std::uint64_t ignored = 0;
  for (Cycle d = 0; d < kEnd + 800 && !HasFailure(); d += d < 300 ? 1 : 17) {
    EXPECT_TRUE(play(d) == expected) << d << " cycles behind: " << testing::PrintToString(wire.texts());
    EXPECT_EQ(a.connection.counters().ops_ignored, ++ignored) << d;
  }
  expect_all_returned();
}

INSTANTIATE_TEST_SUITE_P(Kinds, StaleTcpOperations,
                         testing::Values(What::kSend, What::kRead, What::kSetLimits, What::kEnterRdma, What::kClose,
                                         What::kAbort));

}  // namespace
}  // namespace rnic::test
