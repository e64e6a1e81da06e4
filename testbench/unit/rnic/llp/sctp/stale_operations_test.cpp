// Operations of the firmware that belong to an association that has ended: while they are on their way, it restarts, is
// aborted, or is replaced by another one. At every distance between the two.
#include "testbench/unit/rnic/llp/sctp/sctp_chip.h"

namespace rnic::test {
namespace {

constexpr Cycle kDistances = 301;
constexpr std::uint16_t kStreams = 16;

// Arrivals on streams 1 to 15 just before their association ends; each gives the firmware something to do.
enum class What { kStrays, kForeignPpids, kInitiates, kTerminatesBehindInitiates };

class StaleOperations : public SctpChipTest, public testing::WithParamInterface<What> {
 protected:
  void upset(Peer& p, Cycle at) {
    const What what = GetParam();
    Bytes chunks;
    const auto add = [&](const Bytes& c) { chunks.insert(chunks.end(), c.begin(), c.end()); };
    for (std::uint16_t s = 1; s < kStreams; ++s) {
      if (what == What::kStrays) {
        add(data(p, s, 5, kSegment, {0x40, 0, 0, 0}));
      } else if (what == What::kForeignPpids) {
        add(data(p, s, 0, 99, {1, 2}));
      } else {
        add(data(p, s, 0, kSession, {0, 1}));
        if (what == What::kTerminatesBehindInitiates) add(data(p, s, 1, kSession, {0, 4}));
      }
    }
    send(p.port, p.chip_tag, chunks, at);
  }
  // Each stream is as in a new association: an Initiate reaches the host, whose answer is the first message sent; then
  // one Terminate answers a chunk that fits nowhere.
  void expect_untouched(Peer& p, const std::string& where) {
    const std::vector<Bytes> rejection = {Bytes{0, 0, 0, 3}}, termination = {Bytes{0, 0, 0, 4}};
    EXPECT_TRUE(take_data(p).empty()) << where << ": sent by an association that is over";
    chip->host.heard.clear();
    for (std::uint16_t s = 0; s < kStreams; ++s) send_data(p, s, 0, kSession, {0, 1});
    advance(9000);
    EXPECT_EQ(chip->host.count(abi::EventType::kConnectRequest), kStreams) << where;
    auto answers = take_data(p);
    for (std::uint16_t s = 0; s < kStreams; ++s) {
      EXPECT_EQ(answers[s], rejection) << where << ", stream " << s;
    }
    advance(6000);  // the streams are returned
    for (std::uint16_t s = 0; s < kStreams; ++s) send_data(p, s, 0, 99, {1, 2});
    advance(9000);
    answers = take_data(p);
    for (std::uint16_t s = 0; s < kStreams; ++s) {
      EXPECT_EQ(answers[s], termination) << where << ", stream " << s;
    }
    advance(6000);
    EXPECT_FALSE(chip->cpu.fault()) << where;
  }
};

INSTANTIATE_TEST_SUITE_P(Behind, StaleOperations,
                         testing::Values(What::kStrays, What::kForeignPpids, What::kInitiates,
                                         What::kTerminatesBehindInitiates));

TEST_P(StaleOperations, DoNotComeIntoAnAssociationThatThePeerBeganAnew) {
  build();
  listen();
  std::uint32_t tag = 0x1000;
  for (Cycle d = 0; d < kDistances && !HasFailure(); ++d) {
    Peer first = associate(6000, ++tag);
    Peer again = ask(6000, ++tag);
    const Cycle at = now() + 10;
    upset(first, at);
    echo(again, at + d);
    advance(14000);
    expect_untouched(again, "restart " + std::to_string(d) + " cycles behind");
    send_abort(again);
    advance(6000);
  }
  EXPECT_EQ(chip->association.counters().restarted, kDistances);
}

TEST_P(StaleOperations, DoNotComeIntoTheAssociationThatTakesThePlace) {
  config.max_associations = 1;
  build();
  listen();
  std::uint32_t tag = 0x1000;
  for (Cycle d = 0; d < kDistances && !HasFailure(); ++d) {
    Peer first = ask(6000, ++tag), other = ask(6001, ++tag);
    echo(first);
    advance(300);
    const Cycle at = now() + 10;
    upset(first, at);
    send_abort(first, at + d);
    echo(other, at + d);
    advance(14000);
    expect_untouched(other, "abort " + std::to_string(d) + " cycles behind");
    send_abort(other);
    advance(6000);
  }
  EXPECT_EQ(chip->association.counters().accepted, 2 * kDistances);
}

}  // namespace
}  // namespace rnic::test
