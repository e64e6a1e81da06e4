// The firmware's columns of a chip's TCP connections, in the tables of both directions.
#pragma once

#include "model/rnic/context/flow_rows.h"
#include "model/rnic/llp/tcp/flow_rx_table.h"
#include "model/rnic/llp/tcp/flow_tx_table.h"

namespace rnic::tcp {

class ConnectionRows final : public FlowRows {
 public:
  ConnectionRows(FlowTxTable& tx, FlowRxTable& rx) : tx_(tx), rx_(rx) {}

  void write(FlowId flow, const FlowContext& c) override {
    tx_.write(flow.v, &FlowTxRow::qp, QpUse::of(c));
    rx_.write(flow.v, &FlowRxRow::facts, FlowFacts::of(c));
  }
  QpUse peek(FlowId flow) const override {
    const FlowTxRow* const row = tx_.peek(flow.v);
    return row != nullptr ? row->qp : QpUse{};
  }

 private:
  FlowTxTable& tx_;
  FlowRxTable& rx_;
};

}  // namespace rnic::tcp
