#include "model/diff/events.h"

#include <cstring>

namespace rnic::diff {

std::uint64_t hash(std::string_view text) {
  std::uint64_t chain = text.size();
  for (; text.size() >= sizeof chain; text.remove_prefix(sizeof chain)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    chain = mix(chain, word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, text.data(), text.size());
  return mix(chain, rest);
}

std::uint32_t Vocabulary::source(const std::string& node, const std::string& place, const std::string& kind,
                                 unsigned run) {
  const auto [known, is_new] = numbers_.try_emplace({node, place, kind}, static_cast<std::uint32_t>(sources_.size()));
  if (is_new) {
    const auto station =
        stations_.try_emplace({node, place}, static_cast<std::uint32_t>(stations_.size())).first->second;
    sources_.push_back({node, place, kind, station, {false, false}, false});
  }
  sources_[known->second].in[run] = true;
  return known->second;
}

}  // namespace rnic::diff
