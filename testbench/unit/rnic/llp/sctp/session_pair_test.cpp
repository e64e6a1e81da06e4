// Two ends with sessions on several streams, over a network that reorders packets and delays acknowledgements. All
// messages are delivered in the order of sending, and every stream id becomes free again.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "model/ends/session_end.h"

namespace rnic {
namespace {

using fw::SessionState;
using Kind = fw::SessionAction::Kind;

constexpr sctp::StreamLimits kLimits{3, 32, 2048};

class Pair {
 public:
  // busy: firmware handles hardware's reports late
  Pair(std::uint32_t seed, bool busy)
      : random_(seed), ends_{SessionEnd(policy(), kLimits), SessionEnd(policy(), kLimits)} {
    ends_[0].busy = ends_[1].busy = busy;
  }

  void run() {
    for (unsigned step = 0; step < 400; ++step) act();
    // Then the hosts end their sessions, and the network delivers.
    for (unsigned step = 0; step < 200'000 && !quiet(); ++step) {
      if (step % 8 == 0) end_all();
      move();
    }
    ASSERT_TRUE(quiet()) << "still busy";
    for (unsigned side = 0; side < 2; ++side) {
      for (std::uint16_t stream = 0; stream < kLimits.streams; ++stream) {
        EXPECT_EQ(ends_[side].state(stream), SessionState::kIdle) << side << " " << stream;
      }
      EXPECT_EQ(ends_[side].buffers(), 0u);
      EXPECT_EQ(ends_[side].streams().held_octets(), 0u);
      EXPECT_FALSE(ends_[side].was_told(Kind::kBroken));
      compare(side);
    }
  }
  std::size_t told(Kind kind) const {
    std::size_t count = 0;
    for (const SessionEnd& end : ends_) {
      for (const auto& event : end.told) count += event.kind == kind ? 1 : 0;
    }
    return count;
  }
  std::size_t delivered() const { return ends_[0].delivered.size() + ends_[1].delivered.size(); }

 private:
  struct Flight {
    std::uint32_t tsn;
    SessionEnd::Message message;
  };
  // One direction: TSNs in the order of sending, acknowledged cumulatively.
  struct Direction {
    std::vector<Flight> flight;
    std::vector<std::uint16_t> stream_of;  // by TSN
    std::set<std::uint32_t> come;
    std::uint32_t acknowledged = 0;
  };

  static fw::SessionPolicy policy() {
    fw::SessionPolicy p;
    p.enhanced = true;
    p.ird = p.ord = 8;
    p.max_ird = 16;
    return p;
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  void collect(unsigned side) {
    Direction& d = directions_[side];
    for (auto& message : ends_[side].take_sent()) {
      const auto tsn = static_cast<std::uint32_t>(d.stream_of.size());
      d.stream_of.push_back(message.stream);
      d.flight.push_back({tsn, std::move(message)});
    }
  }

  void move() {
    const unsigned side = below(2);
    if (below(3) == 0) ends_[side].work();
    collect(side);
    Direction& d = directions_[side];
    if (below(3) == 0) {
      std::uint32_t behind = d.acknowledged;
      while (d.come.count(behind) != 0) ++behind;
      const std::uint32_t some = below(behind - d.acknowledged + 1);
      for (std::uint32_t n = 0; n < some; ++n) ends_[side].acknowledge(d.stream_of[d.acknowledged++]);
      collect(side);
    } else if (!d.flight.empty()) {
      const auto pick = below(static_cast<std::uint32_t>(d.flight.size()));
      const sctp::ChunkFate fate = ends_[1 - side].receive(d.flight[pick].message);
      if (fate == sctp::ChunkFate::kNoRoom) return;
      d.come.insert(d.flight[pick].tsn);
      d.flight.erase(d.flight.begin() + pick);
      collect(1 - side);
    }
  }

  void act() {
    const unsigned side = below(2);
    const auto stream = static_cast<std::uint16_t>(below(kLimits.streams));
    SessionEnd& end = ends_[side];
    switch (end.state(stream)) {
      case SessionState::kIdle:
        // Even ids belong to one side, but not always, because Initiates may cross.
        if (below(4) == 0 && (stream % 2 == side || below(8) == 0)) {
          fw::SessionPolicy own = policy();
          own.enhanced = below(2) == 0;
          end.connect(stream, own);
        }
        break;
      case SessionState::kInitSent:
        if (below(40) == 0) abandon(side, stream);
        break;
      case SessionState::kPending:
        if (below(6) == 0) end.reject(stream);
        else if (below(2) == 0) end.accept(stream);
        break;
      case SessionState::kOpen:
        if (below(60) == 0) end.close(stream);
        else if (below(200) == 0) abandon(side, stream);
        else send_some(side, stream);
        break;
      case SessionState::kTermSent:
      case SessionState::kClosing:
        break;
    }
    collect(side);
    for (unsigned n = below(12); n > 0; --n) move();
  }

  void send_some(unsigned side, std::uint16_t stream) {
    for (unsigned n = below(4); n > 0; --n) {
      std::uint8_t octets[12];
      const std::uint32_t number = sent_[side][stream]++;
      store_be32(octets, stream);
      store_be32(octets + 4, number);
      store_be32(octets + 8, below(0xffffffff));
      ends_[side].send_segment(stream, octets);
    }
  }
  // Messages that the other side has sent may then be lost.
  void abandon(unsigned side, std::uint16_t stream) {
    abandoned_[side][stream] = true;
    ends_[side].close(stream, false);
  }

  void end_all() {
    for (unsigned side = 0; side < 2; ++side) {
      for (std::uint16_t stream = 0; stream < kLimits.streams; ++stream) {
        if (ends_[side].state(stream) == SessionState::kOpen) ends_[side].close(stream);
        if (ends_[side].state(stream) == SessionState::kPending) ends_[side].reject(stream);
      }
      collect(side);
    }
  }

  bool quiet() {
    for (unsigned side = 0; side < 2; ++side) {
      if (ends_[side].work()) return false;
      collect(side);
      const Direction& d = directions_[side];
      if (!d.flight.empty() || d.acknowledged != d.stream_of.size()) return false;
      for (std::uint16_t stream = 0; stream < kLimits.streams; ++stream) {
        if (ends_[side].state(stream) == SessionState::kPending) return false;
        if (ends_[side].state(stream) == SessionState::kOpen) return false;
      }
    }
    return true;
  }

  void compare(unsigned side) {
    std::map<std::uint32_t, std::uint32_t> next;
    for (const auto& octets : ends_[side].delivered) {
      const std::uint32_t stream = load_be32(octets.data() + 2), number = load_be32(octets.data() + 6);
      EXPECT_TRUE(abandoned_[side][stream] ? number >= next[stream] : number == next[stream]);
      next[stream] = number + 1;
    }
    for (std::uint16_t stream = 0; stream < kLimits.streams; ++stream) {
      if (!abandoned_[side][stream]) {
        EXPECT_EQ(next[stream], sent_[1 - side][stream]);
      }
    }
    std::set<std::vector<std::uint8_t>> once;
    for (auto octets : ends_[side].placed) EXPECT_TRUE(once.emplace(octets.begin() + 2, octets.end()).second);
    if (!std::any_of(std::begin(abandoned_[side]), std::end(abandoned_[side]), [](bool was) { return was; })) {
      EXPECT_EQ(ends_[side].placed.size(), ends_[side].delivered.size());
    }
  }

  std::mt19937 random_;
  SessionEnd ends_[2];
  Direction directions_[2];
  std::uint32_t sent_[2][kLimits.streams] = {};
  bool abandoned_[2][kLimits.streams] = {};
};

class SessionPair : public testing::TestWithParam<bool> {};

TEST_P(SessionPair, WhatIsSentIsDeliveredInOrderAndStreamsComeFree) {
  std::size_t segments = 0;
  std::map<Kind, std::size_t> told;
  for (std::uint32_t seed = 0; seed < 3000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Pair pair(seed, GetParam());
    pair.run();
    segments += pair.delivered();
    for (const Kind kind : {Kind::kEstablished, Kind::kRejected, Kind::kBadReply, Kind::kWithdrawn, Kind::kClosed}) {
      told[kind] += pair.told(kind);
    }
  }
  EXPECT_GT(segments, 100'000u);
  for (const auto& [kind, count] : told) EXPECT_GT(count, 100u) << static_cast<int>(kind);
}

INSTANTIATE_TEST_SUITE_P(Firmware, SessionPair, testing::Bool(),
                         [](const auto& row) { return row.param ? "late" : "at_once"; });

}  // namespace
}  // namespace rnic
