// Where the time of each work request went, from its post to poll_cq. See latency_breakdown.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/abi/host_abi.h"
#include "model/common/ids.h"
#include "model/system/acknowledgements.h"
#include "model/system/request_stations.h"
#include "model/trace/event.h"

namespace rnic {

class LatencyBreakdown final : public TraceSink {
 public:
  // What a request was posted for, by the number in its kPosted.
  struct Works {
    std::function<std::string(std::uint32_t)> name;   // "": none
    std::function<bool(std::uint32_t)> is_ping_pong;  // its programs say which messages they have seen (kSeen)
  };

  // `nodes` are those of a RequestId. The sink wants Recorder::attach_timing().
  explicit LatencyBreakdown(std::vector<std::string> nodes, Works works = {});

  void event(const TraceDomain& domain, const TraceEvent& event) override;

  // A completed request: its parts are durations in ps, in the order in which it passes them, and sum to total_ps. A
  // part that it did not pass is missing, and so is a queue in which it did not wait. A message of a ping-pong is there
  // as kOneWay too, and a round as kRound, by the id of its first message.
  struct Request {
    RequestId id;
    stations::RequestClass kind = stations::RequestClass::kPosted;
    abi::WrOpcode opcode = abi::WrOpcode::kSend;  // if it is not of a receive queue
    std::uint32_t work = 0;
    std::uint64_t total_ps = 0;
    std::vector<std::pair<const char*, std::uint64_t>> parts;
  };
  std::size_t requests() const { return finished_.size(); }
  Request request(std::size_t i) const;  // in order of completion

  // The operations of kOneWay and kRound in both outputs; those of requests are their opcodes, or "receive".
  static constexpr const char* kOneWayName = "one way";
  static constexpr const char* kRoundName = "half a round trip";
  // A line for each of them: id, work item, operation, the sum and each part in ps, separated by tabs. OutputError.
  void write(const std::string& file) const;
  // json() counts requests that complete from now on.
  void restart() { counted_from_ = finished_.size(); }
  // Per work item, node and operation: the mean of each part, and the parts of the requests at p50 and p99 and of the
  // slowest one.
  nlohmann::ordered_json json() const;

 private:
  // The retransmitted part of a leg: the newest frame of it that has arrived.
  struct Again {
    std::uint64_t sent = 0, on_wire = 0, at_port = 0, passing = 0, arrived = 0;
    std::uint64_t used = 0;    // when the one that arrived was sent
    std::uint64_t before = 0;  // octets before these were missing until then
  };
  struct Record {
    abi::WrOpcode opcode = abi::WrOpcode::kSend;
    std::uint32_t work = 0;
    bool over = false;             // polled, itself or the one whose completion covers it
    bool awaits_receiver = false;  // its frames arrived, and a receive request still needs its times
    bool awaits_seen = false;      // of a ping-pong
    RequestId receive;             // that it used
    FlowId flow;                   // of its sender
    std::array<Again, stations::kLegs> again{};
    std::array<std::uint32_t, stations::kLegs> segments{};
    std::array<std::uint64_t, stations::kStations> at{};  // the newest time; 0: not passed
  };
  // The requests of one use of a queue that are not complete, the oldest first: a ring of records.
  class Queue {
   public:
    std::uint64_t first = 0;              // sequence of the oldest
    std::uint64_t rung = 0, arrived = 0;  // the first that was not announced by a doorbell
    std::uint32_t life = 0;
    bool used = false;

    std::uint64_t end() const { return first + size_; }
    bool has(std::uint64_t n) const { return n - first < size_; }
    Record& operator[](std::uint64_t n) { return slots_[n & (slots_.size() - 1)]; }
    void begin(std::uint32_t of_life, std::uint64_t n);
    Record& add();
    void drop_front();

   private:
    void grow();
    std::vector<Record> slots_;  // a power of two
    std::size_t size_ = 0;
  };
  // Of a flow at its receiver.
  struct Repair {
    const TraceDomain* domain = nullptr;
    FlowId flow;
    std::uint64_t arrived = 0;  // the newest retransmitted frame that let octets after it pass
  };
  // Of a message of a ping-pong.
  struct Way {
    RequestId id;
    std::uint32_t message = 0;
    std::uint64_t posted = 0, seen = 0;
    std::array<std::uint64_t, stations::kStations> parts{};
  };
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // node, queue pair, work
  struct Finished {
    RequestId id;
    stations::RequestClass kind;
    bool over_sctp;
    abi::WrOpcode opcode;
    std::uint32_t work;
    std::uint64_t total_ps;
    std::size_t parts;  // where they begin in parts_
  };

  std::uint32_t node_of(const TraceDomain& domain);
  Queue* queue(RequestId id);  // of this use of its number; nullptr if nothing was posted to it
  Record* record(RequestId id);
  void doorbell(const TraceEvent& event, std::uint64_t ps);
  void posted(const TraceEvent& event, std::uint64_t ps);
  void taken(const TraceEvent& event, bool own, std::uint64_t ps);
  void acknowledge(const TraceEvent& event, std::uint32_t node, std::uint64_t ps);
  void acknowledged_at_port(const TraceEvent& event, std::uint32_t node, std::uint64_t ps);
  void at_port(Record& record, stations::Leg leg, bool again, std::uint64_t ps);
  void arrived(Record& record, stations::Leg leg, bool again, std::uint64_t begins, std::uint64_t ends);
  void delivered(const TraceDomain& domain, Record& record, stations::Leg leg, const TraceEvent& event,
                 std::uint64_t ps);
  void received(const TraceEvent& event, std::uint64_t begins, std::uint64_t ends);
  void received_written(RequestId message, std::uint64_t begins, std::uint64_t ends);
  void polled(RequestId id, std::uint64_t ps);
  void covered(RequestId id, const Record& by);
  void seen(const TraceEvent& event, std::uint32_t at_node, std::uint64_t ps);
  void round(const Way& there, const Way& back, const Record& record);
  static void retire(Queue& queue);
  static void settle(Record& record, stations::Leg leg, stations::RequestClass kind);
  static void split_acknowledgement(Record& record);
  static bool over_sctp(const Record& record, stations::RequestClass kind);
  void finish(RequestId id, Record& record);
  void keep(RequestId id, stations::RequestClass kind, const Record& record, std::uint64_t end);
  template <class F>
  void each_part(const Finished& finished, F&& use) const;
  nlohmann::ordered_json json(std::vector<const Finished*>& group) const;
  static constexpr const char* kExamples[] = {"p50", "p99", "worst"};
  struct Part {  // of a group: of all its requests, and of each example
    bool passed = false;
    double sum = 0;
    std::array<double, std::size(kExamples)> of_example{};
  };
  static nlohmann::ordered_json row_of(const char* name, const Part& part, double count);
  static void add(Part& sum, const Part& part);
  std::string work_of(const Finished& finished) const { return works_.name ? works_.name(finished.work) : ""; }

  const std::vector<std::string> nodes_;
  const Works works_;
  std::vector<std::pair<const TraceDomain*, std::uint32_t>> domains_;
  std::pair<const TraceDomain*, std::uint32_t> newest_{};
  static constexpr unsigned kQueueKinds = 3;  // send, receive, shared receive
  std::vector<std::array<std::vector<Queue>, kQueueKinds>> queues_;
  Acknowledgements acknowledgements_;
  std::vector<Repair> repairs_;  // of the flows with losses
  std::map<Place, Way> ways_;    // the newest message of a ping-pong that was seen there
  std::vector<Finished> finished_;
  std::size_t counted_from_ = 0;     // of finished_
  std::vector<std::uint8_t> parts_;  // stations and durations, as numbers of 7 bits per octet
};

}  // namespace rnic
