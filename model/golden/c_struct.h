// A message as a structure of the C interface: `size` first, then, of one with octets, a pointer and two counts, then
// the fields as members of 1, 2, 4 or 8 octets, in the order of `fields`. A field that comes later stands at the end,
// whatever its place in `fields` (kAdded).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/abi/host_abi.h"
#include "model/common/message.h"
#include "model/golden/enumerations.h"
#include "model/golden/status.h"
#include "model/golden/transactions.h"

namespace rnic::golden {

// Members that came with a later minor number, "message.member", in the order in which they came.
inline constexpr std::string_view kAdded[] = {""};

struct Member {
  std::string name;
  unsigned width;      // bits, at most 64
  unsigned octets;     // of one element
  unsigned count = 1;  // elements
  std::size_t offset = 0;
  std::string enumeration = {};       // of one that is an enumeration's: its name,
  const ValueWords* words = nullptr;  // and its values
};

template <class M>
inline constexpr bool kHasOctets = std::is_base_of_v<Payload, M>;
template <class M, class = void>
inline constexpr bool kHasMarks = false;
template <class M>
inline constexpr bool kHasMarks<M, std::void_t<decltype(std::declval<M&>().marks)>> = true;

// The heads of structures with octets, and with marks, as in rnic_golden_messages.h.
struct OctetsHead {
  std::uint32_t size, octets_n;
  std::uint8_t* octets;
  std::uint32_t octets_room;
};
struct MarksHead {
  std::uint32_t size, octets_n;
  std::uint8_t* octets;
  std::uint32_t octets_room, marks_n;
  Mark* marks;
  std::uint32_t marks_room;
};
template <class M>
using Head = std::conditional_t<kHasMarks<M>, MarksHead, OctetsHead>;

template <class M>
constexpr std::size_t head_octets() {
  if constexpr (kHasMarks<M>) return offsetof(MarksHead, marks_room) + 4;
  else if constexpr (kHasOctets<M>) return offsetof(OctetsHead, octets_room) + 4;
  else return 4;
}

struct Layout {
  std::vector<Member> members;    // in the order of `fields`
  std::size_t size = 0;           // octets,
  std::size_t size_of_first = 0;  // and without what later minor numbers have added
};
// `head`: octets before the first member.
Layout lay_out(std::string_view message, std::size_t head, std::vector<Member> members);

// Collects the members; a message inside is flattened, messages of an array are arrays of their members.
class ListMembers {
 public:
  ListMembers(std::vector<Member>& to, std::string prefix, unsigned count)
      : to_(to), prefix_(std::move(prefix)), count_(count) {}
  template <class T>
  void operator()(const char* name, unsigned width, const T&) {
    add(name, width, count_);
    if constexpr (std::is_enum_v<T>) {
      to_.back().enumeration = Enumeration<T>::kName;
      to_.back().words = &Enumeration<T>::words();
    }
  }
  template <class Tag>
  void operator()(const char* name, const Id<Tag>&) {
    add(name, 32, count_);
  }
  template <class M>
  void operator()(const char* name, const M& message) {
    inside(name, message, count_);
  }
  template <std::size_t N>
  void octets(const char* name, const std::array<std::uint8_t, N>&) {
    add(name, 8, N * count_);
  }
  template <class M, std::size_t N>
  void each(const char* name, const M (&messages)[N]) {
    inside(name, messages[0], N * count_);
  }
  template <class M, std::size_t N>
  void each(const char* name, const std::array<M, N>& messages) {
    inside(name, messages[0], N * count_);
  }

 private:
  void add(const char* name, unsigned width, std::size_t count) {
    to_.push_back({prefix_ + name, width,
                   width <= 8    ? 1u
                   : width <= 16 ? 2u
                   : width <= 32 ? 4u
                                 : 8u,
                   static_cast<unsigned>(count)});
  }
  template <class M>
  void inside(const char* name, const M& message, std::size_t count) {
    ListMembers members(to_, prefix_ + name + "_", static_cast<unsigned>(count));
    visit_fields(members, message);
  }

  std::vector<Member>& to_;
  const std::string prefix_;
  const unsigned count_;
};

// The size that a structure says, if it can be one of this message's. Of one that is read, what lies beyond ours has to
// be zero.
std::size_t checked_size(std::string_view message, const std::uint8_t* at, const Layout& layout, bool read);

template <class T>
void take_over(std::string_view message, std::string_view member, const T* from, std::uint32_t n, std::vector<T>& to) {
  if (from == nullptr && n != 0) fail_null(message, member);
  to.assign(from, from + n);
}
template <class T>
void hand_over(std::string_view message, std::string_view member, const std::vector<T>& from, T* to) {
  if (to == nullptr && !from.empty()) fail_null(message, member);
  std::copy(from.begin(), from.end(), to);
}

template <class M>
const Layout& layout() {
  static const Layout made = [] {
    std::vector<Member> members;
    ListMembers list(members, "", 1);
    const M message{};
    visit_fields(list, message);
    return lay_out(Message<M>::kName, head_octets<M>(), std::move(members));
  }();
  return made;
}

// What a structure is, for those who do not know its message's type.
struct Shape {
  const char* name;
  const Layout* layout;
  bool octets, marks;
};
template <class M>
const Shape& shape() {
  static const Shape made{Message<M>::kName, &layout<M>(), kHasOctets<M>, kHasMarks<M>};
  return made;
}

// Goes over the fields in their order, with the place of each in the structure: `visitor(member, place, number)`, and
// `visitor.octets(place, array)` for octets.
template <class Visitor>
class VisitMembers : public FieldVisitor<VisitMembers<Visitor>> {
 public:
  VisitMembers(const Layout& layout, Visitor visitor) : next_(layout.members.data()), visitor_(visitor) {}
  template <class T>
  void number(unsigned, T& number) {
    visitor_(*next_, next_->offset + std::size_t{next_->octets} * element_, number);
    ++next_;
  }
  template <class Array>
  void octets(const char*, Array& octets) {
    visitor_.octets(next_->offset + element_ * octets.size(), octets);
    ++next_;
  }
  template <class M, std::size_t N>
  void each(const char*, M (&messages)[N]) {
    elements(messages);
  }
  template <class M, std::size_t N>
  void each(const char*, const std::array<M, N>& messages) {
    elements(messages);
  }
  template <class M, std::size_t N>
  void each(const char*, std::array<M, N>& messages) {
    elements(messages);
  }

 private:
  // Not nested: no message has an array of messages with one.
  template <class Messages>
  void elements(Messages& messages) {
    const Member* const first = next_;
    element_ = 0;
    for (auto& message : messages) {
      next_ = first;
      visit_fields(*this, message);
      ++element_;
    }
    element_ = 0;
  }

  const Member* next_;
  std::size_t element_ = 0;
  Visitor visitor_;
};

// Enumerations that the host writes, whose other values a stage judges itself.
template <class T>
inline constexpr bool kIsJudged = std::is_same_v<T, abi::WrOpcode> || std::is_same_v<T, abi::WcStatus>;

// Another enumeration has the values that have words.
template <class T>
void check_word(std::string_view message, const std::string& member, std::uint64_t value) {
  if constexpr (kHasValueWords<T> && !kIsJudged<T>) {
    const ValueWords& words = *words_of<T>();
    if (value >= words.size() || words[value].empty()) fail_word(message, member, value);
  }
}

// A member's number: little-endian, as are the machines that this runs on.
inline std::uint64_t number_at(const std::uint8_t* at, unsigned octets) {
  const auto read = [at](auto number) {
    std::memcpy(&number, at, sizeof number);
    return std::uint64_t{number};
  };
  switch (octets) {
    case 1:
      return *at;
    case 2:
      return read(std::uint16_t{});
    case 4:
      return read(std::uint32_t{});
    default:
      return read(std::uint64_t{});
  }
}
inline void put_number(std::uint8_t* at, unsigned octets, std::uint64_t value) {
  const auto write = [at](auto number) { std::memcpy(at, &number, sizeof number); };
  switch (octets) {
    case 1:
      return write(static_cast<std::uint8_t>(value));
    case 2:
      return write(static_cast<std::uint16_t>(value));
    case 4:
      return write(static_cast<std::uint32_t>(value));
    default:
      return write(value);
  }
}

// Of the first `size` octets of a structure.
template <class M>
struct LoadMembers {
  const std::uint8_t* at;
  std::size_t size;
  template <class T>
  void operator()(const Member& member, std::size_t place, T& number) const {
    if (place + member.octets > size) return;
    const std::uint64_t value = number_at(at + place, member.octets);
    if (member.width < 64 && value >> member.width != 0)
      fail_width(Message<M>::kName, member.name, value, member.width);
    check_word<T>(Message<M>::kName, member.name, value);
    number = static_cast<T>(value);
  }
  template <class Array>
  void octets(std::size_t place, Array& octets) const {
    if (place < size) std::memcpy(octets.data(), at + place, std::min(octets.size(), size - place));
  }
};
struct StoreMembers {
  std::uint8_t* at;
  std::size_t size;
  template <class T>
  void operator()(const Member& member, std::size_t place, const T& number) const {
    if (place + member.octets <= size) put_number(at + place, member.octets, static_cast<std::uint64_t>(number));
  }
  template <class Array>
  void octets(std::size_t place, const Array& octets) const {
    if (place < size) std::memcpy(at + place, octets.data(), std::min(octets.size(), size - place));
  }
};

// The caller's structure becomes the message; what an older caller's does not have stays as it is. Throws Error: a
// structure that is too short, or of a later minor number with members set that this library does not have; a value
// that does not fit.
template <class M>
void load(const void* from, M& message) {
  const Layout& as = layout<M>();
  const auto* const at = static_cast<const std::uint8_t*>(from);
  const std::size_t size = checked_size(Message<M>::kName, at, as, true);
  VisitMembers visit(as, LoadMembers<M>{at, size});
  visit_fields(visit, message);
  if constexpr (kHasOctets<M>) {
    Head<M> head;
    std::memcpy(static_cast<void*>(&head), at, head_octets<M>());
    take_over(Message<M>::kName, "octets", head.octets, head.octets_n, message.octets);
    if constexpr (kHasMarks<M>) take_over(Message<M>::kName, "marks", head.marks, head.marks_n, message.marks);
  }
}

// The message becomes the caller's structure. Throws Error where there is too little room: then the counts are set, and
// nothing else.
template <class M>
void store(const M& message, void* to) {
  const Layout& as = layout<M>();
  auto* const at = static_cast<std::uint8_t*>(to);
  const std::size_t size = checked_size(Message<M>::kName, at, as, false);
  if constexpr (kHasOctets<M>) {
    Head<M> head;
    std::memcpy(static_cast<void*>(&head), at, head_octets<M>());
    head.octets_n = static_cast<std::uint32_t>(message.octets.size());
    bool room = head.octets_n <= head.octets_room;
    if constexpr (kHasMarks<M>) {
      head.marks_n = static_cast<std::uint32_t>(message.marks.size());
      room = room && head.marks_n <= head.marks_room;
    }
    std::memcpy(at, static_cast<const void*>(&head), head_octets<M>());
    if (!room) fail_room(Message<M>::kName);
    hand_over(Message<M>::kName, "octets", message.octets, head.octets);
    if constexpr (kHasMarks<M>) hand_over(Message<M>::kName, "marks", message.marks, head.marks);
  }
  VisitMembers visit(as, StoreMembers{at, size});
  visit_fields(visit, message);
}

}  // namespace rnic::golden
