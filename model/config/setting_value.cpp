#include "model/config/setting_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/common/check.h"
#include "model/common/cited.h"

namespace rnic {
namespace {

// The whole text as a number, or nothing.
template <class N, class... Base>
std::optional<N> parse_number(std::string_view text, Base... base) {
  N number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base...);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  const bool hex = text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X";
  return hex ? parse_number<std::uint64_t>(text.substr(2), 16) : parse_number<std::uint64_t>(text, 10);
}

std::string_view text_of(const Setting& setting) { return setting.value.get_ref<const std::string&>(); }

}  // namespace

void fail_setting(const std::string& path, const Setting& setting, const std::string& reason) {
  const std::string written = setting.is_text ? std::string(text_of(setting)) : setting.value.dump();
  throw ConfigError(fmt::format("{} = {} ({}): {}", cited(path), cited(written), setting.origin, reason));
}

bool bool_value(const std::string& path, const Setting& setting) {
  if (setting.is_text) {
    if (text_of(setting) == "true") return true;
    if (text_of(setting) == "false") return false;
  } else if (setting.value.is_boolean()) {
    return setting.value.get<bool>();
  }
  fail_setting(path, setting, "expected true or false");
}

std::uint64_t unsigned_value(const std::string& path, const Setting& setting, std::uint64_t max) {
  std::optional<std::uint64_t> number;
  if (setting.is_text) {
    number = parse_unsigned(text_of(setting));
  } else if (setting.value.is_number_unsigned() || (setting.value.is_number_integer() && setting.value >= 0)) {
    number = setting.value.get<std::uint64_t>();
  }
  if (!number) fail_setting(path, setting, "expected an unsigned integer");
  if (*number > max) fail_setting(path, setting, fmt::format("must not exceed {}", max));
  return *number;
}

double double_value(const std::string& path, const Setting& setting) {
  std::optional<double> number;
  if (setting.is_text) {
    number = parse_number<double>(text_of(setting));
  } else if (setting.value.is_number()) {
    number = setting.value.get<double>();
  }
  if (!number || !std::isfinite(*number)) fail_setting(path, setting, "expected a number");
  return *number;
}

std::string string_value(const std::string& path, const Setting& setting) {
  if (!setting.is_text && !setting.value.is_string()) fail_setting(path, setting, "expected a string");
  return std::string(text_of(setting));
}

std::size_t word_index(const std::string& path, const Setting& setting, const std::vector<std::string_view>& words) {
  const auto it = std::find(words.begin(), words.end(), string_value(path, setting));
  if (it == words.end()) fail_setting(path, setting, fmt::format("expected one of {}", fmt::join(words, ", ")));
  return static_cast<std::size_t>(it - words.begin());
}

}  // namespace rnic
