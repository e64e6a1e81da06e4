// Boards of the stages of requests, answers and errors.
#include <fmt/format.h>

#include "model/golden/abi/rnic_golden_messages.h"
#include "model/golden/contexts.h"
#include "model/rnic/terminate/terminate_generator.h"
#include "model/scoreboard/qp_rows.h"
#include "model/scoreboard/watched_stages.h"

namespace rnic::scoreboard {
namespace {

void terminates(Stage& stage, const WatchedChip& chip, StageBoard& board) {
  auto& s = dynamic_cast<TerminateGenerator&>(stage);
  board.add(std::make_unique<QpRows>(board, *s.in, *chip.contexts));
  watch(board, s.in, RNIC_TERMINATE_GENERATOR_IN);
  watch(board, s.out, RNIC_TERMINATE_GENERATOR_OUT);
  watch(board, s.event, RNIC_TERMINATE_GENERATOR_EVENT);
}
std::string terminate_settings(Stage&, const WatchedChip& chip) {
  return fmt::format("\"qps\": {}, \"foreign_stag_is_invalid\": {}", chip.contexts->qps(),
                     chip.terminate->foreign_stag_is_invalid);
}

}  // namespace

const std::vector<WatchedStage>& watched_requests() {
  static const std::vector<WatchedStage> all = {{"terminate_generator", terminates, terminate_settings}};
  return all;
}

}  // namespace rnic::scoreboard
