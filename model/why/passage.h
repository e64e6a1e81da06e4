// The way of a request's octets through both chips, and the parts of its time after it was cut.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/why/rows.h"

namespace rnic::why {

class Passage {
 public:
  Passage(const Rows& rows, const RequestRow& request, const std::string& node);

  const RequestRow& request() const { return request_; }
  const std::string& node() const { return node_; }
  const std::string& peer() const { return peer_; }  // empty: nothing of it was at another node
  // Whether the peer has sent octets of it, too: of a Read or an atomic.
  bool is_answered() const { return first(peer_, "segmented") != 0; }
  std::uint64_t first(const std::string& node, const std::string& kind) const;  // 0: there is no such event
  std::uint64_t last(const std::string& node, const std::string& kind) const;
  // When its last octets passed for the first time.
  std::uint64_t once(const std::string& node, const std::string& kind) const;
  // The number of the queue pair that it used at a node; nullopt: no event tells.
  std::optional<std::uint64_t> queue_pair(const std::string& node) const;
  // The frame with its last octets that arrived; nullptr: there is none.
  const FrameRow* arrived(const std::string& sender) const;

 private:
  struct Times {
    std::uint64_t first = 0, last = 0, once = 0, offset = 0;
  };
  const Times* times(const std::string& node, const std::string& kind) const;
  const Rows& rows_;
  const RequestRow request_;
  const std::string node_;
  std::string peer_;
  std::map<std::pair<std::string, std::string>, Times> times_;  // by node and kind
  std::map<std::string, std::uint64_t> queue_pairs_;            // by node
};

// Whether its acknowledgement may have waited in the packet buffer for long enough to matter: a quick answer.
bool waited_for_tcp_rx(const Passage& passage, const FrameRow& ack);

struct Part {
  std::string name;
  std::uint64_t from_ps = 0, to_ps = 0;
};

// Adjacent parts from `cut_ps` until it was polled. A time that is not recorded is that of the station before.
std::vector<Part> parts_of(const Rows& rows, const Passage& passage, std::uint64_t cut_ps);

}  // namespace rnic::why
