// One work item in one direction on one queue pair: what both programs know of it, and what they measured.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/programs/workload/counted_words.h"
#include "model/programs/workload/payload.h"
#include "model/stats/histogram.h"

namespace rnic::workload {

// Latencies in ps, over all queue pairs of a work item in one direction: from the call of post_send until the program
// has seen the completion, or half a round trip in ping-pong mode; one way until the receiving program has seen the
// message.
struct Latencies {
  Histogram completion, one_way;
};

// The programs exchange addresses here, before a phase begins, as real ones would over another connection.
struct Transfer {
  // RDMA Writes are placed in any order (RFC 5040 section 5.5), so each count of receives has a word of its own, which
  // the requester reads one after the other. A word's turn comes again when a message has arrived that only its count
  // allowed: each count is more than the one before by a quarter of the receives, so eight of them use up all.
  static constexpr std::uint32_t kCreditWords = 8;

  Transfer(const WorkItem& item, std::string label, std::uint64_t seed, Latencies& latencies);

  const WorkItem& item;
  unsigned work = 0;        // the work item and direction; from 1 on, as Workload::work_name() counts
  const std::string label;  // for messages: "writes on c0[1] forward"
  const std::vector<std::uint32_t> sizes;
  const PayloadGenerator payload, reply;  // reply: of the answers in ping-pong mode
  std::vector<std::uint64_t> offsets;     // of each message in the responder's region; for Writes and Reads
  std::uint64_t region_bytes = 0;
  std::uint32_t max_size = 0;
  std::uint64_t bytes = 0;

  CountedWords* words = nullptr;  // of atomics

  // Set by the responder: its region, or how many receives it has posted.
  std::uint64_t region = 0;
  std::uint32_t region_rkey = 0;
  std::uint32_t receives = 0;
  // Set by the requester: of Sends, where the responder writes how many receives it has posted in all, each time to the
  // next of kCreditWords words; of Writes to and fro, its region.
  std::uint64_t credit = 0;
  std::uint32_t credit_rkey = 0;

  // The same region with other rights, for requests that are to fail; set by the responder.
  std::array<std::uint32_t, kRights> other_rkeys{};

  // Measured, in ps.
  std::vector<std::uint64_t> posted_ps;
  std::uint64_t first_post_ps = 0, last_completion_ps = 0;
  std::uint32_t completed = 0;
  // What came before does not count: messages, and the time until then.
  std::uint32_t warm = 0;
  std::uint64_t warm_ps = 0;
  std::uint64_t counted_from_ps() const { return std::max(first_post_ps, warm_ps); }
  std::uint32_t retries = 0, warm_retries = 0;  // of connections that found no room in the device
  Latencies& latencies;

  // The first error, with the message and the octet; empty when all is well.
  std::string error;
  bool cut_off = false;  // the error is that the connection has ended, and no other
  void fail(const std::string& reason);
  void cut(const std::string& reason);
  // Compares a message with what it must be.
  void check(ByteSpan found, std::uint32_t message, const PayloadGenerator& expected);
};

// Sends whose number is beyond the receives that a responder can post need its credits.
constexpr std::uint32_t kMaxReceives = 512;
std::uint32_t receives_of(const WorkItem& item);

}  // namespace rnic::workload
