// TCP flows that are not on the chip: their octets in the home. See flow_home.md.
#pragma once

#include "model/rnic/context/homed_tables.h"
#include "model/rnic/llp/tcp/flow_rx_table.h"
#include "model/rnic/llp/tcp/flow_tx_table.h"

namespace rnic::tcp {

// As of a queue pair: the state of the sending half, the firmware's parts of both, the state of the receiving half.
struct FlowTxHome {
  static constexpr std::uint32_t kStateAt = 0, kStateBytes = 252, kContextAt = 252, kContextBytes = 16;
  using Context = HomeImage<QpUse, kContextBytes>;
  using State = HomeImage<FlowTx, kStateBytes>;
};
struct FlowRxHome {
  static constexpr std::uint32_t kContextAt = 268, kContextBytes = 16, kStateAt = 284, kStateBytes = 108;
  using Context = HomeImage<FlowFacts, kContextBytes>;
  using State = HomeImage<FlowRx, kStateBytes>;
};
static_assert(FlowRxHome::kStateAt + FlowRxHome::kStateBytes <= FlowHome::kRowBytes);

using FlowTxParts = RowParts<FlowTxHome, FlowTxRow, &FlowTxRow::qp, &FlowTxRow::state>;
using FlowRxParts = RowParts<FlowRxHome, FlowRxRow, &FlowRxRow::facts, &FlowRxRow::state>;

class HomedFlows final : public HomedRows<FlowTxParts, FlowRxParts> {
 public:
  HomedFlows(const HomeLayout& layout, FlowTxTable& tx, FlowRxTable& rx)
      : HomedRows(abi::ContextKind::kFlow, layout, tx, rx) {}
  Part pack_written(const HomeOp& op, std::uint8_t* to) override {
    const std::uint64_t at = octet_of(op.index) + FlowTxHome::kContextAt;
    FlowTxHome::Context::pack(QpUse::of(op.flow), at, to);
    FlowRxHome::Context::pack(FlowFacts::of(op.flow), at + FlowTxHome::kContextBytes, to + FlowTxHome::kContextBytes);
    return {at, FlowTxHome::kContextBytes + FlowRxHome::kContextBytes};
  }
};

}  // namespace rnic::tcp
