// The numbers seen of a sequence that wraps: TSNs of a direction, DDP-SSNs of a session.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <type_traits>

namespace rnic::capture {

template <class Number>
class NumbersSeen {
 public:
  // The unwrapped number: `number` is less than half its range away from the highest one so far.
  std::int64_t position(Number number) const {
    return highest_ +
           static_cast<std::make_signed_t<Number>>(static_cast<Number>(number - static_cast<Number>(highest_)));
  }
  // `first` is the first number expected.
  void start(Number first) {
    first_ = first;
    highest_ = first_ - 1;
  }
  // False if it was seen before; that counts as a duplicate.
  bool take(std::int64_t position) {
    auto after = runs_.upper_bound(position);
    const auto before = after == runs_.begin() ? runs_.end() : std::prev(after);
    if (before != runs_.end() && before->second >= position) {
      ++duplicates_;
      return false;
    }
    std::int64_t last = position;
    if (after != runs_.end() && after->first == position + 1) {
      last = after->second;
      runs_.erase(after);
    }
    if (before != runs_.end() && before->second == position - 1) before->second = last;
    else runs_.emplace(position, last);
    if (highest_ < position) highest_ = position;
    ++count_;
    return true;
  }

  std::uint64_t duplicates() const { return duplicates_; }
  // Numbers missing between the first one expected and the highest one seen.
  std::uint64_t missing() const {
    const std::int64_t lowest = runs_.empty() || runs_.begin()->first > first_ ? first_ : runs_.begin()->first;
    return static_cast<std::uint64_t>(highest_ - lowest + 1) - count_;
  }

 private:
  std::map<std::int64_t, std::int64_t> runs_;  // first and last of each
  std::int64_t first_ = 0, highest_ = -1;
  std::uint64_t count_ = 0, duplicates_ = 0;
};

}  // namespace rnic::capture
