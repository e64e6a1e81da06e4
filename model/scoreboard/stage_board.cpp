#include "model/scoreboard/stage_board.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/check.h"

namespace rnic::scoreboard {

StageBoard::StageBoard(Stage& stage, const char* kind, const std::string& settings, const GoldenLibrary& library)
    : stage_(stage), library_(library) {
  if (library_.open(RNIC_GOLDEN_ABI, kind, settings.c_str(), &board_) == RNIC_OK) return;
  const std::string why = library_.text(board_);
  library_.close(board_);
  throw ConfigError(fmt::format("--scoreboard: {}: {}", stage.name(), why));
}

StageBoard::~StageBoard() {
  ports_.clear();
  library_.close(board_);
}

// All moves before cycle `limit` have been made.
void StageBoard::settle(Cycle limit) {
  while (fault_.empty() && !ports_.empty()) {
    const auto older = [](const auto& a, const auto& b) { return a->oldest() < b->oldest(); };
    StagePort& first = **std::min_element(ports_.begin(), ports_.end(), older);
    const Cycle at = first.oldest();
    if (at == kNever || at >= limit) return;
    tell_reset(at);
    for (const auto& port : ports_) port->tell_stall(at);
    first.hand_over();
  }
}

void StageBoard::accepted(unsigned port, const void* message, Cycle cycle, RequestId owner) {
  ++accepted_;
  judge(library_.accepted(board_, port, message, cycle), cycle, owner);
}

void StageBoard::given(unsigned port, const void* message, Cycle cycle, RequestId owner) {
  ++given_;
  judge(library_.given(board_, port, message, cycle), cycle, owner);
}

void StageBoard::row(const char* table, std::uint32_t index, const void* row, Cycle cycle) {
  judge(library_.row(board_, table, index, row, cycle), cycle, {});
}

void StageBoard::stalled(unsigned port, Cycle from, Cycle to) {
  if (fault_.empty()) judge(library_.stalled(board_, port, from, to), to, {});
}

void StageBoard::judge(std::int32_t status, Cycle cycle, RequestId owner) {
  last_ = std::max(last_, cycle);
  if (status == RNIC_OK) return;
  fault_ = library_.text(board_);
  if (status != RNIC_E_MISMATCH) fault_ = fmt::format("{}: the predictor refuses it: {}", stage_.basename(), fault_);
  fault_of_ = owner;
  constexpr Cycle kBefore = 256;
  fault_from_ = cycle - std::min(cycle, kBefore);
  fault_to_ = cycle;
  stage_.clock().commit_later(*this);
}

void StageBoard::commit() { throw std::runtime_error(fault_); }

// Each link of the stage says so, the first one before anything is lost.
void StageBoard::emptied(Cycle now) {
  if (reset_at_ != kNever) return;
  settle(now + 1);
  reset_at_ = now + 1;
}

void StageBoard::tell_reset(Cycle until) {
  if (reset_at_ > until) return;
  judge(library_.reset(board_, reset_at_), reset_at_, {});
  reset_at_ = kNever;
}

// Whether the stage owes something of what it has accepted.
bool StageBoard::owes() const {
  const auto report = nlohmann::json::parse(library_.report(board_));
  const auto& ports = report["ports"];
  return report.value("waiting", 0) != 0 ||
         std::any_of(ports.begin(), ports.end(), [](const auto& port) { return port.value("expected", 0) != 0; });
}

void StageBoard::finish(bool at_rest) {
  if (fault_.empty()) settle(at_rest ? kNever : stage_.clock().next());
  if (!fault_.empty() || accepted_ + given_ == 0) return;
  const Cycle end = std::max(stage_.clock().next(), last_);
  tell_reset(end);
  for (const auto& port : ports_) port->tell_stall(end);
  const bool empty = std::all_of(ports_.begin(), ports_.end(), [](const auto& port) { return port->empty(); });
  // A stage may have nothing to give, as for the part of an FPDU; that nothing was compared is said of the whole run.
  if (at_rest && empty && (given_ != 0 || owes())) judge(library_.end(board_, end), end, {});
  else stalled(out_, end, end);  // time has passed
}

}  // namespace rnic::scoreboard
