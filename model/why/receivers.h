// What holds the frames that have arrived at a node, and the acknowledgement of what it has (rules R15 and R17 of
// why.md).
#pragma once

#include <optional>

#include "model/why/candidate.h"
#include "model/why/passage.h"
#include "model/why/rows.h"

namespace rnic::why {

// The frame with a request's last octets waited in the receiver's packet buffer for a stage behind. Nothing if that is
// no tenth of `whole_ps`.
std::optional<Candidate> held_frames(const Rows& rows, const Passage& passage, const std::string& sender,
                                     const std::string& receiver, std::uint64_t whole_ps);
// The same of its acknowledgement, at its own node.
std::optional<Candidate> held_ack(const Rows& rows, const Passage& passage);
// The timer of delayed acknowledgements, RFC 5681 section 4.2, of the peer.
std::optional<Candidate> delayed_ack(const Rows& rows, const Passage& passage);

}  // namespace rnic::why
