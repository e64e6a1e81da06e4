// The board of the stage that places payload in host memory.
#include <fmt/format.h>

#include "model/golden/abi/rnic_golden_messages.h"
#include "model/rnic/rx/ddp_placement.h"
#include "model/scoreboard/context_rows.h"
#include "model/scoreboard/watched_stages.h"

namespace rnic::scoreboard {
namespace {

constexpr unsigned kOfPlacement = ContextRows::kQp | ContextRows::kStags | ContextRows::kSrq;

void placements(Stage& stage, const WatchedChip& chip, StageBoard& board) {
  auto& s = dynamic_cast<DdpPlacement&>(stage);
  board.add(std::make_unique<ContextRows>(board, *chip.contexts, kOfPlacement));
  watch(board, s.posted, RNIC_DDP_PLACEMENT_POSTED);
  watch(board, s.rqe, RNIC_DDP_PLACEMENT_RQE);
  watch(board, s.srq_arm, RNIC_DDP_PLACEMENT_SRQ_ARM);
  watch(board, s.read_issued, RNIC_DDP_PLACEMENT_READ_ISSUED);
  watch(board, s.flush, RNIC_DDP_PLACEMENT_FLUSH);
  watch(board, s.answered, RNIC_DDP_PLACEMENT_ANSWERED);
  watch(board, s.in[LlpId::kMpaTcp], RNIC_DDP_PLACEMENT_IN);
  watch(board, s.in[LlpId::kSctp], RNIC_DDP_PLACEMENT_SCTP_IN);
  watch_pushes(board, s.dma, RNIC_DDP_PLACEMENT_DMA);
  watch_pushes(board, s.out, RNIC_DDP_PLACEMENT_OUT);
  watch_pushes(board, s.rqe_taken, RNIC_DDP_PLACEMENT_RQE_TAKEN);
  watch_pushes(board, s.srq_event, RNIC_DDP_PLACEMENT_SRQ_EVENT);
  watch_pushes(board, s.event, RNIC_DDP_PLACEMENT_EVENT);
}
std::string placement_settings(Stage&, const WatchedChip& chip) {
  return fmt::format(R"("beat_bytes": {}, {})", chip.beat_bytes, context_settings(*chip.contexts, kOfPlacement));
}

}  // namespace

const std::vector<WatchedStage>& watched_placement() {
  static const std::vector<WatchedStage> all = {{"ddp_placement", placements, placement_settings, kOfPlacement}};
  return all;
}

}  // namespace rnic::scoreboard
