#include "model/cli/decode_command.h"

#include <algorithm>

#include <boost/program_options.hpp>

#include "model/capture/capture_reader.h"
#include "model/capture/report.h"
#include "model/cli/options.h"
#include "model/common/check.h"
#include "model/common/cited.h"

namespace rnic::cli {
namespace {

namespace po = boost::program_options;
using capture::CapturedFrame;
using capture::CaptureReader;
using capture::CaptureReport;
using capture::FrameFate;
using capture::FrameResult;
using capture::Undecoded;

struct Options {
  std::string capture;
  bool json = false;
  bool ignore_checksums = false;
};

po::options_description described(Options& options) {
  po::options_description described("Usage: decode CAPTURE [options]");
  described.add_options()                                                                               //
      ("help,h", "this text")                                                                           //
      ("json", po::bool_switch(&options.json), "machine-readable output")                               //
      ("ignore-checksums", po::bool_switch(&options.ignore_checksums),                                  //
       "take every IP, TCP and SCTP checksum for good (they are checked, and offload is recognised)");  //
  return described;
}

void take_frame(const CapturedFrame& frame, const Options& options, CaptureReport& report) {
  ++report.frames;
  FrameResult result = read_frame(frame, options.ignore_checksums);
  switch (result.fate) {
    case FrameFate::kSegment:
      if (!report.table.segment(result.segment)) ++report.dropped;
      break;
    case FrameFate::kSctp:
      if (!report.associations.packet(result.packet)) ++report.dropped;
      break;
    case FrameFate::kWrongIpChecksum:
      ++report.dropped;
      break;
    case FrameFate::kUndecoded:
      report.undecoded.push_back({frame.at, std::move(result.reason)});
      break;
    case FrameFate::kSomethingElse:
      break;
  }
}

void read_capture(const Options& options, CaptureReport& report) {
  CaptureReader reader(options.capture);
  while (const auto frame = reader.next(report.undecoded)) take_frame(*frame, options, report);
  report.skipped = reader.skipped_packets();
  report.table.finish();
  report.associations.finish();
  std::stable_sort(report.undecoded.begin(), report.undecoded.end(),
                   [](const Undecoded& a, const Undecoded& b) { return a.at.offset < b.at.offset; });
}

}  // namespace

int decode_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const TwinSource*) {
  Options options;
  po::options_description visible = described(options), all;
  all.add(visible).add_options()("capture", po::value(&options.capture));
  const po::positional_options_description positional = po::positional_options_description().add("capture", 1);
  CaptureReport report;
  try {
    const po::variables_map values = parse_options(args, all, positional);
    if (values.count("help") != 0) {
      out << visible;
      return 0;
    }
    if (options.capture.empty()) throw po::error("which capture?");
    read_capture(options, report);
  } catch (const po::error& e) {
    err << "decode: " << shortened(e.what()) << "\n" << visible;
    return 2;
  } catch (const ConfigError& e) {
    err << "decode: " << shortened(e.what()) << "\n";
    return 2;
  }
  if (options.json) {
    out << to_json(report).dump(1) << "\n";
  } else {
    print(report, out);
  }
  return report.undecoded.empty() ? 0 : 1;
}

}  // namespace rnic::cli
