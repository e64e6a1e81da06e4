#include "model/diff/log_events.h"

#include <cstdio>
#include <fstream>
#include <memory>

#include <gmock/gmock.h>

#include "model/common/check.h"

namespace rnic::diff::test {
namespace {

using testing::HasSubstr;

constexpr const char* kHead = "time_ps\tnode\twhere\tkind\tflow\tqpn\tbytes\trequest\treceive\toffset\twords\n";

class LogEventsTest : public testing::Test {
 protected:
  ~LogEventsTest() override { std::remove(file_.c_str()); }

  LogEvents& read(const std::string& text, Vocabulary& vocabulary) {
    std::ofstream(file_, std::ios::binary) << text;
    events_ = std::make_unique<LogEvents>(file_, vocabulary, 0);
    return *events_;
  }
  // What is wrong with such a log.
  std::string mistake(const std::string& text) {
    Vocabulary vocabulary;
    try {
      LogEvents& events = read(text, vocabulary);
      for (Row row; events.next(row);) {
      }
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }

  const std::string file_ = testing::TempDir() + "rnic_log_events.tsv";
  std::unique_ptr<LogEvents> events_;
};

TEST_F(LogEventsTest, RowsAndTheirText) {
  Vocabulary vocabulary;
  LogEvents& events = read(std::string(kHead) +
                               "4000\ta\trx\tcompleted\t7\t0\t64\tb.3.4\ta.rq1.0\t\t\n"
                               "4000\ta\tup\ttlp_read\t\t\t512\tb.3.4\t\t\ttag 7 address 0x10\n"
                               "5000\tb\tfirmware\tcommand\t\t\t\tb.cmd0.1\t\t\tconnect, 9 cycles\n",
                           vocabulary);
  Row rows[3], more;
  for (Row& row : rows) ASSERT_TRUE(events.next(row));
  EXPECT_FALSE(events.next(more));
  EXPECT_EQ(rows[0].owner, rows[1].owner);
  EXPECT_TRUE(is_work(rows[0].owner));
  EXPECT_FALSE(is_work(rows[2].owner));
  EXPECT_EQ(vocabulary[rows[1].source].place, "up");
  const Told told = events.tell(rows[0]);
  EXPECT_EQ(told.ps, 4000u);
  EXPECT_EQ(told.kind, "completed");
  EXPECT_EQ(told.bytes, 64u);
  EXPECT_EQ(told.receive, "a.rq1.0");
  EXPECT_EQ(events.tell(rows[2]).words, "connect, 9 cycles");
  events.rewind();
  ASSERT_TRUE(events.next(more));
  EXPECT_EQ(more.what(), rows[0].what());
}

TEST_F(LogEventsTest, TimesTagsAndAddressesAreNoContent) {
  const auto content = [this](const std::string& line) {
    Vocabulary vocabulary;
    Row row;
    EXPECT_TRUE(read(kHead + line + "\n", vocabulary).next(row));
    return row.what();
  };
  EXPECT_EQ(content("1\ta\tup\ttlp_read\t\t\t512\t\t\t\ttag 7 address 0x10"),
            content("2\ta\tup\ttlp_read\t\t\t512\t\t\t\ttag 8 address 0x20"));
  EXPECT_EQ(content("1\ta\tfw\tcommand\t\t\t\t\t\t\tconnect, 9 cycles"),
            content("1\ta\tfw\tcommand\t\t\t\t\t\t\tconnect, 10 cycles"));
  EXPECT_NE(content("1\ta\tx\tsent\t\t\t512\t\t\t\t"), content("1\ta\tx\tsent\t\t\t513\t\t\t\t"));
  EXPECT_NE(content("1\ta\tx\tsent\t\t\t0\t\t\t\t"), content("1\ta\tx\tsent\t\t\t\t\t\t\t"));
  EXPECT_NE(content("1\ta\tx\tsent\t\t\t\ta.1.0\t\t\t"), content("1\ta\tx\tsent\t\t\t\ta.1.1\t\t\t"));
}

TEST_F(LogEventsTest, AnOffsetTellsSegmentsApartAndMayBeLeftOut) {
  Vocabulary vocabulary;
  LogEvents& events = read(std::string(kHead) +
                               "1\ta\tx\tplaced\t\t\t512\ta.1.0\t\t0\t\n"
                               "2\ta\tx\tplaced\t\t\t512\ta.1.0\t\t512\t\n",
                           vocabulary);
  EXPECT_TRUE(events.has_offsets());
  Row first, second;
  ASSERT_TRUE(events.next(first) && events.next(second));
  EXPECT_NE(first.key(), second.key());
  EXPECT_EQ(events.tell(second).offset, 512u);
  events.use_offsets(false);
  events.rewind();
  ASSERT_TRUE(events.next(first) && events.next(second));
  EXPECT_EQ(first.key(), second.key());
}

TEST_F(LogEventsTest, LinesOfMoreThanABlock) {
  std::string text = kHead;
  constexpr unsigned kLines = 100'000;
  for (unsigned i = 0; i < kLines; ++i) text += std::to_string(i) + "\ta\tx\tsent\t\t\t1\ta.1.0\t\t\t\n";
  Vocabulary vocabulary;
  LogEvents& events = read(text, vocabulary);
  Row row;
  for (unsigned i = 0; i < kLines; ++i) {
    ASSERT_TRUE(events.next(row));
    ASSERT_EQ(row.ps, i);
    if (i % 10'000 == 0) {
      EXPECT_EQ(events.tell(row).ps, i);
    }
  }
  EXPECT_FALSE(events.next(row));
}

TEST_F(LogEventsTest, MistakesAreNamed) {
  const std::string head = kHead, line = "4000\ta\trx\tcompleted\t7\t0\t64\tb.3.4\ta.rq1.0\t\t\n";
  EXPECT_EQ(mistake(head + line), "");
  EXPECT_EQ(mistake(head), "");
  EXPECT_THAT(mistake(""), HasSubstr("is no event log of this version of rnicsim: no column time_ps"));
  EXPECT_THAT(mistake("time_ps\tnode\twhere\tkind\tflow\tqpn\tbytes\twords\n"), HasSubstr("no column request"));
  EXPECT_THAT(mistake("time_ps\tnode\twhere\tkind\tflow\tqpn\tbytes\trequest\treceive\twords\n"),
              HasSubstr("is no event log of this version of rnicsim: no column offset; rnicsim run … --trace"));
  EXPECT_THAT(mistake(head + line + "5000\ta\trx"), HasSubstr("line 3: has no end: the log was cut"));
  EXPECT_THAT(mistake(head + line + "5000\ta\trx\n"), HasSubstr("line 3: has 3 columns, and the first line 11"));
  EXPECT_THAT(mistake(head + line + "3999\ta\trx\tx\t\t\t\t\t\t\t\n"), HasSubstr("line 3: goes back in time"));
  EXPECT_THAT(mistake(head + "x\ta\trx\tx\t\t\t\t\t\t\t\n"), HasSubstr("line 2: time_ps: must be a natural number"));
  EXPECT_THAT(mistake(head + "1\ta\trx\tx\t\t-5\t\t\t\n"), HasSubstr("columns"));
  EXPECT_THAT(mistake(head + "1\ta\trx\tx\t\t\t-5\t\t\t\t\n"), HasSubstr("line 2: bytes: must be a natural number"));
  EXPECT_THAT(mistake(std::string(std::size_t{3} << 20, 'x')), HasSubstr("too long"));
}

}  // namespace
}  // namespace rnic::diff::test
