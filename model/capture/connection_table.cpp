#include "model/capture/connection_table.h"

#include <fmt/format.h>

namespace rnic::capture {

using wire::TcpHeader;

Connection* ConnectionTable::find_or_open(const Key& key, const Segment& segment) {
  const auto known = current_.find(key);
  Connection* connection = known == current_.end() ? nullptr : known->second;
  const bool syn = segment.header.has(TcpHeader::kSyn);
  const bool stranger = follows_strangers_ && connection == nullptr;
  if (segment.checksum == TcpChecksum::kWrong || (!syn && !stranger)) return connection;
  if (connection != nullptr && !connection->is_another(segment)) return connection;
  const bool from_initiator = !syn || !segment.header.has(TcpHeader::kAck);
  const Endpoint& initiator = from_initiator ? segment.src : segment.dst;
  const Endpoint& responder = from_initiator ? segment.dst : segment.src;
  ConnectionObserver* const observer = observe_ ? observe_(initiator, responder) : nullptr;
  connections_.push_back(std::make_unique<Connection>(initiator, responder, undecoded_, observer));
  return current_[key] = connections_.back().get();
}

bool ConnectionTable::segment(const Segment& segment) {
  const Key key = segment.src < segment.dst ? Key{segment.src, segment.dst} : Key{segment.dst, segment.src};
  Connection* connection = find_or_open(key, segment);
  if (connection != nullptr) return connection->segment(segment);
  if (segment.checksum == TcpChecksum::kWrong) return false;
  if (segment.bytes() != 0 && strangers_.insert(key).second) {
    undecoded_.push_back({segment.at, fmt::format("{} > {}: data, but no SYN of this connection is in the capture",
                                                  to_string(segment.src), to_string(segment.dst))});
  }
  return true;
}

void ConnectionTable::finish() {
  for (const auto& connection : connections_) connection->finish();
}

}  // namespace rnic::capture
