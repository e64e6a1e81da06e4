#include "rtl-stubs/verilated/atomic_alu_pins.h"
#include "rtl-stubs/verilated/ddp_placement_pins.h"
#include "rtl-stubs/verilated/irrq_pins.h"
#include "rtl-stubs/verilated/response_queue_pins.h"
#include "rtl-stubs/verilated/terminate_generator_pins.h"
#include "rtl-stubs/verilated/twin_of.h"

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
