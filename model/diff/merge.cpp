#include "model/diff/merge.h"

#include <algorithm>
#include <deque>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace rnic::diff {
namespace {

// Owners whose rows have to be compared one by one. A work request that only one run has is left to Filter.
OwnerSums unequal_owners(const Digests& a, const Digests& b) {
  OwnerSums unequal;
  const auto compare = [&unequal](const OwnerSums& these, const OwnerSums& others) {
    these.each([&](Owner owner, std::uint64_t sum) {
      const std::uint64_t* const other = others.find(owner);
      if (other == nullptr || *other != sum) unequal[owner] = 0;
    });
  };
  compare(a.owners, b.owners);
  compare(b.owners, a.owners);
  return unequal;
}

// Rows of one key that wait for the n-th of the other run. Mostly there is one, so this is no deque, which is large.
struct Waiting {
  struct Half {
    Row row;
    std::uint64_t ps = 0;  // in A; of a row of B, as far off as its owner was before
  };
  unsigned run = 0;
  std::vector<Half> halves;
  std::size_t taken = 0;  // from the front

  const Half& front() const { return halves[taken]; }
};

// Pairs the n-th row of each key with the n-th of the other run.
class KeyPairs {
 public:
  // `unequal` keeps by how much each owner's rows come earlier in A.
  KeyPairs(OwnerSums& unequal, Cut cut) : unequal_(unequal), cut_{cut.a, cut.b} {}

  void take(unsigned run, const Row& row) {
    if (unequal_.find(row.owner) == nullptr) return;
    const Waiting::Half half{row, run == 0 ? row.ps : row.ps - unequal_[row.owner]};
    const std::uint64_t key = row.key();
    const auto waiting = waiting_.find(key);
    if (waiting == waiting_.end()) {
      // Nothing after the first difference can be the first, but it may be the other half of what waits.
      if (!first_ || half.ps <= first_->ps) waiting_[key] = {run, {half}, 0};
      return;
    }
    Waiting& others = waiting->second;
    if (others.run == run) {
      others.halves.push_back(half);
      return;
    }
    pair(run == 0 ? row : others.front().row, run == 0 ? others.front().row : row);
    if (++others.taken == others.halves.size()) waiting_.erase(waiting);
  }

  // True if no further row can change the result.
  bool is_done(std::uint64_t ps) const { return first_ && ps > first_->ps && waiting_.empty(); }
  std::uint64_t first_ps() const { return first_->ps; }

  // What still waits has no other half. `visit` gets each such row; only the first of them differs.
  template <class Visit>
  std::optional<Difference> finish(Visit visit) {
    for (const auto& [key, waiting] : waiting_) {
      if (cut_[1 - waiting.run]) continue;
      for (std::size_t i = waiting.taken; i < waiting.halves.size(); ++i) visit(waiting.run, waiting.halves[i].row);
      const Waiting::Half& half = waiting.front();
      Difference only{Difference::Kind::kOnly, half.ps, {}, {}};
      (waiting.run == 0 ? only.a : only.b) = half.row;
      note(only);
    }
    return first_;
  }

 private:
  void pair(const Row& a, const Row& b) {
    unequal_[a.owner] = b.ps - a.ps;
    if (a.content != b.content) note({Difference::Kind::kContent, a.ps, a, b});
  }
  // Of one instant the one that comes first in its file, so that the result does not depend on the order of a table.
  static std::uint64_t at(const Difference& d) { return d.a ? d.a->at : d.b->at; }
  void note(const Difference& d) {
    const auto rank = [](const Difference& of) { return std::make_tuple(of.ps, of.kind, at(of), !of.a); };
    if (!first_ || rank(d) < rank(*first_)) first_ = d;
  }

  OwnerSums& unequal_;
  const bool cut_[2];
  std::unordered_map<std::uint64_t, Waiting> waiting_;
  std::optional<Difference> first_;
};

// Compares the rows of each place's first unequal chunk, place by place.
class PlaceOrders {
 public:
  PlaceOrders(const Digests& a, const Digests& b) : places_(a.places.size()) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto &x = a.places[i].chunks, &y = b.places[i].chunks;
      const std::size_t equal = static_cast<std::size_t>(
          std::mismatch(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(std::min(x.size(), y.size())), y.begin())
              .first -
          x.begin());
      if (equal == x.size() || equal == y.size()) continue;  // then one run has more rows, which is no order
      places_[i].from = equal * kChunk;
      ++open_;
    }
  }

  void take(unsigned run, std::uint32_t station, const Row& row) {
    Place& place = places_[station];
    const std::uint64_t n = place.seen[run]++;
    if (n < place.from || place.from == kNever) return;
    std::deque<Row>& others = place.waiting[1 - run];
    if (others.empty()) {
      if (n < place.from + kChunk) place.waiting[run].push_back(row);
      else close(place);
      return;
    }
    const Row other = others.front();
    others.pop_front();
    if (other.what() == row.what()) return;
    const Row &a = run == 0 ? row : other, &b = run == 0 ? other : row;
    differences_.push_back({Difference::Kind::kOrder, a.ps, a, b});
    close(place);
  }

  bool is_done() const { return open_ == 0; }
  // True if no row before this time waits for the other run's.
  bool is_done(std::uint64_t ps) const {
    return std::all_of(places_.begin(), places_.end(), [ps](const Place& place) {
      return place.waiting[0].empty() || place.waiting[0].front().ps >= ps;
    });
  }
  std::vector<Difference>& differences() { return differences_; }

 private:
  static constexpr std::uint64_t kNever = UINT64_MAX;
  struct Place {
    std::uint64_t from = kNever, seen[2] = {};
    std::deque<Row> waiting[2];
  };
  void close(Place& place) {
    place.from = kNever;
    for (std::deque<Row>& rows : place.waiting) rows.clear();
    --open_;
  }

  std::vector<Place> places_;
  std::size_t open_ = 0;
  std::vector<Difference> differences_;
};

// Both runs' rows by time; of one instant A's first.
class InTime {
 public:
  InTime(const Pair& runs, const Filter& filter) : runs_{&runs.a, &runs.b}, filter_(filter) {
    for (unsigned run = 0; run < 2; ++run) {
      runs_[run]->rewind();
      advance(run);
    }
  }
  // The run of the next row; nothing after the last.
  std::optional<unsigned> next(Row& row) {
    if (!has_[0] && !has_[1]) return std::nullopt;
    const unsigned run = !has_[0] || (has_[1] && rows_[1].ps < rows_[0].ps) ? 1 : 0;
    row = rows_[run];
    advance(run);
    return run;
  }

 private:
  void advance(unsigned run) {
    do has_[run] = runs_[run]->next(rows_[run]);
    while (has_[run] && !filter_.passes(rows_[run]));
  }
  Events* const runs_[2];
  const Filter& filter_;
  Row rows_[2];
  bool has_[2] = {};
};

}  // namespace

WhatDiffers what_differs(const Pair& runs, const Digests& a, const Digests& b, const Filter& filter, Cut cut) {
  OwnerSums unequal = unequal_owners(a, b);
  KeyPairs pairs(unequal, cut);
  PlaceOrders orders(a, b);
  if (unequal.size() == 0 && orders.is_done()) return {};
  InTime both(runs, filter);
  Row row;
  for (std::uint64_t rows = 1; const auto run = both.next(row); ++rows) {
    pairs.take(*run, row);
    orders.take(*run, filter.vocabulary[row.source].station, row);
    if (rows % kChunk == 0 && pairs.is_done(row.ps) && orders.is_done(pairs.first_ps())) break;
  }
  // At a place, a row that only one run has stands where the other has its next one: then the order shows the time.
  std::unordered_map<std::uint64_t, Difference*> in_order[2];
  for (Difference& d : orders.differences()) {
    in_order[0][d.a->at] = &d;
    in_order[1][d.b->at] = &d;
  }
  WhatDiffers first;
  first.row = pairs.finish([&in_order](unsigned run, const Row& alone) {
    const auto found = in_order[run].find(alone.at);
    if (found == in_order[run].end() || found->second->kind == Difference::Kind::kOnly) return;
    Difference& d = *found->second;
    d.kind = Difference::Kind::kOnly;
    (run == 0 ? d.b : d.a).reset();
  });
  for (const Difference& d : orders.differences()) {
    std::optional<Difference>& its = d.kind == Difference::Kind::kOnly ? first.row : first.order;
    if (!its || d.ps < its->ps) its = d;
  }
  return first;
}

std::optional<Difference> time_differs(const Pair& runs, const Filter& filter, std::uint64_t until_ps) {
  std::vector<std::deque<Row>> ahead(filter.vocabulary.stations());  // rows of B
  const auto next = [&filter](Events& events, Row& row) {
    while (events.next(row)) {
      if (filter.passes(row)) return true;
    }
    return false;
  };
  runs.a.rewind();
  runs.b.rewind();
  for (Row a, b; next(runs.a, a) && a.ps < until_ps;) {
    std::deque<Row>& of_place = ahead[filter.vocabulary[a.source].station];
    while (of_place.empty()) {
      if (!next(runs.b, b)) return std::nullopt;
      ahead[filter.vocabulary[b.source].station].push_back(b);
    }
    b = of_place.front();
    of_place.pop_front();
    if (a.what() != b.what()) return std::nullopt;
    if (a.ps != b.ps) return Difference{Difference::Kind::kTime, a.ps, a, b};
  }
  return std::nullopt;
}

}  // namespace rnic::diff
