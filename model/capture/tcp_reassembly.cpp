#include "model/capture/tcp_reassembly.h"

#include "model/wire/tcp.h"

namespace rnic::capture {

void TcpReassembly::segment(std::uint32_t seq, ByteSpan payload, const Place& at, const Deliver& deliver) {
  if (!started_ || payload.empty()) return;
  const std::int64_t ahead = wire::seq_diff(seq, first_seq_ + static_cast<std::uint32_t>(next_));
  const std::int64_t position = static_cast<std::int64_t>(next_) + ahead;
  if (position < 0) {  // older than the stream, such as a keep-alive probe before the first octet
    const auto before = static_cast<std::uint64_t>(-position);
    if (before >= payload.size()) return;
    deliver_new(0, payload.subspan(before), at, deliver);
  } else if (ahead > 0) {
    waiting_.emplace(static_cast<std::uint64_t>(position), Waiting{{payload.begin(), payload.end()}, at});
    return;
  } else {
    deliver_new(static_cast<std::uint64_t>(position), payload, at, deliver);
  }
  while (!waiting_.empty() && waiting_.begin()->first <= next_) {
    const auto node = waiting_.extract(waiting_.begin());
    deliver_new(node.key(), node.mapped().octets, node.mapped().at, deliver);
  }
}

// Delivers the octets from next_ on of a segment that starts at or before it.
void TcpReassembly::deliver_new(std::uint64_t position, ByteSpan payload, const Place& at, const Deliver& deliver) {
  const std::uint64_t known = next_ - position;
  if (known >= payload.size()) return;
  const ByteSpan fresh = payload.subspan(known);
  next_ += fresh.size();
  deliver(fresh, at);
}

std::optional<TcpReassembly::Hole> TcpReassembly::hole() const {
  if (waiting_.empty()) return std::nullopt;
  return Hole{waiting_.begin()->second.at, waiting_.begin()->first - next_};
}

}  // namespace rnic::capture
