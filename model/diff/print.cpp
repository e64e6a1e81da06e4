#include <algorithm>
#include <ostream>
#include <string_view>

#include <fmt/format.h>

#include "model/diff/compare.h"
#include "model/diff/sentence.h"

namespace rnic::diff {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostFigures = 12;

std::string or_nothing(const std::string& value) { return value.empty() ? "-" : value; }

void print_settings(const Comparison& c, std::ostream& out) {
  if (c.settings.empty()) return;
  out << "\nsettings:\n";
  std::size_t name = 0, a = 0;
  for (const Setting& s : c.settings) {
    name = std::max(name, s.name.size());
    a = std::max(a, or_nothing(s.a).size());
  }
  for (const Setting& s : c.settings) {
    out << fmt::format("  {:<{}}  A {:<{}}  B {}", s.name, name, or_nothing(s.a), a, or_nothing(s.b));
    if (!s.nodes.empty()) out << fmt::format("  ({})", fmt::join(s.nodes, ", "));
    out << '\n';
  }
}

// Without what the heading says: the request, or the place.
std::string cell(const std::optional<Told>& told, bool is_of_request) {
  if (!told) return "-";
  std::string text = fmt::format("{}.{:06}  {}", told->ps / 1'000'000, told->ps % 1'000'000, told->kind);
  if (is_of_request) text += fmt::format(" at {} of {}", told->place, told->node);
  else if (!told->request.empty()) text += " of " + told->request;
  if (told->offset) text += fmt::format(", from octet {} on", *told->offset);
  if (told->bytes) text += fmt::format(", {} octets", *told->bytes);
  if (!told->words.empty()) text += ", " + told->words;
  return text;
}

void print_beside(const std::string& head, const std::vector<Beside>& rows, bool is_of_request, std::ostream& out) {
  if (rows.empty()) return;
  std::size_t width = 1;
  for (const Beside& row : rows) width = std::max(width, cell(row.a, is_of_request).size());
  out << fmt::format("\n{}\n  {:<{}}    B\n", head, "A", width);
  for (const Beside& row : rows) {
    out << fmt::format("{} {:<{}}  | {}\n", row.is_difference ? '>' : ' ', cell(row.a, is_of_request), width,
                       cell(row.b, is_of_request));
  }
}

void print_around(const Comparison& c, std::ostream& out) {
  if (!c.first) return;
  const Told& told = c.first->a ? *c.first->a : *c.first->b;
  const std::string owner = told.request.empty() ? fmt::format("no request, on {}", told.node) : told.request;
  print_beside(fmt::format("of {}, in us:", owner), c.around.of_request, true, out);
  print_beside(fmt::format("at {} of {}, in us:", told.place, told.node), c.around.of_place, false, out);
}

std::string shown(const ordered_json& value) {
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.is_null() ? "-" : value.is_string() ? or_nothing(value.get<std::string>()) : value.dump();
}

void print_figures(const char* head, const std::vector<Figure>& figures, std::ostream& out) {
  if (figures.empty()) return;
  out << fmt::format("\n{}:\n", head);
  const auto last = figures.begin() + static_cast<std::ptrdiff_t>(std::min(figures.size(), kMostFigures));
  std::size_t name = 0;
  for (auto f = figures.begin(); f != last; ++f) name = std::max(name, f->name.size());
  for (auto f = figures.begin(); f != last; ++f) {
    out << fmt::format("  {:<{}}  A {}  B {}", f->name, name, shown(f->a), shown(f->b));
    if (!f->unit.empty()) out << ' ' << f->unit;
    if (f->change) out << fmt::format(" ({:+.1f} %)", 100 * *f->change);
    out << '\n';
  }
  if (last != figures.end()) out << fmt::format("  and {} more; --json has them\n", figures.end() - last);
}

const char* also_text(std::string_view what) {
  if (what == "order") return "the order differs from";
  return what == "time" ? "times differ from" : "what happened differs from";
}

ordered_json told_json(const std::optional<Told>& told) {
  if (!told) return nullptr;
  ordered_json j{{"ps", told->ps}, {"node", told->node}, {"place", told->place}, {"kind", told->kind}};
  if (!told->request.empty()) j["request"] = told->request;
  if (told->offset) j["offset"] = *told->offset;
  if (told->bytes) j["bytes"] = *told->bytes;
  if (!told->receive.empty()) j["receive"] = told->receive;
  if (!told->words.empty()) j["words"] = told->words;
  return j;
}

ordered_json first_json(const Comparison::First& first) {
  return {{"what", first.what},
          {"ps", first.ps},
          {"text", first.text},
          {"a", told_json(first.a)},
          {"b", told_json(first.b)}};
}

ordered_json beside_json(const std::vector<Beside>& rows) {
  ordered_json list = ordered_json::array();
  for (const Beside& row : rows) {
    list.push_back({{"a", told_json(row.a)}, {"b", told_json(row.b)}, {"is_difference", row.is_difference}});
  }
  return list;
}

ordered_json figures_json(const std::vector<Figure>& figures) {
  ordered_json list = ordered_json::array();
  for (const Figure& f : figures) {
    list.push_back({{"name", f.name}, {"unit", f.unit}, {"a", f.a}, {"b", f.b}});
    list.back()["change"] = f.change ? ordered_json(*f.change) : ordered_json();
  }
  return list;
}

}  // namespace

void print(const Comparison& c, std::ostream& out) {
  out << c.head << '\n';
  if (c.is_equal) return;
  for (const Comparison::First& other : c.also) {
    out << fmt::format("{} {}: {}\n", also_text(other.what), microseconds(other.ps), other.text);
  }
  if (c.only_a + c.only_b != 0) {
    out << fmt::format("requests that only one run has: {} in A, {} in B\n", c.only_a, c.only_b);
  }
  for (const std::string& note : c.notes) out << note << '\n';
  print_settings(c, out);
  print_around(c, out);
  print_figures("results", c.results, out);
  print_figures("median request", c.parts, out);
  print_figures("counters, the largest relative change first", c.counters, out);
}

ordered_json to_json(const Comparison& c) {
  ordered_json settings = ordered_json::array();
  for (const Setting& s : c.settings) {
    settings.push_back({{"name", s.name}, {"a", s.a}, {"b", s.b}, {"nodes", s.nodes}});
  }
  ordered_json also = ordered_json::array();
  for (const Comparison::First& other : c.also) also.push_back(first_json(other));
  return {{"a", c.a},
          {"b", c.b},
          {"equal", c.is_equal},
          {"text", c.head},
          {"settings", settings},
          {"first", c.first ? first_json(*c.first) : ordered_json()},
          {"also", also},
          {"of_request", beside_json(c.around.of_request)},
          {"at_place", beside_json(c.around.of_place)},
          {"requests_only", {{"a", c.only_a}, {"b", c.only_b}}},
          {"notes", c.notes},
          {"results", figures_json(c.results)},
          {"median_request", figures_json(c.parts)},
          {"counters", figures_json(c.counters)}};
}

}  // namespace rnic::diff
