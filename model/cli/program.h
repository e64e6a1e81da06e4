// The program without its main(): chooses the subcommand and turns exceptions into messages and exit codes.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "model/cli/built_in.h"

namespace rnic::cli {

// `args` without the program's name. Never throws.
int run_program(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const BuiltIn& parts = {});

// Returns the result of `body`. An exception becomes its exit code, with a line on `err`.
int guarded(std::ostream& err, const std::function<int()>& body);

}  // namespace rnic::cli
