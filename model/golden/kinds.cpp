#include "model/golden/kinds.h"

namespace rnic::golden {

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> list;
    add_mpa_kinds(list);
    add_atomic_kinds(list);
    add_request_kinds(list);
    add_placement_kinds(list);
    add_segmenter_kinds(list);
    add_negotiation_kinds(list);
    add_session_kinds(list);
    add_packet_kinds(list);
    return list;
  }();
  return all;
}

}  // namespace rnic::golden
