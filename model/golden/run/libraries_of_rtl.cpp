#include "model/golden/run/libraries_of_rtl.h"

#include <fmt/format.h>

#include "model/common/check.h"
#include "rtl-stubs/loaded/loaded_twins.h"

namespace rnic::golden {

const TwinSource& libraries_of_rtl() {
  static const rtl::LoadedTwins twins([](const std::string& block, const TwinParameters&) -> std::string {
    throw ConfigError(fmt::format(
        "RTL of {0} comes from a file: {0}=./lib{0}.so, which `rnicsim rtl {0} -o lib{0}.so` builds", block));
  });
  return twins;
}

}  // namespace rnic::golden
