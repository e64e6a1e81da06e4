// Files of JSON: those that users write, and those that the program has written and reads back.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace rnic {

// The parsed contents of a JSON file. Throws ConfigError naming the file, and line and column of a syntax error.
nlohmann::json read_json_file(const std::string& file);
// `text` as JSON; discarded if it is none. Throws ConfigError with the origin where it is nested too deep to be walked.
nlohmann::json parse_json(const std::string& text, const std::string& origin);

// The expected form of a value, for those who read it back. It is written as JSON:
//
//     {"name!": "text", "share": "number?", "codes": ["0..255"], "pair": ["text", "any"], "*": "count"}
//
// "text", "flag", "number", "count" (a natural number) and "3..7" (one within bounds) are what they say, "any" is
// everything, "settings" an object of such objects and single values, "statistics" one of such objects and records:
// numbers with a "unit" and a "description". One with "?" may be null. A list with one element is of any length, others
// have as many. Of an object, members with "!" must be there, "*" is each that is not named; without it they are
// ignored.
class JsonShape {
 public:
  explicit JsonShape(const char* text);

  // A value within that is not as it should be.
  struct Mismatch {
    std::vector<std::string> path;  // keys, and "[3]"
    std::string reason;             // "must be text, not 5"
  };
  std::optional<Mismatch> mismatch(const nlohmann::ordered_json& value) const;

 private:
  const nlohmann::ordered_json shape_;
};

// What was read back: a value, and where in its file each part of it is.
class ReadBack {
 public:
  // A file as a whole. Throws ConfigError "file: line 3: results[0].name: must be text, not 5" for what has not the
  // shape, and for what is no JSON.
  ReadBack(const std::string& file, const JsonShape& shape);
  // A line of a file of lines. Nothing if it was cut off before the value's end, as a process leaves it that dies while
  // it writes.
  static std::optional<ReadBack> line(const std::string& file, std::size_t number, std::string text,
                                      const JsonShape& shape);

  nlohmann::ordered_json value;

  // ConfigError for a value that has the shape and still cannot be.
  [[noreturn]] void fail(const std::vector<std::string>& path, const std::string& reason) const;

 private:
  ReadBack(std::string file, std::size_t first_line, std::string text);
  bool parse();
  void check(const JsonShape& shape) const;
  std::size_t line_at(const char* place) const;
  std::size_t line_of(const std::vector<std::string>& path) const;

  std::string file_;
  std::size_t first_line_;
  std::string text_;
};

}  // namespace rnic
