#include "rtl-stubs/verilated/twin_of.h"
#include "rtl-stubs/verilated/verilated_atomic_alu.h"
#include "rtl-stubs/verilated/verilated_ddp_placement.h"
#include "rtl-stubs/verilated/verilated_irrq.h"
#include "rtl-stubs/verilated/verilated_response_queue.h"
#include "rtl-stubs/verilated/verilated_terminate_generator.h"

namespace rnic::rtl {

const std::vector<TwinMaker>& message_twins() {
  using Chip = TwinSurroundings;
  static const std::vector<TwinMaker> twins{
      {"irrq", twin_of<IrrqPins, &Chip::contexts>},
      {"ddp_placement", twin_of<DdpPlacementPins, &Chip::contexts>},
      {"response_queue", twin_of<ResponseQueuePins, &Chip::contexts>},
      {"terminate_generator", twin_of<TerminateGeneratorPins, &Chip::contexts, &Chip::frames, &Chip::terminate>},
      {"atomic_alu", twin_of<AtomicAluPins, &Chip::contexts>},
  };
  return twins;
}

}  // namespace rnic::rtl
