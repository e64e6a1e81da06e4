// The data of a time-sequence graph of a captured TCP connection or SCTP association: data, retransmissions,
// acknowledgements and windows.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace rnic::report {

// {"connections": [{"name", "directions": [{"name", "unit", "octets", "segments", "retransmissions", "joined_ns",
//   "data": columns of from_ns, to_ns, sequence, end, again; "acks": of ns, acknowledged, window_end}]}], "left_out":
//   n}
// A number of a column is the difference from the one before it. Sequence numbers count from 0: over TCP octets, over
// SCTP DATA chunks (TSNs). SCTP's window is in octets and has no place among TSNs, so there is no window_end. `unit` is
// "octet" or "TSN". Consecutive segments or chunks without a gap are one line of `data` if they are within `joined_ns`,
// so a long capture gives a picture of bounded size. A retransmission is always a separate line, unless there are
// thousands. Throws ConfigError if the file is not a capture.
nlohmann::ordered_json sequence_graph(const std::string& capture);

}  // namespace rnic::report
