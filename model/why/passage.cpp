#include "model/why/passage.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/why/candidate.h"

namespace rnic::why {

Passage::Passage(const Rows& rows, const RequestRow& request, const std::string& node)
    : rows_(rows), request_(request), node_(node) {
  const std::string condition = fmt::format("id BETWEEN {} AND {} AND request = {} AND kind NOT GLOB 'tlp_*'",
                                            request.first_event, request.last_event, request.number);
  for (const EventRow& e : rows.events(condition)) {
    if (e.node != node) peer_ = e.node;
    if (e.qpn) queue_pairs_.try_emplace(e.node, *e.qpn);
    const std::uint64_t offset = e.offset.value_or(0);
    const auto [place, is_new] = times_.try_emplace({e.node, e.kind}, Times{e.ps, e.ps, e.ps, offset});
    Times& t = place->second;
    t.last = e.ps;
    if (!is_new && offset > t.offset) t.offset = offset, t.once = e.ps;
  }
}

const Passage::Times* Passage::times(const std::string& node, const std::string& kind) const {
  const auto found = times_.find({node, kind});
  return found != times_.end() ? &found->second : nullptr;
}

std::uint64_t Passage::first(const std::string& node, const std::string& kind) const {
  const Times* const t = times(node, kind);
  return t != nullptr ? t->first : 0;
}

std::uint64_t Passage::last(const std::string& node, const std::string& kind) const {
  const Times* const t = times(node, kind);
  return t != nullptr ? t->last : 0;
}

std::uint64_t Passage::once(const std::string& node, const std::string& kind) const {
  const Times* const t = times(node, kind);
  return t != nullptr ? t->once : 0;
}

std::optional<std::uint64_t> Passage::queue_pair(const std::string& node) const {
  const auto found = queue_pairs_.find(node);
  return found != queue_pairs_.end() ? std::optional(found->second) : std::nullopt;
}

const FrameRow* Passage::arrived(const std::string& sender) const {
  const Times* const sent = times(sender, "frame_sent");
  if (sent == nullptr) return nullptr;
  const auto& frames = rows_.frames(sender, request_.number, sent->offset);
  const auto found = std::find_if(frames.begin(), frames.end(), [](const FrameRow& f) { return f.swallowed.empty(); });
  return found != frames.end() ? &*found : nullptr;
}

namespace {

// Names parts until their ends.
class Parts {
 public:
  Parts(const Passage& passage, std::uint64_t cut_ps) : passage_(passage), at_(cut_ps) {}

  void until(std::uint64_t ps, const std::string& name) {
    const std::uint64_t to = std::min(std::max(ps, at_), passage_.request().polled_ps);
    if (to > at_) parts_.push_back({name, at_, to});
    at_ = std::max(at_, to);
  }
  // The octets leave a node, and are in the other one's stream; `of` tells the nodes apart.
  void leg(const std::string& sender, const std::string& receiver, const std::string& of, const std::string& at) {
    until(passage_.once(sender, "payload_read"), "payload read" + of);
    until(passage_.once(sender, "fpdu_sent"), "framing" + of);
    until(passage_.once(sender, "frame_sent"), "tcp_tx and mac_tx" + of);
    if (const FrameRow* const frame = passage_.arrived(sender)) until(frame->ps, "wire" + of);
    until(passage_.once(receiver, "frame_received"), "mac_rx" + at);
  }
  std::vector<Part> done() && { return std::move(parts_); }

 private:
  const Passage& passage_;
  std::uint64_t at_;
  std::vector<Part> parts_;
};

}  // namespace

bool waited_for_tcp_rx(const Passage& passage, const FrameRow& ack) {
  const RequestRow& request = passage.request();
  const std::uint64_t completed = passage.last(passage.node(), "completed");
  return completed > ack.ps && matters(completed - ack.ps, request.polled_ps - request.posted_ps);
}

std::vector<Part> parts_of(const Rows& rows, const Passage& passage, std::uint64_t cut_ps) {
  const std::string &node = passage.node(), &peer = passage.peer();
  const std::string of_peer = " of " + peer;
  Parts parts(passage, cut_ps);
  if (!peer.empty()) parts.leg(node, peer, "", of_peer);
  if (passage.is_answered()) {
    parts.until(passage.first(peer, "segmented"), "responder" + of_peer);
    parts.until(passage.last(peer, "segmented"), "cutting" + of_peer);
    parts.leg(peer, node, of_peer, "");
    parts.until(passage.last(node, "placed"), "placement");
  } else if (const FrameRow* const frame = passage.arrived(node)) {
    if (const auto ack = rows.acknowledgement(node, *frame)) {
      parts.until(ack->ps, "acknowledgement" + of_peer);
      if (waited_for_tcp_rx(passage, *ack)) parts.until(rows.taken_ps(node, ack->number), "mac_rx");
    }
  }
  const std::uint64_t completed = passage.last(node, "completed");
  parts.until(completed, passage.peer().empty() ? "execution" : "completion");
  parts.until(passage.last(node, "cqe_written"), "CQE");
  parts.until(passage.request().polled_ps, "poll");
  return std::move(parts).done();
}

}  // namespace rnic::why
