// Reading the vectors' conventions: "*_hex" is a string of octets in transmission order, "0x…" strings and plain
// numbers are integer values. All throw std::exception, naming the key, when the value is not what it should be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/common/bytes.h"

namespace rnic::conformance {

std::vector<std::uint8_t> hex_field(const nlohmann::json& object, const std::string& key);
std::string to_hex(ByteSpan bytes);

std::uint64_t integer_field(const nlohmann::json& object, const std::string& key);
std::uint64_t integer_field(const nlohmann::json& object, const std::string& key, std::uint64_t if_absent);

// The same with the width of the wire field it is for: a value that does not fit is an error, not cut.
template <class T>
T field(const nlohmann::json& object, const std::string& key) {
  const std::uint64_t value = integer_field(object, key);
  if (value != static_cast<T>(value)) throw std::out_of_range(key + " does not fit its field");
  return static_cast<T>(value);
}
template <class T>
T field(const nlohmann::json& object, const std::string& key, T if_absent) {
  return object.contains(key) ? field<T>(object, key) : if_absent;
}
inline bool flag(const nlohmann::json& object, const std::string& key) { return integer_field(object, key) != 0; }
inline bool flag(const nlohmann::json& object, const std::string& key, bool if_absent) {
  return integer_field(object, key, if_absent) != 0;
}

}  // namespace rnic::conformance
