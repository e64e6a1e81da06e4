// Reports the DDP segments of a direction, over TCP or SCTP.
#pragma once

#include <ostream>

#include <nlohmann/json.hpp>

#include "model/capture/ddp_counts.h"

namespace rnic::capture {

using Json = nlohmann::ordered_json;

Json opcodes_json(const DdpCounts& counts);
Json terminates_json(const DdpCounts& counts);
void print_ddp(const DdpCounts& counts, std::ostream& out);

}  // namespace rnic::capture
