#include "rtl-stubs/verilated/verilated_twins.h"

#include "rtl-stubs/verilated/atomic_alu_pins.h"
#include "rtl-stubs/verilated/crc_pins.h"
#include "rtl-stubs/verilated/ddp_placement_pins.h"
#include "rtl-stubs/verilated/irrq_pins.h"
#include "rtl-stubs/verilated/lockstep.h"
#include "rtl-stubs/verilated/marker_inserter_pins.h"
#include "rtl-stubs/verilated/mpa_deframer_pins.h"
#include "rtl-stubs/verilated/mpa_framer_pins.h"
#include "rtl-stubs/verilated/response_queue_pins.h"
#include "rtl-stubs/verilated/terminate_generator_pins.h"
#include "rtl-stubs/verilated/twin.h"

namespace rnic::rtl {
namespace {

template <class Pins, class... Args>
TwinSource::Handle make_twin(TwinMode mode, typename Pins::Block& stage, Args&... args) {
  if (mode == TwinMode::kReplace) return std::make_unique<Twin<Pins>>(stage, args...);
  return std::make_unique<Lockstep<Pins>>(stage, args...);
}

}  // namespace

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
TwinSource::Handle VerilatedTwins::make(Irrq& stage, const ContextStore& contexts, TwinMode mode) const {
  return make_twin<IrrqPins>(mode, stage, contexts);
}
TwinSource::Handle VerilatedTwins::make(DdpPlacement& stage, ContextStore& contexts, TwinMode mode) const {
  return make_twin<DdpPlacementPins>(mode, stage, contexts);
}
TwinSource::Handle VerilatedTwins::make(ResponseQueue& stage, ContextStore& contexts, TwinMode mode) const {
  return make_twin<ResponseQueuePins>(mode, stage, contexts);
}
TwinSource::Handle VerilatedTwins::make(TerminateGenerator& stage, const ContextStore& contexts, BufferPool& buffers,
                                        const TerminateConfig& config, TwinMode mode) const {
  return make_twin<TerminateGeneratorPins>(mode, stage, contexts, buffers, config);
}
TwinSource::Handle VerilatedTwins::make(AtomicAlu& stage, ContextStore& contexts, TwinMode mode) const {
  return make_twin<AtomicAluPins>(mode, stage, contexts);
}

}  // namespace rnic::rtl
