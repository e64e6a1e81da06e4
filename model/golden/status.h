// Errors of the C interface.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rnic::golden {

// A result below RNIC_OK, with its sentence.
class Error : public std::runtime_error {
 public:
  Error(std::int32_t status, const std::string& text) : std::runtime_error(text), status_(status) {}
  std::int32_t status() const { return status_; }

 private:
  std::int32_t status_;
};

[[noreturn]] void fail_width(std::string_view message, std::string_view member, std::uint64_t value, unsigned width);
[[noreturn]] void fail_word(std::string_view message, std::string_view member, std::uint64_t value);
[[noreturn]] void fail_null(std::string_view message, std::string_view member);
[[noreturn]] void fail_room(std::string_view message);
[[noreturn]] void fail_index(std::string_view table, std::uint64_t index, std::uint64_t rows);
[[noreturn]] void fail_value(const std::string& text);

}  // namespace rnic::golden
