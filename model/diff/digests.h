// First pass of a comparison: a hash for each owner of events, and for each 1,024 rows of a place.
#pragma once

#include <cstdint>
#include <vector>

#include "model/diff/events.h"

namespace rnic::diff {

// A number for each owner in 16 octets, by open addressing.
class OwnerSums {
 public:
  OwnerSums() : slots_(kFewest) {}

  // The owner's number, 0 at first.
  std::uint64_t& operator[](Owner owner);
  // nullptr for an owner without a number.
  const std::uint64_t* find(Owner owner) const;
  template <class Visit>
  void each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.owner != 0) visit(slot.owner, slot.sum);
    }
  }
  std::size_t size() const { return used_; }

 private:
  static constexpr std::size_t kFewest = 1024;
  struct Slot {
    Owner owner = 0;
    std::uint64_t sum = 0;
  };
  std::size_t place_of(Owner owner) const;
  void grow();

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

inline constexpr std::uint64_t kChunk = 1024;  // rows of a place

// The order of the rows at a place.
struct PlaceOrder {
  std::uint64_t rows = 0, chain = 0;
  std::vector<std::uint64_t> chunks;  // the chain after each kChunk rows, and after the last
};

struct Digests {
  // What each owner did: a sum over its rows, as their order across places may change with time alone.
  OwnerSums owners;
  std::vector<PlaceOrder> places;  // by station
  std::uint64_t rows = 0, last_ps = 0;
};

// Which rows take no part: those of sources that are left out, and those of owners in `without`.
struct Filter {
  const Vocabulary& vocabulary;
  const OwnerSums& without;

  bool passes(const Row& row) const {
    return !vocabulary[row.source].left_out && (without.size() == 0 || without.find(row.owner) == nullptr);
  }
};

Digests digest(Events& events, const Filter& filter);

}  // namespace rnic::diff
