// A value of a scenario file together with its path, for messages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace rnic {

// Access is checked: a value of another type or outside its bounds is a ConfigError "file: path: reason".
class ScenarioValue {
 public:
  ScenarioValue(const nlohmann::json& value, std::string path, const std::string& file)
      : value_(value), path_(std::move(path)), file_(file) {}

  [[noreturn]] void fail(const std::string& reason) const;
  [[noreturn]] void fail_unknown(const std::string& what, const std::string& word,
                                 const std::vector<std::string>& candidates) const;
  const nlohmann::json& json() const { return value_; }
  std::string written() const;  // as a message cites it

  // Objects. expect_keys() refuses every other key, and like expect_object() values that are not objects.
  void expect_object() const;
  void expect_keys(const std::vector<std::string>& keys) const;
  bool has(const char* key) const { return value_.contains(key); }
  ScenarioValue at(const char* key) const;  // a missing key is an error
  // Lists.
  std::vector<ScenarioValue> elements() const;
  bool is_list() const { return value_.is_array(); }
  bool is_object() const { return value_.is_object(); }
  bool is_string() const { return value_.is_string(); }

  std::uint64_t unsigned_in(std::uint64_t lo, std::uint64_t hi) const;
  std::uint64_t unsigned_or_hex(std::uint64_t most) const;  // 17, "17" or "0x11"
  std::int64_t integer() const;
  double number_in(double lo, double hi) const;
  bool boolean() const;
  std::string string() const;
  // The index of the word.
  std::size_t word_of(const std::vector<std::string>& words) const;

  // Members with a default.
  std::uint64_t get(const char* key, std::uint64_t fallback, std::uint64_t lo, std::uint64_t hi) const {
    return has(key) ? at(key).unsigned_in(lo, hi) : fallback;
  }
  std::string get(const char* key, std::string fallback) const {
    return has(key) ? at(key).string() : std::move(fallback);
  }

 private:
  const nlohmann::json& value_;
  std::string path_;
  const std::string& file_;
};

}  // namespace rnic
