#include "model/capture/report_list.h"

#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/capture/segment_columns.h"

namespace rnic::capture {
namespace {

using Line = fmt::memory_buffer;

template <class... Args>
void append(Line& line, fmt::format_string<Args...> form, Args&&... args) {
  fmt::format_to(std::back_inserter(line), form, std::forward<Args>(args)...);
}

// Seconds, as Wireshark shows them.
void append_time(Line& line, std::uint64_t ns, unsigned width) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const bool negative = static_cast<std::int64_t>(ns) < 0;
  const std::uint64_t size = negative ? -ns : ns;
  char text[32];
  const auto end = fmt::format_to(text, "{}{}.{:09}", negative ? "-" : "", size / kSecond, size % kSecond);
  append(line, "{:>{}}", std::string_view(text, static_cast<std::size_t>(end - text)), width);
}

void append_text(Line& line, const Column& column, const Cell& cell) {
  const auto* const number = std::get_if<std::uint64_t>(&cell);
  if (const auto* const text = std::get_if<std::string_view>(&cell)) append(line, "{:<{}}", *text, column.width);
  else if (number == nullptr && column.form == Form::kText) append(line, "{:<{}}", "-", column.width);
  else if (number == nullptr) append(line, "{:>{}}", "-", column.width);
  else if (column.form == Form::kTime) append_time(line, *number, column.width);
  else if (column.form == Form::kHex) append(line, "{:>#{}x}", *number, column.width);
  else append(line, "{:>{}}", *number, column.width);
}

// No text of a cell has a character that JSON escapes.
void append_json(Line& line, const Column& column, const Cell& cell) {
  append(line, "\"{}\":", column.name);
  const auto* const number = std::get_if<std::uint64_t>(&cell);
  if (const auto* const text = std::get_if<std::string_view>(&cell)) append(line, "\"{}\"", *text);
  else if (number == nullptr) append(line, "null");
  else if (column.form == Form::kTime) append_time(line, *number, 0);
  else append(line, "{}", *number);
}

void flush(Line& line, std::ostream& out) {
  out.write(line.data(), static_cast<std::streamsize>(line.size()));
  line.clear();
}

// Calls `segment` and `problem` for each, by frame; a frame's problems follow its segments.
template <class Segment, class Problem>
void print_all(const SegmentList& list, const UndecodedList& undecoded, std::ostream& out, Segment segment,
               Problem problem) {
  constexpr std::size_t kMost = 1 << 16;
  Line line;
  auto next = undecoded.begin();
  for (const ListedSegment& s : list.segments()) {
    for (; next != undecoded.end() && next->at.frame < s.at.frame; ++next) problem(line, *next);
    segment(line, s);
    if (line.size() >= kMost) flush(line, out);
  }
  for (; next != undecoded.end(); ++next) problem(line, *next);
  flush(line, out);
}

void print_head(const SegmentList& list, std::ostream& out) {
  std::uint64_t number = 0;
  for (const Conversation& c : list.conversations()) {
    ++number;
    if (!c.is_listed) continue;
    out << fmt::format("connection {}: {} > {}{}\n", number, c.initiator, c.responder, c.is_sctp ? ", SCTP" : "");
  }
  const char* between = "";
  for (const Column& column : segment_columns()) {
    if (column.width == 0) continue;
    out << std::exchange(between, " ");
    out << (column.form == Form::kText ? fmt::format("{:<{}}", column.name, column.width)
                                       : fmt::format("{:>{}}", column.name, column.width));
  }
  out << '\n';
}

}  // namespace

void print_list(const SegmentList& list, const UndecodedList& undecoded, std::ostream& out) {
  if (!list.segments().empty()) print_head(list, out);
  const unsigned width = segment_columns().begin()->width;
  print_all(
      list, undecoded, out,
      [&](Line& line, const ListedSegment& segment) {
        for (const Column& column : segment_columns()) {
          if (column.width == 0) continue;
          if (&column != segment_columns().begin()) line.push_back(' ');
          append_text(line, column, column.cell(list, segment));
        }
        line.push_back('\n');
      },
      [&](Line& line, const Undecoded& u) {
        append(line, "{:>{}} not decoded, offset {}: {}\n", u.at.frame, width, u.at.offset, u.reason);
      });
}

void print_json_list(const SegmentList& list, const UndecodedList& undecoded, std::ostream& out) {
  print_all(
      list, undecoded, out,
      [&](Line& line, const ListedSegment& segment) {
        char before = '{';
        for (const Column& column : segment_columns()) {
          line.push_back(std::exchange(before, ','));
          append_json(line, column, column.cell(list, segment));
        }
        append(line, "}}\n");
      },
      [](Line& line, const Undecoded& u) {
        append(line, "{{\"frame\":{},\"offset\":{},\"undecoded\":{}}}\n", u.at.frame, u.at.offset,
               nlohmann::json(u.reason).dump());
      });
}

}  // namespace rnic::capture
