// Parts that only some of the programs contain: rnicsim what loads RTL, rnicsim_rtl the twins of rtl-stubs too and the
// vectors, rnicsim_vectors the vectors.
#pragma once

#include <iosfwd>
#include <string>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

struct BuiltIn {
  const TwinSource* twins = nullptr;
  // Runs the worked vectors of a folder, with the available twins of stages if `twins` is given; returns the exit code.
  int (*vectors)(const std::string& folder, std::ostream& out, const TwinSource* twins) = nullptr;
};

BuiltIn built_in();

}  // namespace rnic::cli
