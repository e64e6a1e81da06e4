// The scoreboard: what a device has accepted is given to a predictor in the device's order, and what the device gives
// is compared with what the predictor gives, transaction by transaction. See board.md.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
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
#include "model/golden/record.h"
#include "model/golden/stalls.h"

namespace rnic::golden {

struct Kind;

struct BoardConfig {
  unsigned max_latency = 10'000;
  template <class V>
  static void fields(V& v) {
    v("max_latency", &BoardConfig::max_latency,
      "cycles after an acceptance in which its outcome has to be given, those without room at an output not counted",
      in_range(1, 1'000'000'000), unit("cycles"));
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
  struct Expected {
    Record record;
    Cycle accepted;
  };
  struct Seen {
    Record record;
    Cycle given;
  };
  // What a port gives for a key.
  struct Lane {
    std::deque<Expected> expected;
    std::deque<Seen> seen;  // given, but not expected yet
    std::uint64_t compared = 0, octets = 0;
    std::size_t weight = 0;  // octets of memory that wait here
  };
  struct PortState {
    const Member* key = nullptr;
    std::uint64_t accepted = 0, compared = 0;
    std::unordered_map<std::uint64_t, Lane> lanes;
    Latencies latencies;
  };
  // A transaction's place, for those that have to wait for time to pass.
  struct Place {
    std::uint32_t port;
    std::uint64_t key;
    std::uint64_t number;  // of the lane's
    Cycle since;
  };

  void open_bench();
  void go_on();
  void pass(Cycle cycle);
  void collect(Cycle accepted);
  void compare(std::uint32_t port, std::uint64_t key, Lane& lane);
  void check_weight(std::uint32_t port, std::uint64_t key, const Lane& lane);
  std::uint64_t key_of(std::uint32_t port, const Record& record) const;
  [[noreturn]] void fail(const Place& place, const std::string& what, const Expected* expected, const Seen* seen,
                         const std::string& differs);
  std::string stream_text(const Place& place, const Lane& lane, const Record& record) const;

  const BoardRules& rules_;
  const Kind& kind_;
  std::string kind_settings_;
  BoardConfig config_;
  unsigned beat_bytes_ = 64;
  BenchPtr bench_;
  std::vector<PortState> ports_;
  std::deque<Place> due_;     // expected, the oldest first
  std::vector<Place> ahead_;  // seen in the present cycle, before what was expected
  Stalls stalls_;
  Cycle now_ = 0;
  std::string verdict_;  // the first mismatch
};

}  // namespace rnic::golden
