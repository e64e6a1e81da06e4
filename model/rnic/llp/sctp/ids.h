// What the engine counts: associations, their streams and their timers.
#pragma once

#include "model/common/ids.h"

namespace rnic::sctp {

using AssociationId = Id<struct AssociationTag>;
using StreamIndex = Id<struct StreamIndexTag>;  // a stream among those of all associations
using TimerId = Id<struct TimerTag>;            // a timer among those of all associations

inline constexpr AssociationId kNoAssociation{0xffffffffu};

}  // namespace rnic::sctp
