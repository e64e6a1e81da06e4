#include "model/cli/captured_run.h"

#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/check.h"
#include "model/report/output_files.h"

namespace rnic::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char *kCapture = "wire.pcapng", *kStats = "stats.json";

bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none);
}

// 0 if there is no such number.
std::uint64_t setting(const ordered_json& settings, std::string_view key) {
  const auto pointer = ordered_json::json_pointer(std::string(key));
  if (!settings.contains(pointer) || !settings[pointer].is_number_unsigned()) return 0;
  return settings[pointer].get<std::uint64_t>();
}

// True if the key has another value than that with which nothing is delayed.
bool is_in_use(const ordered_json& fault, std::string_view key) {
  const auto pointer = ordered_json::json_pointer(std::string(key));
  if (!fault.contains(pointer)) return false;
  const ordered_json& value = fault[pointer];
  return value != ordered_json(0) && value != ordered_json("");
}

void note_delays(const ordered_json& settings, CapturedRun& run) {
  for (const char* direction : {"forward", "reverse"}) {
    const auto pointer = ordered_json::json_pointer(fmt::format("/link/{}", direction));
    if (!settings.contains(pointer)) continue;
    const ordered_json& fault = settings[pointer];
    const auto note = [&](const char* what) {
      run.notes.push_back(fmt::format("what link.{}.{} adds to the way of a frame is not subtracted", direction, what));
    };
    if (is_in_use(fault, "/delay/ns") || is_in_use(fault, "/delay/jitter_ns")) note("delay");
    if (is_in_use(fault, "/rate/mbps")) note("rate");
    const bool reorders =
        is_in_use(fault, "/reorder/ppm") || is_in_use(fault, "/reorder/every") || is_in_use(fault, "/reorder/frames");
    if (reorders) note("reorder");
  }
}

// Both nodes of a run have the cable's settings. A peer outside of the model has none, and its way is not known.
void read_path(const ordered_json& stats, CapturedRun& run) {
  const ordered_json config = stats.value("config", ordered_json::object());
  run.is_run = config.size() == 2;
  if (!run.is_run) return;
  const ordered_json &a = config.front(), &b = config.back();
  const std::uint64_t gbps = setting(a, "/rnic/mac_tx/line_gbps");
  if (gbps == 0 || gbps != setting(b, "/rnic/mac_tx/line_gbps")) {
    run.notes.emplace_back("both ways differ (rnic.mac_tx.line_gbps), and nothing is subtracted");
    return;
  }
  run.path = {setting(a, "/link/delay_ns"), gbps};
  note_delays(a, run);
}

}  // namespace

CapturedRun captured_run(const std::string& name) {
  std::error_code none;
  fs::path capture = name;
  if (fs::is_directory(capture, none)) {
    capture /= kCapture;
    if (!is_there(capture)) {
      throw ConfigError(
          fmt::format("{}: no {} is there; rnicsim run writes it unless it is given --no-capture", name, kCapture));
    }
  }
  CapturedRun run;
  run.capture = capture.string();
  if (capture.filename() != kCapture) return run;
  const fs::path stats = capture.parent_path() / kStats;
  if (is_there(stats)) {
    read_path(report::read_stats(stats.string()).value, run);
  } else if (fs::is_directory(name, none)) {
    run.is_run = true;
    run.notes.push_back(fmt::format("{} is not there, so the way of a frame is not known and not subtracted", kStats));
  }
  return run;
}

}  // namespace rnic::cli
