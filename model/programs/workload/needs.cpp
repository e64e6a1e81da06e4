#include "model/programs/workload/needs.h"

#include <algorithm>

#include "model/programs/workload/transfer.h"

namespace rnic::workload {
namespace {

constexpr std::uint64_t kPage = 4096;  // to which memory is aligned
// Of each queue pair, whatever its work: its greeting's region; two rings of work requests, and two completion queues.
constexpr Needs kOfEndpoint{1, 4 * kPage};

std::uint64_t in_pages(std::uint64_t octets) { return (octets + kPage - 1) & ~(kPage - 1); }

// Of each queue pair.
Needs of_requester(const WorkItem& item) {
  if (item.op == Op::kConnect) return {};
  if (item.mode == Mode::kPingPong) return {1, item.size.min};
  if (is_atomic(item.op)) return {1, std::uint64_t{8} * item.depth};
  const bool with_credits = uses_receives(item.op) && item.count > receives_of(item);
  const std::uint64_t slots = std::min(item.depth, item.count);
  return {with_credits ? 2u : 1u, slots * item.size.min};
}

Needs of_responder(const WorkItem& item) {
  if (item.op == Op::kConnect) return {};
  if (item.mode == Mode::kPingPong) return {1, item.size.min};
  if (is_atomic(item.op)) return {1, 0};
  const std::uint64_t places = item.op == Op::kSend ? receives_of(item) : item.places != 0 ? item.places : item.count;
  return {1, places * item.size.min};
}

}  // namespace

Needs needs_of(const Plan& plan, std::size_t node) {
  Needs all;
  const auto add = [&all](const Needs& of_queue_pair, unsigned qps) {
    all.regions += of_queue_pair.regions * qps;
    all.octets += in_pages(of_queue_pair.octets) * qps;
  };
  for (const ConnectionSpec& c : plan.connections) {
    for (const unsigned end : {c.from, c.to}) {
      if (end == node) add(kOfEndpoint, c.qps);
    }
  }
  for (const auto& phase : plan.phases) {
    for (const WorkItem& item : phase) {
      for (const unsigned number : item.connections) {
        const ConnectionSpec& c = plan.connections[number];
        for (const bool forward : {true, false}) {
          if (item.direction == (forward ? Direction::kReverse : Direction::kForward)) continue;
          if ((forward ? c.from : c.to) == node) add(of_requester(item), c.qps);
          if ((forward ? c.to : c.from) == node) add(of_responder(item), c.qps);
        }
      }
    }
  }
  return all;
}

}  // namespace rnic::workload
