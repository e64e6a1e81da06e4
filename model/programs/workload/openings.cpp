#include "model/programs/workload/openings.h"

#include <limits>
#include <set>

namespace rnic::workload {
namespace {

// Connections between two nodes, opened by the first.
std::uint64_t opened(const Plan& plan, std::size_t from, std::size_t to) {
  std::uint64_t count = 0;
  for (const ConnectionSpec& c : plan.connections) count += c.from == from && c.to == to ? c.qps : 0;
  return count;
}

// Nodes that open connections at this one: itself, and those that connect to it.
std::uint32_t openers(const Plan& plan, std::size_t node) {
  std::set<unsigned> nodes;
  for (const ConnectionSpec& c : plan.connections) {
    if (c.from == node || c.to == node) nodes.insert(c.from);
  }
  return static_cast<std::uint32_t>(nodes.size());
}

}  // namespace

std::uint64_t setups_at(const Plan& plan, std::size_t node, const std::vector<std::uint32_t>& batches) {
  std::uint64_t own = 0, accepted = 0;
  for (std::size_t other = 0; other < batches.size(); ++other) {
    own += opened(plan, node, other);
    accepted += std::min<std::uint64_t>(batches[other], opened(plan, other, node));
  }
  return std::min<std::uint64_t>(batches[node], own) + accepted;
}

std::vector<std::uint32_t> batches(const Plan& plan, const std::vector<std::uint32_t>& max_setups) {
  constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();
  const std::size_t nodes = max_setups.size();
  if (plan.setup.batch != 0) return std::vector<std::uint32_t>(nodes, plan.setup.batch);
  std::vector<std::uint32_t> by_node(nodes, kAll);
  bool fits = true;
  for (std::size_t n = 0; n < nodes; ++n) fits = fits && setups_at(plan, n, by_node) <= max_setups[n];
  if (fits) return by_node;
  for (const ConnectionSpec& c : plan.connections) {
    for (const unsigned end : {c.from, c.to}) {
      const std::uint32_t share = std::max<std::uint32_t>(1, max_setups[end] / openers(plan, end));
      by_node[c.from] = std::min(by_node[c.from], share);
    }
  }
  return by_node;
}

}  // namespace rnic::workload
