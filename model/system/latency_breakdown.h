// Where the time of each work request went, from post_send to poll_cq. See latency_breakdown.md.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/abi/host_abi.h"
#include "model/trace/event.h"

namespace rnic {

class LatencyBreakdown final : public TraceSink {
 public:
  // `nodes` are those of a RequestId.
  explicit LatencyBreakdown(std::vector<std::string> nodes);

  void event(const TraceDomain& domain, const TraceEvent& event) override;

  // A request that is complete: its parts are durations in ps, in the order in which it passes them, and sum to
  // total_ps. A part that it did not pass is missing.
  struct Request {
    RequestId id;
    abi::WrOpcode opcode = abi::WrOpcode::kSend;
    std::uint64_t total_ps = 0;
    std::vector<std::pair<const char*, std::uint64_t>> parts;
  };
  std::size_t requests() const { return finished_.size(); }
  Request request(std::size_t i) const;  // in the order in which they were complete

  // A line per request: id, operation, the sum and each part in ps, separated by tabs. OutputError.
  void write(const std::string& file) const;
  // Per node and operation: the mean of each part, and the parts of the requests at p50 and p99 and of the slowest one.
  nlohmann::ordered_json json() const;

  // What a request passes, in this order.
  enum Station : std::uint8_t {
    kPosted,
    kRang,
    kDoorbell,
    kFetched,
    kCut,
    kPayload,
    kFramed,
    kMarked,
    kSealed,
    kSent,
    kArrived,
    kStream,
    kDeframed,
    kChecked,
    kPlaced,
    kDelivered,
    kResponse,
    kResponseCut,
    kResponsePayload,
    kResponseFramed,
    kResponseMarked,
    kResponseSealed,
    kResponseSent,
    kResponseArrived,
    kResponseStream,
    kResponseDeframed,
    kResponseChecked,
    kResponsePlaced,
    kCompleted,
    kCqeWritten,
    kPolled,
    kStations
  };

 private:
  struct Record {
    abi::WrOpcode opcode = abi::WrOpcode::kSend;
    bool posted = false;
    std::array<std::uint64_t, kStations> at{};  // the newest time; 0: not passed
  };
  // The requests of one use of a send queue that are not complete, the oldest first.
  struct Queue {
    std::uint64_t first = 0;              // sequence of the oldest
    std::uint64_t rung = 0, arrived = 0;  // the first that no doorbell has announced
    std::deque<Record> records;
  };
  struct Finished {
    RequestId id;
    abi::WrOpcode opcode;
    std::uint64_t total_ps;
    std::size_t parts;  // where they begin in parts_
  };
  std::optional<Station> station(const TraceDomain& domain, const TraceEvent& event) const;
  Queue& queue(RequestId id);
  void announce(Queue& queue, std::uint64_t& from, std::uint32_t producer, Station station, std::uint64_t ps);
  void finish(RequestId id, const Record& record);
  Request read(const Finished& finished) const;

  const std::vector<std::string> nodes_;
  std::unordered_map<std::uint64_t, Queue> queues_;  // by the id of their first request; looked up, never iterated
  std::uint64_t newest_key_ = 0;
  Queue* newest_ = nullptr;
  std::vector<Finished> finished_;
  std::vector<std::uint8_t> parts_;  // stations and durations, as numbers of 7 bits an octet
};

}  // namespace rnic
