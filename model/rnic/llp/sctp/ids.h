// What the engine counts: associations, their streams and messages.
#pragma once

#include "model/common/ids.h"

namespace rnic::sctp {

using AssociationId = Id<struct AssociationTag>;
using StreamIndex = Id<struct StreamIndexTag>;     // a stream among those of all associations
using SentId = Id<struct SentMessageTag>;          // a message of ours that is not acknowledged
using ReceivedId = Id<struct ReceivedMessageTag>;  // a message of the peer that is not delivered

inline constexpr AssociationId kNoAssociation{0xffffffffu};

}  // namespace rnic::sctp
