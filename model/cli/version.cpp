#include "model/cli/version.h"

namespace rnic::cli {

const char* version() { return RNIC_VERSION; }

}  // namespace rnic::cli
