// Compares a node's contexts on the chip with their home, when nothing is under way. What the home has is read here by
// hand, not by the code that wrote it.
#pragma once

#include <gmock/gmock.h>

#include "model/rnic/context/home_entry.h"
#include "model/system/node.h"
#include "testbench/support/bits.h"

namespace rnic::test {

inline const std::uint8_t* home_octets(Node& node, std::uint64_t octet, std::uint32_t bytes) {
  const std::uint64_t page = node.context.home()->pages().at(octet >> abi::kLogHomePage);
  return node.memory.span(page + octet % abi::kHomePageBytes, bytes).data();
}

// Each row of the page table on the chip is what its home has. Returns how many there are.
inline unsigned check_home(Node& node) {
  const PageTable& table = node.chip.contexts().page_table;
  unsigned found = 0;
  for (std::uint32_t row = 0; row < table.rows(); ++row) {
    const PageRow* const here = table.peek(row);
    if (here == nullptr) continue;
    ++found;
    for (std::uint32_t i = 0; i < PageRow::kPages; ++i) {
      const std::uint32_t number = row * PageRow::kPages + i;
      const std::uint64_t entry = load_le64(home_octets(node, std::uint64_t{number} * HomeEntry::kBytes, 8));
      const std::uint64_t there = HomeEntry::is_whole(entry, number) ? HomeEntry::address(entry) : kNowhere;
      EXPECT_EQ(here->page[i], there) << "entry " << i << " of row " << row;
    }
  }
  return found;
}

// Each completion queue on the chip: the firmware's part is what its home has, and the stage's too, if it has not been
// changed since. `base`: of the first one's octets. Returns how many rows there are.
inline unsigned check_cq_home(Node& node, std::uint64_t base = 0) {
  const CqTable& table = node.chip.contexts().cq_table;
  unsigned found = 0;
  for (std::uint32_t n = 0; n < table.rows(); ++n) {
    const CqRow* const here = table.peek(n);
    if (here == nullptr) continue;
    ++found;
    const std::uint8_t* const cq = home_octets(node, base + 64 * std::uint64_t{n}, 64);
    EXPECT_EQ(bits_of(cq, 0, 1), here->cq.valid) << "CQ " << n;
    EXPECT_EQ(bits_of(cq, 1, 4), here->cq.log_entries) << "CQ " << n;
    EXPECT_EQ(bits_of(cq, 5, 64), here->cq.base) << "CQ " << n;
    EXPECT_EQ(bits_of(cq, 69, 32), here->cq.epoch) << "CQ " << n;
    if (table.is_dirty(n)) continue;
    EXPECT_EQ(load_le32(cq + 32), here->state.epoch) << "CQ " << n;
    EXPECT_EQ(load_le32(cq + 36), here->state.produced) << "CQ " << n;
    EXPECT_EQ(load_le32(cq + 40), here->state.taken) << "CQ " << n;
  }
  return found;
}

// The same of the entries of STags that were not changed since they came.
inline unsigned check_stag_home(Node& node, std::uint64_t base = 0) {
  const StagTable& table = node.chip.contexts().stag_table;
  unsigned found = 0;
  for (std::uint32_t n = 0; n < table.rows(); ++n) {
    const StagRow* const here = table.peek(n);
    if (here == nullptr) continue;
    ++found;
    if (table.is_dirty(n)) continue;
    const std::uint8_t* const stag = home_octets(node, base + 64 * std::uint64_t{n}, 64);
    EXPECT_EQ(bits_of(stag, 0, 1), here->stag.allocated) << "STag index " << n;
    EXPECT_EQ(bits_of(stag, 1, 1), here->stag.valid) << "STag index " << n;
    EXPECT_EQ(bits_of(stag, 5, 8), here->stag.key) << "STag index " << n;
    EXPECT_EQ(bits_of(stag, 13, 8), here->stag.access) << "STag index " << n;
    EXPECT_EQ(bits_of(stag, 149, 64), here->stag.address) << "STag index " << n;
    EXPECT_EQ(bits_of(stag, 213, 64), here->stag.length) << "STag index " << n;
    EXPECT_EQ(bits_of(stag, 442, 21), here->windows) << "STag index " << n;
  }
  return found;
}

// The same of transmit contexts: of the firmware's part always, of the segmenter's if it has not been changed since.
inline unsigned check_qp_home(Node& node, std::uint64_t base = 0) {
  const TxTable& table = node.chip.contexts().tx_table;
  unsigned found = 0;
  for (std::uint32_t n = 0; n < table.rows(); ++n) {
    const TxRow* const here = table.peek(n);
    if (here == nullptr) continue;
    ++found;
    const std::uint8_t* const row = home_octets(node, base + 512 * std::uint64_t{n}, 512);
    const std::uint8_t* const context = row + 208;
    EXPECT_EQ(bits_of(context, 0, 3), static_cast<unsigned>(here->qp.state)) << "QP " << n;
    EXPECT_EQ(bits_of(context, 3, 1), here->qp.valid) << "QP " << n;
    EXPECT_EQ(bits_of(context, 8, 16), here->qp.mulpdu) << "QP " << n;
    EXPECT_EQ(bits_of(context, 104, 32), here->qp.epoch) << "QP " << n;
    if (table.is_dirty(n)) continue;
    EXPECT_EQ(load_le32(row), here->state.epoch) << "QP " << n;
    EXPECT_EQ(bits_of(row, 202, 16), here->state.reads) << "QP " << n;
  }
  return found;
}

// The same of receive contexts.
inline unsigned check_qp_rx_home(Node& node, std::uint64_t base = 0) {
  const RxTable& table = node.chip.contexts().rx_table;
  unsigned found = 0;
  for (std::uint32_t n = 0; n < table.rows(); ++n) {
    const RxRow* const here = table.peek(n);
    if (here == nullptr) continue;
    ++found;
    const std::uint8_t* const row = home_octets(node, base + 512 * std::uint64_t{n}, 512);
    const std::uint8_t* const context = row + 280;
    EXPECT_EQ(bits_of(context, 0, 3), static_cast<unsigned>(here->qp.state)) << "QP " << n;
    EXPECT_EQ(bits_of(context, 3, 1), here->qp.valid) << "QP " << n;
    EXPECT_EQ(bits_of(context, 8, 16), here->qp.ird) << "QP " << n;
    EXPECT_EQ(bits_of(context, 88, 32), here->qp.recv_cq.v) << "QP " << n;
    EXPECT_EQ(bits_of(context, 120, 32), here->qp.epoch) << "QP " << n;
    if (table.is_dirty(n)) continue;
    EXPECT_EQ(load_le32(row + 332), here->state.epoch) << "QP " << n;
    EXPECT_EQ(load_le32(row + 332 + 4), here->state.msn_send) << "QP " << n;
    EXPECT_EQ(bits_of(row + 332, 7 * 32 + 64, 16), here->state.requests) << "QP " << n;
  }
  return found;
}

// The same of what completion, responder and the fetch units know of a queue pair.
inline unsigned check_qp_rows_home(Node& node, std::uint64_t base = 0) {
  const ContextStore& contexts = node.chip.contexts();
  unsigned found = 0;
  for (std::uint32_t n = 0; n < contexts.qps(); ++n) {
    const std::uint8_t* const object = home_octets(node, base + 512 * std::uint64_t{n}, 512);
    if (const SqcRow* const here = contexts.sqc_table.peek(n); here != nullptr) {
      ++found;
      EXPECT_EQ(load_le32(object + 240), here->qp.send_cq.v) << "QP " << n;
      EXPECT_EQ(load_le32(object + 240 + 8), here->qp.epoch) << "QP " << n;
      if (!contexts.sqc_table.is_dirty(n)) {
        EXPECT_EQ(load_le32(object + 136), here->state.epoch) << "QP " << n;
        EXPECT_EQ(bits_of(object + 136, 32 + 48, 16), here->state.outstanding.size) << "QP " << n;
        EXPECT_EQ(bits_of(object + 136, 32 + 3 * 64, 16), here->state.sends) << "QP " << n;
      }
    }
    if (const OrqRow* const here = contexts.orq_table.peek(n); here != nullptr) {
      ++found;
      EXPECT_EQ(bits_of(object + 256, 0, 1), here->qp.valid) << "QP " << n;
      EXPECT_EQ(bits_of(object + 256, 1, 32), here->qp.epoch) << "QP " << n;
      if (!contexts.orq_table.is_dirty(n)) {
        EXPECT_EQ(load_le32(object + 184), here->state.epoch) << "QP " << n;
        EXPECT_EQ(bits_of(object + 184, 32 + 48, 16), here->state.outstanding.size) << "QP " << n;
      }
    }
    if (const IrrqRow* const here = contexts.irrq_table.peek(n); here != nullptr) {
      ++found;
      EXPECT_EQ(bits_of(object + 308, 1, 16), here->qp.ird) << "QP " << n;
      EXPECT_EQ(bits_of(object + 308, 17, 32), here->qp.epoch) << "QP " << n;
      if (!contexts.irrq_table.is_dirty(n)) {
        EXPECT_EQ(load_le32(object + 380), here->state.epoch) << "QP " << n;
        EXPECT_EQ(bits_of(object + 380, 32 + 48, 16), here->state.waiting.size) << "QP " << n;
        EXPECT_EQ(bits_of(object + 380, 32 + 64, 1), here->state.busy) << "QP " << n;
      }
    }
    for (const auto& [table, at] : {std::pair(&contexts.sq_table, 268), std::pair(&contexts.rq_table, 320)}) {
      const RingRow* const here = table->peek(n);
      if (here == nullptr) continue;
      ++found;
      EXPECT_EQ(load_le64(object + at), here->base) << "QP " << n;
    }
  }
  return found;
}

// The rings of shared receive queues on the chip.
inline unsigned check_srq_home(Node& node, std::uint64_t base = 0) {
  const RingTable& table = node.chip.contexts().srq_table;
  unsigned found = 0;
  for (std::uint32_t n = 0; n < table.rows(); ++n) {
    const RingRow* const here = table.peek(n);
    if (here == nullptr) continue;
    ++found;
    EXPECT_EQ(load_le64(home_octets(node, base + 64 * std::uint64_t{n}, 64)), here->base) << "SRQ " << n;
  }
  return found;
}

// The same of the flows of TCP: of the firmware's parts always, of the stages' if they have not been changed since.
inline unsigned check_flow_home(Node& node, std::uint64_t base = 0) {
  const FlowTxTable& sending = node.chip.flow_tx_table();
  const tcp::FlowRxTable& receiving = node.chip.flow_rx_table();
  unsigned found = 0;
  for (std::uint32_t n = 0; n < sending.rows(); ++n) {
    const std::uint8_t* const flow = home_octets(node, base + 512 * std::uint64_t{n}, 512);
    if (const FlowTxRow* const here = sending.peek(n); here != nullptr) {
      ++found;
      EXPECT_EQ(load_le32(flow + 252), here->qp.qpn.v) << "flow " << n;
      EXPECT_EQ(load_le32(flow + 256), here->qp.epoch) << "flow " << n;
      if (!sending.is_dirty(n)) {
        EXPECT_EQ(load_le32(flow), here->state.key.peer_ip) << "flow " << n;
        EXPECT_EQ(bits_of(flow, 48, 16), here->state.key.port) << "flow " << n;
        EXPECT_EQ(bits_of(flow, 64 + 48 + 5, 1), here->state.open) << "flow " << n;
      }
    }
    if (const tcp::FlowRxRow* const here = receiving.peek(n); here != nullptr) {
      ++found;
      EXPECT_EQ(load_le32(flow + 268), here->facts.qpn.v) << "flow " << n;
      EXPECT_EQ(bits_of(flow + 268, 32, 8), here->facts.life) << "flow " << n;
      if (!receiving.is_dirty(n)) {
        EXPECT_EQ(load_le32(flow + 284), here->state.receiver.rcv_nxt()) << "flow " << n;
      }
    }
  }
  return found;
}

}  // namespace rnic::test
