// Messages and rows as the library takes them.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "model/golden/c_struct.h"

namespace rnic::scoreboard {

// A transaction as a structure of the C interface, in memory that is used again.
template <class M>
class Structure {
 public:
  const void* of(M& message) {
    image_.assign(golden::layout<M>().size, 0);
    const auto size = static_cast<std::uint32_t>(image_.size());
    std::memcpy(image_.data(), &size, sizeof size);
    if constexpr (golden::kHasOctets<M>) {
      // The fields alone are copied; the octets stay where they are.
      std::vector<std::uint8_t> octets = std::exchange(message.octets, {});
      std::vector<golden::Mark> marks;
      if constexpr (golden::kHasMarks<M>) marks.swap(message.marks);
      golden::store(std::as_const(message), image_.data());
      message.octets.swap(octets);
      if constexpr (golden::kHasMarks<M>) message.marks.swap(marks);
      point_to(message);
    } else {
      golden::store(std::as_const(message), image_.data());
    }
    return image_.data();
  }

 private:
  void point_to(M& message) {
    golden::Head<M> head{};
    head.size = static_cast<std::uint32_t>(image_.size());
    head.octets = message.octets.data();
    head.octets_n = static_cast<std::uint32_t>(message.octets.size());
    if constexpr (golden::kHasMarks<M>) {
      head.marks = message.marks.data();
      head.marks_n = static_cast<std::uint32_t>(message.marks.size());
    }
    std::memcpy(image_.data(), static_cast<const void*>(&head), golden::head_octets<M>());
  }

  std::vector<std::uint8_t> image_;
};

}  // namespace rnic::scoreboard
