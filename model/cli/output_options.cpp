#include "model/cli/output_options.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/common/cited.h"

namespace rnic::cli {

namespace po = boost::program_options;

namespace {

// The value of an option that stands alone. No file has such a name.
const std::string kAlone("\0", 1);

// "12us", "1.5ms", "800ns", "40ps"; 0 needs no unit. In every locale.
std::uint64_t parse_time(const std::string& text, const char* option) {
  double value = -1;
  const std::string_view unit{std::from_chars(text.data(), text.data() + text.size(), value).ptr};
  const double scale = unit == "ps" || (unit.empty() && value == 0) ? 1
                       : unit == "ns"                               ? 1e3
                       : unit == "us"                               ? 1e6
                       : unit == "ms"                               ? 1e9
                       : unit == "s"                                ? 1e12
                                                                    : 0;
  if (!(value >= 0) || scale == 0 || value * scale > 1e19) {
    throw ConfigError(
        fmt::format("{}: '{}' is not a time with its unit, such as 12us (ps, ns, us, ms or s)", option, cited(text)));
  }
  return static_cast<std::uint64_t>(value * scale);
}

}  // namespace

void OutputOptions::add_to(po::options_description& options) {
  auto add = options.add_options();
  add("trace", po::value(&into_.trace_file)->value_name("file"),
      "transaction log: every event of the chips, one line each, in order of time");
  TraceFilterOptions& filter = into_.trace_filter;
  add("trace-request", po::value(&filter.requests)->value_name("id"),
      "--trace and --perfetto have only events of this request, e.g. a.0.17; may be repeated, as the next two");
  add("trace-node", po::value(&filter.nodes)->value_name("node"), "only those at this node");
  add("trace-kind", po::value(&filter.kinds)->value_name("kind"), "only those of this kind, e.g. retransmitted");
  add("trace-from", po::value(&trace_from_)->value_name("time"), "only those from then on, e.g. 10us");
  add("trace-to", po::value(&trace_to_)->value_name("time"), "and before then");
  add("breakdown", po::bool_switch(&into_.breakdown),
      "latency of each operation by the blocks that it passes: in stats.json, and per request in breakdown.tsv");
  add("db", po::value(&into_.database_file)->value_name("[file]"),
      "the same as an SQLite database, with requests and frames; without a file OUT/run.sqlite, where `rnicsim explain "
      "OUT` looks");
  add("perfetto", po::value(&into_.perfetto_file)->value_name("file"),
      "the events for https://ui.perfetto.dev: tracks per node and block, arrows along each request, counters");
  add("capture-tlps", po::bool_switch(&into_.capture_tlps),
      "wire.pcapng also has the TLPs of each node's PCIe link (scripts/wireshark/rnicsim.lua shows them)");
  add("capture-requests", po::bool_switch(&into_.capture_requests),
      "a comment of each packet in wire.pcapng names the work request behind it");
  add("wave", po::value(&into_.wave_file)->value_name("file"), "waveform of the chips' links and state: .fst or .vcd");
  add("wave-scope", po::value(&into_.wave_window.scopes)->value_name("[scope]"),
      "dump this scope and all below it, e.g. rnic_a.tx; may be repeated. Without a scope: list them, and run nothing");
  add("wave-from", po::value(&wave_from_)->value_name("time"), "start of the waveform, e.g. 10us");
  add("wave-to", po::value(&wave_to_)->value_name("time"), "its end");
  add("wave-on", po::value(&into_.wave_condition.on)->value_name("what"),
      "the waveform begins at the first retransmit, terminate, check-fail, qp=N or request=ID; may be repeated");
  add("wave-for", po::value(&wave_for_)->value_name("time"), "and lasts so long, 20us unless given; or: end");
  add("wave-ring", po::value(&wave_ring_)->value_name("time"),
      "it also has so much before that; and a run that fails without leaves its end, e.g. 20us");
  add("stats-every", po::value(&stats_every_)->value_name("time"),
      "rates and levels at each multiple of this time, e.g. 10us, in series.csv and series.json");
  add("stats-per-qp", "with --stats-every: those of each queue pair, too");
  add("no-zeros", "stats.txt leaves out figures that are 0");
  add("warmup", po::value(&warmup_)->value_name("time"),
      "statistics and results count from then on, e.g. 50us; the series has all");
}

std::vector<std::string> OutputOptions::with_values(const std::vector<std::string>& args) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < args.size(); ++i) {
    words.push_back(args[i]);
    const bool alone = i + 1 == args.size() || args[i + 1].rfind('-', 0) == 0;
    if (alone && (args[i] == "--db" || args[i] == "--wave-scope")) words.push_back(kAlone);
  }
  return words;
}

void OutputOptions::read(const std::string& command, const po::variables_map& given) {
  const std::vector<std::string>& scopes = into_.wave_window.scopes;
  lists_scopes_ = std::find(scopes.begin(), scopes.end(), kAlone) != scopes.end();
  if (lists_scopes_) return;
  if (into_.database_file == kAlone) {
    if (into_.out_dir.empty())
      throw ConfigError(command + ": --db without a file is OUT/run.sqlite, which needs --out");
    into_.database_file = (std::filesystem::path(into_.out_dir) / "run.sqlite").string();
  }
  into_.zeros = given.count("no-zeros") == 0;
  if (!into_.zeros && into_.out_dir.empty())
    throw ConfigError(command + ": --no-zeros is about stats.txt, which needs --out");
  if (!trace_from_.empty()) into_.trace_filter.from_ps = parse_time(trace_from_, "--trace-from");
  if (!trace_to_.empty()) into_.trace_filter.to_ps = parse_time(trace_to_, "--trace-to");
  for (const char* option : {"trace-request", "trace-node", "trace-kind", "trace-from", "trace-to"}) {
    if (given.count(option) != 0 && into_.trace_file.empty() && into_.perfetto_file.empty() && into_.events == nullptr)
      throw ConfigError(fmt::format("{}: --{} needs --trace FILE or --perfetto FILE", command, option));
  }
  if (into_.trace_filter.from_ps >= into_.trace_filter.to_ps) {
    throw ConfigError(command + ": the window of --trace-from and --trace-to ends before it begins");
  }
  if (!wave_from_.empty()) into_.wave_window.from_ps = parse_time(wave_from_, "--wave-from");
  if (!wave_to_.empty()) into_.wave_window.to_ps = parse_time(wave_to_, "--wave-to");
  if (!wave_ring_.empty()) into_.wave_condition.ring_ps = parse_time(wave_ring_, "--wave-ring");
  if (!wave_for_.empty())
    into_.wave_condition.for_ps = wave_for_ == "end" ? UINT64_MAX : parse_time(wave_for_, "--wave-for");
  const WaveCondition& wave = into_.wave_condition;
  if (wave.ring_ps == 0)
    throw ConfigError(command + ": --wave-ring: must be 1 ps or more, or the waveform has nothing");
  if (wave.for_ps == 0 && !wave.ring_ps)
    throw ConfigError(command + ": --wave-for: must be 1 ps or more without --wave-ring");
  if (!stats_every_.empty()) {
    into_.series.interval_ps = parse_time(stats_every_, "--stats-every");
    if (into_.series.interval_ps < 1000) throw ConfigError(command + ": --stats-every: must be 1 ns or more");
  }
  if (!warmup_.empty()) into_.warmup_ps = parse_time(warmup_, "--warmup");
  into_.series.per_qp = given.count("stats-per-qp") != 0;
  if (into_.series.per_qp && stats_every_.empty()) throw ConfigError(command + ": --stats-per-qp needs --stats-every");
  for (const char* option : {"wave-scope", "wave-from", "wave-to", "wave-on", "wave-for", "wave-ring"}) {
    if (into_.wave_file.empty() && given.count(option)) {
      throw ConfigError(fmt::format("{}: --{} needs --wave FILE", command, option));
    }
  }
  if (into_.wave_condition.any() && (given.count("wave-from") || given.count("wave-to"))) {
    throw ConfigError(command + ": --wave-from and --wave-to do not go with --wave-on and --wave-ring");
  }
  if (given.count("wave-for") && into_.wave_condition.on.empty()) {
    throw ConfigError(command + ": --wave-for needs --wave-on");
  }
  if ((into_.capture_tlps || into_.capture_requests) && !into_.capture) {
    throw ConfigError(command + ": --capture-tlps and --capture-requests do not go with --no-capture");
  }
  if (into_.wave_window.from_ps >= into_.wave_window.to_ps) {
    throw ConfigError(command + ": the window of --wave-from and --wave-to ends before it begins");
  }
}

}  // namespace rnic::cli
