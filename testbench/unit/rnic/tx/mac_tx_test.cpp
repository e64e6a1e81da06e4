// The sending MAC: line rate, and the turns of the lower layers.
#include "model/rnic/tx/mac_tx.h"

#include "testbench/unit/rnic/llp/mac_frames.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

class MacTxTest : public StageTest {
 protected:
  MacTxTest() {
    cable.attach(0, dut.ethernet, near);
    cable.attach(1, peer.out, far);
  }
  BufferPool pool{2048};
  MacTx dut{"mac_tx", clk, MacTxConfig{}};
  Source<Frame> source = drive(dut.in[LlpId::kMpaTcp]);
  Source<Frame> sctp = drive(dut.in[LlpId::kSctp]);
  RawReceiver near{"near"}, far{"far"};
  RawSender peer{"peer"};
  EthernetLink cable{"cable", {}};
};

TEST_F(MacTxTest, FramesOccupyTheLineWithPreamblePaddingFcsAndGap) {
  source.send(
      {frame_to(pool, kMacB, 60), frame_to(pool, kMacB, 14), frame_to(pool, kMacB, 1514), frame_to(pool, kMacB, 1514)});
  run_until_idle();
  const std::uint64_t first = 4000 + 72 * 80 + 500'000;  // preamble starts at edge 1
  const std::uint64_t second = first + 84 * 80;          // 14 octets are padded to 60
  const std::uint64_t third = second + (12 + 8 + 1518) * 80;
  EXPECT_THAT(far.times(), ElementsAre(first, second, third, third + 1538 * 80));
  EXPECT_THAT(near.times(), ElementsAre());
}

TEST_F(MacTxTest, TcpAndSctpTakeTurnsByFrame) {
  for (int i = 0; i < 3; ++i) source.send(frame_to(pool, kMacB, 60));
  for (int i = 0; i < 2; ++i) sctp.send(frame_to(pool, kMacB, 1514));
  run_until_idle();
  const std::uint64_t first = 4000 + 72 * 80 + 500'000, of_sctp = 1538 * 80, of_tcp = 84 * 80;
  const std::uint64_t second = first + of_sctp, third = second + of_tcp;
  EXPECT_THAT(far.times(), ElementsAre(first, second, third, third + of_sctp, third + of_sctp + of_tcp));
}
TEST_F(MacTxTest, OneAloneHasTheWholeLine) {
  for (int i = 0; i < 3; ++i) sctp.send(frame_to(pool, kMacB, 60));
  run_until_idle();
  const std::uint64_t first = 4000 + 72 * 80 + 500'000;
  EXPECT_THAT(far.times(), ElementsAre(first, first + 84 * 80, first + 2 * 84 * 80));
}

TEST_F(MacTxTest, AnIdleLineStartsAtTheEdge) {
  source.pause(window(1, 100));
  source.send({frame_to(pool, kMacB, 60), frame_to(pool, kMacB, 60)});
  run_until_idle();
  EXPECT_THAT(far.times(), ElementsAre(1 * 4000 + 72 * 80 + 500'000, 101 * 4000 + 72 * 80 + 500'000));
}

}  // namespace
}  // namespace rnic::test
