#include "model/cli/built_in.h"
#include "model/conformance/run_vectors.h"
#include "rtl-stubs/verilated/verilated_twins.h"

rnic::cli::BuiltIn rnic::cli::built_in() {
  static const rtl::VerilatedTwins twins;
  return {&twins, conformance::run_folder};
}
