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
void one_to_one(Stage& stage, StageBoard& board) {
  auto& s = dynamic_cast<S&>(stage);
  watch(board, s.in, RNIC_CRC_CHECK_IN);
  watch(board, s.out, RNIC_CRC_CHECK_OUT);
}
std::string no_settings(Stage&) { return ""; }

void deframer(Stage& stage, StageBoard& board) {
  auto& s = dynamic_cast<MpaDeframer&>(stage);
  watch(board, s.in, RNIC_MPA_DEFRAMER_IN);
  watch(board, s.out, RNIC_MPA_DEFRAMER_OUT);
  watch(board, s.consumed, RNIC_MPA_DEFRAMER_CONSUMED);
}
std::string flows(Stage& stage) { return fmt::format(", \"flows\": {}", dynamic_cast<MpaDeframer&>(stage).flows()); }

}  // namespace

// The enumerations of the four with one input and one output agree.
const std::vector<WatchedStage>& watched_streams() {
  static const std::vector<WatchedStage> all = {
      {"mpa_framer", one_to_one<MpaFramer>, no_settings},
      {"marker_inserter", one_to_one<MarkerInserter>, no_settings},
      {"crc_insert", one_to_one<CrcInsert>, no_settings},
      {"mpa_deframer", deframer, flows},
      {"crc_check", one_to_one<CrcCheck>, no_settings},
      {"sctp_crc_insert", one_to_one<CrcInsert>, no_settings},
      {"sctp_crc_check", one_to_one<CrcCheck>, no_settings},
  };
  return all;
}

}  // namespace rnic::scoreboard
