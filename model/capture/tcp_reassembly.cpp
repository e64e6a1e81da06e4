#include "model/capture/tcp_reassembly.h"

#include <algorithm>

#include "model/wire/tcp.h"

namespace rnic::capture {

namespace {

StreamPart without_first(const StreamPart& part, std::size_t count) {
  const std::size_t here = std::min(count, part.octets.size());
  return {part.octets.subspan(here), part.missing - (count - here), part.at};
}

}  // namespace

void TcpReassembly::segment(std::uint32_t seq, const StreamPart& part, const Deliver& deliver) {
  if (!started_ || part.size() == 0) return;
  const std::int64_t ahead = wire::seq_diff(seq, first_seq_ + static_cast<std::uint32_t>(next_));
  const std::int64_t position = static_cast<std::int64_t>(next_) + ahead;
  if (position < 0) {  // older than the stream, such as a keep-alive probe before the first octet
    const auto before = static_cast<std::uint64_t>(-position);
    if (before >= part.size()) return;
    deliver_new(0, without_first(part, before), deliver);
  } else if (ahead > 0) {
    waiting_.emplace(static_cast<std::uint64_t>(position),
                     Waiting{{part.octets.begin(), part.octets.end()}, part.missing, part.at});
    return;
  } else {
    deliver_new(static_cast<std::uint64_t>(position), part, deliver);
  }
  while (!waiting_.empty() && waiting_.begin()->first <= next_) {
    const auto node = waiting_.extract(waiting_.begin());
    const Waiting& waited = node.mapped();
    deliver_new(node.key(), {waited.octets, waited.missing, waited.at}, deliver);
  }
}

// Delivers the octets from next_ on of a segment that starts at or before it.
void TcpReassembly::deliver_new(std::uint64_t position, const StreamPart& part, const Deliver& deliver) {
  const std::uint64_t known = next_ - position;
  if (known >= part.size()) return;
  const StreamPart fresh = without_first(part, known);
  next_ += fresh.size();
  deliver(fresh);
}

std::optional<TcpReassembly::Hole> TcpReassembly::hole() const {
  if (waiting_.empty()) return std::nullopt;
  return Hole{waiting_.begin()->second.at, waiting_.begin()->first - next_};
}

}  // namespace rnic::capture
