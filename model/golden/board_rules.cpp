#include "model/golden/board_rules.h"

namespace rnic::golden {

// All that an FPDU's stage needs to know of a connection travels with its input, so what it gives follows from the
// order of acceptance alone. A packet of SCTP has no flow before its association is looked up.
const std::vector<BoardRules>& board_rules() {
  static const std::vector<BoardRules> all = {
      {"mpa_framer", "mpa_framer", "flow"},
      {"marker_inserter", "marker_inserter", "flow"},
      {"crc_insert", "crc_insert", "flow"},
      {"mpa_deframer", "mpa_deframer", "flow"},
      {"crc_check", "crc_check", "flow"},
      {"mpa_transmit", "mpa_transmit", "flow"},
      {"mpa_receive", "mpa_receive", "flow"},
      {"sctp_crc_insert", "crc_insert", ""},
      {"sctp_crc_check", "crc_check", ""},
      {"ddp_placement", "ddp_placement", "qpn|rqn_shared,rqn_number|srqn", placement_races},
      {"irrq", "irrq", "qpn", irrq_races},
      {"atomic_alu", "atomic_alu", "qpn", atomic_races},
      {"response_queue", "response_queue", "qpn", response_queue_races},
      {"terminate_generator", "terminate_generator", "qpn", terminate_races},
  };
  return all;
}

}  // namespace rnic::golden
