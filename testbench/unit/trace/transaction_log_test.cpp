#include "model/trace/transaction_log.h"

#include <cstdio>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "model/common/check.h"

namespace rnic::test {
namespace {

std::string contents(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TraceEvent event(Cycle cycle, const char* where, TraceKind kind) {
  TraceEvent e;
  e.cycle = cycle;
  e.where = where;
  e.kind = kind;
  return e;
}

TEST(TransactionLogTest, LinesComeInTheOrderOfTimeWhateverTheOrderOfEvents) {
  const std::string file = testing::TempDir() + "rnic_transaction_log.tsv";
  const TraceDomain a{"a", 4000}, b{"b", 1000};
  const auto words = [](const TraceEvent& e) { return e.kind == TraceKind::kCommand ? "connect" : ""; };
  TransactionLog log(file, words, {"a", "b"});
  TraceEvent sent = event(3, "tx", TraceKind::kFpduSent);
  sent.flow = FlowId{7};
  sent.qpn = 1;
  sent.bytes = 64;
  sent.request = RequestId(1, RequestId::Kind::kSend, 1, 0, 9);
  log.event(a, sent);
  log.event(b, event(12'000, "firmware", TraceKind::kCommand));
  log.event(b, event(5'000, "host", TraceKind::kDoorbell));
  TraceEvent received = event(1, "rx", TraceKind::kCompleted);
  received.request = RequestId(2, RequestId::Kind::kSend, 3, 0, 4);
  received.receive = RequestId(1, RequestId::Kind::kReceive, 1, 0, 0);
  log.event(a, received);
  log.advance(12'000);
  log.event(b, event(12, "late", TraceKind::kDoorbell));  // of the time at which the log has arrived
  log.close();
  EXPECT_EQ(contents(file),
            "time_ps\tnode\twhere\tkind\tflow\tqpn\tbytes\trequest\treceive\twords\n"
            "4000\ta\trx\tcompleted\t\t\t\tb.3.4\ta.rq1.0\t\n"
            "12000\ta\ttx\tfpdu_sent\t7\t1\t64\ta.1.9\t\t\n"
            "12000\tb\tlate\tdoorbell\t\t\t\t\t\t\n"
            "5000000\tb\thost\tdoorbell\t\t\t\t\t\t\n"
            "12000000\tb\tfirmware\tcommand\t\t\t\t\t\tconnect\n");
  std::remove(file.c_str());
}

TEST(TransactionLogTest, AnEventThatIsToldTooLateIsABug) {
  const std::string file = testing::TempDir() + "rnic_transaction_log_late.tsv";
  const TraceDomain a{"a", 4000};
  TransactionLog log(file, [](const TraceEvent&) { return ""; }, {});
  log.advance(12'000);
  EXPECT_THROW(log.event(a, event(2, "tx", TraceKind::kDoorbell)), InternalError);
  log.close();
  std::remove(file.c_str());
}

TEST(TransactionLogTest, AFileThatCannotBeIsAMistakeOfTheUsers) {
  EXPECT_THROW(TransactionLog("/nonexistent/log.tsv", [](const TraceEvent&) { return ""; }, {}), ConfigError);
}

}  // namespace
}  // namespace rnic::test
