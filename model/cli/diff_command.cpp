#include "model/cli/diff_command.h"

#include <ostream>

#include "model/cli/command.h"
#include "model/cli/options.h"
#include "model/common/check.h"
#include "model/diff/compare.h"
#include "model/diff/run_input.h"

namespace rnic::cli {

namespace po = boost::program_options;

int diff_command(const std::vector<std::string>& args, std::ostream& out, std::ostream&, const TwinSource*) {
  std::vector<std::string> runs;
  po::options_description options("options"), all;
  options.add_options()("help,h", "this text");
  options.add_options()("json", "machine-readable output, with all figures");
  all.add(options).add_options()("runs", po::value(&runs));
  const po::variables_map given = parse_options(args, all, po::positional_options_description().add("runs", -1));
  if (given.count("help") != 0) {
    out << "usage: rnicsim diff A B\n\n"
           "A and B are folders of runs (--out), which say most with --db OUT/run.sqlite and --breakdown; or two such\n"
           "databases, or two event logs of --trace. The exit code is 0 if the runs are equal, and 1 if they "
           "differ.\n\n"
        << options;
    return kOk;
  }
  if (runs.size() != 2) throw ConfigError("diff: which two runs? Their folders, or their files of --db or --trace");
  const auto inputs = diff::open_runs(runs[0], runs[1]);
  const diff::Comparison comparison = diff::compare(*inputs);
  if (given.count("json") != 0) out << diff::to_json(comparison).dump(1) << '\n';
  else diff::print(comparison, out);
  return comparison.is_equal ? kOk : kCheckFailed;
}

}  // namespace rnic::cli
