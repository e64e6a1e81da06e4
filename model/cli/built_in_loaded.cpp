#include "model/cli/built_in.h"
#include "model/cli/rtl_command.h"
#include "rtl-stubs/loaded/loaded_twins.h"

rnic::cli::BuiltIn rnic::cli::built_in() {
  static const rtl::LoadedTwins twins(build_rtl);
  return {&twins, nullptr};
}
