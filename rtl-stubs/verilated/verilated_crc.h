// crc_check and crc_insert as Verilator's classes.
#pragma once

#include "rtl-stubs/verilated/crc_pins.h"
#include "rtl-stubs/verilated/verilated_block.h"

#include "Vcrc_check.h"
#include "Vcrc_insert.h"

namespace rnic::rtl {

using CrcCheckPins = CrcPins<Vcrc_check, CrcCheck>;
using CrcInsertPins = CrcPins<Vcrc_insert, CrcInsert>;

}  // namespace rnic::rtl
