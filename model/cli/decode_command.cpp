#include "model/cli/decode_command.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "model/capture/capture_reader.h"
#include "model/capture/report.h"
#include "model/capture/report_list.h"
#include "model/capture/segment_list.h"
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
using capture::SegmentFilter;
using capture::SegmentList;
using capture::Undecoded;

struct Options {
  std::string capture;
  bool json = false;
  bool ignore_checksums = false;
  bool list = false;
  std::vector<std::string> filters;
};

std::string keys() {
  std::string names;
  for (const capture::Column& column : capture::segment_columns()) {
    names += (names.empty() ? "" : ", ") + std::string(column.name);
  }
  return names;
}

po::options_description described(Options& options) {
  po::options_description described("Usage: decode CAPTURE [options]");
  const std::string filter =
      "lists only segments with this value; may be repeated: values of one key are alternatives, and all keys must "
      "hold. "
      "Keys: " +
      keys();
  auto add = described.add_options();
  add("help,h", "this text");
  add("json", po::bool_switch(&options.json), "machine-readable output; with --list one object a line");
  add("list", po::bool_switch(&options.list), "one line for each FPDU, and for each DDP segment over SCTP, by frame");
  add("filter", po::value(&options.filters)->composing()->value_name("key=value"), filter.c_str());
  add("ignore-checksums", po::bool_switch(&options.ignore_checksums),
      "take every IP, TCP and SCTP checksum for good (they are checked, and offload is recognised)");
  return described;
}

void take_frame(const CapturedFrame& frame, const Options& options, CaptureReport& report) {
  ++report.frames;
  FrameResult result = read_frame(frame, options.ignore_checksums);
  if (result.is_cut() && !std::exchange(report.is_cut, true)) {
    report.undecoded.push_back({frame.at, "from here on payload is missing: " + kept_of(frame)});
  }
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
    case FrameFate::kLostByCable:
      ++report.lost;
      break;
    case FrameFate::kSomethingElse:
      break;
  }
}

void read_capture(const Options& options, CaptureReport& report, SegmentList& list) {
  CaptureReader reader(options.capture);
  list.begins_at(reader.first_time_ns());
  while (const auto frame = reader.next(report.undecoded)) take_frame(*frame, options, report);
  report.packets = reader.packets();
  report.skipped = reader.skipped_packets();
  report.table.finish();
  report.associations.finish();
  list.finish();
  std::stable_sort(report.undecoded.begin(), report.undecoded.end(),
                   [](const Undecoded& a, const Undecoded& b) { return a.at.offset < b.at.offset; });
}

void show_list(const Options& options, const CaptureReport& report, const SegmentList& list, std::ostream& out,
               std::ostream& err) {
  if (options.json) {
    print_json_list(list, report.undecoded, out);
  } else {
    print_list(list, report.undecoded, out);
    out << fmt::format("{} of {} segments are listed\n", list.segments().size(), list.seen());
    print_totals(report, out);
  }
  if (list.seen() == 0) {
    err << fmt::format("decode: {}: no DDP segment in {} packets\n", shortened(options.capture), report.packets);
  } else if (list.segments().empty()) {
    err << fmt::format("decode: no segment of {} passes the filter\n", list.seen());
  }
}

void show(const Options& options, const CaptureReport& report, const SegmentList& list, std::ostream& out,
          std::ostream& err) {
  if (options.list) show_list(options, report, list, out, err);
  else if (options.json) out << to_json(report).dump(1) << "\n";
  else print(report, out);
}

}  // namespace

int decode_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const TwinSource*) {
  Options options;
  po::options_description visible = described(options), all;
  all.add(visible).add_options()("capture", po::value(&options.capture));
  const po::positional_options_description positional = po::positional_options_description().add("capture", 1);
  std::optional<SegmentList> list;
  std::optional<CaptureReport> report;
  try {
    const po::variables_map values = parse_options(args, all, positional);
    if (values.count("help") != 0) {
      out << visible;
      return 0;
    }
    if (options.capture.empty()) throw po::error("which capture?");
    if (!options.list && !options.filters.empty()) throw ConfigError("--filter is for --list");
    list.emplace(SegmentFilter(options.filters));
    report.emplace(options.list ? &*list : nullptr);
    read_capture(options, *report, *list);
  } catch (const po::error& e) {
    err << "decode: " << shortened(e.what()) << "\n" << visible;
    return 2;
  } catch (const ConfigError& e) {
    err << "decode: " << shortened(e.what()) << "\n";
    return 2;
  }
  show(options, *report, *list, out, err);
  return report->undecoded.empty() ? 0 : 1;
}

}  // namespace rnic::cli
