#include "model/trace/transaction_log.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic {

TransactionLog::TransactionLog(const std::string& file, Words words, std::vector<std::string> nodes)
    : file_(file), words_(std::move(words)), nodes_(std::move(nodes)) {
  file_.write("time_ps\tnode\twhere\tkind\tflow\tqpn\tbytes\trequest\treceive\twords\n");
}

void TransactionLog::event(const TraceDomain& domain, const TraceEvent& event) {
  const std::uint64_t ps = event.cycle * domain.period_ps;
  RNIC_CHECK_MSG(ps >= written_until_, std::string(event.where) + ": an event was recorded too late to be in order");
  waiting_.push_back({ps, &domain, event});
}

bool TransactionLog::before(const Line& a, const Line& b) {
  const auto key = [](const Line& l) {
    const TraceEvent& e = l.event;
    return std::tie(l.ps, l.domain->name, e.kind, e.flow, e.qpn, e.bytes, e.values, e.request, e.receive);
  };
  const auto ka = key(a), kb = key(b);
  return ka != kb ? ka < kb : std::strcmp(a.event.where, b.event.where) < 0;
}

void TransactionLog::advance(std::uint64_t ps) {
  const auto later = std::partition(waiting_.begin(), waiting_.end(), [ps](const Line& l) { return l.ps < ps; });
  std::sort(waiting_.begin(), later, before);
  for (auto line = waiting_.begin(); line != later; ++line) write(*line);
  waiting_.erase(waiting_.begin(), later);
  written_until_ = ps;
}

void TransactionLog::write(const Line& line) {
  const TraceEvent& e = line.event;
  const auto number = [](std::uint32_t n) { return n == TraceEvent::kNone ? std::string() : std::to_string(n); };
  file_.write(fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", line.ps, line.domain->name, e.where,
                          to_string(e.kind), number(e.flow.v), number(e.qpn), number(e.bytes), e.request.text(nodes_),
                          e.receive.text(nodes_), words_(e)));
}

void TransactionLog::close() {
  advance(UINT64_MAX);
  file_.close();
}

}  // namespace rnic
