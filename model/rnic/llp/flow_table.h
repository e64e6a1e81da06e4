// From a connection's address to its flow: open addressing in one flat array, the same for every run.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/check.h"
#include "model/common/ids.h"
#include "model/common/prng.h"
#include "model/rnic/messages/flow_key.h"

namespace rnic::llp {

// Linear probing at a load of at most one half; removal moves later entries up, so nothing is ever rebuilt.
class FlowTable {
 public:
  explicit FlowTable(std::size_t flows) {
    std::size_t slots = 2;
    while (slots < 2 * flows) slots *= 2;
    slots_.assign(slots, kNoFlow);
    keys_.resize(flows);
  }

  FlowId find(const FlowKey& key) const {
    for (std::size_t i = home(key);; i = next(i)) {
      if (slots_[i] == kNoFlow || keys_[slots_[i].v] == key) return slots_[i];
    }
  }
  void insert(FlowId flow, const FlowKey& key) {
    RNIC_CHECK(find(key) == kNoFlow);
    std::size_t i = home(key);
    while (slots_[i] != kNoFlow) i = next(i);
    slots_[i] = flow;
    keys_[flow.v] = key;
  }
  void erase(FlowId flow) {
    std::size_t hole = home(keys_[flow.v]);
    while (slots_[hole] != flow) {
      RNIC_CHECK(slots_[hole] != kNoFlow);
      hole = next(hole);
    }
    for (std::size_t i = next(hole); slots_[i] != kNoFlow; i = next(i)) {
      // Moves up unless its home is after the hole.
      if (distance(home(keys_[slots_[i].v]), i) < distance(hole, i)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = kNoFlow;
  }
  const FlowKey& key(FlowId flow) const { return keys_[flow.v]; }

 private:
  std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }
  std::size_t distance(std::size_t from, std::size_t to) const { return (to - from) & (slots_.size() - 1); }
  std::size_t home(const FlowKey& key) const {
    const std::uint64_t ports = std::uint64_t{key.peer_port} << 16 | key.port;
    return mix64(std::uint64_t{key.peer_ip} << 32 | ports) & (slots_.size() - 1);
  }

  std::vector<FlowId> slots_;
  std::vector<FlowKey> keys_;
};

}  // namespace rnic::llp
