#include "model/cli/built_in.h"
#include "model/cli/rtl_command.h"
#include "model/conformance/bench_predictors.h"
#include "model/conformance/run_vectors.h"
#include "rtl-stubs/verilated/verilated_twins.h"

rnic::cli::BuiltIn rnic::cli::built_in() {
  static const rtl::VerilatedTwins twins(build_rtl);
  return {&twins, [](const std::string& folder, std::ostream& out, const TwinSource* with) {
            const conformance::BenchPredictors stages(with);
            return conformance::run_vectors(folder, out, conformance::vector_kinds(&stages));
          }};
}
