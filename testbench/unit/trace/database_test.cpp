#include "model/trace/database.h"

#include <cstdio>
#include <filesystem>

#include <gmock/gmock.h>

#include "model/common/check.h"
#include "model/trace/request_story.h"
#include "model/trace/sqlite.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

class DatabaseTest : public testing::Test {
 protected:
  const std::string file = testing::TempDir() + "rnic_run.sqlite";
  Database database{
      file, {"b", "a"}, [](const TraceEvent& e) { return e.kind == TraceKind::kCommand ? "connect" : ""; }};

  ~DatabaseTest() override { std::remove(file.c_str()); }

  // A request of the second node, on QP 3.
  static RequestId request(std::uint64_t n) { return {2, RequestId::Kind::kSend, 3, 0, n}; }
  static std::string number(RequestId id) { return std::to_string(id.packed()); }
  // Rows, with columns separated by '|'; null is "-".
  std::vector<std::string> ask(const std::string& sql, int columns) const {
    const Sqlite asked(file, SQLITE_OPEN_READONLY);
    SqliteStatement row = asked.prepare(sql);
    std::vector<std::string> rows;
    while (row.step()) {
      std::string text;
      for (int i = 0; i < columns; ++i) text += (i == 0 ? "" : "|") + (row.is_null(i) ? "-" : row.shown(i));
      rows.push_back(text);
    }
    return rows;
  }
  void two_requests() {
    const auto on = [](std::uint64_t ps, std::uint32_t node, TraceKind kind, std::uint64_t n) {
      TimedEvent t{ps, node, {}};
      t.event.where = "somewhere";
      t.event.kind = kind;
      t.event.request = request(n);
      return t;
    };
    database.events({on(1000, 1, TraceKind::kPosted, 1), on(2000, 1, TraceKind::kPosted, 2),
                     on(9500, 0, TraceKind::kCrcChecked, 1)});
    database.events({on(10'000, 1, TraceKind::kPolled, 1), on(30'000, 1, TraceKind::kPolled, 2)});
    database.close({});
  }
};

TEST_F(DatabaseTest, AColumnHasWhatItsNameSaysOrNothing) {
  TimedEvent completed{1000, 0, {}}, command{2000, 1, {}};
  completed.event.where = "cqes";
  completed.event.kind = TraceKind::kCompleted;
  completed.event.flow = FlowId{0};
  completed.event.qpn = 0;
  completed.event.bytes = 64;
  completed.event.request = request(1);
  completed.event.receive = request(5);
  command.event.where = "firmware";
  command.event.kind = TraceKind::kCommand;
  database.events({completed, command});
  database.close({});
  EXPECT_THAT(ask("SELECT time_ps, node, place, kind, flow, qpn, bytes, request, receive, words FROM events", 10),
              ElementsAre("1000|b|cqes|completed|0|0|64|" + number(request(1)) + "|" + number(request(5)) + "|-",
                          "2000|a|firmware|command|-|-|-|-|-|connect"));
}

TEST_F(DatabaseTest, TlpsAreEventsWithTagTypeAddressAndLength) {
  const auto on = [](std::uint64_t ps, const char* where, TraceKind kind, std::uint32_t bytes, RequestId id,
                     std::uint64_t address, std::uint32_t tag) {
    TimedEvent t{ps, 1, {}};
    t.event.where = where;
    t.event.kind = kind;
    t.event.bytes = bytes;
    t.event.request = id;
    t.event.set_address(address);
    t.event.set_tag(tag);
    return t;
  };
  database.events({on(1000, "up", TraceKind::kTlpRead, 512, request(1), 0x1000, 0),
                   on(1500, "tx", TraceKind::kFpduSent, 0, {}, 0, 0), on(2000, "up", TraceKind::kTlpWrite, 0, {}, 0, 0),
                   on(3000, "down", TraceKind::kTlpCompletion, 256, request(1), 0, 5)});
  database.close({});
  EXPECT_THAT(ask("SELECT time_ps, place, type, tag, address, bytes, request FROM tlps", 7),
              ElementsAre("1000|up|read|0|4096|512|" + number(request(1)), "2000|up|write|-|0|0|-",
                          "3000|down|completion|5|-|256|" + number(request(1))));
}

// The ids' numbers are not composed of their parts, as they differ only in the node's high bits.
TEST_F(DatabaseTest, RequestsOfHighNodes) {
  const RequestId low{1, RequestId::Kind::kSend, 3, 0, 7}, high{65, RequestId::Kind::kSend, 3, 0, 7},
      highest{65535, RequestId::Kind::kSend, 3, 0, 12}, of_its_queue{65535, RequestId::Kind::kSend, 3, 0, 8};
  const auto on = [](std::uint64_t ps, TraceKind kind, RequestId id) {
    TimedEvent t{ps, 0, {}};
    t.event.where = "tx";
    t.event.kind = kind;
    t.event.request = id;
    return t;
  };
  database.events({on(1000, TraceKind::kPosted, low), on(1000, TraceKind::kPosted, high),
                   on(2000, TraceKind::kPosted, highest), on(3000, TraceKind::kRetransmitted, of_its_queue),
                   on(3500, TraceKind::kRetransmitted, high), on(5000, TraceKind::kPolled, highest)});
  database.close({});
  EXPECT_THAT(ask("SELECT text, events FROM requests ORDER BY id", 2),
              ElementsAre("65.3.7|2", "65535.3.12|2", "65535.3.8|1", "b.3.7|1"));
  const RequestStory story(file);
  const RequestSpan span = story.find("65535.3.12");
  EXPECT_EQ(story.tell(span).size(), 2u);
  EXPECT_EQ(story.meanwhile(span).frames, 1u);
}

TEST_F(DatabaseTest, Frames) {
  database.frame({1, 5000, 1, 1514, request(1), FrameRecord::Segment{7, 8, 1460, 0x18}});
  database.frame({2, 6000, std::nullopt, 60, {}, std::nullopt});
  database.close({});
  EXPECT_THAT(ask("SELECT number, time_ps, sender, bytes, request, seq, ack, flags, payload FROM frames", 9),
              ElementsAre("1|5000|a|1514|" + number(request(1)) + "|7|8|24|1460", "2|6000|-|60|-|-|-|-|-"));
}

TEST_F(DatabaseTest, WhatTheRunWas) {
  database.close({{"", "digest", "00ff"}, {"a", "rnic.tcp.mtu", "9000"}});
  EXPECT_THAT(ask("SELECT node, name, value FROM run", 3), ElementsAre("-|digest|00ff", "a|rnic.tcp.mtu|9000"));
}

TEST_F(DatabaseTest, RequestsHaveTheTimesOfTheirEvents) {
  two_requests();
  EXPECT_THAT(ask("SELECT id, text, first_ps, last_ps, first_event, last_event, events, posted_ps FROM requests", 8),
              ElementsAre(number(request(1)) + "|a.3.1|1000|10000|1|4|3|1000",
                          number(request(2)) + "|a.3.2|2000|30000|2|5|2|2000"));
}

TEST_F(DatabaseTest, WhatManyEventsSayIsThereOnce) {
  const auto at = [](std::uint64_t ps, TraceKind kind, std::uint32_t value) {
    TimedEvent t{ps, 0, {}};
    t.event.where = "somewhere";
    t.event.kind = kind;
    t.event.values[0] = value;
    return t;
  };
  database.events({at(1, TraceKind::kCommand, 7), at(2, TraceKind::kCommand, 8), at(3, TraceKind::kFramed, 7),
                   at(4, TraceKind::kCommand, 7)});
  database.close({});
  EXPECT_THAT(ask("SELECT time_ps, words FROM events ORDER BY id", 2),
              ElementsAre("1|connect", "2|connect", "3|-", "4|connect"));
  EXPECT_THAT(ask("SELECT id, source, words FROM event", 3), ElementsAre("1|1|1", "2|1|2", "3|2|-", "4|1|1"));
  EXPECT_THAT(ask("SELECT node, place, kind FROM sources", 3),
              ElementsAre("b|somewhere|command", "b|somewhere|framed"));
}

TEST_F(DatabaseTest, TheStoryOfARequest) {
  two_requests();
  const RequestStory story(file);
  std::vector<std::string> lines;
  for (const StoryLine& l : story.tell(story.find("a.3.1"))) {
    lines.push_back(std::to_string(l.ps) + ' ' + l.node + ' ' + l.kind);
  }
  EXPECT_THAT(lines, ElementsAre("1000 a posted", "9500 b crc_checked", "10000 a polled"));
}

TEST_F(DatabaseTest, TheSlowestComeFirst) {
  two_requests();
  std::vector<std::string> names;
  for (const RequestSpan& r : RequestStory(file).slowest(5)) names.push_back(r.text);
  EXPECT_THAT(names, ElementsAre("a.3.2", "a.3.1"));
  EXPECT_EQ(RequestStory(file).slowest(1).size(), 1u);
}

TEST_F(DatabaseTest, AnUnknownRequestIsAMistakeWithTheNearestNamed) {
  two_requests();
  const RequestStory story(file);
  EXPECT_EQ(message_of([&] { story.find("a.3.22"); }), file + ": has no request 'a.3.22'; the nearest is 'a.3.2'");
  EXPECT_EQ(message_of([&] { story.find("a.3.0"); }), file + ": has no request 'a.3.0'; the nearest is 'a.3.1'");
}

TEST_F(DatabaseTest, WhatIsNoDatabaseIsAMistake) {
  EXPECT_EQ(message_of([] { RequestStory("none.sqlite"); }),
            "none.sqlite: there is no such file; rnicsim run … --db none.sqlite writes one");
  database.close({});
  std::filesystem::resize_file(file, 0);
  EXPECT_THAT(message_of([&] { RequestStory{file}; }), HasSubstr("is no database of a run"));
  std::FILE* const other = std::fopen(file.c_str(), "w");
  std::fputs("This text is longer than the header of a database, which it is not.\n", other);
  std::fclose(other);
  EXPECT_THAT(message_of([&] { RequestStory{file}; }), HasSubstr("not a database"));
}

TEST_F(DatabaseTest, UntilItIsWholeTheFileHasAnotherName) {
  two_requests();
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(file + ".part"));
  Database second(file, {"a"}, [](const TraceEvent&) { return ""; });
  EXPECT_TRUE(std::filesystem::exists(file + ".part"));
  second.close({});
}

TEST(DatabaseFileTest, AFileThatCannotBeIsAMistakeOfTheUsers) {
  const auto open = [](const char* file) {
    return message_of([file] { Database(file, {}, [](const TraceEvent&) { return ""; }); });
  };
  EXPECT_THAT(open("/nonexistent/run.sqlite"), HasSubstr("/nonexistent/run.sqlite"));
  EXPECT_EQ(open("/dev/null"), "/dev/null: a database is a regular file");
}

}  // namespace
}  // namespace rnic::test
