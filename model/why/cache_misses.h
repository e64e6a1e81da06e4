// Contexts of queue pairs that were not on the chip when a request needed them (rule R22 of why.md).
#pragma once

#include <optional>
#include <string>

#include "model/why/candidate.h"
#include "model/why/passage.h"
#include "model/why/rows.h"

namespace rnic::why {

// Of the queue pair that a request used at a node, since `from_ps`. Nothing: its context was there all the time.
std::optional<Candidate> missed_context(const Rows& rows, const Passage& passage, const std::string& node,
                                        std::uint64_t from_ps);

}  // namespace rnic::why
