// Finds the connection of a segment.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "model/capture/connection.h"

namespace rnic::capture {

// What to do with a connection whose SYN is not in the capture: kFollow shows its segments to an observer, in the order
// of the capture. Its streams cannot be read in either case.
enum class Strangers : std::uint8_t { kReport, kFollow };

class ConnectionTable {
 public:
  // Called for each new connection; may return nullptr.
  using Observe = std::function<ConnectionObserver*(const Endpoint& initiator, const Endpoint& responder)>;
  explicit ConnectionTable(UndecodedList& undecoded, Observe observe = nullptr,
                           Strangers strangers = Strangers::kReport)
      : undecoded_(undecoded), observe_(std::move(observe)), follows_strangers_(strangers == Strangers::kFollow) {}

  // False if the segment is dropped for a wrong checksum. Data of a connection that began before the capture is
  // reported to `undecoded`, once per connection.
  bool segment(const Segment& segment);
  void finish();

  // In the order of their SYNs, or of a stranger's first segment; its sender is then called the initiator.
  const std::vector<std::unique_ptr<Connection>>& connections() const { return connections_; }

 private:
  using Key = std::pair<Endpoint, Endpoint>;  // the smaller endpoint first
  Connection* find_or_open(const Key& key, const Segment& segment);

  UndecodedList& undecoded_;
  const Observe observe_;
  const bool follows_strangers_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::map<Key, Connection*> current_;  // the newest one of each pair of endpoints
  std::set<Key> strangers_;             // their SYN is not in the capture
};

}  // namespace rnic::capture
