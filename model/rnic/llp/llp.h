// A lower layer, as the stages above the boundary see it: one bundle of ports, connected in one place. See boundary.md.
#pragma once

#include "model/common/netlist.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/early_placed.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/per_llp.h"

namespace rnic {

// The lower layer's ends of its links.
struct Llp {
  PopPort<Ulpdu>& ulpdus;        // to send, in the order in which they were cut
  PushPort<TxCredit>& credit;    // what may be cut
  PushPort<WqesAcked>& acked;    // what the peer has acknowledged
  PushPort<FpduBeat>& segments;  // received, in order
  PopPort<StreamEnded>& ended;   // the end of a stream has passed
  PushPort<StreamBeat>& behind;  // received after a gap
  PopPort<EarlyPlaced>& early;   // what was placed of that
};

// Names and latencies of the links, which are the lower layer's own.
struct LlpLinks {
  struct Link {
    const char* name;
    LinkConfig config = Netlist::kFew;
  };
  Link ulpdus, credit, acked, segments, ended, behind, early;
};

// `upper` has the stages above the boundary by their names.
template <class Upper>
void connect_llp(Netlist& net, Upper& upper, LlpId id, const Llp& llp, const LlpLinks& links) {
  const auto connect = [&net](auto& from, auto& to, const LlpLinks::Link& link) -> auto& {
    return net.connect(from, to, link.name, link.config);
  };
  connect(upper.payload_fetch.out[id], llp.ulpdus, links.ulpdus).traced_as(TraceKind::kPayloadRead);
  connect(llp.credit, upper.rdmap_segmenter.credit[id], links.credit);
  connect(llp.acked, upper.sq_completion.acked[id], links.acked);
  connect(llp.segments, upper.ddp_placement.in[id], links.segments).traced_as(TraceKind::kCrcChecked);
  connect(upper.rdmap_dispatch.ended[id], llp.ended, links.ended);
  connect(llp.behind, upper.early_placement.in[id], links.behind);
  connect(upper.early_placement.out[id], llp.early, links.early);
}

}  // namespace rnic
