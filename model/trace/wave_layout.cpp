#include "model/trace/wave_layout.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>

namespace rnic {
namespace {

// Flags of a trace in GTKWave's save files.
constexpr unsigned kHex = 0x2, kDecimal = 0x4, kBinary = 0x8, kAscii = 0x800, kRight = 0x20, kBlank = 0x200,
                   kClosed = 0x400000, kGroupBegins = 0x800000, kGroupEnds = 0x1000000, kCollapsed = 0x1000;
constexpr std::uint64_t kWords = 0x100000000;

std::string part(const std::string& scope, unsigned parts) {
  std::size_t end = 0;
  for (unsigned n = 0; n < parts && end != std::string::npos; ++n) end = scope.find('.', end + (n != 0));
  return scope.substr(0, end);
}

bool is_state(const std::string& scope) {
  return scope.rfind("host_", 0) == 0 || scope.find(".state.") != std::string::npos;
}

// True for a link's pins and the kind, owner and length of its message.
bool says_much(const WaveVariable& v) {
  static const char* const kNames[] = {"valid", "ready", "credit", "flow",  "qpn", "bytes", "length",
                                       "last",  "seq",   "ack",    "owner", "clk", "event"};
  return v.words != nullptr ||
         std::any_of(std::begin(kNames), std::end(kNames), [&](const char* name) { return v.name == name; });
}

std::string with_extension(const std::string& file, const char* extension) {
  return std::filesystem::path(file).replace_extension(extension).string();
}

}  // namespace

WaveLayout::WaveLayout(const std::vector<LaidOut>& variables, std::uint64_t from_ps, std::uint64_t to_ps,
                       std::optional<std::uint64_t> marked_ps)
    : from_ps_(from_ps), to_ps_(to_ps), marked_ps_(marked_ps) {
  std::map<std::string, std::vector<const LaidOut*>> scopes;
  for (const LaidOut& v : variables) scopes[v.variable.scope].push_back(&v);
  const auto moves = [](const auto& scope) {
    return std::any_of(scope.second.begin(), scope.second.end(), [](const LaidOut* v) { return v->moves; });
  };
  const auto is_set = [](const auto& scope) {
    return std::any_of(scope.second.begin(), scope.second.end(), [](const LaidOut* v) { return v->is_set; });
  };
  for (const auto& scope : scopes) {
    if (is_state(scope.first) && (moves(scope) || is_set(scope))) add(scope.first, true, scope.second);
  }
  for (const auto& scope : scopes) {
    if (!is_state(scope.first) && moves(scope)) add(part(scope.first, 2), false, scope.second);
  }
}

void WaveLayout::add(const std::string& name, bool open, const std::vector<const LaidOut*>& variables) {
  if (groups_.empty() || groups_.back().name != name) groups_.push_back({name, open, {}});
  for (const LaidOut* v : variables) {
    if (open || says_much(v->variable)) groups_.back().variables.push_back(v->variable);
  }
}

std::string WaveLayout::gtkwave(const std::string& wave_file) const {
  const auto absolute = [](const std::string& file) {
    return std::filesystem::absolute(file).lexically_normal().string();
  };
  // GTKWave's zoom is the negative binary logarithm of the time of 200 pixels; waves take 750 of the window's 1400.
  constexpr double kPixels = 750, kPixelsPerFrame = 200;
  const double frame_ps = std::max(1.0, static_cast<double>(to_ps_ - from_ps_) / kPixels * kPixelsPerFrame);
  std::string text = fmt::format("[*] rnicsim\n[dumpfile] \"{}\"\n[savefile] \"{}\"\n[timestart] {}\n[size] 1400 900\n",
                                 absolute(wave_file), absolute(gtkwave_name(wave_file)), from_ps_);
  text += fmt::format("*{:.6f} {}", -std::log2(frame_ps), marked_ps_ ? std::to_string(*marked_ps_) : "-1");
  // The first of 26 markers that stay where they are.
  text += fmt::format(" {}", marked_ps_ ? std::to_string(*marked_ps_) : "-1");
  for (unsigned marker = 1; marker < 26; ++marker) text += " -1";
  text += "\n[sst_width] 250\n[signals_width] 400\n";
  for (const Group& group : groups_) {
    const unsigned closed = group.open ? 0 : kClosed;
    text += fmt::format("@{:x}\n-{}\n", kGroupBegins | kBlank | closed, group.name);
    for (const WaveVariable& v : group.variables) {
      const std::uint64_t radix = v.is_text            ? kAscii
                                  : v.words != nullptr ? kWords | kBinary
                                  : v.width == 1       ? kBinary
                                  : v.unit.empty()     ? kHex
                                                       : kDecimal;
      text += fmt::format("@{:x}\n{}.{}{}\n", radix | kRight, v.scope, v.name,
                          v.width == 1 || v.is_text ? "" : fmt::format("[{}:0]", v.width - 1));
    }
    text += fmt::format("@{:x}\n-{}\n", kGroupEnds | kBlank | (group.open ? 0 : kClosed | kCollapsed), group.name);
  }
  return text;
}

std::string WaveLayout::surfer() const {
  std::string text;
  for (const Group& group : groups_) {
    text += "divider_add " + group.name + '\n';
    for (const WaveVariable& v : group.variables) text += "variable_add " + v.scope + '.' + v.name + '\n';
  }
  if (marked_ps_) text += fmt::format("cursor_set {}\nmarker_set trigger\n", *marked_ps_);
  return text + "zoom_fit\n";
}

std::string WaveLayout::gtkwave_name(const std::string& wave_file) { return with_extension(wave_file, ".gtkw"); }
std::string WaveLayout::surfer_name(const std::string& wave_file) { return with_extension(wave_file, ".sucl"); }

}  // namespace rnic
