#include "model/common/request_id.h"

#include <algorithm>
#include <charconv>

namespace rnic {
namespace {

constexpr char kLetters[] = {0, 'r', 's', 'i', 'f', 'c', 'e', 'q'};  // of RequestId::Kind; a send queue has none

// Takes a number off the front.
bool take(std::string_view& text, std::uint64_t bits, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number >> bits != 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}
bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string RequestId::text(const std::vector<std::string>& nodes) const {
  if (v == 0) return {};
  std::string s = node() >= 1 && node() <= nodes.size() ? nodes[node() - 1] : std::to_string(node());
  s += '.';
  if (const char letter = kLetters[static_cast<unsigned>(kind())]) s += letter;
  s += std::to_string(queue());
  if (life() != 0) s += '#' + std::to_string(life());
  return s + '.' + std::to_string(sequence());
}

std::optional<RequestId> RequestId::parse(std::string_view text, const std::vector<std::string>& nodes) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto node = std::find(nodes.begin(), nodes.end(), text.substr(0, dot));
  if (node == nodes.end()) return std::nullopt;
  text.remove_prefix(dot + 1);
  unsigned kind = 0;
  for (unsigned k = 1; k < std::size(kLetters) && kind == 0; ++k) kind = take(text, kLetters[k]) ? k : 0;
  std::uint64_t queue = 0, life = 0, sequence = 0;
  if (!take(text, kQueueBits, queue)) return std::nullopt;
  if (take(text, '#') && !take(text, kLifeBits, life)) return std::nullopt;
  if (!take(text, '.') || !take(text, kSequenceBits, sequence) || !text.empty()) return std::nullopt;
  return RequestId(static_cast<std::uint32_t>(node - nodes.begin()) + 1, static_cast<Kind>(kind),
                   static_cast<std::uint32_t>(queue), static_cast<std::uint32_t>(life), sequence);
}

}  // namespace rnic
