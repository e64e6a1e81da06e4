// Seeded traces of loss, reordering and duplication against a plain model: 64-bit TSNs that never wrap, sets and maps
// of all received chunks, SACKs assembled octet by octet.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "model/common/prng.h"
#include "testbench/unit/rnic/llp/sctp/data_receiver_bench.h"

namespace rnic::sctp {
namespace {

using Tsn = std::uint64_t;
using Fate = DataFate;
using Mode = DataReceiver::Mode;

struct ModelResult {
  Fate fate = Fate::kIgnored;
  std::vector<std::uint8_t> message;
  std::set<std::uint16_t> ended;
  unsigned given_up = 0;
};

class Model {
 public:
  struct Limits {
    std::size_t window, buffer, every, delay, pieces, octets, message, streams;
  };
  Model(const Limits& limits, Tsn initial)
      : l_(limits), first_(initial), cumulative_(initial - 1), announced_(limits.buffer) {}

  void set_mode(Mode mode) { mode_ = mode; }

  void begin_packet() {
    gap_before_ = gap();
    data_ = immediate_ = dropped_ = fresh_ = false;
  }
  ModelResult chunk(Tsn tsn, const TestChunk& c, bool refuse) {
    ModelResult r;
    if (mode_ == Mode::kDrop) return r;
    data_ = true;
    if (c.flags & 8) immediate_ = true;
    const bool whole = (c.flags & 3) == 3;
    if (tsn <= cumulative_ || came_.count(tsn) != 0) {
      r.fate = Fate::kDuplicate;
      if (duplicates_.size() < 32) duplicates_.push_back(tsn);
      return r;
    }
    if (tsn > cumulative_ + l_.window) {
      r.fate = Fate::kBeyondWindow;
      dropped_ = true;
      return r;
    }
    const auto poor = [&] {
      return free() == 0 || (!whole && (held_.size() == l_.pieces || held_octets() + c.octets.size() > l_.octets));
    };
    bool room = true;
    if (tsn > highest()) {
      room = window() != 0;
    } else {
      while (poor() && !held_.empty() && held_.rbegin()->first > tsn) {
        came_.erase(held_.rbegin()->first);
        held_.erase(held_.rbegin()->first);
        ++r.given_up;
      }
    }
    if (!room || (poor() && (free() == 0 || tsn != cumulative_ + 1))) {
      r.fate = Fate::kNoRoom;
      dropped_ = true;
      return r;
    }
    came_.insert(tsn);
    if (c.stream >= l_.streams) {
      r.fate = Fate::kUnknownStream;
    } else if (whole) {
      r.fate = Fate::kMessage;
      r.message = c.octets;
    } else {
      held_[tsn] = c;
    }
    bury(r);
    if (r.fate == Fate::kIgnored) r.fate = held_.count(tsn) != 0 ? Fate::kPiece : Fate::kBroken;
    if (r.fate == Fate::kPiece) measure(tsn, r, refuse);
    if (r.fate == Fate::kMessage && refuse) {
      came_.erase(tsn);
      held_.erase(tsn);
      dropped_ = true;
      return r;
    }
    fresh_ = true;
    while (came_.count(cumulative_ + 1) != 0) ++cumulative_;
    unconsumed_ += r.message.size();
    return r;
  }
  void end_packet(std::uint64_t now) {
    if (!data_) return;
    if (mode_ == Mode::kShutdownSent) {
      if (gap() || !duplicates_.empty() || dropped_) owed_ = true;
      first_data_ = false;
      return;
    }
    ++packets_;
    const bool at_once =
        first_data_ || packets_ >= l_.every || gap() || gap_before_ || immediate_ || dropped_ || !fresh_;
    first_data_ = false;
    if (at_once) owed_ = true;
    else if (!deadline_) deadline_ = now + l_.delay;
  }
  void pass_time(std::uint64_t now) {
    if (!deadline_ || now < *deadline_) return;
    deadline_.reset();
    owed_ = true;
  }
  void consume(std::size_t octets) {
    unconsumed_ -= octets;
    if (mode_ != Mode::kDrop && window() >= announced_ + l_.buffer / 4) owed_ = true;
  }

  std::size_t unconsumed() const { return unconsumed_; }
  bool owed() const { return owed_; }
  std::uint64_t deadline() const { return deadline_ ? *deadline_ : kNever; }
  Tsn cumulative() const { return cumulative_; }
  Tsn highest() const { return came_.empty() ? first_ - 1 : *came_.rbegin(); }
  std::set<Tsn> missing() const {
    std::set<Tsn> all;
    for (Tsn tsn = cumulative_ + 1; tsn < highest(); ++tsn) {
      if (came_.count(tsn) == 0) all.insert(tsn);
    }
    return all;
  }

  std::string sack(std::size_t room) {
    std::vector<std::pair<Tsn, Tsn>> blocks;
    for (const Tsn tsn : came_) {
      if (tsn <= cumulative_) continue;
      if (!blocks.empty() && blocks.back().second + 1 == tsn) blocks.back().second = tsn;
      else blocks.emplace_back(tsn, tsn);
    }
    while (16 + 4 * blocks.size() > room) blocks.pop_back();
    while (16 + 4 * (blocks.size() + duplicates_.size()) > room) duplicates_.pop_back();
    announced_ = window();
    std::vector<std::uint8_t> o;
    const auto put = [&o](std::uint64_t value, int octets) {
      while (octets-- > 0) o.push_back(static_cast<std::uint8_t>(value >> 8 * octets));
    };
    put(3, 1);
    put(0, 1);
    put(16 + 4 * (blocks.size() + duplicates_.size()), 2);
    put(cumulative_, 4);
    put(announced_, 4);
    put(blocks.size(), 2);
    put(duplicates_.size(), 2);
    for (const auto& [start, end] : blocks) {
      put(start - cumulative_, 2);
      put(end - cumulative_, 2);
    }
    for (const Tsn tsn : duplicates_) put(tsn, 4);
    duplicates_.clear();
    packets_ = 0;
    owed_ = false;
    deadline_.reset();
    return hex(o);
  }

 private:
  bool gap() const { return highest() > cumulative_; }
  std::size_t held_octets() const {
    std::size_t sum = 0;
    for (const auto& [tsn, c] : held_) sum += c.octets.size();
    return sum;
  }
  std::size_t free() const {
    const std::size_t used = unconsumed_ + held_octets();
    return used < l_.buffer ? l_.buffer - used : 0;
  }
  std::size_t window() const { return announced_ == 0 && free() < l_.buffer / 4 ? 0 : free(); }

  bool there(Tsn tsn) const { return tsn < first_ || came_.count(tsn) != 0; }
  // A piece is dead if it is not DDP's, or if a neighbour arrived that is not the piece needed there.
  bool dead(Tsn tsn, const TestChunk& c) const {
    if (!(c.flags & 4) || (c.ppid != 16 && c.ppid != 17)) return true;
    const auto needs = [&](Tsn at, std::uint8_t border) {
      if (!there(at)) return false;
      const auto it = held_.find(at);
      return it == held_.end() || (it->second.flags & border) || it->second.stream != c.stream ||
             it->second.ppid != c.ppid;
    };
    return (!(c.flags & 2) && needs(tsn - 1, 1)) || (!(c.flags & 1) && needs(tsn + 1, 2));
  }
  void bury(ModelResult& r) {
    for (bool any = true; any;) {
      any = false;
      std::vector<Tsn> all;
      for (const auto& [tsn, c] : held_) {
        if (dead(tsn, c)) all.push_back(tsn);
      }
      for (const Tsn tsn : all) {
        any = true;
        r.ended.insert(held_[tsn].stream);
        held_.erase(tsn);
      }
    }
  }
  // The run of pieces around this one: too many, or a complete message.
  void measure(Tsn tsn, ModelResult& r, bool refuse) {
    Tsn begin = tsn, end = tsn;
    while (!(held_[begin].flags & 2) && held_.count(begin - 1) != 0) --begin;
    while (!(held_[end].flags & 1) && held_.count(end + 1) != 0) ++end;
    std::vector<std::uint8_t> octets;
    for (Tsn at = begin; at <= end; ++at) octets.insert(octets.end(), held_[at].octets.begin(), held_[at].octets.end());
    const bool complete = (held_[begin].flags & 2) && (held_[end].flags & 1);
    const bool broken = end - begin + 1 > 64 || octets.size() > (held_[tsn].ppid == 17 ? 516 : l_.message);
    if (!complete && !broken) return;
    r.fate = broken ? Fate::kBroken : Fate::kMessage;
    if (broken) r.ended.insert(held_[tsn].stream);
    else r.message = octets;
    if (broken || !refuse) {
      for (Tsn at = begin; at <= end; ++at) held_.erase(at);
    }
  }

  Limits l_;
  Tsn first_, cumulative_;
  std::set<Tsn> came_;
  std::map<Tsn, TestChunk> held_;
  std::vector<Tsn> duplicates_;
  std::size_t unconsumed_ = 0, announced_, packets_ = 0;
  std::optional<std::uint64_t> deadline_;
  Mode mode_ = Mode::kTake;
  bool first_data_ = true, owed_ = false;
  bool gap_before_ = false, data_ = false, immediate_ = false, dropped_ = false, fresh_ = false;
};

// What the peer has to send: messages, some of them in pieces, and with `wild` some that make no sense.
std::vector<TestChunk> plan_of(Prng& rng, Tsn initial, std::size_t chunks, bool wild) {
  std::vector<TestChunk> plan;
  while (plan.size() < chunks) {
    const auto pieces = rng.below(2) == 0 ? 1 : rng.between(2, 5);
    const auto stream = static_cast<std::uint16_t>(rng.below(3));
    const std::uint32_t ppid = rng.below(8) == 0 ? 17 : 16;
    for (std::uint64_t i = 0; i < pieces; ++i) {
      TestChunk c;
      c.tsn = static_cast<std::uint32_t>(initial + plan.size());
      c.flags = static_cast<std::uint8_t>(4 | (i == 0 ? 2 : 0) | (i + 1 == pieces ? 1 : 0));
      if (rng.below(16) == 0) c.flags |= 8;
      c.stream = stream;
      c.ppid = ppid;
      if (wild && rng.below(24) == 0) c.flags = static_cast<std::uint8_t>(rng.below(16));
      if (wild && rng.below(40) == 0) c.stream = static_cast<std::uint16_t>(rng.below(5));
      if (wild && rng.below(60) == 0) c.ppid = static_cast<std::uint32_t>(rng.below(20));
      c.octets.resize(rng.between(1, wild ? 330 : 100));
      for (auto& octet : c.octets) octet = static_cast<std::uint8_t>(rng.next());
      plan.push_back(c);
    }
  }
  return plan;
}

struct Trace {
  std::uint64_t seed;
  bool wild;
};

// Counts all that happened in the traces, to prove that they cover the intended cases.
struct Seen {
  std::map<Fate, unsigned> fates;
  unsigned sacks = 0, ended = 0, delayed = 0, given_up = 0, zero_windows = 0, refused = 0, reassembled = 0, wrapped = 0;
};

class TraceRun {
 public:
  TraceRun(const Trace& trace, Seen& seen)
      : rng_(mix64(trace.seed)),
        wild_(trace.wild),
        calm_(rng_.below(2) == 0),
        appetite_(rng_.between(1, 12)),
        seen_(seen),
        initial_(0x1'ffff'ff80 + rng_.below(256)),
        bench_(config(), static_cast<std::uint32_t>(initial_), 576),
        model_({config_.reorder_chunks, config_.receive_buffer, config_.sack_every, 125,
                config_.reassembly_messages * 64u, config_.reassembly_messages * 528u, 528, 4},
               initial_),
        plan_(plan_of(rng_, initial_, 300, wild_)) {}

  void run() {
    for (int step = 0; step < 400 && !testing::Test::HasFailure(); ++step) {
      if (wild_ && rng_.below(60) == 0) change_mode();
      packet();
      acknowledge();
      if (rng_.below(16) < appetite_) consume();
      acknowledge();
      pass_time();
      acknowledge();
    }
    seen_.wrapped += model_.cumulative() > 0x2'0000'0000;
  }
  // A peer that continues until everything has arrived.
  void finish() {
    calm_ = false;
    for (int step = 0; step < 3000 && model_.cumulative() + 1 < initial_ + plan_.size(); ++step) {
      if (testing::Test::HasFailure()) return;
      packet();
      acknowledge();
      consume();
      acknowledge();
    }
    EXPECT_EQ(model_.cumulative() + 1, initial_ + plan_.size());
    EXPECT_EQ(bench_.receiver.fragments().pieces(), 0u);
    EXPECT_EQ(bench_.packets_held(), 0u);
    std::size_t messages = 0;
    for (const TestChunk& c : plan_) messages += (c.flags & 1) != 0;
    EXPECT_EQ(delivered_, messages);
  }

 private:
  const SctpConfig& config() {
    config_.streams = 4;
    config_.reorder_chunks = 64;
    config_.receive_buffer = static_cast<unsigned>(rng_.between(1500, 8000)) & ~3u;
    config_.sack_every = static_cast<unsigned>(rng_.between(1, 4));
    config_.reassembly_messages = static_cast<unsigned>(rng_.between(1, 3));
    return config_;
  }

  void change_mode() {
    constexpr Mode kModes[] = {Mode::kTake, Mode::kTake, Mode::kTake, Mode::kShutdownSent, Mode::kDrop};
    const Mode mode = kModes[rng_.below(5)];
    bench_.receiver.set_mode(mode);
    model_.set_mode(mode);
  }

  Tsn pick() {
    if (calm_ && rng_.below(12) != 0) return std::max(model_.cumulative(), model_.highest()) + 1;
    const std::set<Tsn> missing = model_.missing();
    switch (rng_.below(10)) {
      case 0:
        return model_.highest() + rng_.between(1, 4);  // loss
      case 1:
        return model_.highest() - std::min<Tsn>(rng_.below(20), model_.highest() + 1 - initial_);
      case 2:
        return model_.cumulative() + 1 + rng_.below(90);
      case 3:
      case 4:
      case 5:
        if (!missing.empty()) return *missing.begin();
        return model_.highest() + 1;
      case 6:
        if (!missing.empty()) return *std::next(missing.begin(), static_cast<long>(rng_.below(missing.size())));
        return model_.highest() + 1;
      default:
        return model_.highest() + 1;
    }
  }

  void packet() {
    bench_.receiver.begin_packet();
    model_.begin_packet();
    for (auto chunks = calm_ ? 1 : rng_.between(1, 4); chunks != 0; --chunks) chunk();
    bench_.receiver.end_packet(bench_.settings, now_);
    model_.end_packet(now_);
    compare();
  }

  void chunk() {
    const Tsn tsn = std::max(pick(), initial_);
    if (tsn >= initial_ + plan_.size()) return;
    const TestChunk& c = plan_[tsn - initial_];
    const bool refuse = rng_.below(24) == 0;
    const ReceivedData data = bench_.chunk(c, refuse);
    const ModelResult expected = model_.chunk(tsn, c, refuse);
    EXPECT_EQ(data.fate, expected.fate) << tsn;
    EXPECT_EQ(std::vector<std::uint8_t>(data.message.begin(), data.message.end()), expected.message) << tsn;
    EXPECT_EQ(std::set<std::uint16_t>(data.ended.begin(), data.ended.end()), expected.ended) << tsn;
    EXPECT_EQ(static_cast<std::uint32_t>(model_.cumulative()), bench_.receiver.cumulative_tsn());
    seen_.refused += data.fate == Fate::kMessage && refuse;
    if (data.fate == Fate::kMessage && !refuse) {
      ++delivered_;
      seen_.reassembled += (c.flags & 3) != 3;
    }
    ++seen_.fates[data.fate];
    seen_.ended += !data.ended.empty();
    EXPECT_EQ(data.given_up, expected.given_up) << tsn;
    seen_.given_up += data.given_up;
  }

  void acknowledge() {
    EXPECT_EQ(bench_.receiver.sack_owed(), model_.owed());
    const bool rides = rng_.below(20) == 0;
    if (!model_.owed() && !rides) return;
    const std::size_t room = rng_.below(4) == 0 ? rng_.between(16, 60) : 1460;
    const std::size_t bytes = bench_.receiver.sack_bytes(room);
    const std::string sack = bench_.written_sack(room);
    EXPECT_EQ(sack, model_.sack(room));
    EXPECT_EQ(sack.size(), 2 * bytes);
    ++seen_.sacks;
    seen_.zero_windows += sack.substr(16, 8) == "00000000";
    compare();
  }
  void compare() {
    EXPECT_EQ(bench_.receiver.sack_owed(), model_.owed());
    EXPECT_EQ(bench_.receiver.deadline(), model_.deadline());
  }

  void consume() {
    const auto octets = static_cast<std::uint32_t>(rng_.below(3) == 0   ? rng_.below(model_.unconsumed() + 1)
                                                   : rng_.below(4) == 0 ? 0
                                                                        : model_.unconsumed());
    bench_.receiver.consume(bench_.settings, octets);
    model_.consume(octets);
  }

  void pass_time() {
    now_ += rng_.below(100);
    seen_.delayed += model_.deadline() <= now_;
    bench_.receiver.on_delay_over(now_);
    model_.pass_time(now_);
  }

  Prng rng_;
  const bool wild_;
  bool calm_;                     // little is lost
  const std::uint64_t appetite_;  // how often, out of 16 times, the upper layer takes octets
  Seen& seen_;
  const Tsn initial_;
  SctpConfig config_;
  ReceiverBench bench_;
  Model model_;
  const std::vector<TestChunk> plan_;
  std::uint64_t now_ = 1000;
  std::size_t delivered_ = 0;
};

TEST(SctpReceiverTraces, LossReorderingAndDuplication) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 1500 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    TraceRun run({seed, false}, seen);
    run.run();
    run.finish();
  }
  for (const Fate fate : {Fate::kDuplicate, Fate::kBeyondWindow, Fate::kNoRoom, Fate::kPiece, Fate::kMessage}) {
    EXPECT_GT(seen.fates[fate], 1000u) << static_cast<int>(fate);
  }
  EXPECT_EQ(seen.fates[Fate::kBroken], 0u);
  EXPECT_EQ(seen.ended, 0u);
  EXPECT_GT(seen.sacks, 100'000u);
  EXPECT_GT(seen.delayed, 1000u);
  EXPECT_GT(seen.given_up, 100u);
  EXPECT_GT(seen.zero_windows, 1000u);
  EXPECT_GT(seen.refused, 1000u);
  EXPECT_GT(seen.reassembled, 10'000u);
  EXPECT_GT(seen.wrapped, 1000u);
}

TEST(SctpReceiverTraces, APeerThatBreaksTheRules) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 1500 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    TraceRun({seed + 1'000'000, true}, seen).run();
  }
  for (const Fate fate : {Fate::kIgnored, Fate::kDuplicate, Fate::kBeyondWindow, Fate::kNoRoom, Fate::kUnknownStream,
                          Fate::kPiece, Fate::kBroken, Fate::kMessage}) {
    EXPECT_GT(seen.fates[fate], 1000u) << static_cast<int>(fate);
  }
  EXPECT_GT(seen.ended, 10'000u);
}

}  // namespace
}  // namespace rnic::sctp
