// Which octets of a stream have come, from any order of arrival: those below the highest one, but for gaps. It serves
// for what passed the tap, and for what SACK reported.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "model/capture/analysis/stamp.h"

namespace rnic::capture {

// Octets missing although later ones have come.
struct Gap {
  std::int64_t begin = 0, end = 0;
  Stamp opened;                                // of what came first from beyond it
  std::uint64_t rank = 0;                      // of that, among all that came from beyond the highest octet
  unsigned news = 0;                           // reports of octets above it, as far as they are counted
  std::optional<Stamp> first_news, last_news;  // the last one that is counted
  bool resent = false;
};

struct Arrival {
  std::int64_t fresh = 0;      // octets that had not come
  bool is_highest = false;     // some lie beyond the highest octet so far
  std::optional<Gap> gap;      // the first gap of which it has octets, as it was
  bool is_gap_closed = false;  // nothing of that gap is left
};

class Coverage {
 public:
  // News of a gap count up to `most_news`.
  explicit Coverage(unsigned most_news) : most_news_(most_news) {}

  Arrival take(std::int64_t begin, std::int64_t end, const Stamp& stamp);
  struct Forgotten {
    std::int64_t octets = 0;  // that have never come
    std::vector<Gap> gaps;    // that have begun there
  };
  // Octets below `end` no longer matter.
  Forgotten forget_below(std::int64_t end);
  // Octets up to `top` were reported: counts for each gap below. `counted` is called with each such gap.
  template <class Counted>
  void news(std::int64_t top, const Stamp& stamp, Counted counted) {
    for (auto at = hungry_.begin(); at != hungry_.end();) {
      Gap& gap = gaps_.at(*at);
      if (gap.end >= top) return;
      at = count(gap, stamp) ? hungry_.erase(at) : std::next(at);
      counted(gap);
    }
  }

  // The same for the gap with this octet only, if there is one.
  template <class Counted>
  void news_at(std::int64_t octet, const Stamp& stamp, Counted counted) {
    Gap* const gap = gap_at(octet);
    if (gap == nullptr || gap->news >= most_news_) return;
    if (count(*gap, stamp)) hungry_.erase(gap->begin);
    counted(*gap);
  }

  // The gap that has this octet, or nullptr.
  Gap* gap_at(std::int64_t octet);
  bool has(std::int64_t octet) { return octet < highest_ && gap_at(octet) == nullptr; }
  bool has_gaps() const { return !gaps_.empty(); }
  // One beyond the last octet that has come.
  std::int64_t highest() const { return highest_; }
  // Arrivals from beyond the highest octet, so far.
  std::uint64_t extensions() const { return extensions_; }

 private:
  using Gaps = std::map<std::int64_t, Gap>;
  // True if no more count.
  bool count(Gap& gap, const Stamp& stamp) const {
    if (++gap.news == 1) gap.first_news = stamp;
    gap.last_news = stamp;
    return gap.news >= most_news_;
  }
  void add(Gap gap);
  Gaps::iterator remove(Gaps::iterator gap) {
    hungry_.erase(gap->first);
    return gaps_.erase(gap);
  }
  std::int64_t take_from_gaps(std::int64_t begin, std::int64_t end, Arrival& arrival);

  const unsigned most_news_;
  Gaps gaps_;                      // by their first octets
  std::set<std::int64_t> hungry_;  // those of which news still count
  std::int64_t highest_ = 0;
  std::uint64_t extensions_ = 0;
};

}  // namespace rnic::capture
