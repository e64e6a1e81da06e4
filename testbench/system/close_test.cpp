// Two hosts that close while the other one sends: a Send that has completed at one end has arrived at the other,
// whichever side closes, and whenever.
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

using testing::Each;
using testing::ElementsAre;

class CloseTest : public TwoNodeBench {
 protected:
  static constexpr std::size_t kStreams = 40;
  static constexpr std::uint64_t kStartPs = 2'000'000'000, kApartPs = 40'000'000, kStepPs = 100'000;
  static constexpr unsigned kSends = 6, kReceives = 8;
  static constexpr std::uint32_t kSendBytes = 1000;

  CloseTest() {
    for (End* end : {&server, &client}) {
      for (std::size_t n = 0; n < kStreams; ++n) end->create(64);
      end->run([=] {
        for (std::size_t n = 0; n < kStreams; ++n) end->post_receives(n, 100, kReceives);
      });
    }
    connect(kStreams);
  }
  // Stream n has its own time.
  static void at(End& end, std::size_t n, std::uint64_t later_ps, std::function<void()> step) {
    const std::uint64_t ps = kStartPs + n * kApartPs + later_ps;
    end.then([&end, ps, step] {
      if (end.core.time_ps() < ps) return end.core.wake_at(ps), false;
      return step(), true;
    });
  }
  static void send(End& end, std::size_t n) {
    for (unsigned i = 0; i < kSends; ++i) {
      EXPECT_EQ(end.streams[n].qp->post_send(end.request(i, abi::WrOpcode::kSend, 0, kSendBytes)), 0);
    }
  }
  static void disconnect(End& end, std::size_t n) { end.node.context.disconnect(*end.streams[n].qp); }
  static std::size_t count(const End& end, std::size_t n, bool receives) {
    std::size_t count = 0;
    for (const std::uint64_t id : end.streams[n].succeeded()) count += (id >= 100) == receives;
    return count;
  }
  void finish() {
    for (End* end : {&server, &client}) {
      end->then([=] {
        for (const End::Stream& s : end->streams) {
          if (!s.ended()) return false;
        }
        return true;
      });
    }
    run();
    for (std::size_t n = 0; n < kStreams; ++n) {
      SCOPED_TRACE("stream " + std::to_string(n));
      for (const End* end : {&server, &client}) {
        EXPECT_THAT(end->streams[n].event_types(),
                    ElementsAre(host::CmEventType::kEstablished, host::CmEventType::kDisconnected));
      }
      EXPECT_EQ(count(server, n, false), count(client, n, true));
      EXPECT_EQ(count(client, n, false), count(server, n, true));
    }
  }
};

TEST_F(CloseTest, WhileTheOtherOneSends) {
  for (std::size_t n = 0; n < kStreams; ++n) {
    at(client, n, 0, [=] { send(client, n); });
    at(server, n, n * kStepPs, [=] { disconnect(server, n); });
  }
  finish();
  for (std::size_t n = 0; n < kStreams; ++n) EXPECT_EQ(count(server, n, true), kSends) << n;
}

TEST_F(CloseTest, BehindItsOwnSends) {
  for (std::size_t n = 0; n < kStreams; ++n) {
    at(client, n, 0, [=] {
      send(client, n);
      disconnect(client, n);
    });
    at(server, n, n * kStepPs, [=] { send(server, n); });
  }
  finish();
  for (std::size_t n = 0; n < kStreams; ++n) EXPECT_EQ(count(server, n, true), kSends) << n;
}

TEST_F(CloseTest, AtTheSameTime) {
  for (std::size_t n = 0; n < kStreams; ++n) {
    at(client, n, 0, [=] {
      send(client, n);
      disconnect(client, n);
    });
    at(server, n, n * kStepPs, [=] {
      send(server, n);
      disconnect(server, n);
    });
  }
  finish();
}

}  // namespace
}  // namespace rnic::test
