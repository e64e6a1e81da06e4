// Converts a setting as written to the field's type. All errors are ConfigErrors naming path, value and origin.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/config/overlay.h"

namespace rnic {

[[noreturn]] void fail_setting(const std::string& path, const Setting& setting, const std::string& reason);

bool bool_value(const std::string& path, const Setting& setting);
// Decimal, or hexadecimal with 0x if it is text. `max` is the largest value of the field's type.
std::uint64_t unsigned_value(const std::string& path, const Setting& setting, std::uint64_t max);
double double_value(const std::string& path, const Setting& setting);
std::string string_value(const std::string& path, const Setting& setting);
// The index of the written word.
std::size_t word_index(const std::string& path, const Setting& setting, const std::vector<std::string_view>& words);

}  // namespace rnic
