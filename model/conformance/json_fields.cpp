#include "model/conformance/json_fields.h"

#include <stdexcept>

namespace rnic::conformance {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::uint64_t parse_integer(const std::string& key, const std::string& text) {
  std::size_t used = 0;
  const std::uint64_t value = text.empty() || text[0] == '-' ? 0 : std::stoull(text, &used, 0);
  if (used == 0 || used != text.size()) throw std::invalid_argument(key + " is no integer: \"" + text + "\"");
  return value;
}

}  // namespace

std::vector<std::uint8_t> hex_field(const nlohmann::json& object, const std::string& key) {
  const std::string text = object.at(key).get<std::string>();
  std::vector<std::uint8_t> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]), low = i + 1 < text.size() ? digit(text[i + 1]) : -1;
    if (high < 0 || low < 0) throw std::invalid_argument(key + " is no string of octets");
    bytes.push_back(static_cast<std::uint8_t>(high << 4 | low));
  }
  return bytes;
}

std::string to_hex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t octet : bytes) {
    text += kDigits[octet >> 4];
    text += kDigits[octet & 15];
  }
  return text;
}

std::uint64_t integer_field(const nlohmann::json& object, const std::string& key) {
  const nlohmann::json& value = object.at(key);
  if (value.is_string()) return parse_integer(key, value.get<std::string>());
  if (!value.is_number_integer() || value < 0) throw std::invalid_argument(key + " is no integer: " + value.dump());
  return value.get<std::uint64_t>();
}

std::uint64_t integer_field(const nlohmann::json& object, const std::string& key, std::uint64_t if_absent) {
  return object.contains(key) ? integer_field(object, key) : if_absent;
}

}  // namespace rnic::conformance
