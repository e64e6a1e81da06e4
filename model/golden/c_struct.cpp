#include "model/golden/c_struct.h"

#include <fmt/format.h>

#include "model/golden/abi/rnic_golden.h"

namespace rnic::golden {

void fail_width(std::string_view message, std::string_view member, std::uint64_t value, unsigned width) {
  throw Error(RNIC_E_VALUE, fmt::format("{}.{} is {}, which does not fit its {} bits", message, member, value, width));
}

void fail_word(std::string_view message, std::string_view member, std::uint64_t value) {
  throw Error(RNIC_E_VALUE, fmt::format("{}.{} is {}, which is none of its values", message, member, value));
}

void fail_null(std::string_view message, std::string_view member) {
  throw Error(RNIC_E_NULL, fmt::format("{}.{} is null, but its count is not 0", message, member));
}

void fail_room(std::string_view message) {
  throw Error(RNIC_E_SIZE,
              fmt::format("the {} needs more room than the structure has; its counts say how much", message));
}

void fail_index(std::string_view table, std::uint64_t index, std::uint64_t rows) {
  fail_value(fmt::format("the table \"{}\" has rows 0 to {}, and no {}", table, rows - 1, index));
}

void fail_value(const std::string& text) { throw Error(RNIC_E_VALUE, text); }

std::size_t checked_size(std::string_view message, const std::uint8_t* at, const Layout& layout, bool read) {
  std::uint32_t size;
  std::memcpy(&size, at, sizeof size);
  if (size < layout.size_of_first) {
    throw Error(RNIC_E_SIZE,
                fmt::format("rnic_{}: its size is {}, but it has {} octets", message, size, layout.size_of_first));
  }
  constexpr std::size_t kMost = 1 << 16;
  if (size > kMost)
    throw Error(RNIC_E_SIZE, fmt::format("rnic_{}: its size is {}, more than any structure has", message, size));
  if (read && std::any_of(at + std::min<std::size_t>(size, layout.size), at + size,
                          [](std::uint8_t octet) { return octet != 0; })) {
    throw Error(RNIC_E_SIZE, fmt::format("rnic_{}: a member is set that this library (ABI {:#010x}) does not have",
                                         message, RNIC_GOLDEN_ABI));
  }
  return size;
}

Layout lay_out(std::string_view message, std::size_t head, std::vector<Member> members) {
  const auto up = [](std::size_t n, std::size_t to) { return (n + to - 1) / to * to; };
  const auto place_at = [&](std::size_t& end, Member& member) {
    member.offset = up(end, member.octets);
    end = member.offset + std::size_t{member.octets} * member.count;
  };
  const auto added = [&](const Member& member) { return std::string(message) + "." + member.name; };
  std::size_t end = head;
  for (Member& member : members) {
    if (std::find(std::begin(kAdded), std::end(kAdded), added(member)) == std::end(kAdded)) place_at(end, member);
  }
  Layout layout;
  end = layout.size_of_first = up(end, 8);
  for (const std::string_view name : kAdded) {
    for (Member& member : members) {
      if (added(member) == name) place_at(end, member);
    }
  }
  layout.size = up(end, 8);
  for (Member& member : members) {
    if (member.words != nullptr && member.enumeration.empty())
      member.enumeration = std::string(message) + "_" + member.name;
  }
  layout.members = std::move(members);
  return layout;
}

}  // namespace rnic::golden
