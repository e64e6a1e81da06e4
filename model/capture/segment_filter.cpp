#include "model/capture/segment_filter.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/common/cited.h"
#include "model/config/nearest.h"

namespace rnic::capture {
namespace {

constexpr std::string_view kNone = "-";
constexpr unsigned kDecimals = 9;  // of a second

const Column& column_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Column& column : segment_columns()) {
    if (column.name == name) return column;
    names.emplace_back(column.name);
  }
  throw ConfigError(
      fmt::format("--filter: unknown key '{}'; the nearest is '{}'", cited(name), nearest(std::string(name), names)));
}

std::optional<std::uint64_t> whole_number(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// Decimal, or hexadecimal with 0x.
std::optional<std::uint64_t> number_of(std::string_view text) {
  const bool hex = text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X";
  return hex ? whole_number(text.substr(2), 16) : whole_number(text, 10);
}

// Seconds with up to nine decimals, as nanoseconds.
std::optional<std::uint64_t> time_of(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const std::size_t dot = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, dot));
  const std::string_view fraction = text.substr(std::min(dot + 1, text.size()));
  if (fraction.size() > kDecimals) return std::nullopt;
  digits.append(fraction).append(kDecimals - fraction.size(), '0');
  const auto nanoseconds = whole_number(digits, 10);
  return nanoseconds && negative ? std::optional(-*nanoseconds) : nanoseconds;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// An opcode may be given by its number.
std::string text_of(const Column& column, const std::string& value) {
  if (column.first == nullptr || value == kNone) return value;
  const std::vector<std::string> all(column.first, column.last);
  for (const std::string& one : all) {
    if (same_letters(one, value)) return one;
  }
  const auto number = number_of(value);
  if (column.name == "opcode" && number && *number < all.size()) return all[*number];
  throw ConfigError(fmt::format("--filter: '{}={}' is no value of this key; the nearest is '{}'", column.name,
                                cited(value), nearest(value, all)));
}

}  // namespace

SegmentFilter::SegmentFilter(const std::vector<std::string>& terms) {
  for (const std::string& term : terms) add(term);
}

void SegmentFilter::add(const std::string& term) {
  const std::size_t equals = term.find('=');
  if (equals == std::string::npos) throw ConfigError(fmt::format("--filter: '{}' is not key=value", cited(term)));
  const Column& column = column_named(term.substr(0, equals));
  const std::string value = term.substr(equals + 1);
  auto at = std::find_if(terms_.begin(), terms_.end(), [&](const Term& t) { return t.column == &column; });
  if (at == terms_.end()) at = terms_.insert(at, Term{&column, {}, {}});
  if (column.form == Form::kText) {
    at->texts.push_back(text_of(column, value));
  } else if (value == kNone) {
    at->numbers.emplace_back();
  } else if (const auto number = column.form == Form::kTime ? time_of(value) : number_of(value)) {
    at->numbers.emplace_back(*number);
  } else {
    throw ConfigError(fmt::format("--filter: '{}' of '{}' is not a number", cited(value), column.name));
  }
}

bool SegmentFilter::Term::holds(const Cell& cell) const {
  if (column->form != Form::kText) return std::find(numbers.begin(), numbers.end(), cell) != numbers.end();
  const std::string_view* const text = std::get_if<std::string_view>(&cell);
  return std::find(texts.begin(), texts.end(), text == nullptr ? kNone : *text) != texts.end();
}

bool SegmentFilter::passes(const SegmentList& list, const ListedSegment& segment) const {
  return std::all_of(terms_.begin(), terms_.end(),
                     [&](const Term& term) { return term.holds(term.column->cell(list, segment)); });
}

}  // namespace rnic::capture
