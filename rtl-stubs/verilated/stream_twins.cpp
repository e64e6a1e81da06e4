// VerilatedTwins: the blocks that FPDUs pass through.
#include "rtl-stubs/verilated/crc_pins.h"
#include "rtl-stubs/verilated/make_twin.h"
#include "rtl-stubs/verilated/marker_inserter_pins.h"
#include "rtl-stubs/verilated/mpa_deframer_pins.h"
#include "rtl-stubs/verilated/mpa_framer_pins.h"

namespace rnic::rtl {

TwinSource::Handle VerilatedTwins::make(MpaFramer& stage, const ContextStore& contexts, TwinMode mode) const {
  return make_twin<MpaFramerPins>(mode, stage, contexts);
}
TwinSource::Handle VerilatedTwins::make(MarkerInserter& stage, const ContextStore& contexts, BufferPool& pool,
                                        TwinMode mode) const {
  return make_twin<MarkerInserterPins>(mode, stage, contexts, pool);
}
TwinSource::Handle VerilatedTwins::make(CrcInsert& stage, TwinMode mode) const {
  return make_twin<CrcInsertPins>(mode, stage);
}
TwinSource::Handle VerilatedTwins::make(MpaDeframer& stage, const ContextStore& contexts, TwinMode mode) const {
  return make_twin<MpaDeframerPins>(mode, stage, contexts);
}
TwinSource::Handle VerilatedTwins::make(CrcCheck& stage, TwinMode mode) const {
  return make_twin<CrcCheckPins>(mode, stage);
}

bool VerilatedTwins::shows_inside() const { return kShowsInside; }

}  // namespace rnic::rtl
