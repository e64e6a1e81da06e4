// From the address of a connection or association to its id: open addressing in one flat array, the same for every run.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/check.h"
#include "model/common/ids.h"
#include "model/common/prng.h"
#include "model/rnic/messages/flow_key.h"

namespace rnic::llp {

// Linear probing at a load of at most one half; removal moves later entries up, so nothing is ever rebuilt.
template <class I>
class IdTable {
 public:
  static constexpr I kNone{0xffffffffu};
  explicit IdTable(std::size_t ids) {
    std::size_t slots = 2;
    while (slots < 2 * ids) slots *= 2;
    slots_.assign(slots, kNone);
    keys_.resize(ids);
  }

  I find(const FlowKey& key) const {
    for (std::size_t i = home(key);; i = next(i)) {
      if (slots_[i] == kNone || keys_[slots_[i].v] == key) return slots_[i];
    }
  }
  void insert(I id, const FlowKey& key) {
    RNIC_CHECK(find(key) == kNone);
    std::size_t i = home(key);
    while (slots_[i] != kNone) i = next(i);
    slots_[i] = id;
    keys_[id.v] = key;
  }
  void erase(I id) {
    std::size_t hole = home(keys_[id.v]);
    while (slots_[hole] != id) {
      RNIC_CHECK(slots_[hole] != kNone);
      hole = next(hole);
    }
    for (std::size_t i = next(hole); slots_[i] != kNone; i = next(i)) {
      // Moves up unless its home is after the hole.
      if (distance(home(keys_[slots_[i].v]), i) < distance(hole, i)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = kNone;
  }
  const FlowKey& key(I id) const { return keys_[id.v]; }

 private:
  std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }
  std::size_t distance(std::size_t from, std::size_t to) const { return (to - from) & (slots_.size() - 1); }
  std::size_t home(const FlowKey& key) const {
    const std::uint64_t ports = std::uint64_t{key.peer_port} << 16 | key.port;
    return mix64(std::uint64_t{key.peer_ip} << 32 | ports) & (slots_.size() - 1);
  }

  std::vector<I> slots_;
  std::vector<FlowKey> keys_;
};

using FlowTable = IdTable<FlowId>;

}  // namespace rnic::llp
