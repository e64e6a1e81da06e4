// From the address of a connection or association to its id: a hash table of buckets in flat arrays, the same for every
// run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/common/check.h"
#include "model/common/ids.h"
#include "model/common/memory.h"
#include "model/common/prng.h"
#include "model/rnic/messages/flow_key.h"

namespace rnic::llp {

// Half of the places are for ids at most. What finds its bucket full goes to the next one with room; removal moves it
// back, so nothing is ever rebuilt, and a bucket with room ends every search.
template <class I>
class IdTable {
 public:
  static constexpr I kNone{0xffffffffu};
  static constexpr std::size_t kWays = 4;  // of a bucket, which is read at once

  explicit IdTable(std::size_t ids) {
    std::size_t slots = kWays;
    while (slots < 2 * ids) slots *= 2;
    slots_.assign(slots, kNone);
    keys_.resize(ids);
  }

  // A look-up, bucket by bucket: the first one, what it has, the next one.
  std::size_t home(const FlowKey& key) const {
    const std::uint64_t ports = std::uint64_t{key.peer_port} << 16 | key.port;
    return mix64(std::uint64_t{key.peer_ip} << 32 | ports) & (buckets() - 1);
  }
  I find_in(std::size_t bucket, const FlowKey& key) const {
    for (std::size_t i = first(bucket); i != first(bucket) + kWays; ++i) {
      if (slots_[i] != kNone && keys_[slots_[i].v] == key) return slots_[i];
    }
    return kNone;
  }
  bool is_full(std::size_t bucket) const { return place_in(bucket, kNone) == kNowhere; }
  std::size_t next(std::size_t bucket) const { return (bucket + 1) & (buckets() - 1); }

  I find(const FlowKey& key) const {
    for (std::size_t b = home(key);; b = next(b)) {
      const I id = find_in(b, key);
      if (id != kNone || !is_full(b)) return id;
    }
  }
  bool has(I id) const { return find(keys_[id.v]) == id; }
  void insert(I id, const FlowKey& key) {
    RNIC_CHECK(find(key) == kNone);
    std::size_t b = home(key);
    while (is_full(b)) b = next(b);
    slots_[place_in(b, kNone)] = id;
    keys_[id.v] = key;
  }
  void erase(I id) {
    std::size_t bucket = home(keys_[id.v]);
    while (place_in(bucket, id) == kNowhere) {
      RNIC_CHECK(is_full(bucket));
      bucket = next(bucket);
    }
    const bool was_full = is_full(bucket);
    std::size_t hole = place_in(bucket, id);
    slots_[hole] = kNone;
    if (was_full) fill(hole);
  }
  const FlowKey& key(I id) const { return keys_[id.v]; }
  std::size_t places() const { return slots_.size(); }
  // Of a place: an address and its id, or none.
  static unsigned slot_bits(std::size_t ids) { return bits_of<FlowKey>() + index_bits(ids) + 1; }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  std::size_t buckets() const { return slots_.size() / kWays; }
  static std::size_t first(std::size_t bucket) { return bucket * kWays; }
  std::size_t distance(std::size_t from, std::size_t to) const { return (to - from) & (buckets() - 1); }
  std::size_t place_in(std::size_t bucket, I id) const {
    const auto from = slots_.begin() + static_cast<std::ptrdiff_t>(first(bucket));
    const auto at = std::find(from, from + kWays, id);
    return at == from + kWays ? kNowhere : static_cast<std::size_t>(at - slots_.begin());
  }
  // A full bucket has room again: one that was sent on beyond it comes back, and leaves room where it was.
  void fill(std::size_t hole) {
    for (std::size_t b = next(hole / kWays); b != hole / kWays; b = next(b)) {
      const bool ends = !is_full(b);
      for (std::size_t i = first(b); i != first(b) + kWays; ++i) {
        if (slots_[i] == kNone || distance(home(keys_[slots_[i].v]), b) < distance(hole / kWays, b)) continue;
        slots_[hole] = slots_[i];
        slots_[i] = kNone;
        hole = i;
        break;
      }
      if (ends) return;
    }
  }

  std::vector<I> slots_;
  std::vector<FlowKey> keys_;
};

using FlowTable = IdTable<FlowId>;

}  // namespace rnic::llp
