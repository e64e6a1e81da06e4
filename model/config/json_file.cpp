#include "model/config/json_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/common/cited.h"

namespace rnic {
namespace {

using nlohmann::ordered_json;
using Path = std::vector<std::string>;

// Limits the depth: walking through the value uses the stack.
auto depth_check(const std::string& origin) {
  return [&origin](int depth, nlohmann::json::parse_event_t event, const auto&) {
    static constexpr int kDeepest = 64;
    using Event = nlohmann::json::parse_event_t;
    const bool opens = event == Event::object_start || event == Event::array_start;
    if (opens && depth >= kDeepest) throw ConfigError(fmt::format("{}: nested more than {} deep", origin, kDeepest));
    return true;
  };
}

std::ifstream opened(const std::string& file) {
  if (std::error_code none; std::filesystem::is_directory(file, none))
    throw ConfigError(fmt::format("{}: is a folder", file));
  std::ifstream in(file, std::ios::binary);
  if (!in) throw ConfigError(fmt::format("{}: cannot be read", file));
  return in;
}

// The library's message without its tag.
std::string_view reason_of(const nlohmann::json::exception& error) {
  const std::string_view what = error.what();
  const std::size_t text = what.find("] ");
  return what.substr(text == std::string_view::npos ? 0 : text + 2);
}

std::string index_text(std::size_t i) { return fmt::format("[{}]", i); }

// "results[0].name"
std::string path_text(const Path& path) {
  std::string text;
  for (const std::string& step : path) text += (text.empty() || step[0] == '[' ? "" : ".") + step;
  return cited(text);
}

[[noreturn]] void refuse(const std::string& what, const ordered_json& value) {
  throw JsonShape::Mismatch{{},
                            fmt::format("must be {}, not {}", what,
                                        cited(value.dump(-1, ' ', false, ordered_json::error_handler_t::replace), 60))};
}

bool is_count(const ordered_json& value) { return value.is_number_unsigned(); }
bool is_single(const ordered_json& value) { return value.is_primitive() && !value.is_null(); }

// Prepends the step to the path of a mismatch that `check` throws.
template <class Check>
void below(const std::string& step, Check check) try {
  check();
} catch (JsonShape::Mismatch& mismatch) {
  mismatch.path.insert(mismatch.path.begin(), step);
  throw;
}

void check_settings(const ordered_json& value) {
  if (!value.is_object()) refuse("an object of settings", value);
  for (const auto& [name, element] : value.items()) {
    below(name, [&e = element] {
      if (!is_single(e)) check_settings(e);
    });
  }
}

// A registry record has its unit; a group has none.
void check_statistics(const ordered_json& value) {
  if (!value.is_object()) refuse("an object of statistics", value);
  const auto is_text = [&value](const char* name) { return value.contains(name) && !value[name].is_object(); };
  const bool is_record = is_text("unit") || is_text("description");
  for (const auto& [name, element] : value.items()) {
    below(name, [&, &n = name, &e = element] {
      if (!is_record) return check_statistics(e);
      const bool is_word = n == "unit" || n == "description";
      if (is_word && !e.is_string()) refuse("text", e);
      if (!is_word && !e.is_number() && !e.is_null()) refuse("a number", e);
    });
  }
}

void check_kind(std::string_view kind, const ordered_json& value) {
  if (kind.back() == '?') {
    if (value.is_null()) return;
    kind.remove_suffix(1);
  }
  if (kind == "any") return;
  if (kind == "settings") return check_settings(value);
  if (kind == "statistics") return check_statistics(value);
  if (kind == "text") {
    if (!value.is_string()) refuse("text", value);
  } else if (kind == "flag") {
    if (!value.is_boolean()) refuse("true or false", value);
  } else if (kind == "number") {
    if (!value.is_number()) refuse("a number", value);
  } else if (kind == "count") {
    if (!is_count(value)) refuse("a natural number", value);
  } else {
    const std::size_t dots = kind.find("..");
    RNIC_CHECK_MSG(dots != std::string_view::npos, std::string(kind));
    std::uint64_t least = 0, most = 0;
    std::from_chars(kind.data(), kind.data() + dots, least);
    std::from_chars(kind.data() + dots + 2, kind.data() + kind.size(), most);
    const bool fits = is_count(value) && value.get<std::uint64_t>() >= least && value.get<std::uint64_t>() <= most;
    if (!fits) refuse(fmt::format("an integer from {} to {}", least, most), value);
  }
}

void check_shape(const ordered_json& shape, const ordered_json& value);

void check_object(const ordered_json& shape, const ordered_json& value) {
  if (!value.is_object()) refuse("an object", value);
  const ordered_json* others = nullptr;
  for (const auto& [key, of_member] : shape.items()) {
    const bool needed = key.back() == '!';
    const std::string name = needed ? key.substr(0, key.size() - 1) : key;
    if (name == "*") others = &of_member;
    else if (const auto member = value.find(name); member != value.end())
      below(name, [&, &s = of_member] { check_shape(s, *member); });
    else if (needed) throw JsonShape::Mismatch{{}, fmt::format("needs '{}'", name)};
  }
  if (others == nullptr) return;
  for (const auto& [name, member] : value.items()) {
    if (shape.contains(name) || shape.contains(name + '!')) continue;
    below(name, [&, &m = member] { check_shape(*others, m); });
  }
}

void check_list(const ordered_json& shape, const ordered_json& value) {
  if (!value.is_array()) refuse("a list", value);
  if (shape.size() > 1 && value.size() != shape.size()) refuse(fmt::format("a list of {}", shape.size()), value);
  for (std::size_t i = 0; i < value.size(); ++i) {
    below(index_text(i), [&] { check_shape(shape[shape.size() > 1 ? i : 0], value[i]); });
  }
}

void check_shape(const ordered_json& shape, const ordered_json& value) {
  if (shape.is_object()) check_object(shape, value);
  else if (shape.is_array()) check_list(shape, value);
  else check_kind(shape.get_ref<const std::string&>(), value);
}

// The characters of a text; records which one was read last.
struct Reader {
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  reference operator*() const { return *(*last = at); }
  Reader& operator++() {
    ++at;
    return *this;
  }
  Reader operator++(int) {
    Reader before = *this;
    ++at;
    return before;
  }
  bool operator==(const Reader& o) const { return at == o.at; }
  bool operator!=(const Reader& o) const { return at != o.at; }

  const char* at;
  const char** last;
};

// Stops the parser at the beginning of the value with that path.
class Finder final : public nlohmann::json_sax<ordered_json> {
 public:
  explicit Finder(const Path& wanted) : wanted_(wanted) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return begin(false); }
  bool start_array(std::size_t) override { return begin(true); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(string_t& name) override {
    open_.back().step = name;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  struct Open {
    bool is_list;
    std::size_t next;  // element of a list
    std::string step;  // key
  };
  bool value() {
    if (!open_.empty() && open_.back().is_list) open_.back().step = index_text(open_.back().next++);
    const auto same = [](const Open& open, const std::string& step) { return open.step == step; };
    return !std::equal(open_.begin(), open_.end(), wanted_.begin(), wanted_.end(), same);
  }
  bool begin(bool is_list) {
    const bool goes_on = value();
    open_.push_back({is_list, 0, ""});
    return goes_on;
  }
  bool end() {
    open_.pop_back();
    return true;
  }

  const Path& wanted_;
  std::vector<Open> open_;
};

template <class Source>
nlohmann::json read_json(Source&& source, const std::string& origin) try {
  return nlohmann::json::parse(source, depth_check(origin));
} catch (const nlohmann::json::exception& e) {  // a number beyond double is not a parse_error
  throw ConfigError(fmt::format("{}: {}", origin, cited(reason_of(e), 1000)));
}

}  // namespace

nlohmann::json read_json_file(const std::string& file) { return read_json(opened(file), file); }

nlohmann::json read_json_text(const std::string& text, const std::string& origin) { return read_json(text, origin); }

nlohmann::json parse_json(const std::string& text, const std::string& origin) {
  return nlohmann::json::parse(text, depth_check(origin), false);
}

JsonShape::JsonShape(const char* text) : shape_(ordered_json::parse(text)) {}

std::optional<JsonShape::Mismatch> JsonShape::mismatch(const ordered_json& value) const try {
  check_shape(shape_, value);
  return std::nullopt;
} catch (const Mismatch& mismatch) {
  return mismatch;
}

ReadBack::ReadBack(std::string file, std::size_t first_line, std::string text)
    : file_(std::move(file)), first_line_(first_line), text_(std::move(text)) {}

ReadBack::ReadBack(const std::string& file, const JsonShape& shape) : ReadBack(file, 1, "") {
  std::ifstream in = opened(file);
  text_.assign(std::istreambuf_iterator<char>(in), {});
  if (!parse())
    throw ConfigError(fmt::format("{}: line {}: ends too early", file_, line_at(text_.data() + text_.size())));
  check(shape);
}

std::optional<ReadBack> ReadBack::line(const std::string& file, std::size_t number, std::string text,
                                       const JsonShape& shape) {
  ReadBack read(file, number, std::move(text));
  if (!read.parse()) return std::nullopt;
  read.check(shape);
  return read;
}

// False if the text ends before the value does.
bool ReadBack::parse() {
  const char* const begin = text_.data();
  const char* const end = begin + text_.size();
  const char* last = begin;
  try {
    value = ordered_json::parse(Reader{begin, &last}, Reader{end, &last}, depth_check(file_));
    return true;
  } catch (const ordered_json::parse_error& error) {
    if (error.byte > text_.size()) return false;
    const std::string_view reason = reason_of(error);
    const std::size_t place = reason.find(": ");  // the library counts only the lines of this text
    throw ConfigError(fmt::format("{}: line {}: {}", file_, line_at(last),
                                  cited(reason.substr(place == std::string_view::npos ? 0 : place + 2), 1000)));
  } catch (const ordered_json::exception& error) {
    throw ConfigError(fmt::format("{}: line {}: {}", file_, line_at(last), cited(reason_of(error), 1000)));
  }
}

void ReadBack::check(const JsonShape& shape) const {
  if (const auto mismatch = shape.mismatch(value)) fail(mismatch->path, mismatch->reason);
}

void ReadBack::fail(const Path& path, const std::string& reason) const {
  const std::string where = path.empty() ? "" : path_text(path) + ": ";
  throw ConfigError(fmt::format("{}: line {}: {}{}", file_, line_of(path), where, reason));
}

std::size_t ReadBack::line_at(const char* place) const {
  return first_line_ + static_cast<std::size_t>(std::count(text_.data(), place, '\n'));
}

std::size_t ReadBack::line_of(const Path& path) const {
  const char* last = text_.data();
  Finder finder(path);
  ordered_json::sax_parse(Reader{text_.data(), &last}, Reader{text_.data() + text_.size(), &last}, &finder);
  return line_at(last);
}

}  // namespace rnic
