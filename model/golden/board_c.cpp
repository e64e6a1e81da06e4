// The functions of rnic_golden.h for scoreboards.
#include <memory>
#include <new>
#include <string>
#include <systemc>

#include <fmt/format.h>

#pragma GCC visibility push(default)  // of these functions alone
#include "model/golden/abi/rnic_golden.h"
#pragma GCC visibility pop
#include "model/golden/beat_words.h"
#include "model/golden/board.h"
#include "model/golden/handle.h"

using rnic::golden::Board;
using rnic::golden::Error;
using rnic::golden::guarded;

struct rnic_board : rnic::golden::Handle {
  const rnic::golden::BoardRules* rules = nullptr;
  std::unique_ptr<Board> board;
  rnic::golden::PortWords words;
  std::string report;
};

namespace {

Board& opened(rnic_board* board) {
  if (!board->board) throw Error(RNIC_E_BROKEN, "the board was not opened");
  return *board->board;
}

// A port that is an input or an output, as `accepts` says.
const rnic::golden::Port& check_port(rnic_board* board, std::uint32_t port, const void* message, bool accepts) {
  return rnic::golden::checked_port(board->rules->name, opened(board).ports(), port, message, accepts);
}

}  // namespace

extern "C" {

std::int32_t rnic_board_open(std::uint32_t abi, const char* kind, const char* settings, rnic_board** board) {
  if (board == nullptr) return RNIC_E_NULL;
  *board = new (std::nothrow) rnic_board;
  if (*board == nullptr) return RNIC_E_MEMORY;
  return guarded(*board, [&] {
    rnic::golden::check_abi(abi);
    (*board)->rules = &rnic::golden::found("kind of board", kind, rnic::golden::board_rules());
    (*board)->board = std::make_unique<Board>(*(*board)->rules, settings == nullptr ? "{}" : settings);
    return RNIC_OK;
  });
}

void rnic_board_close(rnic_board* board) {
  if (board == nullptr || board->busy) return;
  {
    const sc_core::Kernel::Scope entered(board->kernel);
    board->board.reset();
  }
  delete board;
}

const char* rnic_board_text(const rnic_board* board) {
  return board == nullptr ? "the handle is null" : board->text.c_str();
}

std::int32_t rnic_board_accepted(rnic_board* board, std::uint32_t port, const void* message, std::uint64_t cycle) {
  return guarded(board, [&] {
    check_port(board, port, message, true);
    board->board->accepted(port, message, cycle);
    return RNIC_OK;
  });
}

std::int32_t rnic_board_given(rnic_board* board, std::uint32_t port, const void* message, std::uint64_t cycle) {
  return guarded(board, [&] {
    check_port(board, port, message, false);
    board->board->given(port, message, cycle);
    return RNIC_OK;
  });
}

std::int32_t rnic_board_row(rnic_board* board, const char* table, std::uint32_t index, const void* row,
                            std::uint64_t cycle) {
  return guarded(board, [&] {
    const auto& chosen = rnic::golden::found("table", table, opened(board).tables());
    if (row == nullptr) throw Error(RNIC_E_NULL, fmt::format("the {} is null", chosen.message));
    board->board->row(chosen, index, row, cycle);
    return RNIC_OK;
  });
}

std::int32_t rnic_board_stalled(rnic_board* board, std::uint32_t port, std::uint64_t from, std::uint64_t to) {
  return guarded(board, [&] {
    check_port(board, port, "", false);
    board->board->stalled(from, to);
    return RNIC_OK;
  });
}

std::int32_t rnic_board_reset(rnic_board* board, std::uint64_t cycle) {
  return guarded(board, [&] {
    opened(board).reset(cycle);
    return RNIC_OK;
  });
}

std::int32_t rnic_board_end(rnic_board* board, std::uint64_t cycle) {
  return guarded(board, [&] {
    opened(board).end(cycle);
    return RNIC_OK;
  });
}

const char* rnic_board_report(rnic_board* board) {
  std::string text;
  const std::int32_t status = guarded(board, [&] {
    text = opened(board).report();
    return RNIC_OK;
  });
  if (status != RNIC_OK) return "{}";
  board->report = std::move(text);
  return board->report.c_str();
}

std::int32_t rnic_board_accepted_beat(rnic_board* board, std::uint32_t port, const std::uint32_t* bits,
                                      const std::uint32_t* octets, std::uint64_t cycle) {
  return guarded(board, [&] {
    const auto& at = check_port(board, port, bits, true);
    auto& words = board->words.of_port(port, at, octets, board->board->beat_bytes());
    if (const void* const message = words.join(bits, octets)) board->board->accepted(port, message, cycle);
    return RNIC_OK;
  });
}

std::int32_t rnic_board_given_beat(rnic_board* board, std::uint32_t port, const std::uint32_t* bits,
                                   const std::uint32_t* octets, std::uint64_t cycle) {
  return guarded(board, [&] {
    const auto& at = check_port(board, port, bits, false);
    auto& words = board->words.of_port(port, at, octets, board->board->beat_bytes());
    if (const void* const message = words.join(bits, octets)) board->board->given(port, message, cycle);
    return RNIC_OK;
  });
}

}  // extern "C"
