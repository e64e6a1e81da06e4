#include "model/cli/built_in_twins.h"
#include "rtl-stubs/verilated/verilated_twins.h"

const rnic::TwinSource* rnic::cli::built_in_twins() {
  static const rtl::VerilatedTwins twins;
  return &twins;
}
