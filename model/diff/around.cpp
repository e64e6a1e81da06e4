#include "model/diff/around.h"

#include <algorithm>
#include <deque>

namespace rnic::diff {
namespace {

constexpr std::size_t kEachSide = 3;

// Where the middle of a strip is: a row of the file, or the n-th of the strip's rows, as the other run has it.
struct Middle {
  std::optional<std::uint64_t> at;
  std::uint64_t n = 0;
};

// The rows around the middle, of those that it is given.
class Strip {
 public:
  explicit Strip(Middle middle) : middle_(middle) {}

  void take(const Row& row) {
    if (found_) {
      if (!is_full()) rows_.push_back(row);
      return;
    }
    found_ = middle_.at ? row.at == *middle_.at : seen_ == middle_.n;
    if (!found_) {
      if (rows_.size() == kEachSide) rows_.pop_front();
      ++seen_;
    }
    rows_.push_back(row);
    before_ = rows_.size() - (found_ ? 1 : 0);
  }
  bool is_full() const { return found_ && rows_.size() > before_ + kEachSide; }
  std::uint64_t n() const { return seen_; }  // of the middle

  // The row at `offset` from the middle, if there is one.
  const Row* at(std::ptrdiff_t offset) const {
    const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(before_) + offset;
    return i < 0 || i >= static_cast<std::ptrdiff_t>(rows_.size()) ? nullptr : &rows_[static_cast<std::size_t>(i)];
  }

 private:
  const Middle middle_;
  std::deque<Row> rows_;
  std::size_t before_ = 0;
  std::uint64_t seen_ = 0;
  bool found_ = false;
};

struct Strips {
  Strip request, place;
};

Strips read(Events& events, const Row& center, Middle request, Middle place, const Filter& filter) {
  Strips strips{Strip(request), Strip(place)};
  const Source& source = filter.vocabulary[center.source];
  events.rewind();
  for (Row row; events.next(row) && !(strips.request.is_full() && strips.place.is_full());) {
    if (!filter.passes(row)) continue;
    const Source& its = filter.vocabulary[row.source];
    if (its.station == source.station) strips.place.take(row);
    // What no request owns has its node in common.
    if (row.owner == center.owner && (row.owner != kNoOwner || its.node == source.node)) strips.request.take(row);
  }
  return strips;
}

std::vector<Beside> beside(const Pair& runs, const Strip& a, const Strip& b) {
  std::vector<Beside> rows;
  const auto side = static_cast<std::ptrdiff_t>(kEachSide);
  for (std::ptrdiff_t offset = -side; offset <= side; ++offset) {
    const Row *in_a = a.at(offset), *in_b = b.at(offset);
    if (in_a == nullptr && in_b == nullptr) continue;
    Beside row{{}, {}, offset == 0};
    if (in_a != nullptr) row.a = runs.a.tell(*in_a);
    if (in_b != nullptr) row.b = runs.b.tell(*in_b);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Surroundings around(const Pair& runs, const Difference& difference, const Filter& filter) {
  const bool a_has_it = difference.a.has_value();
  const Row& center = a_has_it ? *difference.a : *difference.b;
  const auto at = [](const std::optional<Row>& row) { return Middle{row ? std::optional(row->at) : std::nullopt, 0}; };
  // In another order, the other run's row there is of another request.
  const bool same_owner = difference.kind != Difference::Kind::kOrder;
  if (a_has_it) {
    const Strips a = read(runs.a, center, at(difference.a), at(difference.a), filter);
    Middle request = same_owner ? at(difference.b) : Middle{}, place = at(difference.b);
    request.n = a.request.n();
    place.n = a.place.n();
    const Strips b = read(runs.b, center, request, place, filter);
    return {beside(runs, a.request, b.request), beside(runs, a.place, b.place)};
  }
  const Strips b = read(runs.b, center, at(difference.b), at(difference.b), filter);
  const Strips a = read(runs.a, center, {std::nullopt, b.request.n()}, {std::nullopt, b.place.n()}, filter);
  return {beside(runs, a.request, b.request), beside(runs, a.place, b.place)};
}

}  // namespace rnic::diff
