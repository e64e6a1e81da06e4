#include "model/diff/digests.h"

#include <utility>

namespace rnic::diff {

std::size_t OwnerSums::place_of(Owner owner) const {
  std::size_t place = mix(owner) & (slots_.size() - 1);
  while (slots_[place].owner != 0 && slots_[place].owner != owner) place = (place + 1) & (slots_.size() - 1);
  return place;
}

void OwnerSums::grow() {
  std::vector<Slot> old(2 * slots_.size());
  std::swap(old, slots_);
  for (const Slot& slot : old) {
    if (slot.owner != 0) slots_[place_of(slot.owner)] = slot;
  }
}

std::uint64_t& OwnerSums::operator[](Owner owner) {
  std::size_t place = place_of(owner);
  if (slots_[place].owner == 0) {
    if (4 * ++used_ > 3 * slots_.size()) {
      grow();
      place = place_of(owner);
    }
    slots_[place].owner = owner;
  }
  return slots_[place].sum;
}

const std::uint64_t* OwnerSums::find(Owner owner) const {
  const Slot& slot = slots_[place_of(owner)];
  return slot.owner == 0 ? nullptr : &slot.sum;
}

Digests digest(Events& events, const Filter& filter) {
  Digests digests;
  digests.places.resize(filter.vocabulary.stations());
  events.rewind();
  for (Row row; events.next(row);) {
    ++digests.rows;
    digests.last_ps = row.ps;
    if (!filter.passes(row)) continue;
    const std::uint64_t what = row.what();
    digests.owners[row.owner] += what;
    PlaceOrder& order = digests.places[filter.vocabulary[row.source].station];
    order.chain = mix(order.chain, what);
    if (++order.rows % kChunk == 0) order.chunks.push_back(order.chain);
  }
  for (PlaceOrder& order : digests.places) {
    if (order.rows % kChunk != 0) order.chunks.push_back(order.chain);
  }
  return digests;
}

}  // namespace rnic::diff
