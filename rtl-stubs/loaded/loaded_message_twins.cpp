#include "rtl-stubs/loaded/make_loaded.h"
#include "rtl-stubs/loaded/ports.h"
#include "rtl-stubs/verilated/atomic_alu_pins.h"
#include "rtl-stubs/verilated/ddp_placement_pins.h"
#include "rtl-stubs/verilated/irrq_pins.h"
#include "rtl-stubs/verilated/response_queue_pins.h"
#include "rtl-stubs/verilated/terminate_generator_pins.h"

namespace rnic::rtl {

const std::vector<LoadedMaker>& loaded_message_twins() {
  using Chip = TwinSurroundings;
  static const std::vector<LoadedMaker> twins{
      loaded<IrrqPinsOf<LoadedIrrq>, &Chip::contexts>("irrq"),
      loaded<DdpPlacementPinsOf<LoadedDdpPlacement>, &Chip::contexts>("ddp_placement"),
      loaded<ResponseQueuePinsOf<LoadedResponseQueue>, &Chip::contexts>("response_queue"),
      loaded<TerminateGeneratorPinsOf<LoadedTerminateGenerator>, &Chip::contexts, &Chip::frames, &Chip::terminate>(
          "terminate_generator"),
      loaded<AtomicAluPinsOf<LoadedAtomicAlu>, &Chip::contexts>("atomic_alu"),
  };
  return twins;
}

}  // namespace rnic::rtl
