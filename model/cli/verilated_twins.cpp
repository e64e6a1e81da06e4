#include "rtl-stubs/verilated/verilated_twins.h"

#include "model/cli/built_in_twins.h"

const rnic::TwinSource* rnic::cli::built_in_twins() {
  static const rtl::VerilatedTwins twins;
  return &twins;
}
