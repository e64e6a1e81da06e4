// Frames are lost on the cable: later data reaches memory before the lost data, and nothing else shows it.
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

constexpr std::uint32_t kMessage = 60'000;
constexpr std::uint8_t octet(std::uint32_t i) { return static_cast<std::uint8_t>(i % 251 + 1); }

struct Setting {
  bool early, crc, markers;
};
NodeConfig node(const Setting& s, unsigned reorder_bytes) {
  NodeConfig c;
  c.rnic.tcp.early_placement = s.early;
  c.rnic.tcp.reorder_bytes = reorder_bytes;
  c.rnic.fwcpu.receive_markers = s.markers;
  c.rnic.fwcpu.crc = s.crc;
  return c;
}
EthernetLinkConfig losing(const char* frames) {
  EthernetLinkConfig c;
  c.forward.loss.frames = frames;
  c.symmetric = true;
  return c;
}

// Observations of a program that watches its memory all the time.
struct Watcher {
  bool ahead = false;                      // an octet was in memory while an earlier one was missing
  std::uint64_t whole = 0, delivered = 0;  // ps

  void look(ByteSpan memory, std::uint64_t now, bool completed) {
    const auto there = [&](std::uint32_t i) { return memory[i] == octet(i); };
    std::uint32_t missing = 0;
    while (missing < kMessage && there(missing)) ++missing;
    if (missing == kMessage && whole == 0) whole = now;
    for (std::uint32_t i = missing; i < kMessage && !ahead; ++i) ahead = there(i);
    if (completed && delivered == 0) delivered = now;
  }
  static bool check(ByteSpan memory) {
    for (std::uint32_t i = 0; i < kMessage; ++i) {
      if (memory[i] != octet(i)) return false;
    }
    return true;
  }
};

class LostFrames : public TwoNodeBench {
 protected:
  LostFrames(const Setting& s, unsigned reorder_bytes = 512 * 1024)
      : TwoNodeBench(node(s, reorder_bytes), node(s, reorder_bytes), losing("20,31")) {
    for (End* end : {&server, &client}) {
      if (!s.crc) end->flags &= static_cast<std::uint8_t>(~abi::kCmCrc);
      end->create(32);
    }
    server.run([this] { server.post_receives(0, 1, 1); });
    connect(1);
  }
  static void watch(End& end, Watcher& w, std::size_t completions) {
    end.then([&end, &w, completions] {
      w.look(end.memory(0, kMessage), end.core.time_ps(), end.streams[0].completions.size() == completions);
      end.core.wake_at(end.core.time_ps() + 50'000);
      return w.delivered != 0;
    });
  }
  static void fill(End& end) {
    const MutableByteSpan m = end.memory(0, kMessage);
    for (std::uint32_t i = 0; i < kMessage; ++i) m[i] = octet(i);
  }
  // The client writes to the server, then announces it.
  Watcher write() {
    Watcher w;
    watch(server, w, 1);
    client.run([this] {
      fill(client);
      host::SendWr wr = client.request(1, abi::WrOpcode::kRdmaWrite, 0, kMessage);
      wr.remote_addr = server.address;
      wr.rkey = server.mr->rkey();
      EXPECT_EQ(client.streams[0].qp->post_send(wr), 0);
      EXPECT_EQ(client.streams[0].qp->post_send(client.request(2, abi::WrOpcode::kSend, kMessage, 0)), 0);
    });
    client.then([this] { return client.streams[0].completions.size() == 2; });
    run();
    EXPECT_THAT(server.streams[0].succeeded(), testing::ElementsAre(1));
    EXPECT_THAT(client.streams[0].succeeded(), testing::ElementsAre(1, 2));
    EXPECT_TRUE(Watcher::check(server.memory(0, kMessage)));
    return w;
  }
  // The client reads from the server.
  Watcher read() {
    Watcher w;
    server.run([this] { fill(server); });
    client.run([this] {
      host::SendWr wr = client.request(1, abi::WrOpcode::kRdmaRead, 0, kMessage);
      wr.remote_addr = server.address;
      wr.rkey = server.mr->rkey();
      EXPECT_EQ(client.streams[0].qp->post_send(wr), 0);
    });
    watch(client, w, 1);
    run();
    EXPECT_THAT(client.streams[0].succeeded(), testing::ElementsAre(1));
    EXPECT_TRUE(Watcher::check(client.memory(0, kMessage)));
    return w;
  }
  static void expect_in_order(const Watcher& w) {
    EXPECT_NE(w.whole, 0u);
    EXPECT_LE(w.whole, w.delivered) << "nothing is delivered before all of it is there";
  }
  const TcpRxCounters& counters(const Node& n) const { return n.chip.tcp_rx.counters(); }
};

class EarlyPlacementSystem : public LostFrames, public testing::WithParamInterface<Setting> {
 protected:
  EarlyPlacementSystem() : LostFrames(GetParam()) {}
  // Without markers nothing shows where an FPDU starts.
  static bool places() { return GetParam().early && GetParam().markers; }
};
INSTANTIATE_TEST_SUITE_P(Streams, EarlyPlacementSystem,
                         testing::Values(Setting{true, true, false}, Setting{false, true, false},
                                         Setting{true, true, true}, Setting{false, true, true},
                                         Setting{true, false, true}, Setting{true, false, false}),
                         [](const auto& of) {
                           const Setting& s = of.param;
                           return std::string(s.early ? "early" : "in_order") + (s.crc ? "_crc" : "") +
                                  (s.markers ? "_markers" : "");
                         });

TEST_P(EarlyPlacementSystem, AWriteIsInMemoryBeforeItsHoleIsFilledAndDeliveredAfterIt) {
  const Watcher w = write();
  expect_in_order(w);
  EXPECT_EQ(w.ahead, places());
  EXPECT_EQ(counters(a).early_fpdus != 0, places());
  EXPECT_EQ(a.chip.early_placement.counters().invalid + a.chip.early_placement.counters().bad_crc, 0u);
}
TEST_P(EarlyPlacementSystem, AReadResponseIsInMemoryBeforeItsHoleIsFilledAndDeliveredAfterIt) {
  const Watcher w = read();
  expect_in_order(w);
  EXPECT_EQ(w.ahead, places());
  EXPECT_EQ(counters(b).early_fpdus != 0, places());
  EXPECT_EQ(b.chip.early_placement.counters().invalid + b.chip.early_placement.counters().bad_crc, 0u);
}

class SmallReorderBuffer : public LostFrames, public testing::WithParamInterface<bool> {
 protected:
  SmallReorderBuffer() : LostFrames({GetParam(), true, true}, 16 * 1024) {}
};
INSTANTIATE_TEST_SUITE_P(EarlyPlacement, SmallReorderBuffer, testing::Bool());
TEST_P(SmallReorderBuffer, DropsOnlyWhatIsNotPlaced) {
  expect_in_order(write());
  EXPECT_EQ(counters(a).reorder_drops == 0, GetParam());
}

}  // namespace
}  // namespace rnic::test
