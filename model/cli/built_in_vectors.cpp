#include "model/cli/built_in.h"
#include "model/conformance/run_vectors.h"

rnic::cli::BuiltIn rnic::cli::built_in() { return {nullptr, conformance::run_folder}; }
