// Boards of the stages that FPDUs pass through, and of the CRC of SCTP's packets.
#include <fmt/format.h>

#include "model/golden/abi/rnic_golden_messages.h"
#include "model/rnic/rx/crc_check.h"
#include "model/rnic/rx/mpa_deframer.h"
#include "model/rnic/tx/crc_insert.h"
#include "model/rnic/tx/marker_inserter.h"
#include "model/rnic/tx/mpa_framer.h"
#include "model/scoreboard/watched_stages.h"

namespace rnic::scoreboard {
namespace {

template <class S>
void one_to_one(Stage& stage, const WatchedChip&, StageBoard& board) {
  auto& s = dynamic_cast<S&>(stage);
  watch(board, s.in, RNIC_CRC_CHECK_IN);
  watch(board, s.out, RNIC_CRC_CHECK_OUT);
}
std::string beat_bytes(Stage&, const WatchedChip& chip) { return fmt::format("\"beat_bytes\": {}", chip.beat_bytes); }

void deframer(Stage& stage, const WatchedChip&, StageBoard& board) {
  auto& s = dynamic_cast<MpaDeframer&>(stage);
  watch(board, s.in, RNIC_MPA_DEFRAMER_IN);
  watch(board, s.out, RNIC_MPA_DEFRAMER_OUT);
  watch(board, s.consumed, RNIC_MPA_DEFRAMER_CONSUMED);
}
std::string flows(Stage& stage, const WatchedChip& chip) {
  return fmt::format("{}, \"flows\": {}", beat_bytes(stage, chip), dynamic_cast<MpaDeframer&>(stage).flows());
}

}  // namespace

// The enumerations of the four with one input and one output agree.
const std::vector<WatchedStage>& watched_streams() {
  static const std::vector<WatchedStage> all = {
      {"mpa_framer", one_to_one<MpaFramer>, beat_bytes},    {"marker_inserter", one_to_one<MarkerInserter>, beat_bytes},
      {"crc_insert", one_to_one<CrcInsert>, beat_bytes},    {"mpa_deframer", deframer, flows},
      {"crc_check", one_to_one<CrcCheck>, beat_bytes},      {"sctp_crc_insert", one_to_one<CrcInsert>, beat_bytes},
      {"sctp_crc_check", one_to_one<CrcCheck>, beat_bytes},
  };
  return all;
}

}  // namespace rnic::scoreboard
