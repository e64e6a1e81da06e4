// Races of atomic_alu. A device may read a word again, or hand a result on to the next atomic in flight there, so an
// atomic is given to the predictor when the device answers it, and the predictor hears that the word has the value
// that the device answers: if the word may have had it.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "model/common/bytes.h"
#include "model/golden/abi/rnic_golden_messages.h"
#include "model/golden/dma.h"
#include "model/golden/qp_races.h"
#include "model/golden/write_answers.h"
#include "model/rnic/context/tables.h"
#include "model/rnic/messages/requests.h"
#include "model/rnic/responder/atomic_operation.h"

namespace rnic::golden {
namespace {

constexpr std::size_t kFewWords = 64;  // beside those of what is under way

struct Read {
  std::uint64_t address;
  Cycle given;
  std::uint64_t value;
  bool ok;
};

// A word of host memory while atomics are under way.
struct Word {
  std::vector<Read> reads;                  // that are answered, and were no atomic's yet
  unsigned open = 0;                        // that are not answered
  std::vector<Cycle> others;                // somebody else wrote it
  bool has_result = false, failed = false;  // of the last atomic,
  std::uint64_t result = 0;
  Cycle began = 0;     // whose value left memory then,
  Cycle answered = 0;  // and which was answered then
  Cycle written = 0;   // by the last atomic that did
  struct Write {
    std::uint64_t value;
    Cycle given;
  };
  std::map<std::uint64_t, Write> loose;  // what the device wrote for nobody yet, by number of the write
};

class AtomicRaces final : public QpRaces {
 public:
  explicit AtomicRaces(Bench& predictor) : QpRaces(predictor, RNIC_ATOMIC_ALU_IN) {}

  Shown shown(std::uint32_t port, const Record&) const override {
    if (port == RNIC_ATOMIC_ALU_OUT) return Shown::kWell;
    return port == RNIC_ATOMIC_ALU_EVENT ? Shown::kRefused : Shown::kNothing;
  }
  // Host memory takes its time.
  bool is_patient(const Item& item) const override {
    const Qpn qpn{static_cast<std::uint32_t>(item.group)};
    return predictor_.contexts()->has(qpn) && predictor_.contexts()->is_alive(qpn, epoch(item.record));
  }
  // An atomic that has begun is executed, though its STag has ended.
  bool follows_messages(const Item& item) const override { return item.group == kAllGroups; }
  // Its answer follows the answer to its write.
  bool may_wait(std::uint32_t port) const override {
    return port == RNIC_ATOMIC_ALU_READ || port == RNIC_ATOMIC_ALU_WRITE;
  }

  bool waits_for_memory() const override { return !open_.empty() || answers_.are_open(); }

  bool takes(std::uint32_t port, const Record& record, Cycle cycle) override;
  void gives(std::uint32_t port, const Record& record, std::uint64_t number, Cycle cycle) override;
  void begins(const Item& item, const Record* given) override;
  void ends(const Item& item) override;
  bool keeps(std::uint32_t port, const Record& record) override;
  void matched(std::uint32_t port, std::uint64_t expected, std::uint64_t given) override;
  bool excuses(std::uint32_t port, const Record& record, std::uint64_t number) override;

 private:
  struct Silenced {
    wire::AtomicRequest request;
    bool reads = true, writes = true;  // may have been its own
  };
  std::uint32_t epoch(const Record& record) const { return static_cast<std::uint32_t>(epoch_.of(record)); }
  bool is_between(const Word& word, Cycle from, Cycle to) const;
  std::optional<Read> read_of(Word& word) const;
  bool may_be_handed_on(const Word& word) const;
  bool is_written(const Word& word) const;
  void forget_idle_words();
  void answer(const Record& read, std::uint64_t value, bool ok);

  WriteAnswers answers_{predictor_.ports()[RNIC_ATOMIC_ALU_WRITTEN]};
  std::map<std::uint32_t, Read> open_;               // reads of the device, by its tag
  std::map<std::uint64_t, Word> words_;              // by address
  std::map<std::uint64_t, std::uint64_t> loose_at_;  // the addresses of loose writes, by number
  std::multiset<Cycle> under_way_;                   // when atomics were accepted that the predictor has not got yet
  std::deque<Silenced> silenced_;
  // The atomic that the predictor has got last.
  Cycle accepted_ = 0, now_ = 0;
  bool fails_ = false;
  std::uint64_t original_ = 0;
  Field epoch_{"epoch"}, address_{"address"}, tag_{"tag"}, ok_{"ok"}, bytes_{"bytes"}, answer_{"response_original"};
  Field layer_{"cause_layer"}, etype_{"cause_etype"}, code_{"cause_code"};
};

bool AtomicRaces::takes(std::uint32_t port, const Record& record, Cycle cycle) {
  now_ = cycle;
  if (port == RNIC_ATOMIC_ALU_IN) {
    under_way_.insert(cycle);
    return false;
  }
  if (port == RNIC_ATOMIC_ALU_WRITTEN) answers_.come(record);
  if (port == RNIC_ATOMIC_ALU_READ_DONE) {
    const auto open = open_.find(static_cast<std::uint32_t>(tag_.of(record)));
    if (open == open_.end()) fail_value("dma_read_done.tag: the device waits for no read with this tag");
    Read read = open->second;
    read.ok = ok_.of(record) != 0;
    read.value = read.ok && record.octets().size() == 8 ? load_le64(record.octets().data()) : 0;
    open_.erase(open);
    --words_[read.address].open;
    words_[read.address].reads.push_back(read);
  }
  if (port == RNIC_ATOMIC_ALU_OTHERS) {
    const std::uint64_t from = address_.of(record), to = from + bytes_.of(record);
    for (auto word = words_.lower_bound(from - std::min<std::uint64_t>(from, 7)); word != words_.end(); ++word) {
      if (word->first >= to) break;
      word->second.others.push_back(cycle);
    }
  }
  return true;
}

void AtomicRaces::gives(std::uint32_t port, const Record& record, std::uint64_t number, Cycle cycle) {
  now_ = cycle;
  if (port == RNIC_ATOMIC_ALU_READ) {
    const Read read{address_.of(record), cycle, 0, false};
    const auto [open, is_new] = open_.try_emplace(static_cast<std::uint32_t>(tag_.of(record)), read);
    if (!is_new) --words_[std::exchange(open->second, read).address].open;  // its tag is used again
    ++words_[read.address].open;                                            // from now on it matters who writes it
  }
  if (port != RNIC_ATOMIC_ALU_WRITE) return;
  answers_.give();
  if (record.octets().size() != 8) return;
  words_[address_.of(record)].loose[number] = {load_le64(record.octets().data()), cycle};
  loose_at_[number] = address_.of(record);
}

void AtomicRaces::begins(const Item& item, const Record* given) {
  if (!item.is_message) return;
  accepted_ = item.cycle;
  fails_ = given != nullptr && answer_.of(*given) == 0 && find_member(given->shape(), "cause_code") != nullptr &&
           layer_.of(*given) == 0 && etype_.of(*given) == 0 && code_.of(*given) == 0;
  original_ = given == nullptr ? 0 : answer_.of(*given);
  if (is_patient(item)) return;
  QueuedAtomic atomic;
  load(item.record.structure(), atomic);
  silenced_.push_back({atomic.request});
  constexpr std::size_t kMostSilenced = 1024;
  if (silenced_.size() > kMostSilenced) silenced_.pop_front();
}

void AtomicRaces::ends(const Item& item) {
  if (!item.is_message) return;
  under_way_.erase(under_way_.find(item.cycle));
  if (under_way_.empty() || words_.size() > 2 * under_way_.size() + kFewWords) forget_idle_words();
}

// Those whose last result no atomic can take any more.
void AtomicRaces::forget_idle_words() {
  const Cycle oldest = under_way_.empty() ? kNever : *under_way_.begin();
  for (auto at = words_.begin(); at != words_.end();) {
    Word& word = at->second;
    if (under_way_.empty()) word.others.clear();
    const bool is_idle = word.loose.empty() && word.reads.empty() && word.open == 0 && word.answered < oldest;
    at = is_idle ? words_.erase(at) : std::next(at);
  }
}

// In one cycle either may be the first.
bool AtomicRaces::is_between(const Word& word, Cycle from, Cycle to) const {
  return std::any_of(word.others.begin(), word.others.end(), [&](Cycle at) { return from < at && at < to; });
}

// A read of the word after the result before it was written, in which everything is that was written before the atomic
// was accepted (RFC 7306 section 5.4, rule 5): the one with the value that the device answers, or any, unless that
// value may have been handed on. One before the atomic may be of another, whose queue pair has ended.
std::optional<Read> AtomicRaces::read_of(Word& word) const {
  const auto is_good = [&](const Read& r) {
    return r.ok != fails_ && word.written <= r.given && !is_between(word, r.given, accepted_);
  };
  const auto is_it = [&](const Read& r) { return is_good(r) && (fails_ || r.value == original_); };
  const auto is_its_own = [&](const Read& r) { return is_it(r) && r.given >= accepted_; };
  auto best = std::find_if(word.reads.begin(), word.reads.end(), is_its_own);
  const bool is_result = fails_ || word.result == original_;
  if (best == word.reads.end() && is_result && may_be_handed_on(word)) return std::nullopt;
  if (best == word.reads.end()) best = std::find_if(word.reads.begin(), word.reads.end(), is_it);
  if (best == word.reads.end() && may_be_handed_on(word)) return std::nullopt;
  if (best == word.reads.end() && is_written(word)) return std::nullopt;
  if (best == word.reads.end()) best = std::find_if(word.reads.begin(), word.reads.end(), is_good);
  if (best == word.reads.end()) return std::nullopt;
  const Read read = *best;
  word.reads.erase(best);
  return read;
}

// The result of the atomic before it, if that was under way when this one was accepted.
bool AtomicRaces::may_be_handed_on(const Word& word) const {
  return word.has_result && word.failed == fails_ && accepted_ <= word.answered &&
         !is_between(word, word.began, accepted_);
}

// What the device answers is what it has written for an atomic that is not known yet.
bool AtomicRaces::is_written(const Word& word) const {
  const auto is_it = [&](const auto& write) { return write.second.value == original_; };
  return !fails_ && std::any_of(word.loose.begin(), word.loose.end(), is_it);
}

void AtomicRaces::answer(const Record& read, std::uint64_t value, bool ok) {
  std::uint8_t octets[8];
  store_le64(octets, value);
  rnic_dma_read_done done{};
  done.size = sizeof done;
  done.tag = static_cast<std::uint32_t>(tag_.of(read));
  done.ok = ok;
  done.octets = octets;
  done.octets_n = ok ? sizeof octets : 0;
  predictor_.ports()[RNIC_ATOMIC_ALU_READ_DONE].push(&done);
}

bool AtomicRaces::keeps(std::uint32_t port, const Record& record) {
  if (port == RNIC_ATOMIC_ALU_WRITE) {
    Word& word = words_[address_.of(record)];
    word.result = load_le64(record.octets().data());
    return false;
  }
  if (port != RNIC_ATOMIC_ALU_READ) return false;
  Word& word = words_[address_.of(record)];
  const auto read = read_of(word);
  const bool handed_on = !read && (may_be_handed_on(word) || is_written(word));
  if (!read && !handed_on) return false;  // it is missing
  if (read) word.began = read->given;
  if (read) word.result = read->value;
  else if (!fails_ && is_written(word)) word.result = original_;
  word.has_result = true;
  word.failed = fails_;
  word.answered = now_;
  const auto is_later = [&](Cycle at) { return at > word.began; };
  word.others.erase(word.others.begin(), std::find_if(word.others.begin(), word.others.end(), is_later));
  answer(record, word.result, !fails_);
  return handed_on;
}

void AtomicRaces::matched(std::uint32_t port, std::uint64_t expected, std::uint64_t given) {
  if (port != RNIC_ATOMIC_ALU_WRITE) return;
  if (const auto at = loose_at_.find(given); at != loose_at_.end()) {
    Word& word = words_[at->second];
    const auto write = word.loose.find(given);
    word.written = std::max(word.written, write->second.given);
    word.loose.erase(write);
    loose_at_.erase(at);
  }
  answers_.match(expected, given);
}

// A queue pair that ended during an atomic: it may have begun.
bool AtomicRaces::excuses(std::uint32_t port, const Record& record, std::uint64_t number) {
  Word& word = words_[address_.of(record)];
  for (Silenced& of : silenced_) {
    if (port == RNIC_ATOMIC_ALU_READ && std::exchange(of.reads, false)) return true;
    if (port != RNIC_ATOMIC_ALU_WRITE || !of.writes || record.octets().size() != 8) continue;
    const auto gives = [&, result = load_le64(record.octets().data())](std::uint64_t value) {
      const AtomicResult made = execute(of.request, value);
      return made.writes && made.value == result;
    };
    const auto from_memory = [&](const Read& r) { return gives(r.value); };
    if (!std::any_of(word.reads.begin(), word.reads.end(), from_memory) && !(word.has_result && gives(word.result)))
      continue;
    of.writes = false;
    word.loose.erase(number);
    loose_at_.erase(number);
    return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<Races> atomic_races(Bench& predictor) { return std::make_unique<AtomicRaces>(predictor); }

}  // namespace rnic::golden
