// What a Read Request reads from (RFC 5040 section 7.1): checked when the request comes up, and again for each segment
// of its response.
#pragma once

#include <optional>

#include "model/rnic/context/context.h"
#include "model/wire/rdmap.h"
#include "model/wire/terminate.h"

namespace rnic {

// What forbids the peer of this QP to read it, if anything does. A zero-length Read checks nothing (RFC 5040 section
// 5.2.1).
std::optional<wire::TerminateCause> check_read_source(const ContextStore& contexts, Qpn qpn,
                                                      const wire::ReadRequest& r);

// What is left of a request when so many octets of its response were sent.
constexpr wire::ReadRequest rest_of(wire::ReadRequest r, std::uint32_t sent) {
  r.sink_to += sent;
  r.src_to += sent;
  r.size -= sent;
  return r;
}

}  // namespace rnic
