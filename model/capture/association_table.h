// Finds the association of an SCTP packet.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "model/capture/association.h"

namespace rnic::capture {

class AssociationTable {
 public:
  // Called for each new association; may return nullptr.
  using Observe = std::function<AssociationObserver*(const Endpoint& initiator, const Endpoint& responder)>;
  explicit AssociationTable(UndecodedList& undecoded, Observe observe = nullptr)
      : undecoded_(undecoded), observe_(std::move(observe)) {}

  // False if the packet is dropped for a wrong checksum. DATA of an association that began before the capture is
  // reported to `undecoded`, once per pair of endpoints.
  bool packet(const SctpPacket& packet);
  void finish();

  // In the order of their INITs.
  const std::vector<std::unique_ptr<Association>>& associations() const { return associations_; }

 private:
  using Key = std::pair<Endpoint, Endpoint>;                  // the smaller endpoint first
  using Tag = std::tuple<Endpoint, Endpoint, std::uint32_t>;  // source, destination and verification tag
  Association* opened(const SctpPacket& packet, const wire::SctpChunk& init);
  Association* init(const SctpPacket& packet, const SctpOffer& offer);
  Association* init_ack(const SctpPacket& packet);
  Association* by_tag(const Endpoint& from, const Endpoint& to, std::uint32_t tag) const;
  Association* open(const Endpoint& initiator, const Endpoint& responder);
  void stranger(const SctpPacket& packet);

  UndecodedList& undecoded_;
  const Observe observe_;
  std::vector<std::unique_ptr<Association>> associations_;
  std::map<Key, Association*> current_;
  std::map<Tag, Association*> by_tag_;
  std::set<Key> strangers_;
};

}  // namespace rnic::capture
