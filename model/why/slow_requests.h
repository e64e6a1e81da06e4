// The slowest requests by the clock and from when their turn had come, what they waited for, and why (rules R9 to R19
// of why.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/why/candidate.h"
#include "model/why/life.h"
#include "model/why/passage.h"
#include "model/why/repairs.h"
#include "model/why/rows.h"
#include "model/why/spans.h"

namespace rnic::why {

// The words of `waits` events as a report shows them.
std::string shown(const std::string& reason);

class SlowRequests {
 public:
  explicit SlowRequests(const Rows& rows);

  // At most two: the slowest by the clock, and the slowest once it had its turn.
  std::vector<Answer> slowest() const;
  // ConfigError for a request that no program has posted and seen complete.
  Answer of(const std::string& request) const;
  const std::vector<Life>& lives() const { return lives_; }

 private:
  struct Change {
    std::uint64_t ps = 0;
    std::string words;
  };

  void read_stations();
  void put_in_order();
  Answer answer(const Life& life, Symptom symptom) const;
  std::vector<Wait> waits_of(const Life& life, const Passage& passage, std::uint64_t since) const;
  std::map<std::string, std::uint64_t> reasons(const std::string& queue, std::uint64_t from, std::uint64_t to) const;
  // Of its own queue, requests or answers, while it was under way since then: the one that was waited for longest.
  std::optional<std::pair<Span, Candidate>> longest_repair(const Life& life, std::uint64_t from) const;
  Candidate window(const Life& life, std::uint64_t ps, std::uint64_t at) const;
  Candidate reduced_window(const Life& life, std::uint64_t ps, std::uint64_t at) const;
  Candidate limit(const Life& life, const std::string& reason, std::uint64_t ps) const;
  Candidate fence(const Life& life, std::uint64_t ps) const;
  std::optional<Candidate> core(const Life& life, std::uint64_t from, std::uint64_t to, const char* until) const;
  std::optional<Candidate> others_turn(const Life& life, std::uint64_t from) const;
  std::optional<Candidate> answers_before(const Life& life, const Passage& passage, std::uint64_t from) const;
  std::optional<Candidate> poll(const Life& life, const Passage& passage) const;
  void add_stages(const Life& life, const Passage& passage, std::uint64_t from, std::vector<Candidate>& found) const;
  void follow_window(const Life& life, const Passage& passage, std::vector<Candidate>& found) const;
  static const Change* last_before(const std::map<std::string, std::vector<Change>>& changes, const std::string& queue,
                                   std::uint64_t at);
  bool is_of(const Life& life, const EventRow& again) const;  // octets of its queue
  bool shares_window(const EventRow& again, std::uint64_t reduced_ps) const;
  std::uint64_t last_wait_ends(const Life& life, const std::string& reason) const;

  const Rows& rows_;
  std::vector<Life> lives_;  // by number
  std::map<std::uint64_t, std::size_t> by_number_;
  std::map<std::string, std::vector<Change>> waits_, windows_, reductions_;  // by queue pair
};

}  // namespace rnic::why
