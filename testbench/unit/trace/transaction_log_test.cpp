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

TimedEvent event(std::uint64_t ps, std::uint32_t node, const char* where, TraceKind kind) {
  TimedEvent t{ps, node, {}};
  t.event.where = where;
  t.event.kind = kind;
  return t;
}

TEST(TransactionLogTest, ALineForEachEvent) {
  const std::string file = testing::TempDir() + "rnic_transaction_log.tsv";
  TransactionLog log(file, {"a", "b"},
                     [](const TraceEvent& e) { return e.kind == TraceKind::kCommand ? "connect" : ""; });
  TimedEvent completed = event(4'000, 0, "rx", TraceKind::kCompleted);
  completed.event.flow = FlowId{7};
  completed.event.qpn = 0;
  completed.event.bytes = 64;
  completed.event.offset = 1460;
  completed.event.request = RequestId(2, RequestId::Kind::kSend, 3, 0, 4);
  completed.event.receive = RequestId(1, RequestId::Kind::kReceive, 1, 0, 0);
  TimedEvent read = event(13'000, 0, "up", TraceKind::kTlpRead), write = event(14'000, 0, "up", TraceKind::kTlpWrite);
  TimedEvent answer = event(15'000, 0, "down", TraceKind::kTlpCompletion);
  read.event.bytes = 512;
  read.event.set_address(UINT64_MAX);
  read.event.set_tag(7);
  write.event.bytes = 4;
  write.event.set_address(0x1f0);
  answer.event.bytes = 256;
  answer.event.set_tag(12);
  log.events({completed, event(12'000, 0, "tx", TraceKind::kFpduSent)});
  log.events({read, write, answer});
  log.events({event(12'000'000, 1, "firmware", TraceKind::kCommand)});
  log.close();
  EXPECT_EQ(contents(file),
            "time_ps\tnode\twhere\tkind\tflow\tqpn\tbytes\trequest\treceive\toffset\twords\n"
            "4000\ta\trx\tcompleted\t7\t0\t64\tb.3.4\ta.rq1.0\t1460\t\n"
            "12000\ta\ttx\tfpdu_sent\t\t\t\t\t\t\t\n"
            "13000\ta\tup\ttlp_read\t\t\t512\t\t\t\ttag 7 address 0xffffffffffffffff\n"
            "14000\ta\tup\ttlp_write\t\t\t4\t\t\t\taddress 0x1f0\n"
            "15000\ta\tdown\ttlp_completion\t\t\t256\t\t\t\ttag 12\n"
            "12000000\tb\tfirmware\tcommand\t\t\t\t\t\t\tconnect\n");
  std::remove(file.c_str());
}

TEST(TransactionLogTest, AFileThatCannotBeIsAMistakeOfTheUsers) {
  EXPECT_THROW(TransactionLog("/nonexistent/log.tsv", {}, [](const TraceEvent&) { return ""; }), ConfigError);
}

}  // namespace
}  // namespace rnic::test
