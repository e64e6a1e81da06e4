// A cache as a textbook has it, to be fed with a trace of accesses: no pins, no misses in flight, no cycles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

namespace rnic::test {

class LruReference {
 public:
  LruReference(std::size_t sets, std::size_t ways) : sets_(sets), ways_(ways) {}
  // Whether it hits.
  bool access(std::uint32_t index) {
    std::list<std::uint32_t>& set = sets_[index % sets_.size()];
    const auto found = std::find(set.begin(), set.end(), index);
    const bool hit = found != set.end();
    if (hit) set.erase(found);
    set.push_front(index);
    if (set.size() > ways_) set.pop_back();
    return hit;
  }

 private:
  std::vector<std::list<std::uint32_t>> sets_;  // the front is the newest
  std::size_t ways_;
};

// A half that was used last is marked; a victim is looked for in the other one.
class PlruReference {
 public:
  PlruReference(std::size_t sets, std::size_t ways) : sets_(sets, Set{std::vector<std::int64_t>(ways, -1), {}}) {}
  bool access(std::uint32_t index) {
    Set& set = sets_[index % sets_.size()];
    const auto found = std::find(set.ways.begin(), set.ways.end(), index);
    if (found != set.ways.end()) return touch(set, 0, set.ways.size(), found - set.ways.begin()), true;
    const auto free = std::find(set.ways.begin(), set.ways.end(), -1);
    const std::size_t way =
        free != set.ways.end() ? static_cast<std::size_t>(free - set.ways.begin()) : victim(set, 0, set.ways.size());
    set.ways[way] = index;
    touch(set, 0, set.ways.size(), static_cast<std::ptrdiff_t>(way));
    return false;
  }

 private:
  using Range = std::pair<std::size_t, std::size_t>;
  struct Set {
    std::vector<std::int64_t> ways;
    std::map<Range, bool> upper_is_newer;
  };
  static void touch(Set& set, std::size_t from, std::size_t to, std::ptrdiff_t way) {
    if (to - from == 1) return;
    const std::size_t middle = (from + to) / 2;
    const bool upper = static_cast<std::size_t>(way) >= middle;
    set.upper_is_newer[{from, to}] = upper;
    upper ? touch(set, middle, to, way) : touch(set, from, middle, way);
  }
  static std::size_t victim(Set& set, std::size_t from, std::size_t to) {
    if (to - from == 1) return from;
    const std::size_t middle = (from + to) / 2;
    return set.upper_is_newer[{from, to}] ? victim(set, from, middle) : victim(set, middle, to);
  }
  std::vector<Set> sets_;
};

}  // namespace rnic::test
