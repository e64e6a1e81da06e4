#include "rtl-stubs/verilated/twin_of.h"
#include "rtl-stubs/verilated/verilated_crc.h"
#include "rtl-stubs/verilated/verilated_marker_inserter.h"
#include "rtl-stubs/verilated/verilated_mpa_deframer.h"
#include "rtl-stubs/verilated/verilated_mpa_framer.h"

namespace rnic::rtl {

const std::vector<TwinMaker>& stream_twins() {
  using Chip = TwinSurroundings;
  static const std::vector<TwinMaker> twins{
      {"mpa_framer", twin_of<MpaFramerPins>},    {"marker_inserter", twin_of<MarkerInserterPins, &Chip::frames>},
      {"crc_insert", twin_of<CrcInsertPins>},    {"mpa_deframer", twin_of<MpaDeframerPins>},
      {"crc_check", twin_of<CrcCheckPins>},      {"sctp_crc_insert", twin_of<CrcInsertPins>},
      {"sctp_crc_check", twin_of<CrcCheckPins>},
  };
  return twins;
}

}  // namespace rnic::rtl
