// Stretches of time, in order and apart from each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace rnic::why {

struct Span {
  std::uint64_t from = 0, to = 0;
};

class Spans {
 public:
  // Begins no earlier than the last one ends.
  void add(std::uint64_t from, std::uint64_t to) {
    if (!all_.empty()) from = std::max(from, all_.back().to);
    if (from < to) all_.push_back({from, to});
  }

  std::uint64_t within(std::uint64_t from, std::uint64_t to) const {
    std::uint64_t sum = 0;
    for (const Span& s : all_) {
      const std::uint64_t begin = std::max(s.from, from), end = std::min(s.to, to);
      if (begin < end) sum += end - begin;
    }
    return sum;
  }

  Spans in_both(const Spans& other) const {
    Spans both;
    for (std::size_t i = 0, j = 0; i < all_.size() && j < other.all_.size();) {
      both.add(std::max(all_[i].from, other.all_[j].from), std::min(all_[i].to, other.all_[j].to));
      if (all_[i].to < other.all_[j].to) ++i;
      else ++j;
    }
    return both;
  }

 private:
  std::vector<Span> all_;
};

// When a number that changes was at least a limit. Calls are in the order of time.
class AtLeast {
 public:
  AtLeast(std::int64_t begin, std::int64_t limit) : now_(begin), limit_(limit) {
    if (now_ >= limit_) since_ = 0;
  }
  void change(std::uint64_t ps, std::int64_t by) {
    const bool was = now_ >= limit_;
    now_ += by;
    if (!was && now_ >= limit_) since_ = ps;
    if (was && now_ < limit_) spans_.add(since_, ps);
  }
  Spans until(std::uint64_t ps) && {
    if (now_ >= limit_) spans_.add(since_, ps);
    return std::move(spans_);
  }

 private:
  Spans spans_;
  std::int64_t now_;
  const std::int64_t limit_;
  std::uint64_t since_ = 0;
};

}  // namespace rnic::why
