// A library of boards that writes down what it hears, in the order of the calls.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "model/common/cycle.h"
#include "model/golden/c_struct.h"
#include "model/scoreboard/golden_library.h"

namespace rnic::test {

// One at a time.
class RecordedBoard {
 public:
  struct Call {
    std::string what;  // "row qp 3", "accepted 0", "given 1", "reset"
    Cycle cycle = 0;
    std::string detail = {};
    friend bool operator==(const Call& a, const Call& b) {
      return a.what == b.what && a.cycle == b.cycle && a.detail == b.detail;
    }
    friend std::ostream& operator<<(std::ostream& to, const Call& c) {
      return to << c.what << " at " << c.cycle << ' ' << c.detail;
    }
  };
  RecordedBoard() { now() = this; }
  ~RecordedBoard() { now() = nullptr; }
  RecordedBoard(const RecordedBoard&) = delete;
  RecordedBoard& operator=(const RecordedBoard&) = delete;

  std::vector<Call> calls;
  // Of a message or row that comes with this name.
  std::function<std::string(const std::string& what, const void* structure)> detail = [](auto&, auto*) { return ""; };

  std::vector<Call> of(const std::string& what) const {
    std::vector<Call> some;
    for (const Call& call : calls) {
      if (call.what.compare(0, what.size(), what) == 0) some.push_back(call);
    }
    return some;
  }
  static const GoldenLibrary& library() {
    static const GoldenLibrary made{open, close, accepted, given, row, stalled, reset, end, text, report};
    return made;
  }

 private:
  static RecordedBoard*& now() {
    static RecordedBoard* board = nullptr;
    return board;
  }
  static std::int32_t note(const std::string& what, const void* structure, Cycle cycle) {
    now()->calls.push_back({what, cycle, now()->detail(what, structure)});
    return RNIC_OK;
  }
  static std::int32_t open(std::uint32_t, const char*, const char*, rnic_board**) { return RNIC_OK; }
  static void close(rnic_board*) {}
  static std::int32_t accepted(rnic_board*, std::uint32_t port, const void* message, std::uint64_t cycle) {
    return note("accepted " + std::to_string(port), message, cycle);
  }
  static std::int32_t given(rnic_board*, std::uint32_t port, const void* message, std::uint64_t cycle) {
    return note("given " + std::to_string(port), message, cycle);
  }
  static std::int32_t row(rnic_board*, const char* table, std::uint32_t index, const void* row, std::uint64_t cycle) {
    return note(std::string("row ") + table + ' ' + std::to_string(index), row, cycle);
  }
  static std::int32_t stalled(rnic_board*, std::uint32_t, std::uint64_t, std::uint64_t) { return RNIC_OK; }
  static std::int32_t reset(rnic_board*, std::uint64_t cycle) {
    now()->calls.push_back({"reset", cycle});
    return RNIC_OK;
  }
  static std::int32_t end(rnic_board*, std::uint64_t) { return RNIC_OK; }
  static const char* text(const rnic_board*) { return ""; }
  static const char* report(rnic_board*) { return R"({"ports": []})"; }
};

template <class M>
M loaded(const void* structure) {
  M message;
  golden::load(structure, message);
  return message;
}

}  // namespace rnic::test
