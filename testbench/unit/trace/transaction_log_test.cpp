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

TEST(TransactionLogTest, LinesComeInTheOrderOfTimeWhateverTheOrderOfEvents) {
  const std::string file = testing::TempDir() + "rnic_transaction_log.tsv";
  const TraceDomain a{"a", 4000}, b{"b", 1000};
  TransactionLog log(file, [](const TraceEvent& e) { return e.kind == TraceKind::kCommand ? "connect" : ""; });
  log.event(a, {3, "tx", TraceKind::kFpduSent, FlowId{7}, 1, 2, 64, 9});
  log.event(b, {12'000, "firmware", TraceKind::kCommand, kNoFlow, 0, 9, 105, 0});
  log.event(b, {5'000, "host", TraceKind::kDoorbell, kNoFlow, 4, 0, 0, 0});
  log.event(a, {1, "rx", TraceKind::kCrcChecked, FlowId{7}, 0, 0, 1, 0});
  log.advance(12'000);
  log.event(b, {12, "late", TraceKind::kDoorbell, kNoFlow, 5, 0, 0, 0});  // of the time at which the log has arrived
  log.close();
  EXPECT_EQ(contents(file),
            "time_ps\tnode\twhere\tkind\tflow\tqpn\tmsn\tbytes\trequest\twords\n"
            "4000\ta\trx\tcrc_checked\t7\t0\t0\t1\t0\t\n"
            "12000\ta\ttx\tfpdu_sent\t7\t1\t2\t64\t9\t\n"
            "12000\tb\tlate\tdoorbell\t\t5\t0\t0\t0\t\n"
            "5000000\tb\thost\tdoorbell\t\t4\t0\t0\t0\t\n"
            "12000000\tb\tfirmware\tcommand\t\t0\t9\t105\t0\tconnect\n");
  std::remove(file.c_str());
}

TEST(TransactionLogTest, AnEventThatIsToldTooLateIsABug) {
  const std::string file = testing::TempDir() + "rnic_transaction_log_late.tsv";
  const TraceDomain a{"a", 4000};
  TransactionLog log(file, [](const TraceEvent&) { return ""; });
  log.advance(12'000);
  EXPECT_THROW(log.event(a, {2, "tx", TraceKind::kDoorbell, kNoFlow, 0, 0, 0, 0}), InternalError);
  log.close();
  std::remove(file.c_str());
}

TEST(TransactionLogTest, AFileThatCannotBeIsAMistakeOfTheUsers) {
  EXPECT_THROW(TransactionLog("/nonexistent/log.tsv", [](const TraceEvent&) { return ""; }), ConfigError);
}

}  // namespace
}  // namespace rnic::test
