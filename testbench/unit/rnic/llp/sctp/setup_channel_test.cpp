// Two endpoints over a channel that loses, delays, reorders and repeats packets: thousands of seeded set-ups.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "model/common/prng.h"
#include "testbench/unit/rnic/llp/sctp/setup_bench.h"

namespace rnic::sctp {
namespace {

constexpr std::uint32_t kAddresses[2] = {0x0a000001, 0x0a000002};
constexpr std::uint16_t kPorts[2] = {41000, 41001};

struct Channel {
  unsigned lost = 0, repeated = 0, garbled = 0;  // out of 100 packets
  Cycle least = 5 * kMicrosecond, most = 50 * kMicrosecond;
};

// A host with room for one association, and its events.
struct Host {
  Host(const SctpConfig& config, std::uint64_t seed)
      : endpoint(config, kPeriodPs, kPacketBytes, seed), association(endpoint) {}

  Endpoint endpoint;
  sctp::Setup association;
  bool listening = true;
  std::map<SetupTimer, Cycle> timers;
  std::vector<Kind> told;

  bool heard(Kind kind) const { return std::find(told.begin(), told.end(), kind) != told.end(); }
  bool ended() const { return heard(Kind::kFailed) || heard(Kind::kAborted) || heard(Kind::kShutDown); }
  bool up() const { return association.state() == State::kEstablished; }
};

class Pair {
 public:
  Pair(std::uint64_t seed, const Channel& channel, SctpConfig config)
      : config_(config), channel_(channel), random_(seed), seed_(seed) {
    for (unsigned side : {0u, 1u}) boot(side);
  }

  Host& host(unsigned side) { return *hosts_[side]; }
  Cycle now() const { return now_; }
  void boot(unsigned side) { hosts_[side] = std::make_unique<Host>(config_, random_.next()); }
  Ends ends_of(unsigned side) const { return {kAddresses[1 - side], kPorts[side], kPorts[1 - side]}; }

  void connect(unsigned side) {
    if (host(side).association.state() != State::kClosed) return;
    host(side).association.connect(ends_of(side), now_, out_);
    take(side);
  }
  void shutdown(unsigned side) {
    host(side).association.shutdown({0, true}, now_, out_);
    take(side);
  }
  void abort(unsigned side) {
    host(side).association.abort(wire::SctpCause::kUserInitiatedAbort, {}, out_);
    take(side);
  }
  // Schedules an action.
  void at(Cycle when, std::function<void()> what) { plan_.emplace(when, std::move(what)); }
  void run(Cycle until) {
    for (;;) {
      Cycle next = kNever;
      if (!plan_.empty()) next = plan_.begin()->first;
      unsigned side = 2;
      SetupTimer timer{};
      for (unsigned s : {0u, 1u}) {
        for (const auto& [t, when] : host(s).timers) {
          if (when < next) next = when, side = s, timer = t;
        }
      }
      if (next > until) break;
      now_ = next;
      if (side == 2) {
        auto what = std::move(plan_.begin()->second);
        plan_.erase(plan_.begin());
        what();
      } else {
        host(side).timers.erase(timer);
        host(side).association.expired(timer, now_, out_);
        take(side);
      }
    }
    now_ = until;
  }
  // Longer than any set-up takes, including its retransmissions.
  void settle() { run(now_ + 2'000'000 * kMicrosecond); }
  void heal() { channel_.lost = channel_.repeated = channel_.garbled = 0; }

  std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  std::size_t sent() const { return sent_; }

 private:
  void take(unsigned side) {
    Host& h = host(side);
    for (std::size_t t = 0; t < kSetupTimers; ++t) {
      const auto timer = static_cast<SetupTimer>(t);
      const auto& set = out_.timer(timer);
      if (set && *set == kNever) h.timers.erase(timer);
      else if (set) h.timers[timer] = *set;
    }
    for (std::size_t i = 0; i < out_.events(); ++i) h.told.push_back(out_.event(i).kind);
    if (!out_.packet().empty()) send(side, to_bytes(out_.packet()));
    if (h.association.state() == State::kShutdownPending || h.association.state() == State::kShutdownReceived) {
      h.association.proceed({0, true}, now_, out_);
      take(side);
    }
  }
  // Changes, cuts off or appends octets after the ports; the checksum counts as good.
  Bytes garble(Bytes packet) {
    for (std::uint64_t n = 1 + random_.below(4); n != 0; --n) {
      packet[4 + random_.below(packet.size() - 4)] = static_cast<std::uint8_t>(random_.next());
    }
    if (random_.below(3) == 0) packet.resize(12 + random_.below(packet.size() - 11));
    else if (random_.below(3) == 0) packet.insert(packet.end(), packet.begin() + 12, packet.end());
    return packet;
  }
  void send(unsigned side, Bytes packet) {
    ++sent_;
    if (random_.below(100) < channel_.lost) return;
    if (random_.below(100) < channel_.garbled) packet = garble(packet);
    const unsigned copies = random_.below(100) < channel_.repeated ? 2 : 1;
    for (unsigned i = 0; i < copies; ++i) {
      at(now_ + channel_.least + random_.below(channel_.most - channel_.least), [=] { arrive(1 - side, packet); });
    }
  }
  void arrive(unsigned side, const Bytes& packet) {
    Host& h = host(side);
    const auto received = Received::parse(packet, kAddresses[1 - side]);
    ASSERT_TRUE(received);
    if (h.association.state() != State::kClosed) {
      h.association.receive(*received, now_, out_);
    } else if (const auto cookie = h.endpoint.receive(*received, h.listening, now_, out_)) {
      h.association.accept(*cookie, *received, now_, out_);
    }
    take(side);
  }

  SctpConfig config_;
  Channel channel_;
  Prng random_;
  std::uint64_t seed_;
  Cycle now_ = 0;
  std::size_t sent_ = 0;
  Outcome out_;
  std::unique_ptr<Host> hosts_[2];
  std::multimap<Cycle, std::function<void()>> plan_;
};

// Both are up with each other's tags, TSNs and streams, or neither is.
void expect_agreement(Pair& pair, std::uint64_t seed) {
  const sctp::Setup& a = pair.host(0).association;
  const sctp::Setup& b = pair.host(1).association;
  EXPECT_EQ(pair.host(0).up(), pair.host(1).up())
      << "seed " << seed << ": states " << int(a.state()) << " and " << int(b.state());
  if (!pair.host(0).up() || !pair.host(1).up()) {
    for (unsigned side : {0u, 1u}) EXPECT_EQ(pair.host(side).association.state(), State::kClosed) << seed;
    return;
  }
  EXPECT_EQ(a.terms().own_tag, b.terms().peer_tag) << seed;
  EXPECT_EQ(a.terms().peer_tag, b.terms().own_tag) << seed;
  EXPECT_EQ(a.terms().own_tsn, b.terms().peer_tsn) << seed;
  EXPECT_EQ(a.terms().peer_tsn, b.terms().own_tsn) << seed;
  EXPECT_EQ(a.terms().ddp_streams(), b.terms().ddp_streams()) << seed;
}

SctpConfig with_heartbeats() {
  SctpConfig config;
  config.heartbeat_us = 2000;
  return config;
}

constexpr std::uint64_t kSeeds = 2000;
constexpr Channel kBad{20, 20, 0};

TEST(SetupChannel, OneOpens) {
  std::uint64_t up = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Pair pair(seed, kBad, with_heartbeats());
    pair.connect(0);
    pair.run(500'000 * kMicrosecond);
    pair.heal();
    pair.settle();
    expect_agreement(pair, seed);
    up += pair.host(0).up();
    if (!pair.host(0).up()) {
      EXPECT_TRUE(pair.host(0).ended()) << seed;
    }
  }
  EXPECT_GT(up, kSeeds * 99 / 100);
}

// Permanent losses are reported: three packets out of four are lost for longer than an INIT is repeated.
TEST(SetupChannel, OneOpensOverAWireThatHardlyWorks) {
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Pair pair(seed, {75, 10, 0}, with_heartbeats());
    pair.connect(0);
    pair.run(400'000 * kMicrosecond);
    pair.heal();
    pair.settle();
    expect_agreement(pair, seed);
    failed += !pair.host(0).up();
    if (!pair.host(0).up()) {
      EXPECT_TRUE(pair.host(0).ended()) << seed;
    }
  }
  EXPECT_GT(failed, kSeeds / 10);
  EXPECT_LT(failed, kSeeds);
}

TEST(SetupChannel, BothOpen) {
  std::uint64_t up = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Pair pair(seed, kBad, with_heartbeats());
    const bool listening = seed % 2 != 0;
    for (unsigned side : {0u, 1u}) {
      pair.host(side).listening = listening;
      pair.at(pair.below(100 * kMicrosecond), [&pair, side] { pair.connect(side); });
    }
    pair.run(500'000 * kMicrosecond);
    pair.heal();
    pair.settle();
    expect_agreement(pair, seed);
    up += pair.host(0).up();
    for (unsigned side : {0u, 1u}) {
      if (!pair.host(side).up()) {
        EXPECT_TRUE(pair.host(side).ended()) << seed;
      }
    }
  }
  EXPECT_GT(up, kSeeds * 3 / 4);
}

// One end loses its state at any time and opens again, or gives up and opens again.
TEST(SetupChannel, RestartsAmidSetUp) {
  std::uint64_t up = 0, restarted = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Pair pair(seed, {10, 20, 0}, with_heartbeats());
    pair.connect(0);
    if (pair.below(3) == 0) pair.at(pair.below(100 * kMicrosecond), [&] { pair.connect(1); });
    for (unsigned i = 0; i < 1 + seed % 3; ++i) {
      const unsigned side = static_cast<unsigned>(pair.below(2));
      const bool boots = pair.below(2) == 0;
      pair.at(pair.below(400 * kMicrosecond), [&pair, side, boots] {
        if (boots) pair.boot(side);
        else pair.abort(side);
        pair.connect(side);
      });
    }
    pair.run(500'000 * kMicrosecond);
    pair.heal();
    pair.settle();
    expect_agreement(pair, seed);
    up += pair.host(0).up();
    for (unsigned side : {0u, 1u}) restarted += pair.host(side).heard(Kind::kRestarted);
  }
  EXPECT_GT(up, kSeeds * 8 / 10);
  EXPECT_GT(restarted, kSeeds / 20);
}

TEST(SetupChannel, CookiesThatAreTooOldOnTheirWay) {
  std::uint64_t up = 0, stale = 0;
  for (std::uint64_t seed = 0; seed < kSeeds / 4; ++seed) {
    SctpConfig config = with_heartbeats();
    config.cookie_life_us = 60;
    Pair pair(seed, {5, 5, 0}, config);
    pair.connect(0);
    pair.run(500'000 * kMicrosecond);
    pair.heal();
    pair.settle();
    expect_agreement(pair, seed);
    up += pair.host(0).up();
    stale += pair.host(1).endpoint.counters().stale_cookies;
  }
  EXPECT_GT(stale, kSeeds / 20);
  EXPECT_GT(up, kSeeds / 4 * 8 / 10);
}

// One end or both shut down, or one aborts: both end CLOSED and have reported it.
TEST(SetupChannel, ShutdownsAndAborts) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Pair pair(seed, {10, 20, 0}, with_heartbeats());
    pair.connect(0);
    pair.run(pair.below(4) == 0 ? pair.below(300 * kMicrosecond) : 100'000 * kMicrosecond);
    for (unsigned side : {0u, 1u}) pair.host(side).listening = false;
    const unsigned how = static_cast<unsigned>(pair.below(4));
    const Cycle begun = pair.now();
    if (how == 3) pair.abort(static_cast<unsigned>(seed % 2));
    for (unsigned side : {0u, 1u}) {
      if (how == side || how == 2) {
        pair.at(begun + pair.below(60 * kMicrosecond), [&pair, side] { pair.shutdown(side); });
      }
    }
    pair.run(begun + 500'000 * kMicrosecond);
    pair.heal();
    pair.settle();
    expect_agreement(pair, seed);
    for (unsigned side : {0u, 1u}) {
      Host& h = pair.host(side);
      if (h.heard(Kind::kUp) && !h.up()) {
        EXPECT_TRUE(h.ended()) << seed;
      }
    }
  }
}

// Garbled packets with a good checksum: whatever they contain, the exchange ends as any other.
TEST(SetupChannel, GarbledPackets) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Pair pair(seed, {5, 10, 40}, with_heartbeats());
    pair.connect(0);
    if (seed % 2 != 0) pair.at(pair.below(100 * kMicrosecond), [&] { pair.connect(1); });
    if (seed % 3 == 0) pair.at(pair.below(50'000 * kMicrosecond), [&] { pair.shutdown(1); });
    pair.run(200'000 * kMicrosecond);
    pair.heal();
    pair.settle();
    EXPECT_LT(pair.sent(), 10'000u) << seed;
    const sctp::Setup& a = pair.host(0).association;
    const sctp::Setup& b = pair.host(1).association;
    EXPECT_EQ(pair.host(0).up(), pair.host(1).up()) << seed << ": " << int(a.state()) << " " << int(b.state());
    if (!pair.host(0).up() || !pair.host(1).up()) continue;
    EXPECT_EQ(a.terms().own_tag, b.terms().peer_tag) << seed;
    EXPECT_EQ(a.terms().peer_tag, b.terms().own_tag) << seed;
  }
}

TEST(SetupChannel, SameSeedSameCourse) {
  std::vector<std::string> courses;
  for (unsigned i = 0; i < 2; ++i) {
    Pair pair(11, kBad, with_heartbeats());
    pair.connect(0);
    pair.run(100'000 * kMicrosecond);
    const Terms& t = pair.host(0).association.terms();
    courses.push_back(std::to_string(t.own_tag) + " " + std::to_string(t.peer_tag) + " " + std::to_string(pair.sent()));
  }
  EXPECT_EQ(courses[0], courses[1]);
}

}  // namespace
}  // namespace rnic::sctp
