// The scoreboard: what a device has accepted is given to a predictor in the device's order, and what the device gives
// is compared with what the predictor gives, transaction by transaction. See board.md.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/common/cycle.h"
#include "model/config/field.h"
#include "model/golden/bench.h"
#include "model/golden/board_rules.h"
#include "model/golden/latencies.h"
#include "model/golden/order.h"
#include "model/golden/races.h"
#include "model/golden/record.h"
#include "model/golden/stalls.h"

namespace rnic::golden {

struct Kind;

struct BoardConfig {
  unsigned max_latency = 10'000, race_window = 64;
  template <class V>
  static void fields(V& v) {
    v("max_latency", &BoardConfig::max_latency,
      "cycles after an acceptance in which its outcome has to be given, those without room at an output not counted",
      in_range(1, 1'000'000'000), unit("cycles"));
    v("race_window", &BoardConfig::race_window,
      "cycles in which a device decides which of two messages that race is first: the outcome shows it by then",
      in_range(1, 1'000'000), unit("cycles"));
  }
};

// All functions throw Error: RNIC_E_MISMATCH with five lines at the first difference, and again at each later call.
class Board {
 public:
  Board(const BoardRules& rules, std::string_view settings);

  const std::vector<Port>& ports() const { return bench_->ports(); }
  const std::vector<Table>& tables() const { return bench_->tables(); }
  unsigned beat_bytes() const { return beat_bytes_; }

  void accepted(std::uint32_t port, const void* message, Cycle cycle);
  void given(std::uint32_t port, const void* message, Cycle cycle);
  void row(const Table& table, std::uint32_t index, const void* row, Cycle cycle);
  void stalled(Cycle from, Cycle to);
  void end(Cycle cycle);
  void reset(Cycle cycle);
  std::string report() const;

 private:
  // The numbers are in the order of the lane. Of a memory access, `done` octets are compared.
  struct Expected {
    Record record;
    Cycle accepted;
    std::uint64_t number;
    std::size_t done = 0;
    std::uint64_t follows = 0;  // the number of the access that has the last of them
  };
  struct Seen {
    Record record;
    Cycle given;
    std::uint64_t number;
    std::size_t done = 0;
  };
  // What a port gives for a key.
  struct Lane {
    std::deque<Expected> expected;
    std::deque<Seen> seen;  // given, but not expected yet
    std::uint64_t compared = 0, octets = 0, expected_n = 0, seen_n = 0;
    std::size_t weight = 0;  // octets of memory that wait here
  };
  struct PortState {
    std::vector<const Member*> key;
    // Its accesses to memory are found by their addresses, in any order and in any pieces.
    bool is_memory = false;
    std::uint64_t accepted = 0, compared = 0;
    std::unordered_map<std::uint64_t, Lane> lanes;
    Latencies latencies;
  };
  // A transaction's place, for those that have to wait for time to pass.
  struct Place {
    std::uint32_t port;
    std::uint64_t key;
    std::uint64_t number;  // of what is expected, or was seen
    Cycle since;
  };

  void open_bench();
  void go_on();
  void pass(Cycle cycle);
  void give_up_waiting();
  Cycle age(Cycle since) const;
  void add(Item item);
  void feed(const Item& item, const Record* given);
  void explain(std::uint32_t port, Lane& lane);
  void explain_all();
  bool is_open(const Place& seen) const;
  bool may_wait(const Place& place, const Record& seen) const;
  void collect(Cycle accepted);
  void expect(std::uint32_t port, Record record, Cycle accepted);
  void compare(std::uint32_t port, std::uint64_t key, Lane& lane);
  void compare_memory(std::uint32_t port, Lane& lane);
  void compare_octets(std::uint32_t port, Expected& expected, Seen& seen);
  void passed(std::uint32_t port, const Expected& expected, const Seen& seen, Lane& lane);
  void check_weight(std::uint32_t port, std::uint64_t key, const Lane& lane);
  std::uint64_t key_of(std::uint32_t port, const Record& record) const;
  [[noreturn]] void fail(const Place& place, const std::string& what, const Expected* expected, const Seen* seen,
                         const std::string& differs);
  [[noreturn]] void fail_too_many(const Place& place);
  [[noreturn]] void fail_missing(const Place& place);
  const Expected* find_expected(const Place& place) const;
  std::string stream_text(const Place& place, const Lane& lane, const Record& record) const;

  const BoardRules& rules_;
  const Kind& kind_;
  std::string kind_settings_;
  BoardConfig config_;
  unsigned beat_bytes_ = 64;
  BenchPtr bench_;
  std::vector<PortState> ports_;
  std::unique_ptr<Races> races_;
  std::optional<Order> order_;
  std::deque<Place> due_;      // expected, the oldest first
  std::vector<Place> ahead_;   // seen before it was expected, the oldest first
  std::vector<Place> before_;  // accesses to memory that an outcome of this cycle comes after
  bool comes_before_ = false;  // those that are expected now
  Stalls stalls_, waits_;      // without room; or with memory that has not answered
  Cycle now_ = 0;
  std::string verdict_;  // the first mismatch
};

}  // namespace rnic::golden
