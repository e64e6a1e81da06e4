// How a board compares accesses to host memory: by their places, as a device may cut and order them in its own way.
#include <algorithm>

#include <fmt/format.h>

#include "model/golden/board.h"

namespace rnic::golden {
namespace {

std::uint64_t member(const Record& record, const char* name) {
  const Member* const found = find_member(record.shape(), name);
  return found == nullptr ? 0 : record.value(*found);
}

bool is_write(const Record& record) { return record.shape().octets; }

}  // namespace

// The oldest ones of a place belong together.
void Board::compare_memory(std::uint32_t port, Lane& lane) {
  const auto place_of = [](const auto& access) {
    return std::pair(member(access.record, "address") + access.done, member(access.record, "page_list"));
  };
  for (auto expected = lane.expected.begin(); expected != lane.expected.end();) {
    const auto is_there = [&](const Seen& seen) {
      return seen.number >= expected->follows && place_of(seen) == place_of(*expected);
    };
    const auto seen = std::find_if(lane.seen.begin(), lane.seen.end(), is_there);
    if (seen == lane.seen.end()) {
      ++expected;
      continue;
    }
    // What was silenced during its work may have written here before.
    const bool differs = expected->done == 0 && seen->done == 0 && expected->record.octets() != seen->record.octets();
    if (differs && races_ && races_->excuses(port, seen->record, seen->number)) {
      lane.weight -= seen->record.weight();
      lane.seen.erase(seen);
      continue;
    }
    compare_octets(port, *expected, *seen);
    expected->follows = seen->number;
    const bool is_over = !is_write(seen->record) || seen->done == seen->record.octets().size();
    const bool is_complete = !is_write(expected->record) || expected->done == expected->record.octets().size();
    if (is_complete) {
      passed(port, *expected, *seen, lane);
      if (races_) races_->matched(port, expected->number, seen->number);
      expected = lane.expected.erase(expected);
    }
    if (is_over) {
      lane.weight -= seen->record.weight();
      lane.seen.erase(seen);
    }
  }
}

// As many octets as both have. The tag is the device's own. Notice is asked for once, with the last octet.
void Board::compare_octets(std::uint32_t port, Expected& expected, Seen& seen) {
  const Place place{port, 0, expected.number, expected.accepted};
  if (!is_write(expected.record) ||
      (expected.done == 0 && seen.done == 0 && expected.record.octets().size() == seen.record.octets().size())) {
    const std::string differs = difference(expected.record, seen.record, beat_bytes_, "tag");
    if (!differs.empty()) fail(place, "differs", &expected, &seen, differs);
    seen.done = seen.record.octets().size();
    expected.done = expected.record.octets().size();
    return;
  }
  const auto &a = expected.record.octets(), &b = seen.record.octets();
  const std::size_t n = std::min(a.size() - expected.done, b.size() - seen.done);
  const auto from = [](const auto& octets, std::size_t at) { return octets.begin() + static_cast<std::ptrdiff_t>(at); };
  const auto [first, other] = std::mismatch(from(a, expected.done), from(a, expected.done + n), from(b, seen.done));
  if (first != from(a, expected.done + n)) {
    fail(place, "differs", &expected, &seen,
         fmt::format("octet {}: expected {:02x}, seen {:02x}", first - a.begin(), *first, *other));
  }
  expected.done += n;
  seen.done += n;
  const bool notify = member(expected.record, "notify") != 0 && expected.done == a.size();
  const bool notifies = member(seen.record, "notify") != 0;
  const bool can_tell = seen.done == b.size() || notify;
  if (can_tell && notify != (notifies && seen.done == b.size())) {
    fail(place, "differs", &expected, &seen,
         fmt::format("notify: expected {} with octet {}, seen {}", int{notify}, expected.done - 1, int{notifies}));
  }
}

}  // namespace rnic::golden
