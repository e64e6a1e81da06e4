// How tcp_tx carries out what a flow's AckPolicy decides.
#include "model/rnic/tx/tcp_tx.h"

namespace rnic {

using tcp::AckPolicy;
using tcp::RxFeedback;
using wire::TcpHeader;

void TcpTx::answer(FlowId flow, RxFeedback::Answer answer) {
  Flow& f = flows_[flow.v];
  if (answer == RxFeedback::Answer::kChallenge) challenge(flow);
  else if (answer != RxFeedback::Answer::kNone)
    settle(flow, f.acks.on_segment(ack_settings_, answer == RxFeedback::Answer::kSoon));
  if (f.acks.window_update_due(ack_settings_)) owe_ack(flow);
}

void TcpTx::settle(FlowId flow, AckPolicy::Due due) {
  if (due == AckPolicy::Due::kNow) acks_.push(flow);
  else if (due == AckPolicy::Due::kDelayed && !ack_timers_.running(flow))
    ack_timers_.start(flow, now() + ack_settings_.delay);
}

void TcpTx::owe_ack(FlowId flow) {
  flows_[flow.v].acks.owe();
  acks_.push(flow);
}

void TcpTx::challenge(FlowId flow) {
  if (flows_[flow.v].acks.challenge(ack_settings_, now())) acks_.push(flow);
  else ++counters_.challenges_withheld;
}

bool TcpTx::send_owed_ack() {
  while (!acks_.empty()) {
    const FlowId flow = acks_.pop();
    Flow& f = flows_[flow.v];
    if (f.acks.owes_earlier()) {
      send_earlier_ack(flow);
    } else if (f.probe_owed) {
      f.probe_owed = false;
      send_bare(flow, f.loss.snd_una() - 1,
                TcpHeader::kAck);  // not acceptable, hence answered (RFC 9293 section 3.8.6.1)
    } else if (f.acks.owed()) {
      ++counters_.pure_acks;
      send_bare(flow, f.loss.snd_nxt(), TcpHeader::kAck);
    } else {
      continue;  // a segment has carried it meanwhile, or the flow is gone
    }
    return true;
  }
  return false;
}

// What came before the mark changed; the rest is still owed.
void TcpTx::send_earlier_ack(FlowId flow) {
  Flow& f = flows_[flow.v];
  ++counters_.pure_acks;
  tcp::SegmentFields fields;
  fields.seq = f.loss.snd_nxt();
  fields.flags = TcpHeader::kAck;
  const AckPolicy::Due rest = f.acks.write_earlier(ack_settings_, now(), fields);
  ack_timers_.stop(flow);
  push_frame(f.key, f.peer_mac, fields, pool_.take(), kFrameHeadroom, 0);
  settle(flow, rest);
}

}  // namespace rnic
