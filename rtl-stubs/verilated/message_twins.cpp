// VerilatedTwins: the blocks that work on requests, responses, errors and memory.
#include "rtl-stubs/verilated/atomic_alu_pins.h"
#include "rtl-stubs/verilated/ddp_placement_pins.h"
#include "rtl-stubs/verilated/irrq_pins.h"
#include "rtl-stubs/verilated/make_twin.h"
#include "rtl-stubs/verilated/response_queue_pins.h"
#include "rtl-stubs/verilated/terminate_generator_pins.h"

namespace rnic::rtl {

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
