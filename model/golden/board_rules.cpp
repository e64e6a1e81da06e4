#include "model/golden/board_rules.h"

namespace rnic::golden {

// A Terminate is made with the row of its queue pair as it is when the error is accepted.
// All that an FPDU's stage needs to know of a connection travels with its input, so what it gives follows from the
// order of acceptance alone. A packet of SCTP has no flow before its association is looked up.
const std::vector<BoardRules>& board_rules() {
  static const std::vector<BoardRules> all = {
      {"mpa_framer", "mpa_framer", "flow"},   {"marker_inserter", "marker_inserter", "flow"},
      {"crc_insert", "crc_insert", "flow"},   {"mpa_deframer", "mpa_deframer", "flow"},
      {"crc_check", "crc_check", "flow"},     {"mpa_transmit", "mpa_transmit", "flow"},
      {"mpa_receive", "mpa_receive", "flow"}, {"sctp_crc_insert", "crc_insert", ""},
      {"sctp_crc_check", "crc_check", ""},    {"terminate_generator", "terminate_generator", "qpn"},
  };
  return all;
}

}  // namespace rnic::golden
