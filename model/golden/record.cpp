#include "model/golden/record.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/golden/abi/rnic_golden.h"

namespace rnic::golden {
namespace {

constexpr std::uint32_t kMostOctets = 1 << 17, kMostMarks = 1 << 12;  // more than any transaction has

std::size_t head_of(const Shape& shape) {
  return shape.marks    ? offsetof(MarksHead, marks_room) + 4
         : shape.octets ? offsetof(OctetsHead, octets_room) + 4
                        : sizeof(std::uint32_t);
}

std::string name_of(const Member& member, unsigned element) {
  return member.count == 1 ? member.name : fmt::format("{}[{}]", member.name, element);
}

std::string hex(const std::vector<std::uint8_t>& octets, std::size_t from, std::size_t to) {
  std::string text;
  for (std::size_t i = from; i < std::min(to, octets.size()); ++i) text += fmt::format(" {:02x}", octets[i]);
  return text;
}

// The octets around one, which stands behind a bar.
std::string around(const std::vector<std::uint8_t>& octets, std::size_t at) {
  constexpr std::size_t kBefore = 3, kBehind = 5;
  const std::size_t from = at - std::min(at, kBefore);
  const std::string before = (from == 0 ? "" : " …") + hex(octets, from, at);
  return fmt::format("{}|{}{}", before.empty() ? "" : before.substr(1) + ' ', hex(octets, at, at + kBehind),
                     at + kBehind < octets.size() ? " …" : "");
}

std::string octet_difference(const Record& expected, const Record& seen, unsigned beat_bytes) {
  const auto &a = expected.octets(), &b = seen.octets();
  const auto [end, other] = std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin());
  const auto at = static_cast<std::size_t>(end - a.begin());
  if (at < std::min(a.size(), b.size())) {
    return fmt::format("octet {} (beat {}, lane {}): expected {}, seen {}", at, at / beat_bytes, at % beat_bytes,
                       around(a, at), around(b, at));
  }
  if (a.size() == b.size()) return "";
  return fmt::format("it has {} octets instead of {}; the first {} are the same", b.size(), a.size(), at);
}

std::string mark_difference(const Record& expected, const Record& seen) {
  const auto text = [](const std::vector<Mark>& marks, std::size_t i) {
    if (i >= marks.size()) return std::string("none");
    return fmt::format("{:02x} before word {}", fmt::join(marks[i].octets, " "), marks[i].word);
  };
  const auto same = [](const Mark& x, const Mark& y) {
    return x.word == y.word && std::equal(std::begin(x.octets), std::end(x.octets), std::begin(y.octets));
  };
  const auto &a = expected.marks(), &b = seen.marks();
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size() && i < b.size() && same(a[i], b[i])) continue;
    return fmt::format("marker {}: expected {}, seen {}", i, text(a, i), text(b, i));
  }
  return "";
}

}  // namespace

Record::Record(const Shape& shape, const void* from) : shape_(&shape), image_(shape.layout->size) {
  const auto* const at = static_cast<const std::uint8_t*>(from);
  const std::size_t size = std::min(checked_size(shape.name, at, *shape.layout, true), shape.layout->size);
  std::memcpy(image_.data(), at, size);
  for (const Member& member : shape.layout->members) {
    for (unsigned i = 0; member.width < 8 * member.octets && i < member.count; ++i) {
      if (value(member, i) >> member.width != 0) fail_width(shape.name, member.name, value(member, i), member.width);
    }
  }
  take_what_it_points_to();
}

void Record::take_what_it_points_to() {
  if (!shape_->octets) return;
  MarksHead head{};
  std::memcpy(static_cast<void*>(&head), image_.data(), head_of(*shape_));
  if (head.octets_n > kMostOctets || (shape_->marks && head.marks_n > kMostMarks)) {
    throw Error(RNIC_E_SIZE, fmt::format("rnic_{}: no transaction has so many octets or marks", shape_->name));
  }
  take_over(shape_->name, "octets", head.octets, head.octets_n, octets_);
  head.octets = octets_.data();
  if (shape_->marks) {
    take_over(shape_->name, "marks", head.marks, head.marks_n, marks_);
    head.marks = marks_.data();
  }
  std::memcpy(image_.data(), static_cast<const void*>(&head), head_of(*shape_));
}

std::uint64_t Record::value(const Member& member, unsigned element) const {
  std::uint64_t value = 0;
  std::memcpy(&value, image_.data() + member.offset + std::size_t{member.octets} * element, member.octets);
  return value;
}

const Member* find_member(const Shape& shape, std::string_view name) {
  for (const Member& member : shape.layout->members) {
    if (member.name == name) return &member;
  }
  return nullptr;
}

std::string difference(const Record& expected, const Record& seen, unsigned beat_bytes, std::string_view free) {
  for (const Member& member : expected.shape().layout->members) {
    if (member.name == free) continue;
    for (unsigned i = 0; i < member.count; ++i) {
      const std::uint64_t a = expected.value(member, i), b = seen.value(member, i);
      if (a != b) return fmt::format("{}: expected {}, seen {}", name_of(member, i), a, b);
    }
  }
  const std::string octets = octet_difference(expected, seen, beat_bytes);
  return octets.empty() ? mark_difference(expected, seen) : octets;
}

std::string summary(const Record& record) {
  constexpr std::size_t kOctets = 16;
  std::string text;
  if (record.shape().octets) {
    text = fmt::format("{} octets:{}{}", record.octets().size(), hex(record.octets(), 0, kOctets),
                       record.octets().size() > kOctets ? " …" : "");
  }
  for (const Member& member : record.shape().layout->members) {
    if (record.value(member) == 0 || member.count != 1) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", member.name, record.value(member));
  }
  return text;
}

}  // namespace rnic::golden
