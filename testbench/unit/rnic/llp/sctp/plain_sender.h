// A second, plain implementation of an association's sending half, for comparison: sets and maps over TSNs that never
// wrap, and sums recomputed each time. It follows the tables of model/rnic/llp/sctp/sctp.md, not the code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "model/common/cycle.h"
#include "model/rnic/llp/rto.h"
#include "model/rnic/llp/sctp/sctp_config.h"

namespace rnic::sctp {

class PlainSender {
 public:
  using Tsn = std::uint64_t;
  struct Message {
    std::uint32_t handle = 0, bytes = 0, cut = 0;
    bool immediate = false;
  };
  struct Chunk {
    std::uint32_t handle = 0, offset = 0, bytes = 0, flags = 0;
    bool held = false, marked = false, fast = false;
    unsigned misses = 0;
    std::uint32_t size() const { return 16 + (bytes + 3) / 4 * 4; }
    bool in_flight() const { return !held && !marked; }
  };
  enum class Verdict { kTaken, kOld, kNeverSent };
  struct Outcome {
    Verdict verdict = Verdict::kTaken;
    std::uint32_t acked = 0, revoked = 0;
    bool fast = false, recovery = false;
  };
  enum class Timer { kNone, kResend, kProbe, kFailed };

  PlainSender(const SctpConfig& config, std::uint64_t period_ps, Tsn first, std::uint32_t a_rwnd, std::uint32_t mtu,
              Cycle now)
      : config_(config),
        limits_(config, period_ps),
        next_tsn(first),
        cumulative(first - 1),
        pmdcs(mtu - 32),
        rwnd(a_rwnd),
        advertised_(a_rwnd),
        last_sent_(now) {
    cwnd = std::min((config.initial_window + 1) * pmdcs, std::max(2 * pmdcs, config.initial_window * 1468));
    burst_ = config.max_burst;
  }

  bool push(const Message& m, Cycle now) {
    if (queue.size() == config_.send_chunks) return false;
    queue.push_back(m);
    occasion();
    if (outstanding.empty() && deadline == kNever) wait_for_window(now, false);
    return true;
  }

  std::vector<std::pair<Tsn, Chunk>> next(Cycle now, std::uint32_t room) {
    std::vector<std::pair<Tsn, Chunk>> packet;
    const std::uint32_t most = pmdcs - pmdcs % 4;
    room = std::min(room, most);
    std::uint32_t used = 0;
    const auto takes = [&](std::uint32_t size) {
      if (size > most) return used == 0 && room == most;
      return used + size <= room;
    };
    const bool free = flight() < cwnd && burst_ > 0;
    const bool retransmit =
        std::any_of(outstanding.begin(), outstanding.end(), [](auto& c) { return c.second.marked; });
    if (retransmit) {
      if (!free && !urgent_) return {};
      for (auto& [tsn, c] : outstanding) {
        if (!c.marked) continue;
        if (!takes(c.size())) break;
        c.marked = false;
        used += c.size();
        rwnd -= std::min(rwnd, c.bytes);
        packet.emplace_back(tsn, c);
      }
      if (packet.empty()) return {};
      if (urgent_) urgent_ = false;
      else --burst_;
      if (packet.front().first == outstanding.begin()->first || deadline == kNever) deadline = now + rto();
      last_sent_ = now;
      return packet;
    }
    if (!free) return {};
    const bool was_empty = outstanding.empty();
    while (!queue.empty() && next_tsn - taken_from() < config_.send_chunks) {
      Message& m = queue.front();
      const std::uint32_t left = m.bytes - m.cut;
      Chunk c;
      c.handle = m.handle;
      c.offset = m.cut;
      c.bytes = 16 + (left + 3) / 4 * 4 <= most ? left : most - 16;
      if (!takes(c.size()) || (c.bytes > rwnd && !probe_)) break;
      if (was_empty && packet.empty()) {
        for (std::uint64_t n = std::min<std::uint64_t>((now - last_sent_) / rto(0), 40); n != 0; --n) {
          cwnd = std::min(cwnd, std::max(cwnd / 2, 4 * pmdcs));
        }
      }
      const bool last = c.bytes == left;
      c.flags = 4u | (c.offset == 0 ? 2u : 0u) | (last ? 1u : 0u) | (last && m.immediate ? 8u : 0u);
      m.cut += c.bytes;
      if (last) queue.pop_front();
      used += c.size();
      rwnd -= std::min(rwnd, c.bytes);
      outstanding[next_tsn] = c;
      packet.emplace_back(next_tsn++, c);
      if (probe_) {
        probe_ = false;
        probe_tsn_ = next_tsn - 1;
        break;
      }
    }
    if (packet.empty()) return {};
    --burst_;
    last_sent_ = now;
    if (!timed_) timed_ = {next_tsn - 1, now};
    if (was_empty || deadline == kNever) deadline = now + rto();
    return packet;
  }

  // `gaps` as in the chunk; nullptr for a SHUTDOWN.
  Outcome on_sack(std::uint32_t cum_wire, std::uint32_t a_rwnd,
                  const std::vector<std::pair<std::uint16_t, std::uint16_t>>* gaps, Cycle now) {
    Outcome out;
    const auto ahead = static_cast<std::int32_t>(cum_wire - static_cast<std::uint32_t>(cumulative));
    if (ahead < 0) return {Verdict::kOld};
    const Tsn cum = cumulative + static_cast<std::uint32_t>(ahead);
    if (cum >= next_tsn) return {Verdict::kNeverSent};
    std::set<Tsn> reported;
    if (gaps != nullptr) {
      for (const auto& [start, end] : *gaps) {
        if (cum + std::max(start, end) >= next_tsn) return {Verdict::kNeverSent};
        Tsn from = cum + std::max<Tsn>(start, 1);
        if (start == 0) continue;
        if (!reported.empty()) from = std::max(from, *reported.rbegin() + 1);
        for (Tsn t = from; t <= cum + end; ++t) reported.insert(t);
      }
    }
    const std::uint32_t before = flight();
    const bool advanced = cum > cumulative;
    const bool was_recovering = recovering;
    std::optional<Tsn> htna;

    while (!outstanding.empty() && outstanding.begin()->first <= cum) {
      const auto& [tsn, c] = *outstanding.begin();
      if (!c.held) {
        out.acked += c.size();
        sample(tsn, now);
      }
      if (c.flags & 1u) finished.push_back(c.handle);
      finished_ends_.push_back({tsn, (c.flags & 1u) != 0});
      outstanding.erase(outstanding.begin());
    }
    cumulative = cum;
    if (gaps != nullptr) {
      answered_ = true;
      std::set<Tsn> missed;
      for (auto& [tsn, c] : outstanding) {
        const bool has = reported.count(tsn) != 0;
        if (has && !c.held) {
          out.acked += c.size();
          htna = tsn;
          c.held = true;
          c.marked = false;
          c.misses = 0;
          sample(tsn, now);
        } else if (!has && c.held) {
          c.held = false;
          ++out.revoked;
          missed.insert(tsn);
        }
      }
      std::optional<Tsn> below = htna;
      if (was_recovering && advanced && !reported.empty()) below = *reported.rbegin();
      for (auto& [tsn, c] : outstanding) {
        if (below && tsn < *below && reported.count(tsn) == 0) missed.insert(tsn);
      }
      for (const Tsn tsn : missed) {
        Chunk& c = outstanding[tsn];
        if (!c.in_flight() || c.fast) continue;
        if (++c.misses == 3) {
          mark(tsn);
          c.fast = true;
          out.fast = true;
        }
      }
    }
    if (out.acked > 0) {
      errors = 0;
      alone_ = false;
      if (!was_recovering) grow(out.acked, before, advanced);
    }
    if (recovering && cumulative >= exit_) recovering = false;
    if (!any_marked()) urgent_ = false;
    occasion();
    if (out.fast) {
      urgent_ = true;
      if (!recovering) {
        recovering = out.recovery = true;
        exit_ = next_tsn - 1;
        ssthresh = cwnd = std::max(cwnd / 2, 4 * pmdcs);
        pba = 0;
      }
    }
    if (gaps != nullptr) {
      advertised_ = a_rwnd;
      const std::uint32_t data = flight_data();
      rwnd = a_rwnd > data ? a_rwnd - data : 0;
      if (outstanding.empty()) probe_tsn_.reset();
      if (probe_tsn_ && outstanding.count(*probe_tsn_) != 0 && outstanding[*probe_tsn_].in_flight() &&
          a_rwnd >= outstanding[*probe_tsn_].bytes) {
        mark(*probe_tsn_);
        probe_tsn_.reset();
      }
    }
    if (outstanding.empty()) wait_for_window(now, advanced);
    else if (advanced || deadline == kNever) deadline = now + rto();
    return out;
  }

  Timer on_timer(Cycle now) {
    if (deadline == kNever || deadline > now) return Timer::kNone;
    deadline = kNever;
    if (outstanding.empty()) {
      probe_ = true;
      backoff_ = std::min(backoff_ + 1, 31u);
      occasion();
      return Timer::kProbe;
    }
    const bool no_room = answered_ && advertised_ < outstanding.begin()->second.bytes;
    answered_ = false;
    if (!no_room) {
      if (errors == config_.max_retries) return Timer::kFailed;
      ++errors;
    }
    ssthresh = std::max(cwnd / 2, 4 * pmdcs);
    cwnd = pmdcs;
    pba = 0;
    backoff_ = std::min(backoff_ + 1, 31u);
    for (auto& [tsn, c] : outstanding) {
      if (c.in_flight() || tsn == cumulative + 1) mark(tsn);
    }
    recovering = urgent_ = false;
    probe_tsn_.reset();
    alone_ = true;
    burst_ = 1;
    return Timer::kResend;
  }

  bool on_path_mtu(std::uint32_t mtu) {
    const std::uint32_t less = std::max(mtu, config_.path_mtu_min) - 32;
    if (less >= pmdcs) return false;
    pmdcs = less;
    for (auto& [tsn, c] : outstanding) {
      if (c.in_flight() && c.size() > pmdcs - pmdcs % 4) mark(tsn);
    }
    occasion();
    return true;
  }

  // The messages that the cumulative TSN ack has passed.
  std::vector<std::uint32_t> take_finished() {
    finished_ends_.clear();
    return std::exchange(finished, {});
  }
  std::uint32_t flight() const {
    std::uint32_t sum = 0;
    for (const auto& [tsn, c] : outstanding) sum += c.in_flight() ? c.size() : 0;
    return sum;
  }

 private:
  std::uint32_t flight_data() const {
    std::uint32_t sum = 0;
    for (const auto& [tsn, c] : outstanding) sum += c.in_flight() ? c.bytes : 0;
    return sum;
  }
  bool any_marked() const {
    return std::any_of(outstanding.begin(), outstanding.end(), [](auto& c) { return c.second.marked; });
  }
  // Entries that the user has not taken count as in use.
  Tsn taken_from() const { return finished_ends_.empty() ? cumulative + 1 : finished_ends_.front().first; }
  Cycle rto(unsigned backoff) const { return rtt_.rto(limits_, backoff); }
  Cycle rto() const { return rto(backoff_); }
  void occasion() {
    if (!alone_) burst_ = config_.max_burst;
  }
  void mark(Tsn tsn) {
    Chunk& c = outstanding[tsn];
    if (c.in_flight()) rwnd += c.bytes;
    c.held = false;
    c.marked = true;
    c.misses = 0;
    if (timed_ && timed_->first == tsn) timed_.reset();
  }
  void sample(Tsn tsn, Cycle now) {
    if (!timed_ || timed_->first != tsn) return;
    rtt_.sample(now - timed_->second);
    timed_.reset();
    backoff_ = 0;
  }
  void grow(std::uint32_t acked, std::uint32_t before, bool advanced) {
    if (cwnd <= ssthresh) {
      if (before >= cwnd && advanced) cwnd += std::min(acked, pmdcs);
    } else {
      pba += acked;
      if (before < cwnd) {
        if (pba > cwnd) pba = cwnd;
      } else if (pba >= cwnd) {
        pba -= cwnd;
        cwnd += pmdcs;
      }
    }
    if (outstanding.empty()) pba = 0;
  }
  void wait_for_window(Cycle now, bool restart) {
    bool closed = false;
    if (!queue.empty()) {
      const std::uint32_t left = queue.front().bytes - queue.front().cut;
      const std::uint32_t most = pmdcs - pmdcs % 4;
      closed = (16 + (left + 3) / 4 * 4 <= most ? left : most - 16) > rwnd;
    }
    if (!closed) probe_ = false;
    if (!closed || probe_) deadline = kNever;
    else if (restart || deadline == kNever) deadline = now + rto();
  }

  const SctpConfig config_;
  const llp::RtoLimits limits_;

 public:
  Tsn next_tsn, cumulative;
  std::map<Tsn, Chunk> outstanding;
  std::deque<Message> queue;
  std::vector<std::uint32_t> finished;
  std::uint32_t pmdcs, cwnd = 0, ssthresh = 0xffffffff, pba = 0, rwnd;
  unsigned errors = 0;
  bool recovering = false;
  Cycle deadline = kNever;

 private:
  std::vector<std::pair<Tsn, bool>> finished_ends_;
  std::uint32_t advertised_;
  Cycle last_sent_;
  llp::RttEstimator rtt_;
  std::optional<std::pair<Tsn, Cycle>> timed_;
  std::optional<Tsn> probe_tsn_;
  Tsn exit_ = 0;
  unsigned backoff_ = 0;
  unsigned burst_ = 0;
  bool urgent_ = false, alone_ = false, answered_ = false, probe_ = false;
};

}  // namespace rnic::sctp
