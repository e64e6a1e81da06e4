// RTL in the runs of the library: from files that a caller names. Nothing is built.
#pragma once

#include "model/rnic/twins.h"

namespace rnic::golden {

const TwinSource& libraries_of_rtl();

}  // namespace rnic::golden
