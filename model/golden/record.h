// A transaction in memory of its own, for code that does not know its message's type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/golden/c_struct.h"

namespace rnic::golden {

class Record {
 public:
  // A copy of a caller's structure and of what it points to. Throws Error, as load() does.
  Record(const Shape& shape, const void* from);
  Record(Record&&) = default;  // what the structure points to stays where it is
  Record& operator=(Record&&) = default;

  const Shape& shape() const { return *shape_; }
  // As the C interface takes it.
  const void* structure() const { return image_.data(); }
  const std::vector<std::uint8_t>& octets() const { return octets_; }
  const std::vector<Mark>& marks() const { return marks_; }
  std::uint64_t value(const Member& member, unsigned element = 0) const;
  // Octets of memory that it holds, about.
  std::size_t weight() const { return image_.size() + octets_.size() + marks_.size() * sizeof(Mark); }

 private:
  void take_what_it_points_to();

  const Shape* shape_;
  std::vector<std::uint8_t> image_, octets_;
  std::vector<Mark> marks_;
};

// The member of a structure with this name; nullptr if it has none.
const Member* find_member(const Shape& shape, std::string_view name);

// The first field, octet or marker in which two transactions of a port differ, with both values: "octet 63 (beat 0,
// lane 15): expected …, seen …"; empty if there is none. One field may be free.
std::string difference(const Record& expected, const Record& seen, unsigned beat_bytes, std::string_view free = "");

// Its fields and how its octets begin, in one line.
std::string summary(const Record& record);

}  // namespace rnic::golden
