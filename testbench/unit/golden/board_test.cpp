// Scoreboards of librnic_golden through its C interface. The device is a list of what it accepts and gives in which
// cycle, made by a reference that shares no arithmetic with the model.
#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>

#include "rnic_golden_messages.h"
#include "testbench/support/mpa_reference.h"

namespace rnic::test {
namespace {

using testing::HasSubstr;

struct CloseBoard {
  void operator()(rnic_board* board) const { rnic_board_close(board); }
};
using Board = std::unique_ptr<rnic_board, CloseBoard>;

Board open_board(const char* kind, const std::string& settings = "{}") {
  rnic_board* board = nullptr;
  EXPECT_EQ(rnic_board_open(RNIC_GOLDEN_ABI, kind, settings.c_str(), &board), RNIC_OK) << rnic_board_text(board);
  return Board(board);
}

// A message with its memory.
struct Message {
  std::variant<rnic_ulpdu, rnic_fpdu, rnic_segment, rnic_rx_consumed> fields;
  Bytes octets = {};
  std::vector<rnic_mark> marks = {};

  void* structure() {
    return std::visit(
        [this](auto& m) -> void* {
          m.size = sizeof m;
          if constexpr (!std::is_same_v<decltype(m), rnic_rx_consumed&>) {
            m.octets = octets.data();
            m.octets_n = static_cast<std::uint32_t>(octets.size());
          }
          if constexpr (std::is_same_v<decltype(m), rnic_fpdu&>) {
            m.marks = marks.data();
            m.marks_n = static_cast<std::uint32_t>(marks.size());
          }
          return &m;
        },
        fields);
  }
  rnic_fpdu& fpdu() { return std::get<rnic_fpdu>(fields); }
};

struct Event {
  std::uint64_t cycle;
  bool accepted;
  std::uint32_t port, flow;
  Message message;
};
using Events = std::vector<Event>;

// What goes into a stage with what has to come out for it.
struct Step {
  std::uint32_t flow;
  Message in;
  std::vector<std::pair<std::uint32_t, Message>> out;
};

rnic_fpdu plain_fpdu(std::uint32_t flow, bool crc) {
  rnic_fpdu m{};
  m.flow = flow;
  m.crc_on = crc;
  m.marker_ok = 1;
  return m;
}

// An FPDU on its way through all stages, as the reference has it.
struct Path {
  std::uint32_t flow;
  Bytes ulpdu, framed, marked, sealed, words;
  std::vector<rnic_mark> marks;
  std::uint64_t position;
  bool markers, crc;

  Path(std::uint32_t of, MpaReference& stream, Bytes octets)
      : flow(of), ulpdu(std::move(octets)), position(stream.pos), markers(stream.markers), crc(stream.crc) {
    MpaReference unmarked{false, false, 0}, unsealed{markers, false, position};
    framed = unmarked.fpdu(ulpdu);
    marked = unsealed.fpdu(ulpdu);
    sealed = stream.fpdu(ulpdu);
    for (std::size_t at = 0; at < sealed.size(); at += 4) {
      const std::uint8_t* const word = sealed.data() + at;
      if (markers && (position + at) % 512 == 0) {
        marks.push_back({static_cast<std::uint32_t>(words.size() / 4), {word[0], word[1], word[2], word[3]}});
      } else {
        words.insert(words.end(), word, word + 4);
      }
    }
  }
  rnic_fpdu received() const {
    rnic_fpdu m = plain_fpdu(flow, crc);
    m.qpn = 100 + flow;
    m.life = 3;
    return m;
  }
  Step step(const std::string& kind) const {
    rnic_ulpdu in{};
    in.flow = flow;
    in.markers = markers;
    in.crc = crc;
    in.position = static_cast<std::uint16_t>(position % 512);
    rnic_fpdu start = plain_fpdu(flow, crc);
    start.wants_markers = markers;
    start.position = in.position;
    const rnic_fpdu later = plain_fpdu(flow, crc);
    if (kind == "mpa_framer") return {flow, {in, ulpdu}, {{1, {start, framed}}}};
    if (kind == "marker_inserter") return {flow, {start, framed}, {{1, {later, marked}}}};
    if (kind == "crc_insert" || kind == "sctp_crc_insert") return {flow, {later, marked}, {{1, {later, sealed}}}};
    if (kind == "mpa_transmit") return {flow, {in, ulpdu}, {{1, {later, sealed}}}};
    rnic_fpdu judged = received();
    judged.crc_ok = 1;
    if (kind == "crc_check" || kind == "sctp_crc_check")
      return {flow, {received(), words, marks}, {{1, {judged, words, marks}}}};
    rnic_segment segment{};
    segment.offset = position;
    segment.flow = flow;
    segment.qpn = 100 + flow;
    segment.life = 3;
    segment.markers = markers;
    segment.crc = crc;
    rnic_rx_consumed consumed{};
    consumed.flow = flow;
    consumed.bytes = static_cast<std::uint32_t>(sealed.size());
    return {
        flow, {segment, sealed}, {{1, {kind == "mpa_receive" ? judged : received(), words, marks}}, {2, {consumed}}}};
  }
};

// Cycles from an acceptance to each outcome.
struct Device {
  unsigned pipeline = 4, most_extra = 0;
  unsigned slow_flow = 0;  // how much later those of odd flows come
};

// The calls of a run in their order. In each key what is accepted first is given first.
Events run_of(const char* kind, std::uint64_t seed, const Device& device, unsigned steps = 60) {
  constexpr std::uint32_t kFlows = 4;
  Prng rng(seed);
  std::vector<MpaReference> streams;
  for (std::uint32_t flow = 0; flow < kFlows; ++flow) streams.push_back({flow % 2 == 0, flow != 3, 0});
  Events events;
  std::uint64_t now = 10, last[3][kFlows] = {};
  const bool one_order = std::string(kind).compare(0, 5, "sctp_") == 0;
  for (unsigned i = 0; i < steps; ++i) {
    const auto flow = static_cast<std::uint32_t>(rng.next() % kFlows);
    Step step = Path(flow, streams[flow], random_bytes(rng, 1 + rng.next() % 700)).step(kind);
    now += rng.next() % 12;
    events.push_back({now, true, 0, flow, std::move(step.in)});
    for (auto& [port, message] : step.out) {
      std::uint64_t& before = last[port][one_order ? 0 : flow];
      before = std::max(before, now + device.pipeline + (flow % 2 != 0 ? device.slow_flow : 0) +
                                    (device.most_extra == 0 ? 0 : rng.next() % (device.most_extra + 1)));
      events.push_back({before, false, port, flow, std::move(message)});
    }
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.cycle < b.cycle; });
  return events;
}

std::int32_t tell(rnic_board* board, Event& e) {
  return e.accepted ? rnic_board_accepted(board, e.port, e.message.structure(), e.cycle)
                    : rnic_board_given(board, e.port, e.message.structure(), e.cycle);
}

// The board's verdict over a run: the first result that is none, and its text.
struct Verdict {
  std::int32_t status = RNIC_OK;
  std::string text, report;
};
Verdict judge(const char* kind, Events events, const std::string& settings = "{}") {
  const Board board = open_board(kind, settings);
  Verdict verdict;
  const auto note = [&](std::int32_t status) {
    if (verdict.status == RNIC_OK && status != RNIC_OK) verdict = {status, rnic_board_text(board.get()), ""};
  };
  for (Event& e : events) note(tell(board.get(), e));
  note(rnic_board_end(board.get(), events.empty() ? 0 : events.back().cycle));
  verdict.report = rnic_board_report(board.get());
  return verdict;
}

// The n-th of what a port gives.
Event& given(Events& events, std::size_t n, std::uint32_t port = 1) {
  for (Event& e : events) {
    if (!e.accepted && e.port == port && n-- == 0) return e;
  }
  throw std::logic_error("so many are not given");
}
std::size_t index_of(const Events& events, const Event& e) { return static_cast<std::size_t>(&e - events.data()); }

constexpr const char* kKinds[] = {"mpa_framer",   "marker_inserter", "crc_insert",      "mpa_deframer",  "crc_check",
                                  "mpa_transmit", "mpa_receive",     "sctp_crc_insert", "sctp_crc_check"};

testing::AssertionResult has_five_lines(const std::string& text) {
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  if (lines == 5 && text.find("\n  see ") != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << lines << " lines: " << text;
}

TEST(GoldenBoard, AnyCyclesPass) {
  for (const char* kind : kKinds) {
    for (const Device& device : {Device{1, 0}, Device{5, 0}, Device{12, 0}, Device{4, 7}, Device{40, 300}}) {
      const Verdict verdict = judge(kind, run_of(kind, device.pipeline, device));
      EXPECT_EQ(verdict.status, RNIC_OK) << kind << ": " << verdict.text;
      EXPECT_THAT(verdict.report, HasSubstr("\"compared\": 60")) << kind;
    }
  }
}

TEST(GoldenBoard, LatenciesAreReported) {
  const Verdict verdict = judge("crc_check", run_of("crc_check", 5, {7, 0}));
  EXPECT_THAT(verdict.report, HasSubstr("\"mean\": 7.0"));
  Events apart;
  MpaReference stream;
  for (const unsigned latency : {3u, 3u, 3u, 9u}) {
    Step step = Path(0, stream, counting(20)).step("crc_check");
    const std::uint64_t at = 100 * (apart.size() + 1);
    apart.push_back({at, true, 0, 0, step.in});
    apart.push_back({at + latency, false, 1, 0, step.out[0].second});
  }
  const std::string report = judge("crc_check", apart).report;
  for (const char* figure : {"\"min\": 3", "\"mean\": 4.5", "\"max\": 9", "\"p50\": 3", "\"p99\": 9"})
    EXPECT_THAT(report, HasSubstr(figure));
}

TEST(GoldenBoard, FlowsMayOvertakeEachOther) {
  for (const char* kind : {"mpa_framer", "marker_inserter", "crc_insert", "mpa_deframer", "crc_check"}) {
    const Verdict verdict = judge(kind, run_of(kind, 3, {2, 5, 200}));
    EXPECT_EQ(verdict.status, RNIC_OK) << kind << ": " << verdict.text;
  }
}

// Two neighbours of one order change their places.
Verdict judge_swapped(const char* kind, bool same_flow) {
  Events events = run_of(kind, 8, {2, 0});
  for (std::size_t n = 10;; ++n) {
    Event &one = given(events, n), &other = given(events, n + 1);
    if ((one.flow == other.flow) != same_flow) continue;
    std::swap(one.message, other.message);
    return judge(kind, events);
  }
}

TEST(GoldenBoard, NothingOvertakesInItsFlow) {
  for (const char* kind : kKinds) {
    const Verdict verdict = judge_swapped(kind, true);
    EXPECT_EQ(verdict.status, RNIC_E_MISMATCH) << kind;
    EXPECT_TRUE(has_five_lines(verdict.text)) << kind;
  }
  EXPECT_EQ(judge_swapped("crc_check", false).status, RNIC_OK);
  EXPECT_EQ(judge_swapped("sctp_crc_check", false).status, RNIC_E_MISMATCH);  // packets have one order
}

TEST(GoldenBoard, EachOctetIsCompared) {
  for (const char* kind : kKinds) {
    Events events = run_of(kind, 9, {3, 3}, 8);
    const std::size_t octets = given(events, 5).message.octets.size();
    for (std::size_t at = 0; at < octets; at += 1 + at / 40) {
      Events wrong = events;
      given(wrong, 5).message.octets[at] ^= 0x10;
      const Verdict verdict = judge(kind, wrong);
      ASSERT_EQ(verdict.status, RNIC_E_MISMATCH) << kind << ", octet " << at;
      ASSERT_THAT(verdict.text, HasSubstr("differs   octet " + std::to_string(at) + " (beat "));
      ASSERT_TRUE(has_five_lines(verdict.text));
    }
    given(events, 5).message.octets.pop_back();
    EXPECT_THAT(judge(kind, events).text, HasSubstr("octets instead of " + std::to_string(octets))) << kind;
  }
}

TEST(GoldenBoard, EachFieldIsCompared) {
  const auto wrong = [](const char* kind, auto change) {
    Events events = run_of(kind, 11, {3, 3});
    change(given(events, 20).message);
    return judge(kind, events);
  };
  const auto expect = [&](const char* kind, const char* words, auto change) {
    const Verdict verdict = wrong(kind, change);
    EXPECT_EQ(verdict.status, RNIC_E_MISMATCH) << kind;
    EXPECT_THAT(verdict.text, HasSubstr(words));
  };
  expect("crc_check", "crc_ok: expected 1, seen 0", [](Message& m) { m.fpdu().crc_ok ^= 1; });
  expect("crc_check", "qpn: expected 10", [](Message& m) { m.fpdu().qpn += 1; });
  expect("crc_check", "life: expected 3, seen 4", [](Message& m) { m.fpdu().life += 1; });
  expect("mpa_deframer", "marker_ok: expected 1, seen 0", [](Message& m) { m.fpdu().marker_ok = 0; });
  expect("mpa_framer", "completes_wqe: expected 0, seen 1", [](Message& m) { m.fpdu().completes_wqe = 1; });
  expect("marker_inserter", "wants_markers: expected 0, seen 1", [](Message& m) { m.fpdu().wants_markers = 1; });
  expect("crc_insert", "crc_on: expected ", [](Message& m) { m.fpdu().crc_on ^= 1; });
  Events events = run_of("mpa_deframer", 11, {3, 3});
  std::get<rnic_rx_consumed>(given(events, 7, 2).message.fields).bytes += 4;
  EXPECT_THAT(judge("mpa_deframer", events).text, HasSubstr("bytes: expected "));
}

TEST(GoldenBoard, EachMarkerIsCompared) {
  for (const bool place : {false, true}) {
    Events events = run_of("mpa_deframer", 12, {3, 3});
    for (Event& e : events) {
      if (e.accepted || e.message.marks.empty()) continue;
      if (place) ++e.message.marks[0].word;
      else e.message.marks[0].octets[3] ^= 4;
      break;
    }
    const Verdict verdict = judge("mpa_deframer", events);
    EXPECT_EQ(verdict.status, RNIC_E_MISMATCH);
    EXPECT_THAT(verdict.text, HasSubstr("marker 0: expected 00 00 "));
  }
}

TEST(GoldenBoard, WhatIsMissingOrTooMuchIsFound) {
  for (const char* kind : kKinds) {
    const Events events = run_of(kind, 13, {3, 3});
    Events missing = events, twice = events;
    const Event& last = given(missing, 59);
    missing.erase(missing.begin() + static_cast<std::ptrdiff_t>(index_of(missing, last)));
    Verdict verdict = judge(kind, missing);
    EXPECT_EQ(verdict.status, RNIC_E_MISMATCH) << kind;
    EXPECT_THAT(verdict.text, HasSubstr("is missing")) << kind;
    EXPECT_TRUE(has_five_lines(verdict.text));

    twice.push_back(given(twice, 59));
    twice.back().cycle = twice[twice.size() - 2].cycle + 1;
    verdict = judge(kind, twice);
    EXPECT_EQ(verdict.status, RNIC_E_MISMATCH) << kind;
    EXPECT_THAT(verdict.text, HasSubstr("is one too many")) << kind;
    EXPECT_TRUE(has_five_lines(verdict.text));
  }
}

// One that is missing in the middle is so where the next one comes in its place.
TEST(GoldenBoard, TheFirstMismatchStays) {
  Events events = run_of("crc_insert", 14, {3, 3});
  const Event& lost = given(events, 30);
  const std::uint32_t flow = lost.flow;
  events.erase(events.begin() + static_cast<std::ptrdiff_t>(index_of(events, lost)));
  const Board board = open_board("crc_insert");
  std::string first;
  for (Event& e : events) {
    if (tell(board.get(), e) == RNIC_OK) {
      EXPECT_EQ(first, "");
      continue;
    }
    if (first.empty()) first = rnic_board_text(board.get());
    EXPECT_EQ(rnic_board_text(board.get()), first);
  }
  EXPECT_THAT(first, HasSubstr(" of flow " + std::to_string(flow) + " differs"));
  EXPECT_EQ(rnic_board_end(board.get(), 1'000'000), RNIC_E_MISMATCH);
  EXPECT_EQ(rnic_board_reset(board.get(), 1'000'000), RNIC_E_MISMATCH);
  EXPECT_THAT(rnic_board_report(board.get()), HasSubstr("differs"));
}

// A device may give in the cycle in which it accepts, and its monitors may speak in any order; but it knows nothing
// before.
TEST(GoldenBoard, NothingIsGivenBeforeItIsAccepted) {
  MpaReference stream;
  Step step = Path(0, stream, counting(99)).step("crc_check");
  Event in{50, true, 0, 0, step.in}, out{50, false, 1, 0, step.out[0].second};
  EXPECT_EQ(judge("crc_check", {out, in}).status, RNIC_OK);
  out.cycle = 49;
  const Verdict verdict = judge("crc_check", {out, in});
  EXPECT_EQ(verdict.status, RNIC_E_MISMATCH);
  EXPECT_THAT(verdict.text, HasSubstr("nothing that gives it; given cycle 49"));
}

TEST(GoldenBoard, AHangIsFoundInTime) {
  const char* const settings = R"({"max_latency": 500})";
  MpaReference stream;
  const Step step = Path(0, stream, counting(99)).step("crc_check");
  Event in{100, true, 0, 0, step.in}, out{600, false, 1, 0, step.out[0].second};
  EXPECT_EQ(judge("crc_check", {in, out}, settings).status, RNIC_OK);
  out.cycle = 601;
  EXPECT_THAT(judge("crc_check", {in, out}, settings).text, HasSubstr("is missing"));

  // Cycles without room do not count, each once, and none of before.
  const Board board = open_board("crc_check", settings);
  EXPECT_EQ(rnic_board_stalled(board.get(), 1, 0, 50), RNIC_OK);
  EXPECT_EQ(tell(board.get(), in), RNIC_OK);
  EXPECT_EQ(rnic_board_stalled(board.get(), 1, 90, 120), RNIC_OK);
  EXPECT_EQ(rnic_board_stalled(board.get(), 1, 110, 150), RNIC_OK);
  EXPECT_EQ(rnic_board_stalled(board.get(), 1, 400, 410), RNIC_OK);
  EXPECT_EQ(rnic_board_stalled(board.get(), 1, 130, 140), RNIC_OK);
  EXPECT_EQ(rnic_board_stalled(board.get(), 1, 660, 660), RNIC_OK) << rnic_board_text(board.get());
  EXPECT_EQ(rnic_board_stalled(board.get(), 1, 661, 661), RNIC_E_MISMATCH);
  EXPECT_THAT(rnic_board_text(board.get()), HasSubstr("not given by cycle 661: 561 later"));
}

TEST(GoldenBoard, ADeviceThatHoardsIsFound) {
  const Board board = open_board("crc_check");
  MpaReference stream;
  std::int32_t status = RNIC_OK;
  unsigned taken = 0;
  for (; status == RNIC_OK && taken < 2000; ++taken) {
    Event in{100 + taken, true, 0, 0, Path(0, stream, counting(20)).step("crc_check").in};
    status = tell(board.get(), in);
  }
  EXPECT_EQ(status, RNIC_E_MISMATCH);
  EXPECT_EQ(taken, 1025u);
}

TEST(GoldenBoard, OneThatComparedNothingFails) {
  EXPECT_EQ(judge("crc_check", {}).status, RNIC_E_MISMATCH);
  MpaReference stream;
  Step step = Path(0, stream, counting(99)).step("mpa_deframer");
  step.in.octets.resize(40);  // the beginning of an FPDU
  const Verdict verdict = judge("mpa_deframer", {{5, true, 0, 0, step.in}});
  EXPECT_EQ(verdict.status, RNIC_E_MISMATCH);
  EXPECT_THAT(verdict.text, HasSubstr("nothing was compared: the device accepted 1"));
}

// A segment in pieces, as a device takes it: what is complete may leave before the rest has come.
TEST(GoldenBoard, ASegmentComesInPieces) {
  MpaReference stream{true, true, 0};
  const Path one(2, stream, counting(700)), other(2, stream, counting(300, 7));
  const Bytes all = joined({one.sealed, other.sealed});
  const Step first = one.step("mpa_deframer"), second = other.step("mpa_deframer");
  const Board board = open_board("mpa_deframer");
  std::uint64_t cycle = 1;
  for (std::size_t at = 0; at < all.size(); at += 64, ++cycle) {
    Message piece = first.in;
    std::get<rnic_segment>(piece.fields).offset = at;
    piece.octets = Bytes(all.begin() + static_cast<std::ptrdiff_t>(at),
                         all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), at + 64)));
    ASSERT_EQ(rnic_board_accepted(board.get(), 0, piece.structure(), cycle), RNIC_OK) << rnic_board_text(board.get());
    if (at / 64 != one.sealed.size() / 64) continue;
    for (auto [port, message] : first.out)
      ASSERT_EQ(rnic_board_given(board.get(), port, message.structure(), cycle), RNIC_OK);
  }
  for (auto [port, message] : second.out)
    ASSERT_EQ(rnic_board_given(board.get(), port, message.structure(), cycle), RNIC_OK);
  EXPECT_EQ(rnic_board_end(board.get(), cycle), RNIC_OK) << rnic_board_text(board.get());
}

TEST(GoldenBoard, AResetEndsWhatWasUnderWay) {
  MpaReference stream;
  const Step one = Path(0, stream, counting(30)).step("crc_check"),
             other = Path(0, stream, counting(50)).step("crc_check");
  Event in{10, true, 0, 0, one.in}, next{30, true, 0, 0, other.in}, out{35, false, 1, 0, other.out[0].second},
      late{35, false, 1, 0, one.out[0].second};
  for (const bool right : {true, false}) {
    const Board board = open_board("crc_check");
    ASSERT_EQ(tell(board.get(), in), RNIC_OK);
    ASSERT_EQ(rnic_board_reset(board.get(), 20), RNIC_OK);
    ASSERT_EQ(tell(board.get(), next), RNIC_OK);
    EXPECT_EQ(tell(board.get(), right ? out : late), right ? RNIC_OK : RNIC_E_MISMATCH);
  }
}

TEST(GoldenBoard, ATakenOverStreamHasARow) {
  MpaReference stream{true, true, 1000};
  const Step step = Path(1, stream, counting(600)).step("mpa_deframer");
  const Board board = open_board("mpa_deframer");
  const rnic_stream_place place{sizeof place, {}, 1000};
  ASSERT_EQ(rnic_board_row(board.get(), "stream", 1, &place, 3), RNIC_OK) << rnic_board_text(board.get());
  Event in{10, true, 0, 1, step.in};
  ASSERT_EQ(tell(board.get(), in), RNIC_OK) << rnic_board_text(board.get());
  for (auto [port, message] : step.out)
    EXPECT_EQ(rnic_board_given(board.get(), port, message.structure(), 20), RNIC_OK);
  EXPECT_EQ(rnic_board_end(board.get(), 20), RNIC_OK);
}

TEST(GoldenBoard, WhatACallerMayDoWrong) {
  rnic_board* refused = nullptr;
  const auto open_as = [&](std::uint32_t abi, const char* kind, const char* settings, std::int32_t status,
                           const char* words) {
    EXPECT_EQ(rnic_board_open(abi, kind, settings, &refused), status);
    EXPECT_THAT(rnic_board_text(refused), HasSubstr(words));
    EXPECT_EQ(rnic_board_end(refused, 0), RNIC_E_BROKEN);
    EXPECT_STREQ(rnic_board_report(refused), "{}");
    rnic_board_close(refused);
  };
  open_as(RNIC_GOLDEN_ABI + 1, "crc_check", "{}", RNIC_E_ABI, "0x00010001");
  open_as(RNIC_GOLDEN_ABI, "crc_chek", "{}", RNIC_E_NAME, "the nearest is \"crc_check\"");
  open_as(RNIC_GOLDEN_ABI, nullptr, "{}", RNIC_E_NULL, "name is null");
  open_as(RNIC_GOLDEN_ABI, "crc_check", "{", RNIC_E_SETTINGS, "settings: parse error");
  open_as(RNIC_GOLDEN_ABI, "crc_check", "[]", RNIC_E_SETTINGS, "no JSON object");
  open_as(RNIC_GOLDEN_ABI, "crc_check", "{\"max_latency\": 0}", RNIC_E_SETTINGS, "must be 1 to");
  open_as(RNIC_GOLDEN_ABI, "crc_check", "{\"beat_byte\": 64}", RNIC_E_SETTINGS, "beat_bytes");
  EXPECT_EQ(rnic_board_open(RNIC_GOLDEN_ABI, "crc_check", nullptr, nullptr), RNIC_E_NULL);
  rnic_board_close(nullptr);
  EXPECT_STREQ(rnic_board_text(nullptr), "the handle is null");
  EXPECT_EQ(rnic_board_end(nullptr, 0), RNIC_E_NULL);

  const Board board = open_board("crc_check");
  const auto expect = [&](std::int32_t got, std::int32_t status, const char* words) {
    EXPECT_EQ(got, status) << rnic_board_text(board.get());
    EXPECT_THAT(rnic_board_text(board.get()), HasSubstr(words));
  };
  MpaReference stream;
  Step step = Path(0, stream, counting(99)).step("crc_check");
  Message out = step.out[0].second;
  rnic_fpdu& in = *static_cast<rnic_fpdu*>(step.in.structure());
  expect(rnic_board_accepted(board.get(), 1, &in, 1), RNIC_E_NAME, "is an output");
  expect(rnic_board_given(board.get(), 0, &in, 1), RNIC_E_NAME, "is an input");
  expect(rnic_board_given(board.get(), 2, &in, 1), RNIC_E_NAME, "ports 0 to 1");
  expect(rnic_board_stalled(board.get(), 0, 1, 2), RNIC_E_NAME, "is an input");
  expect(rnic_board_stalled(board.get(), 1, 2, 1), RNIC_E_TIME, "has none");
  expect(rnic_board_accepted(board.get(), 0, nullptr, 1), RNIC_E_NULL, "null");
  expect(rnic_board_row(board.get(), "qp", 0, &in, 1), RNIC_E_NAME, "there is none");
  rnic_fpdu wrong = in;
  wrong.size = 12;
  expect(rnic_board_given(board.get(), 1, &wrong, 1), RNIC_E_SIZE, "its size is 12");
  wrong = in;
  wrong.octets = nullptr;
  expect(rnic_board_given(board.get(), 1, &wrong, 1), RNIC_E_NULL, "octets is null");
  wrong = in;
  wrong.octets_n = 1u << 31;
  expect(rnic_board_given(board.get(), 1, &wrong, 1), RNIC_E_SIZE, "no transaction has so many");
  wrong = in;
  wrong.crc_ok = 2;
  expect(rnic_board_given(board.get(), 1, &wrong, 1), RNIC_E_VALUE, "does not fit its 1 bits");
  wrong = in;
  wrong.octets_n -= 1;
  expect(rnic_board_accepted(board.get(), 0, &wrong, 1), RNIC_E_VALUE, "multiple of 4");
  // None of it has changed anything.
  expect(rnic_board_accepted(board.get(), 0, &in, 5), RNIC_OK, "");
  expect(rnic_board_accepted(board.get(), 0, &in, 4), RNIC_E_TIME, "cycle 4 comes after cycle 5");
  expect(rnic_board_stalled(board.get(), 1, 2, 4), RNIC_OK, "");
  expect(rnic_board_given(board.get(), 1, out.structure(), 9), RNIC_OK, "");
  expect(rnic_board_end(board.get(), UINT64_MAX), RNIC_OK, "");
}

}  // namespace
}  // namespace rnic::test
