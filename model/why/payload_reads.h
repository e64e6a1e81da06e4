// What holds the reads of a node's payload (rule R16 of why.md).
#pragma once

#include <optional>
#include <string>

#include "model/why/candidate.h"
#include "model/why/rows.h"

namespace rnic::why {

// From `from_ps`, when it was the request's turn, until the last of its payload was on the chip. Events and reads of
// the node are taken from those with the request's ids. Nothing: neither memory, tags, jobs nor the PCIe link held it.
std::optional<Candidate> held_payload(const Rows& rows, const RequestRow& request, const std::string& node,
                                      std::uint64_t from_ps);

struct ReadMeans {
  double octets = 0, ps = 0;  // of a read of payload, from its request to its last completion
};
// Of the node's reads in a request's time; nothing: there were none.
std::optional<ReadMeans> read_means(const Rows& rows, const RequestRow& request, const std::string& node);

}  // namespace rnic::why
