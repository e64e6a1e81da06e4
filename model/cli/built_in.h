// What only some of the programs have in them: rnicsim nothing, rnicsim_rtl the twins of rtl-stubs and the vectors,
// rnicsim_vectors the vectors.
#pragma once

#include <iosfwd>
#include <string>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

struct BuiltIn {
  const TwinSource* twins = nullptr;
  // Runs the worked vectors of a folder, with the twins of the stages that have one if these are given; returns the
  // exit code.
  int (*vectors)(const std::string& folder, std::ostream& out, const TwinSource* twins) = nullptr;
};

BuiltIn built_in();

}  // namespace rnic::cli
