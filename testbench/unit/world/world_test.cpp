// A graph without a chip: three devices with separate clocks and a medium of three ports, all defined here.
#include "model/world/world.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/common/inbox.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

// Sends a frame every `interval` cycles, and notes the frames that arrive: cycle, sender and number.
class Talker final : public Stage, private EthernetTarget {
 public:
  struct Got {
    Cycle at;
    unsigned from, number;
    bool operator==(const Got& o) const { return at == o.at && from == o.from && number == o.number; }
  };
  Talker(sc_core::sc_module_name nm, ClockDomain& clk, unsigned self, Cycle interval, unsigned frames)
      : Stage(nm, clk), EthernetTarget("in"), self_(self), interval_(interval), frames_(frames) {
    wake(interval);
  }
  EthernetPort port() { return {out_, *this}; }
  Wake tick() override {
    for (; inbox_.can_pop(); inbox_.pop()) {
      const std::uint8_t* octets = inbox_.front().data();
      got.push_back({now(), octets[0], octets[1]});
    }
    if (now() < interval_ * (sent_ + 1) || sent_ == frames_) return sent_ == frames_ ? Wake::on_traffic() : next();
    Frame frame{buffers_.take(), 0, 64, true};
    frame.buf->bytes()[0] = static_cast<std::uint8_t>(self_);
    frame.buf->bytes()[1] = static_cast<std::uint8_t>(sent_++);
    out_.send(std::move(frame), clock().now_ps() + clock().period_ps());
    return sent_ == frames_ ? Wake::on_traffic() : next();
  }
  // Frames that have arrived but were not taken are lost; it sends no more.
  void reset() override {
    while (inbox_.can_pop()) inbox_.pop();
    sent_ = frames_;
  }

  std::vector<Got> got;

 private:
  Wake next() const { return Wake::at_cycle(interval_ * (sent_ + 1)); }
  void on_frame(const Frame& frame, std::uint64_t at_ps) override {
    Frame copy = frame;
    inbox_.deliver(std::move(copy), at_ps);
  }
  const unsigned self_;
  const Cycle interval_;
  const unsigned frames_;
  unsigned sent_ = 0;
  BufferPool buffers_{64};
  EthernetInitiator out_{"out"};
  Inbox<Frame> inbox_{*this};
};

class TalkingDevice final : public sc_core::sc_module, public Device {
 public:
  TalkingDevice(sc_core::sc_module_name nm, unsigned self, std::uint64_t period_ps, Cycle interval, unsigned frames)
      : sc_module(nm), clk("clk", {period_ps, 1}), talker("talker", clk, self, interval, frames) {}
  std::vector<EthernetPort> ports() override { return {talker.port()}; }
  std::vector<Timed*> clocks() override { return {&clk}; }
  void set_lookahead(unsigned port, std::uint64_t ps) override {
    EXPECT_EQ(port, 0u);
    lookahead_ps = ps;
    clk.set_lookahead(std::max<Cycle>(1, ps / clk.period_ps()));
  }
  std::optional<std::uint64_t> lookahead_ps;
  ClockDomain clk;
  Talker talker;
};

// Carries a frame to both other ports, each way with its own delay. It has a clock, as frames of two ports meet at the
// third.
class Hub final : public sc_core::sc_module, public Medium, public Timed {
 public:
  explicit Hub(sc_core::sc_module_name nm) : sc_module(nm) {
    for (unsigned port = 0; port < kPorts; ++port) ends_[port] = std::make_unique<End>(*this, port);
  }
  unsigned ports() const override { return kPorts; }
  void join(unsigned port, EthernetPort device) override {
    device.out.socket.bind(ends_[port]->socket);
    ends_[port]->out.socket.bind(device.in.socket);
  }
  std::uint64_t lookahead_ps(unsigned from, unsigned to) const override {
    return from == to ? kNever : delay_ps(from, to);
  }
  std::vector<Timed*> clocks() override { return {this}; }
  // 300, 500 and 700 ns between 0 and 1, 1 and 2, 0 and 2.
  static std::uint64_t delay_ps(unsigned a, unsigned b) {
    return a + b == 1 ? 300'000 : a + b == 3 ? 500'000 : 700'000;
  }

  std::uint64_t armed_ps() const override {
    std::uint64_t earliest = kNever;
    for (unsigned to = 0; to < kPorts; ++to) {
      if (!waiting_[to].empty()) earliest = std::min(earliest, due_ps(to, waiting_[to].begin()->first.first));
    }
    return earliest;
  }
  void activate(std::uint64_t ps, bool) override {
    for (unsigned to = 0; to < kPorts; ++to) {
      Waiting& waiting = waiting_[to];
      while (!waiting.empty() && waiting.begin()->first.first < ps + shortest_ps(to)) {
        ends_[to]->out.send(waiting.begin()->second, waiting.begin()->first.first);
        waiting.erase(waiting.begin());
      }
    }
  }
  using Timed::join;

 private:
  static constexpr unsigned kPorts = 3;
  struct End final : EthernetTarget {
    End(Hub& h, unsigned n)
        : EthernetTarget(("in" + std::to_string(n)).c_str()),
          out(("out" + std::to_string(n)).c_str()),
          hub(h),
          number(n) {}
    void on_frame(const Frame& frame, std::uint64_t at_ps) override { hub.take(number, frame, at_ps); }
    EthernetInitiator out;
    Hub& hub;
    const unsigned number;
  };
  // By stamp and port; the frames of one port have different stamps.
  using Waiting = std::map<std::pair<std::uint64_t, unsigned>, Frame>;

  static std::uint64_t shortest_ps(unsigned to) { return to == 2 ? 500'000 : 300'000; }
  // The time at which the frame must be passed on to be in time.
  static std::uint64_t due_ps(unsigned to, std::uint64_t stamp) { return stamp - shortest_ps(to) + 1; }
  void take(unsigned from, const Frame& frame, std::uint64_t at_ps) {
    for (unsigned to = 0; to < kPorts; ++to) {
      if (to == from) continue;
      const std::uint64_t stamp = at_ps + delay_ps(from, to);
      EXPECT_TRUE(waiting_[to].emplace(std::pair(stamp, from), frame).second);
      group()->arm(due_ps(to, stamp));
    }
  }
  std::array<std::unique_ptr<End>, kPorts> ends_;
  std::array<Waiting, kPorts> waiting_;
};

struct Graph {
  explicit Graph(unsigned frames = 40) {
    for (unsigned i = 0; i < 3; ++i) {
      devices[i] = &world.add_device<TalkingDevice>(kNames[i], i, kPeriods[i], kIntervals[i], frames);
    }
    hub = &world.add_medium<Hub>("hub");
    for (unsigned i = 0; i < 3; ++i) world.join(*devices[i], 0, *hub, i);
    world.settle();
  }
  static constexpr const char* kNames[] = {"x", "y", "z"};
  static constexpr std::uint64_t kPeriods[] = {4000, 1000, 2500};
  static constexpr Cycle kIntervals[] = {13, 97, 31};
  World world;
  std::array<TalkingDevice*, 3> devices{};
  Hub* hub = nullptr;

  // The frames that `to` takes of `from`: at the first edge at or after a frame's stamp.
  std::vector<Talker::Got> expected(unsigned from, unsigned to, unsigned frames) const {
    std::vector<Talker::Got> list;
    for (unsigned n = 0; n < frames; ++n) {
      const std::uint64_t stamp = (kIntervals[from] * (n + 1) + 1) * kPeriods[from] + Hub::delay_ps(from, to);
      list.push_back({(stamp + kPeriods[to] - 1) / kPeriods[to], from, n});
    }
    return list;
  }
  std::vector<Talker::Got> got(unsigned at, unsigned from) const {
    std::vector<Talker::Got> list;
    for (const Talker::Got& g : devices[at]->talker.got) {
      if (g.from == from) list.push_back(g);
    }
    return list;
  }
};

TEST(World, EachPortLearnsTheShortestWayToIt) {
  const Graph graph;
  EXPECT_EQ(graph.devices[0]->lookahead_ps, 300'000u);
  EXPECT_EQ(graph.devices[1]->lookahead_ps, 300'000u);
  EXPECT_EQ(graph.devices[2]->lookahead_ps, 500'000u);
}

TEST(World, FramesArriveAtTheirStampsWhateverRunsAhead) {
  Graph graph;
  graph.world.run_until(20'000'000);
  for (unsigned to = 0; to < 3; ++to) {
    for (unsigned from = 0; from < 3; ++from) {
      if (from == to) continue;
      EXPECT_EQ(graph.got(to, from), graph.expected(from, to, 40)) << from << " to " << to;
    }
    // Several cycles per activation, which cost one call.
    EXPECT_LT(graph.devices[to]->clk.activity().activations, graph.devices[to]->clk.activity().cycles) << to;
  }
}

// Frames are in flight in both directions.
TEST(World, ADeviceIsResetDuringWork) {
  Graph graph;
  graph.world.run_until(1'000'000);
  const std::size_t before = graph.devices[1]->talker.got.size();
  graph.devices[1]->clk.reset(graph.devices[1]->talker);
  const auto sent = static_cast<unsigned>(graph.devices[1]->clk.next() / Graph::kIntervals[1]);
  graph.world.run_until(20'000'000);
  EXPECT_EQ(graph.got(0, 1).size(), sent);
  EXPECT_EQ(graph.got(0, 1), graph.expected(1, 0, sent));
  EXPECT_GT(graph.devices[1]->talker.got.size(), before);
  // The other devices are not affected.
  EXPECT_EQ(graph.got(0, 2), graph.expected(2, 0, 40));
  EXPECT_EQ(graph.got(2, 0), graph.expected(0, 2, 40));
}

TEST(World, WhatIsJoinedWronglyIsABug) {
  World world;
  auto& x = world.add_device<TalkingDevice>("x", 0u, 4000u, 13u, 1u);
  auto& y = world.add_device<TalkingDevice>("y", 1u, 4000u, 13u, 1u);
  auto& hub = world.add_medium<Hub>("hub");
  world.join(x, 0, hub, 0);
  EXPECT_ANY_THROW(world.join(y, 0, hub, 0)) << "a second device at one port";
  EXPECT_ANY_THROW(world.join(x, 0, hub, 1)) << "a second port for one device";
  EXPECT_ANY_THROW(world.join(y, 0, hub, 3)) << "the medium has three ports";
  EXPECT_ANY_THROW(world.join(y, 1, hub, 1)) << "the device has one port";
  world.join(y, 0, hub, 2);
  EXPECT_ANY_THROW(world.settle()) << "port 1 is free";
}

}  // namespace
}  // namespace rnic::test
