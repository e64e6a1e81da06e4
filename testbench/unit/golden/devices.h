// A device for tests of scoreboards: a stage of librnic_golden that takes what it has accepted in an order of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "testbench/unit/golden/handles.h"

namespace rnic::test {

struct CloseBoard {
  void operator()(rnic_board* board) const { rnic_board_close(board); }
};
using Board = std::unique_ptr<rnic_board, CloseBoard>;

inline Board open_board(const char* kind, const std::string& settings = "{}") {
  rnic_board* board = nullptr;
  EXPECT_EQ(rnic_board_open(RNIC_GOLDEN_ABI, kind, settings.c_str(), &board), RNIC_OK) << rnic_board_text(board);
  return Board(board);
}

template <class M, class = void>
inline constexpr bool kPoints = false;
template <class M>
inline constexpr bool kPoints<M, std::void_t<decltype(M::octets_n)>> = true;

// A message or a row, with its octets.
template <class M>
struct Whole {
  M message;
  Bytes octets = {};
  template <class Call>
  std::int32_t with(Call call) const {
    M m = message;
    if constexpr (kPoints<M>) {
      m.octets = const_cast<std::uint8_t*>(octets.data());
      m.octets_n = static_cast<std::uint32_t>(octets.size());
    }
    return call(&m);
  }
};

// What a device accepts, or gives, in a cycle.
struct Move {
  std::uint64_t cycle = 0;
  std::function<std::int32_t(rnic_board*, std::uint64_t cycle)> tell;
  std::function<std::int32_t(rnic_stage*)> take = {};  // by the device
};
template <class M>
Move accepts(std::uint64_t cycle, std::uint32_t port, const M& message, const Bytes& octets = {}) {
  const Whole<M> whole{message, octets};
  return {cycle,
          [=](rnic_board* b, std::uint64_t at) {
            return whole.with([&](const M* m) { return rnic_board_accepted(b, port, m, at); });
          },
          [=](rnic_stage* s) { return whole.with([&](const M* m) { return rnic_stage_push(s, port, m); }); }};
}
template <class M>
Move row(std::uint64_t cycle, const char* table, std::uint32_t index, const M& row) {
  return {cycle, [=](rnic_board* b, std::uint64_t at) { return rnic_board_row(b, table, index, &row, at); },
          [=](rnic_stage* s) { return rnic_stage_row(s, table, index, &row); }};
}
template <class M>
Move gives(std::uint64_t cycle, std::uint32_t port, const M& message, const Bytes& octets = {}) {
  const Whole<M> whole{message, octets};
  return {cycle, [=](rnic_board* b, std::uint64_t at) {
            return whole.with([&](const M* m) { return rnic_board_given(b, port, m, at); });
          }};
}

// All that a port gives now, as moves of a cycle.
using Drain = std::function<void(const Stage&, std::uint64_t cycle, std::vector<Move>&)>;
template <class M>
Drain drains(std::uint32_t port) {
  return [port](const Stage& stage, std::uint64_t cycle, std::vector<Move>& to) {
    if constexpr (kPoints<M>) {
      for (const auto& each : drain_octets<M>(stage, port)) to.push_back(gives(cycle, port, each.message, each.octets));
    } else {
      for (const M& each : drain<M>(stage, port)) to.push_back(gives(cycle, port, each));
    }
  };
}

// The board's verdict over what a device accepts and gives: the first result that is none, with its text.
struct Verdict {
  std::int32_t status = RNIC_OK;
  std::string text = {};
};
inline Verdict judged(const char* kind, std::vector<Move> moves, const std::string& settings = "{}") {
  std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.cycle < b.cycle; });
  const Board board = open_board(kind, settings);
  for (const Move& move : moves) {
    if (const std::int32_t status = move.tell(board.get(), move.cycle)) return {status, rnic_board_text(board.get())};
  }
  if (const std::int32_t status = rnic_board_end(board.get(), moves.back().cycle + 1))
    return {status, rnic_board_text(board.get())};
  return {};
}

// What a device gives that takes the moves in this order, `latency` cycles after each: with the moves themselves.
inline std::vector<Move> run_of(const char* kind, const std::vector<Move>& moves, const std::vector<std::size_t>& order,
                                const std::vector<Drain>& ports, unsigned latency = 3) {
  const Stage stage = open(kind);
  std::vector<Move> all = moves;
  std::uint64_t now = 0;
  for (const std::size_t i : order) {
    EXPECT_EQ(moves[i].take(stage.get()), RNIC_OK) << rnic_stage_text(stage.get());
    now = std::max(now, moves[i].cycle);
    for (const Drain& port : ports) port(stage, now + latency, all);
  }
  return all;
}

}  // namespace rnic::test
