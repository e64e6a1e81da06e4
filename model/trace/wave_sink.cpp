#include "model/trace/wave_sink.h"

#include <algorithm>

#include "model/common/check.h"
#include "model/trace/fst_sink.h"
#include "model/trace/vcd_sink.h"

namespace rnic {
namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    parts.emplace_back(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  }
  return parts;
}

}  // namespace

std::unique_ptr<WaveSink> open_wave_sink(const std::string& file) {
  if (ends_with(file, ".fst")) return std::make_unique<FstSink>(file);
  if (ends_with(file, ".vcd")) return std::make_unique<VcdSink>(file);
  throw ConfigError(file + ": a waveform file ends in .fst or .vcd");
}

ScopeStep scope_step(std::string_view from, std::string_view to) {
  const std::vector<std::string> old_parts = split(from), new_parts = split(to);
  const auto [old_rest, new_rest] =
      std::mismatch(old_parts.begin(), old_parts.end(), new_parts.begin(), new_parts.end());
  return {static_cast<unsigned>(old_parts.end() - old_rest), {new_rest, new_parts.end()}};
}

}  // namespace rnic
