#include "model/cli/built_in.h"
#include "model/conformance/handle_predictors.h"
#include "model/conformance/run_vectors.h"

rnic::cli::BuiltIn rnic::cli::built_in() {
  return {nullptr, [](const std::string& folder, std::ostream& out, const TwinSource*) {
            const conformance::HandlePredictors stages;
            return conformance::run_vectors(folder, out, conformance::vector_kinds(&stages));
          }};
}
