// The receiving halves of a chip's TCP connections: a table with ports and a read latency. See flow_rx_table.md.
#pragma once

#include "model/common/table.h"
#include "model/rnic/llp/tcp/received_stream.h"
#include "model/rnic/llp/tcp/receiver.h"
#include "model/rnic/messages/datapath.h"

namespace rnic::tcp {

// What tcp_rx knows of a flow. The elements of its lists are elsewhere.
struct FlowRx {
  Receiver receiver;
  ReceivedStream stream;

  static constexpr const char* kMessage = "flow_rx";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("receiver", m.receiver);
    v("stream", m.stream);
  }
};

struct FlowRxRow {
  FlowFacts facts;  // written by the firmware
  FlowRx state;     // tcp_rx's

  static constexpr const char* kMessage = "flow_rx_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("facts", m.facts);
    v("state", m.state);
  }
};

using FlowRxTable = Table<FlowRxRow>;

}  // namespace rnic::tcp
