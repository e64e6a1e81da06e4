// What a time-sequence graph of a captured TCP connection or SCTP association shows: data, retransmissions,
// acknowledgements and windows.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace rnic::report {

// {"connections": [{"name", "directions": [{"name", "unit", "octets", "segments", "retransmissions",
//   "data": [[from_ns, to_ns, sequence, end, again]…], "acks": [[ns, acknowledged, window_end]…]}]}], "left_out": n}
// Sequence numbers count from 0, over TCP octets, over SCTP DATA chunks (TSNs), whose window, of octets, has no place
// among them: window_end is null. `unit` is "octet" or "TSN". Segments or chunks that follow each other without a gap
// are one line of `data` while they are close in time, so that a long capture gives a picture of bounded size; a
// retransmission is always a line of its own, as long as there are no more than some thousands. Throws ConfigError if
// the file is no capture.
nlohmann::ordered_json sequence_graph(const std::string& capture);

}  // namespace rnic::report
