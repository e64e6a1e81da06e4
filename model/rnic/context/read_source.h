// The source of a Read Request (RFC 5040 section 7.1): checked when the request's turn comes, and again for each
// segment of its response.
#pragma once

#include <optional>

#include "model/abi/context_types.h"
#include "model/wire/rdmap.h"
#include "model/wire/terminate.h"

namespace rnic {

// The reason why the peer of this QP must not read it, if there is one. A zero-length Read checks nothing (RFC 5040
// section 5.2.1).
// `named`: what its source STag names, or nullptr.
std::optional<wire::TerminateCause> check_read_source(const StagContext* named, const StagUser& user,
                                                      const wire::ReadRequest& r);

// What is left of a request when that many octets of its response were sent.
constexpr wire::ReadRequest rest_of(wire::ReadRequest r, std::uint32_t sent) {
  r.sink_to += sent;
  r.src_to += sent;
  r.size -= sent;
  return r;
}

}  // namespace rnic
