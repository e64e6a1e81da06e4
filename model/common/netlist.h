// The links of a block: one line for each connection.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/common/link.h"

namespace rnic {

// Owns its links. They end before the buffers whose octets their beats point to, so it is declared after the pools.
class Netlist {
 public:
  // `scope` precedes the names of its links, with a dot.
  Netlist(std::string scope, ClockDomain& clk) : scope_(std::move(scope)), clk_(clk) {}

  // Room for the few messages of a round trip.
  static constexpr LinkConfig kFew{4, 1, 1};

  // Binds both ends to a new link; an end that is bound already is an error.
  template <class T>
  Link<T>& connect(PushPort<T>& out, PopPort<T>& in, const std::string& name, const LinkConfig& config = kFew) {
    static_assert(kIsMessage<T>, "what travels on a chip's link says what its fields are (message.h)");
    auto link = std::make_unique<Link<T>>(scope_ + "." + name, clk_, config);
    out(*link);
    in(*link);
    Link<T>& made = *link;
    links_.push_back(std::move(link));
    return made;
  }

  const std::vector<std::unique_ptr<LinkBase>>& links() const { return links_; }
  void reset() {
    for (const auto& link : links_) link->reset();
  }

 private:
  const std::string scope_;
  ClockDomain& clk_;
  std::vector<std::unique_ptr<LinkBase>> links_;
};

}  // namespace rnic
