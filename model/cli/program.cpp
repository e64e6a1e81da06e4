#include "model/cli/program.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <systemc>

#include <boost/program_options/errors.hpp>
#include <fmt/format.h>

#include "model/cli/analyze_command.h"
#include "model/cli/command.h"
#include "model/cli/config_command.h"
#include "model/cli/decode_command.h"
#include "model/cli/diff_command.h"
#include "model/cli/explain_command.h"
#include "model/cli/message.h"
#include "model/cli/other_program.h"
#include "model/cli/replay_command.h"
#include "model/cli/report_command.h"
#include "model/cli/rtl_command.h"
#include "model/cli/run_command.h"
#include "model/cli/sweep_command.h"
#include "model/cli/version.h"
#include "model/common/check.h"
#include "model/common/cited.h"
#include "model/config/nearest.h"
#include "model/rnic/fwcpu/crash/native_guard.h"
#include "model/rnic/twins.h"

namespace rnic::cli {
namespace {

int vectors_command(const std::vector<std::string>& args, std::ostream& out, const BuiltIn& parts) {
  const bool rtl = args.size() == 3 && args[1] == "--rtl" && args[2] == "all";
  if ((args.size() != 1 && !rtl) || args[0].rfind("--", 0) == 0) {
    out << "usage: rnicsim vectors DIR [--rtl all]\n\n"
           "  --rtl all  FPDUs, marker streams and atomics through the SystemVerilog twins of the stages that have "
           "one\n";
    return args.size() == 1 && args[0] == "--help" ? kOk : kUsage;
  }
  if (rtl && (parts.twins == nullptr || !parts.twins->is_built_in())) become(OtherProgram::kRtl, "vectors", args);
  if (parts.vectors == nullptr) become(OtherProgram::kVectors, "vectors", args);
  return parts.vectors(args[0], out, rtl ? parts.twins : nullptr);
}

constexpr Command kCommands[] = {
    {"analyze", "measure reaction times in a capture", analyze_command},
    {"config", "list all settings, or show those in effect", config_command},
    {"decode", "show the iWARP connections of a capture", decode_command},
    {"diff", "show where two runs first differ, and by how much", diff_command},
    {"explain", "tell what happened to single requests of a run", explain_command},
    {"replay", "put the model in place of one side of a capture", replay_command},
    {"report", "make a page of a run, of several runs, or of a sweep", report_command},
    {"rtl", "build a library of SystemVerilog for run --rtl", rtl_command},
    {"run", "run a scenario", run_command},
    {"sweep", "run a sweep's points on a cluster, and collect their results", sweep_command},
    {"vectors", "run worked byte-level vectors against the model", nullptr},  // vectors_command
};

struct ExitCodeText {
  const char* codes;
  const char* meaning;
};

// As in README.md.
constexpr ExitCodeText kExitCodes[] = {
    {"0", "done, and every check passed"},
    {"1", "a check, a connection or a peer failed, RTL differs from its stage, or two runs differ"},
    {"2", "a mistake in the command line, the settings, or an input file"},
    {"3", "deadlock or time limit: the report lists the waiting programs and stages"},
    {"4", "internal error: a bug of rnicsim"},
    {"5", "an output could not be written: the message says which, and why"},
    {"129, 130, 143", "SIGHUP, SIGINT (Ctrl-C) or SIGTERM stopped the run, and its outputs are marked incomplete"},
};

void write_help(std::ostream& out) {
  out << "usage: rnicsim <command> [options]\n\n";
  for (const Command& c : kCommands) out << fmt::format("  {:<10}{}\n", c.name, c.summary);
  out << "\n  --version  version of the program and of the SystemC library\n"
         "  --help     this text; `rnicsim <command> --help` for a command's own options\n\n"
         "exit codes, of several the highest:\n";
  for (const auto& [codes, meaning] : kExitCodes) out << fmt::format("  {:<15}{}\n", codes, meaning);
}

const Command& command_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& c : kCommands) {
    if (c.name == name) return c;
    names.emplace_back(c.name);
  }
  throw ConfigError(fmt::format("unknown command '{}'; the nearest is '{}'", cited(name), nearest(name, names)));
}

int dispatch(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const BuiltIn& parts) {
  if (args.empty()) {
    write_help(err);
    return kUsage;
  }
  if (args[0] == "--help" || args[0] == "-h") {
    write_help(out);
    return kOk;
  }
  if (args[0] == "--version") {
    out << fmt::format("rnicsim {} (SystemC {})\n", version(), sc_core::sc_release());
    return kOk;
  }
  const std::vector<std::string> others(args.begin() + 1, args.end());
  const Command& command = command_named(args[0]);
  return command.run == nullptr ? vectors_command(others, out, parts) : command.run(others, out, err, parts.twins);
}

int fail(std::ostream& err, ExitCode code, const char* message) {
  tell(err, message);
  return code;
}

}  // namespace

int guarded(std::ostream& err, const std::function<int()>& body) try { return body(); } catch (const ConfigError& e) {
  return fail(err, kUsage, e.what());
} catch (const boost::program_options::error& e) {
  return fail(err, kUsage, e.what());
} catch (const OutputError& e) {
  return fail(err, kNotWritten, e.what());
} catch (const std::filesystem::filesystem_error& e) {  // a name that is too long, an unreadable folder
  return fail(err, kUsage, e.what());
} catch (const std::exception& e) {  // InternalError, and exceptions of a process that the kernel wraps
  return fail(err, kInternal, e.what());
}

int run_program(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const BuiltIn& parts) {
  NativeGuard::catch_crashes();
  return guarded(err, [&] {
    const int code = dispatch(args, out, err, parts);
    out.flush();
    return out ? code : std::max(code, fail(err, kNotWritten, "standard output cannot be written"));
  });
}

}  // namespace rnic::cli
