// `rnicsim vectors DIR`: runs worked byte-level vectors against the model.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "model/conformance/vector_kinds.h"

namespace rnic::conformance {

// Runs every *.json file of the directory, in the order of the names. A file is {"kind", "vectors": [{"name", …}]}; a
// field that its kind does not know is a failure of the vector.
// Prints each failed vector with what was expected and got, then per kind and in total "N passed, M failed"; kinds
// without a handler are "not implemented" and count as neither.
// Returns 0, 1 if a vector failed, 2 if something cannot be read or is not such a file, or nothing was run.
int run_vectors(const std::string& dir, std::ostream& out, const std::vector<VectorKind>& kinds);

}  // namespace rnic::conformance
