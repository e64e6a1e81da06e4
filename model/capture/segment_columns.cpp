#include "model/capture/segment_columns.h"

#include <iterator>

#include "model/capture/segment_list.h"

namespace rnic::capture {
namespace {

using wire::Opcode;

constexpr std::string_view kCrcResults[] = {"right", "wrong", "off", "missing"};
constexpr unsigned kOpcodes = 16;  // of four bits

struct OpcodeNames {
  std::string_view name[kOpcodes];
  constexpr OpcodeNames() : name{} {
    constexpr std::string_view kUnassigned[] = {"opcode 12", "opcode 13", "opcode 14", "opcode 15"};
    for (unsigned i = 0; i < kOpcodes; ++i) {
      const auto op = static_cast<Opcode>(i);
      name[i] = wire::is_assigned(op) ? wire::to_string(op) : kUnassigned[i - (kOpcodes - std::size(kUnassigned))];
    }
  }
};
constexpr OpcodeNames kOpcodeNames;

// Of a header: `pick` says which field, and whether the segment has it.
template <class Pick>
Cell of_header(const ListedSegment& segment, Pick pick) {
  return segment.header ? pick(*segment.header) : Cell();
}
template <class Number>
Cell untagged(const ListedSegment& segment, Number SegmentHeader::*field) {
  return of_header(segment, [=](const SegmentHeader& h) { return h.tagged ? Cell() : Cell(std::uint64_t{h.*field}); });
}
const Conversation& conversation(const SegmentList& list, const ListedSegment& segment) {
  return list.conversations()[segment.conversation];
}
template <class Number>
Cell optional(const std::optional<Number>& number) {
  return number ? Cell(std::uint64_t{*number}) : Cell();
}

using List = SegmentList;
using Seen = ListedSegment;

Cell frame(const List&, const Seen& s) { return s.at.frame; }
Cell time(const List& list, const Seen& s) { return s.at.time_ns - list.first_time_ns(); }
Cell epoch_ns(const List&, const Seen& s) { return s.at.time_ns; }
Cell connection(const List&, const Seen& s) { return std::uint64_t{s.conversation} + 1; }
Cell src(const List& list, const Seen& s) {
  const Conversation& c = conversation(list, s);
  return std::string_view(s.side == Side::kInitiator ? c.initiator : c.responder);
}
Cell dst(const List& list, const Seen& s) {
  const Conversation& c = conversation(list, s);
  return std::string_view(s.side == Side::kInitiator ? c.responder : c.initiator);
}
Cell side(const List&, const Seen& s) { return to_string(s.side); }
Cell stream(const List&, const Seen& s) { return optional(s.stream); }
Cell opcode(const List&, const Seen& s) {
  return of_header(s,
                   [](const SegmentHeader& h) { return Cell(kOpcodeNames.name[static_cast<std::size_t>(h.opcode)]); });
}
Cell last(const List&, const Seen& s) {
  return of_header(s, [](const SegmentHeader& h) { return Cell(std::uint64_t{h.last}); });
}
Cell qn(const List&, const Seen& s) { return untagged(s, &SegmentHeader::qn); }
Cell msn(const List&, const Seen& s) { return untagged(s, &SegmentHeader::msn); }
Cell mo(const List&, const Seen& s) { return untagged(s, &SegmentHeader::mo); }
// Also the one that an untagged message invalidates.
Cell stag(const List&, const Seen& s) {
  return of_header(s, [](const SegmentHeader& h) {
    return h.tagged || wire::invalidates(h.opcode) ? Cell(std::uint64_t{h.stag}) : Cell();
  });
}
Cell to(const List&, const Seen& s) {
  return of_header(s, [](const SegmentHeader& h) { return h.tagged ? Cell(h.to) : Cell(); });
}
Cell length(const List&, const Seen& s) { return std::uint64_t{s.payload_bytes}; }
Cell crc(const List&, const Seen& s) { return s.crc ? Cell(kCrcResults[static_cast<std::size_t>(*s.crc)]) : Cell(); }
Cell markers(const List&, const Seen& s) { return optional(s.markers); }
Cell first_frame(const List&, const Seen& s) { return s.first_frame; }

constexpr Column plain(std::string_view name, Form form, unsigned width, decltype(Column::cell) cell) {
  return {name, form, width, nullptr, nullptr, cell};
}
template <std::size_t N>
constexpr Column one_of(const std::string_view (&values)[N], std::string_view name, unsigned width,
                        decltype(Column::cell) cell) {
  return {name, Form::kText, width, values, values + N, cell};
}

// Each width is that of the longest value, for the table to look the same for any capture.
constexpr Column kColumns[] = {
    plain("frame", Form::kNumber, 8, frame),
    plain("time", Form::kTime, 15, time),
    plain("epoch_ns", Form::kNumber, 0, epoch_ns),
    plain("connection", Form::kNumber, 10, connection),
    plain("src", Form::kText, 0, src),
    plain("dst", Form::kText, 0, dst),
    one_of(kSideNames, "side", 9, side),
    plain("stream", Form::kNumber, 6, stream),
    one_of(kOpcodeNames.name, "opcode", 27, opcode),
    plain("last", Form::kNumber, 4, last),
    plain("qn", Form::kNumber, 2, qn),
    plain("msn", Form::kNumber, 10, msn),
    plain("mo", Form::kNumber, 10, mo),
    plain("stag", Form::kHex, 10, stag),
    plain("to", Form::kHex, 18, to),
    plain("length", Form::kNumber, 6, length),
    one_of(kCrcResults, "crc", 7, crc),
    plain("markers", Form::kNumber, 7, markers),
    plain("first_frame", Form::kNumber, 0, first_frame),
};

}  // namespace

Columns segment_columns() { return {std::begin(kColumns), std::end(kColumns)}; }

}  // namespace rnic::capture
