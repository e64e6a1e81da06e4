#include "model/trace/event_stream.h"

#include <gmock/gmock.h>

#include "model/common/check.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

// Lines of "ps node where", and the number of batches.
class Kept final : public EventReader {
 public:
  void events(const std::vector<TimedEvent>& batch) override {
    for (const TimedEvent& t : batch) {
      lines.push_back(std::to_string(t.ps) + ' ' + std::to_string(t.node) + ' ' + t.event.where);
    }
    ++batches;
  }
  std::vector<std::string> lines;
  unsigned batches = 0;
};

TraceEvent at(Cycle cycle, const char* where, TraceKind kind = TraceKind::kPlaced) {
  TraceEvent e;
  e.cycle = cycle;
  e.where = where;
  e.kind = kind;
  return e;
}

class EventStreamTest : public testing::Test {
 protected:
  EventStreamTest() { stream.attach(kept); }
  const TraceDomain slow{"b", 4000}, fast{"a", 1000};
  EventStream stream{{"b", "a"}};
  Kept kept;
};

TEST_F(EventStreamTest, EventsComeInTheOrderOfTimeWhateverTheOrderOfCalls) {
  stream.event(slow, at(3, "third"));
  stream.event(fast, at(5, "second"));
  stream.event(slow, at(1, "first"));
  stream.advance(UINT64_MAX);
  EXPECT_THAT(kept.lines, ElementsAre("4000 0 first", "5000 1 second", "12000 0 third"));
}

TEST_F(EventStreamTest, ABatchHasWhatIsEarlierThanItsEnd) {
  stream.event(slow, at(3, "third"));
  stream.event(slow, at(1, "first"));
  stream.event(slow, at(2, "second"));
  stream.advance(8000);
  EXPECT_THAT(kept.lines, ElementsAre("4000 0 first"));
  stream.advance(8001);
  stream.event(slow, at(4, "fourth"));
  stream.advance(UINT64_MAX);
  EXPECT_THAT(kept.lines, ElementsAre("4000 0 first", "8000 0 second", "12000 0 third", "16000 0 fourth"));
}

TEST_F(EventStreamTest, NothingIsToldOfNothing) {
  stream.advance(8000);
  stream.advance(9000);
  EXPECT_EQ(kept.batches, 0u);
}

TEST_F(EventStreamTest, WithinAPicosecondNodesComeByNameThenKindsThenPlaces) {
  stream.event(slow, at(1, "y"));
  stream.event(slow, at(1, "x"));
  stream.event(slow, at(1, "z", TraceKind::kDoorbell));
  stream.event(fast, at(4, "w"));
  stream.advance(UINT64_MAX);
  EXPECT_THAT(kept.lines, ElementsAre("4000 1 w", "4000 0 z", "4000 0 x", "4000 0 y"));
}

TEST_F(EventStreamTest, AnEventThatIsToldTooLateIsABug) {
  stream.advance(12'000);
  EXPECT_THROW(stream.event(slow, at(2, "tx")), InternalError);
}

TEST_F(EventStreamTest, ANodeThatNobodyNamedIsABug) {
  EXPECT_THROW(stream.event(TraceDomain{"c", 1}, at(2, "tx")), InternalError);
}

}  // namespace
}  // namespace rnic::test
