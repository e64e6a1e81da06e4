// One work item in one direction on one queue pair: the shared knowledge of both programs, and their measurements.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/common/request_id.h"
#include "model/programs/workload/counted_words.h"
#include "model/programs/workload/payload.h"
#include "model/stats/histogram.h"

namespace rnic::workload {

// Latencies in ps, over all queue pairs of a work item in one direction. `completion`: from the call of post_send until
// the program has seen the completion, or half a round trip in ping-pong mode. `one_way`: until the receiving program
// has seen the message.
struct Latencies {
  Histogram completion, one_way;
  std::uint64_t completed = 0;  // messages, also those that the results exclude
};

// The programs exchange addresses here before a phase begins, as real ones would over another connection.
struct Transfer {
  // RDMA Writes are placed in any order (RFC 5040 section 5.5), so successive counts of receives go to different words,
  // which the requester reads in turn. A word is written again only after a message has arrived that only its count
  // allowed: each count exceeds the previous one by a quarter of the receives, so eight of them use up all.
  static constexpr std::uint32_t kCreditWords = 8;

  Transfer(const WorkItem& item, std::string label, std::uint64_t seed, Latencies& latencies);

  const WorkItem& item;
  unsigned work = 0;        // the work item and direction, from 1, as in Workload::work_name()
  const std::string label;  // for messages: "writes on c0[1] forward"
  const std::vector<std::uint32_t> sizes;
  const PayloadGenerator payload, reply;  // reply: for the answers in ping-pong mode
  std::vector<std::uint64_t> offsets;     // of each message in the responder's region; for Writes and Reads
  std::uint32_t stride = 0;               // between places that messages share
  // The message whose octets a Read returns: where messages share places, of the place's number.
  std::uint32_t read_from(std::uint32_t message) const {
    return stride == 0 ? message : static_cast<std::uint32_t>(offsets[message] / stride);
  }
  std::uint64_t region_bytes = 0;
  std::uint32_t max_size = 0;
  std::uint64_t bytes = 0;

  CountedWords* words = nullptr;  // for atomics

  // Set by the responder: its region, or its number of posted receives.
  std::uint64_t region = 0;
  std::uint32_t region_rkey = 0;
  std::uint32_t receives = 0;
  // Set by the requester. For Sends: where the responder writes the total number of receives that it has posted, using
  // the next of kCreditWords words each time. For Writes in ping-pong mode: its region.
  std::uint64_t credit = 0;
  std::uint32_t credit_rkey = 0;

  // The same region with other access rights, for requests that must fail; set by the responder.
  std::array<std::uint32_t, kRights> other_rkeys{};

  // Measured, in ps.
  std::vector<std::uint64_t> posted_ps;
  // What sent each message, there and back, if somebody observes that.
  std::vector<RequestId> sent_by, answered_by;
  std::uint64_t first_post_ps = 0, last_completion_ps = 0;
  std::uint32_t completed = 0;
  void complete() { ++completed, ++latencies.completed; }  // the next message
  // Excluded from the results: earlier messages, and the time until then.
  std::uint32_t warm = 0;
  std::uint64_t warm_ps = 0;
  std::uint64_t counted_from_ps() const { return std::max(first_post_ps, warm_ps); }
  std::uint32_t retries = 0, warm_retries = 0;  // of connections for which the device had no room
  Latencies& latencies;

  // The first error, with message and octet; empty if there is none.
  std::string error;
  bool cut_off = false;  // the error is only that the connection has ended
  void fail(const std::string& reason);
  void cut(const std::string& reason);
  // Compares a message with its expected contents. The first difference, if there is one.
  std::optional<PayloadGenerator::Difference> check(ByteSpan found, std::uint32_t message,
                                                    const PayloadGenerator& expected);
};

// What is in a region after all Writes: the octets of a message, from an offset on.
struct Placed {
  std::uint64_t offset;
  std::uint32_t message;
};
std::vector<Placed> placed(const Transfer& transfer);

// A responder posts at most this many receives; further Sends need credits.
constexpr std::uint32_t kMaxReceives = 512;
std::uint32_t receives_of(const WorkItem& item);

// Whether a message's work request waits for the Reads before it.
constexpr bool is_fenced(const WorkItem& item, std::uint32_t message) {
  return item.fence_every != 0 && (message + 1) % item.fence_every == 0;
}

}  // namespace rnic::workload
