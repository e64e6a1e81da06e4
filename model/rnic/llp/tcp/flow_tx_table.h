// What tcp_tx knows of a chip's TCP flows: a table with a port and a read latency. See flow_tx_table.md.
#pragma once

#include <cstdint>

#include "model/common/table.h"
#include "model/rnic/context/flow_rows.h"
#include "model/rnic/llp/tcp/ack_policy.h"
#include "model/rnic/llp/tcp/sender.h"
#include "model/rnic/messages/flow_key.h"
#include "model/rnic/messages/parts.h"
#include "model/wire/ethernet.h"

namespace rnic {

// The elements of its retransmission queue are on the chip, wherever the row is, and so are its timers and its places
// in lists.
struct FlowTx {
  llp::FlowKey key;
  wire::MacAddress peer_mac;
  std::uint8_t reports = 0;  // TxReport kinds to be sent, one bit each
  bool open : 1;
  bool probe_owed : 1;  // a segment that the peer must answer
  bool reset : 1;       // by the peer: nothing more is sent
  tcp::Sender sender;
  tcp::AckPolicy acks;
  std::uint32_t wqes_acked = 0;  // not reported yet
  FlowTx() : open(false), probe_owed(false), reset(false) {}

  static constexpr const char* kMessage = "flow_tx";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("key", m.key);
    v("peer_mac", m.peer_mac);
    v("reports", 5, m.reports);
    visit_bits(v, "open", 1, bool{m.open}, m, [](auto& of, bool value) { of.open = value; });
    visit_bits(v, "probe_owed", 1, bool{m.probe_owed}, m, [](auto& of, bool value) { of.probe_owed = value; });
    visit_bits(v, "reset", 1, bool{m.reset}, m, [](auto& of, bool value) { of.reset = value; });
    v("sender", m.sender);
    v("acks", m.acks);
    v("wqes_acked", 16, m.wqes_acked);
  }
};

struct FlowTxRow {
  QpUse qp;      // written by the firmware
  FlowTx state;  // tcp_tx's

  static constexpr const char* kMessage = "flow_tx_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qp", m.qp);
    v("state", m.state);
  }
};

using FlowTxTable = Table<FlowTxRow>;

}  // namespace rnic
