// The sending half of an association against a plain implementation, decision by decision: thousands of random traces
// of loss, reordering, duplication, closed windows, revoked gap blocks, shorter paths and malformed SACKs.
#include <queue>

#include <gmock/gmock.h>

#include "model/common/prng.h"
#include "model/rnic/llp/sctp/data_sender.h"
#include "model/rnic/llp/sctp/rfc9260.h"
#include "testbench/unit/rnic/llp/sctp/plain_sender.h"
#include "testbench/unit/rnic/llp/sctp/sack_octets.h"

namespace rnic::sctp {
namespace {

constexpr std::uint64_t kPeriodPs = 4000;

struct Weather {
  std::uint64_t loss = 0, duplication = 0, reorder = 0, revoke = 0, close = 0, nonsense = 0;  // out of 1000
  unsigned messages = 100;
  std::uint32_t initial_tsn = 0;
  std::uint32_t mtu = 1500;
  bool shrinks = false;
};

struct TraceResult {
  unsigned packets = 0, retransmissions = 0, fast = 0, recoveries = 0, timeouts = 0, probes = 0, revoked = 0, old = 0,
           refused = 0, failed = 0, wrapped = 0, fragments = 0, beyond = 0;
  TraceResult& operator+=(const TraceResult& o) {
    packets += o.packets, retransmissions += o.retransmissions, fast += o.fast, recoveries += o.recoveries;
    timeouts += o.timeouts, probes += o.probes, revoked += o.revoked, old += o.old, refused += o.refused;
    failed += o.failed, wrapped += o.wrapped, fragments += o.fragments, beyond += o.beyond;
    return *this;
  }
};

// Both senders, a path, and a receiver whose TSNs never wrap.
class Trace {
 public:
  Trace(std::uint64_t seed, const Weather& weather)
      : prng_(seed),
        weather_(weather),
        config_(config_of(prng_)),
        settings_(config_, algorithm_, kPeriodPs),
        first_(0x700000000u + weather.initial_tsn),
        a_rwnd_(static_cast<std::uint32_t>(prng_.between(1500, 60'000))),
        sender_(settings_),
        plain_(config_, kPeriodPs, first_, a_rwnd_, weather.mtu, 0),
        received_to_(first_ - 1) {
    sender_.open(weather.initial_tsn, a_rwnd_, weather.mtu, 0);
  }

  TraceResult run() {
    Cycle next_push = 0;
    unsigned pushed = 0;
    std::vector<std::uint32_t> finished, expected;
    // Good weather at the end: queued messages arrive.
    for (unsigned step = 0; step < 100'000; ++step) {
      const bool calm = pushed == weather_.messages;
      if (calm && step > 4 * weather_.messages) weather_ = Weather{};
      if (calm && sender_.idle() && path_.empty()) {
        take(finished);
        EXPECT_EQ(finished, expected);
        result_.wrapped = static_cast<std::uint32_t>(first_) > sender_.next_tsn();
        return result_;
      }
      Cycle at = sender_.deadline();
      if (!path_.empty()) at = std::min(at, path_.top().at);
      if (!calm) at = std::min(at, next_push);
      if (at == kNever) {  // the stage was busy when it could have sent
        take(finished);
        send(9000);
        if (sender_.deadline() == kNever) ADD_FAILURE() << "nothing will ever happen at " << now_;
        if (testing::Test::HasFailure()) return result_;
        continue;
      }
      now_ = std::max(now_, at);
      if (!calm && next_push <= now_) {
        const unsigned burst = static_cast<unsigned>(prng_.between(1, 12));
        for (unsigned i = 0; i < burst && pushed < weather_.messages; ++i) {
          if (!push(pushed + 1)) break;
          expected.push_back(++pushed);
        }
        next_push = now_ + prng_.below(prng_.below(20) == 0 ? 400'000 : 4'000);
      } else if (!path_.empty() && path_.top().at <= now_ && prng_.below(8) != 0) {
        deliver();
      } else if (sender_.deadline() <= now_) {
        const TimerOutcome outcome = sender_.on_timer(now_);
        EXPECT_EQ(static_cast<int>(outcome), static_cast<int>(plain_.on_timer(now_)));
        result_.timeouts += outcome == TimerOutcome::kResend;
        result_.probes += outcome == TimerOutcome::kProbe;
        if (outcome == TimerOutcome::kFailed) {
          ++result_.failed;
          return result_;
        }
      }
      if (weather_.shrinks && prng_.below(100) == 0) {
        const auto mtu = static_cast<std::uint32_t>(prng_.between(296, 1500));
        EXPECT_EQ(sender_.on_path_mtu(mtu), plain_.on_path_mtu(mtu));
      }
      if (prng_.below(16) != 0)
        send(prng_.below(4) == 0 ? static_cast<std::uint32_t>(prng_.between(16, 1500))
                                 : 9000);  // now and then a stage is busy
      if (prng_.below(16) != 0) take(finished);
      compare();
      if (testing::Test::HasFailure()) return result_;
    }
    ADD_FAILURE() << "the trace does not end";
    return result_;
  }

 private:
  struct Arrival {
    Cycle at;
    std::uint64_t order;
    std::vector<std::uint64_t> tsns;  // of a packet with DATA; otherwise a SACK
    std::uint32_t cumulative = 0, a_rwnd = 0;
    SackOctets::Blocks gaps;
    bool shutdown = false;
    bool operator<(const Arrival& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  static SctpConfig config_of(Prng& prng) {
    SctpConfig config;
    config.send_chunks = 1u << prng.between(3, 7);
    config.max_burst = static_cast<unsigned>(prng.between(1, 8));
    config.initial_window = prng.below(2) == 0 ? 3 : 30;
    config.rto_initial_us = 100;
    config.rto_min_us = 20;
    config.rto_max_us = 2000;
    config.path_mtu_min = 296;
    config.max_retries = prng.below(4) == 0 ? 3 : 20;
    return config;
  }
  bool chance(std::uint64_t of_1000) { return prng_.below(1000) < of_1000; }

  bool push(std::uint32_t handle) {
    static constexpr std::uint16_t kSizes[] = {1, 4, 20, 518, 1436, 1452, 3000};
    const std::uint16_t bytes = kSizes[prng_.below(7)];
    const bool immediate = prng_.below(8) == 0;
    const bool taken = sender_.push({SentId{handle}, 16, bytes, 3, immediate}, now_);
    EXPECT_EQ(plain_.push({handle, bytes, 0, immediate}, now_), taken);
    return taken;
  }

  void send(std::uint32_t room) {
    for (;;) {
      const std::uint32_t first = sender_.next_octets();
      const bool any = sender_.next(now_, room, packet_);
      const auto plain = plain_.next(now_, room);
      ASSERT_EQ(packet_.chunks.size(), plain.size()) << "at " << now_;
      ASSERT_EQ(any, !plain.empty());
      if (!any) {
        // Only room was missing.
        EXPECT_TRUE(first == 0 || std::min(room, sender_.pmdcs() / 4 * 4) < first);
        return;
      }
      Arrival packet;
      std::uint32_t octets = 0;
      for (std::size_t i = 0; i < plain.size(); ++i) {
        const DataChunk& c = packet_.chunks[i];
        const auto& [tsn, p] = plain[i];
        ASSERT_EQ(c.tsn, static_cast<std::uint32_t>(tsn)) << "at " << now_;
        ASSERT_EQ(c.handle.v, p.handle);
        ASSERT_EQ(c.offset, p.offset);
        ASSERT_EQ(c.bytes, p.bytes);
        ASSERT_EQ(c.flags, p.flags);
        octets += p.size();
        result_.fragments += (c.flags & 3) != 3;
        packet.tsns.push_back(tsn);
      }
      EXPECT_EQ(packet_.octets, octets);
      EXPECT_EQ(first, plain.front().second.size());
      ++result_.packets;
      result_.retransmissions += packet_.resend != Resend::kNo;
      result_.beyond += packet_.beyond_path_mtu;
      send_on_path(packet);
    }
  }

  void send_on_path(Arrival arrival) {
    if (chance(weather_.loss)) return;
    const unsigned copies = chance(weather_.duplication) ? 2 : 1;
    for (unsigned i = 0; i < copies; ++i) {
      arrival.at = now_ + 500 + (chance(weather_.reorder) ? prng_.below(3000) : 0);
      arrival.order = ++order_;
      path_.push(arrival);
    }
  }

  void deliver() {
    const Arrival arrival = path_.top();
    path_.pop();
    if (arrival.tsns.empty()) return take_sack(arrival);
    for (const std::uint64_t tsn : arrival.tsns) {
      if (tsn > received_to_ && (a_rwnd_ != 0 || received_.empty())) received_.insert(tsn);
    }
    while (received_.count(received_to_ + 1) != 0) received_.erase(++received_to_);
    if (chance(weather_.revoke)) received_.clear();
    a_rwnd_ = chance(weather_.close) ? static_cast<std::uint32_t>(prng_.below(3) * 100)
                                     : static_cast<std::uint32_t>(prng_.between(3000, 60'000));
    answer();
    if (chance(weather_.nonsense)) answer_nonsense();
    // A closed window is opened again.
    if (a_rwnd_ < 3000 && prng_.below(2) == 0) {
      a_rwnd_ = 50'000;
      answer();
    }
  }
  void answer() {
    Arrival sack;
    sack.cumulative = static_cast<std::uint32_t>(received_to_);
    sack.a_rwnd = a_rwnd_;
    for (const std::uint64_t tsn : received_) {
      const std::uint64_t offset = tsn - received_to_;
      if (offset > 0xffff) break;
      const auto at = static_cast<std::uint16_t>(offset);
      if (!sack.gaps.empty() && sack.gaps.back().second + 1 == at) sack.gaps.back().second = at;
      else sack.gaps.push_back({at, at});
    }
    send_on_path(sack);
  }
  // Blocks that overlap, are not sorted, end before they begin, or name TSNs never sent.
  void answer_nonsense() {
    Arrival sack;
    sack.shutdown = prng_.below(4) == 0;
    sack.cumulative = static_cast<std::uint32_t>(received_to_ + (prng_.below(6) == 0 ? prng_.below(200) : 0));
    if (prng_.below(10) == 0) sack.cumulative += static_cast<std::uint32_t>(prng_.next());
    sack.a_rwnd = prng_.below(8) == 0 ? 0xffffffff : a_rwnd_;
    // The receiver must not lose TSNs that the cumulative TSN ack claims here.
    for (std::uint64_t n = prng_.below(5); n != 0; --n) {
      sack.gaps.push_back({static_cast<std::uint16_t>(prng_.below(20)), static_cast<std::uint16_t>(prng_.below(20))});
    }
    send_on_path(sack);
  }

  void take_sack(const Arrival& sack) {
    const SackOctets octets(sack.cumulative, sack.a_rwnd, sack.gaps);
    const SackOutcome out =
        sack.shutdown ? sender_.on_shutdown(sack.cumulative, now_) : sender_.on_sack(octets.view, now_);
    const PlainSender::Outcome plain =
        plain_.on_sack(sack.cumulative, sack.a_rwnd, sack.shutdown ? nullptr : &sack.gaps, now_);
    EXPECT_EQ(static_cast<int>(out.verdict), static_cast<int>(plain.verdict));
    EXPECT_EQ(out.acked, plain.acked) << "at " << now_;
    EXPECT_EQ(out.revoked, plain.revoked);
    EXPECT_EQ(out.fast_retransmit, plain.fast) << "at " << now_;
    EXPECT_EQ(out.recovery, plain.recovery);
    result_.old += out.verdict == SackVerdict::kOld;
    result_.refused += out.verdict == SackVerdict::kNeverSent;
    result_.fast += out.fast_retransmit;
    result_.recoveries += out.recovery;
    result_.revoked += out.revoked;
    // A false cumulative point, once believed, becomes true: the receiver follows.
    while (received_to_ < plain_.cumulative) received_.erase(++received_to_);
    while (received_.count(received_to_ + 1) != 0) received_.erase(++received_to_);
  }

  void take(std::vector<std::uint32_t>& finished) {
    std::vector<std::uint32_t> handles;
    while (const auto message = sender_.take_released()) handles.push_back(message->handle.v);
    EXPECT_EQ(handles, plain_.take_finished());
    finished.insert(finished.end(), handles.begin(), handles.end());
  }

  void compare() {
    EXPECT_EQ(sender_.deadline(), plain_.deadline) << "at " << now_;
    EXPECT_EQ(sender_.cwnd(), plain_.cwnd) << "at " << now_;
    EXPECT_EQ(sender_.ssthresh(), plain_.ssthresh);
    EXPECT_EQ(sender_.partial_bytes_acked(), plain_.pba);
    EXPECT_EQ(sender_.flight(), plain_.flight());
    EXPECT_EQ(sender_.peer_window(), plain_.rwnd) << "at " << now_;
    EXPECT_EQ(sender_.pmdcs(), plain_.pmdcs);
    EXPECT_EQ(sender_.recovering(), plain_.recovering);
    EXPECT_EQ(sender_.errors(), plain_.errors);
    EXPECT_EQ(sender_.next_tsn(), static_cast<std::uint32_t>(plain_.next_tsn));
    EXPECT_EQ(sender_.cumulative_tsn(), static_cast<std::uint32_t>(plain_.cumulative));
    EXPECT_EQ(sender_.idle(), plain_.queue.empty() && plain_.outstanding.empty());
  }

  Prng prng_;
  Weather weather_;
  const Rfc9260 algorithm_;
  const SctpConfig config_;
  const SenderSettings settings_;
  const std::uint64_t first_;
  std::uint32_t a_rwnd_;
  DataSender sender_;
  PlainSender plain_;
  DataPacket packet_;
  std::priority_queue<Arrival> path_;
  std::uint64_t received_to_, order_ = 0;
  std::set<std::uint64_t> received_;
  Cycle now_ = 0;
  TraceResult result_;
};

TraceResult run(unsigned traces, std::uint64_t seed, const Weather& weather) {
  TraceResult sum;
  for (unsigned i = 0; i < traces; ++i) {
    Weather w = weather;
    if (i % 2 == 1) w.initial_tsn = 0u - static_cast<std::uint32_t>(i % 50);
    sum += Trace(mix64(seed ^ i), w).run();
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "trace " << i;
      break;
    }
  }
  return sum;
}

TEST(SenderTrace, CalmPath) {
  Weather w;
  const TraceResult r = run(300, 1, w);
  EXPECT_GT(r.wrapped, 100u);
  EXPECT_EQ(r.failed, 0u);
}

TEST(SenderTrace, LossAndReordering) {
  Weather w;
  w.loss = 50;
  w.reorder = 100;
  w.duplication = 20;
  const TraceResult r = run(1000, 2, w);
  EXPECT_GT(r.recoveries, 1000u);
  EXPECT_GT(r.fast, r.recoveries);
  EXPECT_GT(r.timeouts, 500u);
  EXPECT_GT(r.old, 500u);
}

TEST(SenderTrace, AwfulPath) {
  Weather w;
  w.loss = 300;
  w.reorder = 300;
  w.duplication = 100;
  const TraceResult r = run(500, 3, w);
  EXPECT_GT(r.timeouts, 5000u);
  EXPECT_GT(r.failed, 0u);
}

TEST(SenderTrace, ClosedWindowsAndRevokedBlocks) {
  Weather w;
  w.loss = 30;
  w.reorder = 100;
  w.revoke = 100;
  w.close = 200;
  const TraceResult r = run(1000, 4, w);
  EXPECT_GT(r.revoked, 1000u);
  EXPECT_GT(r.probes, 200u);
}

TEST(SenderTrace, ShorterPaths) {
  Weather w;
  w.loss = 30;
  w.reorder = 50;
  w.shrinks = true;
  w.mtu = 9000;
  const TraceResult r = run(1000, 5, w);
  EXPECT_GT(r.fragments, 1000u);
  EXPECT_GT(r.beyond, 100u);
}

TEST(SenderTrace, Nonsense) {
  Weather w;
  w.loss = 50;
  w.reorder = 100;
  w.revoke = 30;
  w.close = 30;
  w.nonsense = 300;
  const TraceResult r = run(1000, 6, w);
  EXPECT_GT(r.refused, 1000u);
  EXPECT_GT(r.old, 1000u);
}

}  // namespace
}  // namespace rnic::sctp
