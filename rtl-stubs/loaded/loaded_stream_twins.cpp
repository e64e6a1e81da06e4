#include "rtl-stubs/loaded/make_loaded.h"
#include "rtl-stubs/loaded/ports.h"
#include "rtl-stubs/verilated/crc_pins.h"
#include "rtl-stubs/verilated/marker_inserter_pins.h"
#include "rtl-stubs/verilated/mpa_deframer_pins.h"
#include "rtl-stubs/verilated/mpa_framer_pins.h"

namespace rnic::rtl {

const std::vector<LoadedMaker>& loaded_stream_twins() {
  using Chip = TwinSurroundings;
  static const std::vector<LoadedMaker> twins{
      loaded<MpaFramerPinsOf<LoadedMpaFramer>>("mpa_framer"),
      loaded<MarkerInserterPinsOf<LoadedMarkerInserter>, &Chip::frames>("marker_inserter"),
      loaded<CrcPins<LoadedCrcInsert, CrcInsert>>("crc_insert"),
      loaded<MpaDeframerPinsOf<LoadedMpaDeframer>>("mpa_deframer"),
      loaded<CrcPins<LoadedCrcCheck, CrcCheck>>("crc_check"),
      loaded<CrcPins<LoadedCrcInsert, CrcInsert>>("sctp_crc_insert"),
      loaded<CrcPins<LoadedCrcCheck, CrcCheck>>("sctp_crc_check"),
  };
  return twins;
}

}  // namespace rnic::rtl
