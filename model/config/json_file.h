// JSON files: those that users write, and those that the program has written and reads back.
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
// The same of a text that has a name.
nlohmann::json read_json_text(const std::string& text, const std::string& origin);
// `text` as JSON; a discarded value if it is not JSON. ConfigError, naming the origin, if it is nested too deeply.
nlohmann::json parse_json(const std::string& text, const std::string& origin);

// The expected form of a value that is read back, written as JSON:
//
//     {"name!": "text", "share": "number?", "codes": ["0..255"], "pair": ["text", "any"], "*": "count"}
//
// "text", "flag", "number", "count" (a natural number) and "3..7" (one within bounds) are what they say; "any" is
// everything. "settings" is an object of such objects and single values. "statistics" is an object of such objects and
// records: numbers with a "unit" and a "description". A value with "?" may be null. A list with one element may have
// any length; other lists have a fixed length. In an object, a member with "!" is required, and "*" stands for every
// member that is not named; without "*" these are ignored.
class JsonShape {
 public:
  explicit JsonShape(const char* text);

  // A value inside that does not match.
  struct Mismatch {
    std::vector<std::string> path;  // keys, and "[3]"
    std::string reason;             // "must be text, not 5"
  };
  std::optional<Mismatch> mismatch(const nlohmann::ordered_json& value) const;

 private:
  const nlohmann::ordered_json shape_;
};

// A value that was read back, with the place of each part in its file.
class ReadBack {
 public:
  // A whole file. Throws ConfigError "file: line 3: results[0].name: must be text, not 5" if the shape does not match,
  // and if the file is not JSON.
  ReadBack(const std::string& file, const JsonShape& shape);
  // A line of a file. Nothing if it was cut off before the value's end, as by a process that died while writing.
  static std::optional<ReadBack> line(const std::string& file, std::size_t number, std::string text,
                                      const JsonShape& shape);

  nlohmann::ordered_json value;

  // ConfigError for a value that has the shape and is still impossible.
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
