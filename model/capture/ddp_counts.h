// Counts the DDP segments of one direction, over TCP or SCTP.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/common/bytes.h"
#include "model/wire/terminate.h"

namespace rnic::capture {

struct DdpCounts {
  std::map<unsigned, std::uint64_t> by_opcode;
  std::uint64_t payload_bytes = 0;  // of Writes, Read Responses and Sends, without headers
  std::vector<wire::TerminateCause> terminates;

  // Returns what is wrong with the ULPDU; empty if nothing is. `missing` octets at its end are not there.
  std::string take(ByteSpan ulpdu, std::size_t missing = 0);
};

}  // namespace rnic::capture
