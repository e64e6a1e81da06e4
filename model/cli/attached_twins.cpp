#include "model/cli/attached_twins.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "model/cli/command.h"
#include "model/common/check.h"
#include "model/rnic/fwcpu/crash/native_guard.h"
#include "model/rnic/rnic.h"

namespace rnic::cli {
namespace {

std::string name_of(const TwinChoice& twin) {
  if (twin.library.empty()) return "its twin";
  return "RTL of " + std::filesystem::path(twin.library).filename().string();
}

}  // namespace

std::vector<std::string> TwinOptions::libraries() const {
  std::vector<std::string> files;
  for (const std::string* list : {&rtl, &lockstep}) {
    if (list->empty()) continue;
    for (const TwinChoice& twin : twin_names(*list, *source)) {
      if (!twin.library.empty()) files.push_back(twin.library);
    }
  }
  return files;
}

bool TwinOptions::need_built_in() const {
  for (const std::string* list : {&rtl, &lockstep}) {
    for (const TwinChoice& twin : twin_names(*list, *source)) {
      if (twin.library.empty()) return true;
    }
  }
  return false;
}

AttachedTwins::AttachedTwins(const std::vector<Rnic*>& chips, const TwinOptions& options)
    : inside_(options.inside), rtl_(options.rtl) {
  if (!options.any()) return;
  const std::vector<TwinChoice> beside = twin_names(options.lockstep, *options.source);
  std::vector<TwinChoice> instead = twin_names(options.rtl, *options.source);
  const auto is_beside = [&](const TwinChoice& twin) {
    return std::any_of(beside.begin(), beside.end(), [&](const TwinChoice& b) { return b.stage == twin.stage; });
  };
  instead.erase(std::remove_if(instead.begin(), instead.end(), is_beside), instead.end());
  foreign_ = std::any_of(instead.begin(), instead.end(), [](const TwinChoice& t) { return !t.library.empty(); });
  if (foreign_) NativeGuard::with_stranger(rtl_.c_str());
  const auto attach = [&](Rnic& chip, const std::vector<TwinChoice>& choices, TwinMode mode) {
    for (auto& twin : make_twins(chip, choices, *options.source, mode)) twins_.push_back(std::move(twin));
    for (const TwinChoice& choice : choices) {
      instances_.push_back(fmt::format("{}.{}", chip.name(), choice.stage));
      in_place_.push_back(mode == TwinMode::kReplace ? name_of(choice) : "");
    }
  };
  for (Rnic* chip : chips) {
    attach(*chip, instead, TwinMode::kReplace);
    attach(*chip, beside, TwinMode::kLockstep);
  }
}

AttachedTwins::~AttachedTwins() {
  if (foreign_) NativeGuard::with_stranger(nullptr);
}

std::string AttachedTwins::in_place_of(const std::string& instance) const {
  const auto found = std::find(instances_.begin(), instances_.end(), instance);
  return found == instances_.end() ? "" : in_place_[static_cast<std::size_t>(found - instances_.begin())];
}

std::string AttachedTwins::write_inside(const std::string& instance, const std::string& out_dir) const {
  const auto found = std::find(instances_.begin(), instances_.end(), instance);
  if (!inside_ || out_dir.empty() || found == instances_.end()) return "";
  const std::string file = (std::filesystem::path(out_dir) / "scoreboard_inside.vcd").string();
  return twins_[static_cast<std::size_t>(found - instances_.begin())]->write_inside(file) ? file : "";
}

std::string AttachedTwins::waiting_for() const {
  std::string text;
  for (const TwinSource::Handle& twin : twins_) {
    if (const std::string what = twin->waiting_for(); !what.empty()) text += what + '\n';
  }
  return text;
}

AttachedTwin* AttachedTwins::faulty() const {
  const auto has_fault = [](const TwinSource::Handle& t) { return !t->fault().empty(); };
  const auto found = std::find_if(twins_.begin(), twins_.end(), has_fault);
  return found == twins_.end() ? nullptr : found->get();
}

int AttachedTwins::report_fault(const std::vector<std::string>& nodes, const std::string& out_dir,
                                std::ostream& err) const {
  AttachedTwin& twin = *faulty();
  const std::string whose = twin.fault_of() ? ", of request " + twin.fault_of().text(nodes) : "";
  err << fmt::format("rnicsim: {}{}\n", twin.fault(), whose);
  if (out_dir.empty()) return kCheckFailed;
  const std::string file = (std::filesystem::path(out_dir) / "lockstep.vcd").string();
  const bool has_window = twin.write_window(file);
  if (has_window) err << fmt::format("rnicsim: both sides around it: {}\n", file);
  const std::string pins = (std::filesystem::path(out_dir) / "rtl_pins.vcd").string();
  if (twin.write_pins(pins)) err << fmt::format("rnicsim: its pins before it: {}\n", pins);
  const std::string inside = (std::filesystem::path(out_dir) / "lockstep_inside.vcd").string();
  if (inside_ && twin.write_inside(inside)) {
    err << fmt::format("rnicsim: the inside of the twin before it: {}\n", inside);
  } else if (!has_window) {
    err << (foreign_ ? "rnicsim: `rnicsim rtl --inside` builds a library whose signals --lockstep-inside shows\n"
                     : "rnicsim: --lockstep-inside shows the signals of the twin, with --rtl too\n");
  }
  return kCheckFailed;
}

}  // namespace rnic::cli
