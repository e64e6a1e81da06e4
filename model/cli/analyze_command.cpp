#include "model/cli/analyze_command.h"

#include <ostream>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "model/capture/analysis/analysis.h"
#include "model/capture/analysis/analysis_report.h"
#include "model/cli/captured_run.h"
#include "model/cli/command.h"
#include "model/cli/message.h"
#include "model/cli/options.h"
#include "model/common/check.h"

namespace rnic::cli {

namespace po = boost::program_options;
using capture::Analysis;
using capture::AnalysisOptions;
using capture::TapOption;

namespace {

struct AnalyzeOptions {
  std::string name, tap;
  bool json = false, ignore_checksums = false;
};

po::options_description described_analysis(AnalyzeOptions& options) {
  po::options_description described("options");
  auto add = described.add_options();
  add("help,h", "this text");
  add("tap", po::value(&options.tap)->value_name("place"),
      "where a capture that is not of a run was made: beside the sender, the receiver (of most of a connection's "
      "octets), or in the middle; if it is not given, the handshake tells");
  add("json", po::bool_switch(&options.json), "machine-readable output");
  add("ignore-checksums", po::bool_switch(&options.ignore_checksums),
      "take every IP and TCP checksum for good (they are checked, and offload is recognised)");
  return described;
}

TapOption tap_of(const AnalyzeOptions& options, const CapturedRun& run) {
  if (options.tap.empty()) return run.is_run ? TapOption::kEachEnd : TapOption::kFromHandshake;
  if (run.is_run) {
    throw ConfigError("--tap is for captures that are not of a run: a run stamps each frame where it arrives");
  }
  if (options.tap == "sender") return TapOption::kSender;
  if (options.tap == "receiver") return TapOption::kReceiver;
  if (options.tap == "middle") return TapOption::kMiddle;
  throw ConfigError(fmt::format("--tap '{}': sender, receiver or middle?", options.tap));
}

void expect_content(const Analysis& analysis, const std::string& file) {
  if (!analysis.connections().empty() || !analysis.pauses().stations().empty()) return;
  const capture::Integrity& i = analysis.integrity();
  if (i.sctp != 0) {
    throw ConfigError(
        fmt::format("{}: only TCP is analysed, and the {} packets are SCTP's or others (rnicsim decode "
                    "reads SCTP)",
                    file, i.packets));
  }
  if (i.ended_early) throw ConfigError(fmt::format("{}: {}", file, analysis.undecoded().back().reason));
  throw ConfigError(fmt::format("{}: no TCP in {} packets", file, i.packets));
}

}  // namespace

int analyze_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const TwinSource*) {
  AnalyzeOptions options;
  const po::options_description visible = described_analysis(options);
  po::options_description all;
  all.add(visible).add_options()("name", po::value(&options.name));
  const po::variables_map given = parse_options(args, all, po::positional_options_description().add("name", 1));
  if (given.count("help") != 0) {
    out << "usage: rnicsim analyze CAPTURE|OUT [options]\n\n" << visible;
    return kOk;
  }
  if (options.name.empty()) throw ConfigError("analyze: which capture, or folder of a run?");
  const CapturedRun run = captured_run(options.name);
  Analysis analysis(AnalysisOptions{options.ignore_checksums, tap_of(options, run), run.path, run.notes});
  analysis.read(run.capture);
  expect_content(analysis, run.capture);
  if (options.json) out << to_json(analysis, run.capture).dump(1) << '\n';
  else print(analysis, run.capture, out);
  if (!analysis.integrity().ended_early) return kOk;
  tell(err, fmt::format("{}: {}", run.capture, analysis.undecoded().back().reason));
  return kCheckFailed;
}

}  // namespace rnic::cli
