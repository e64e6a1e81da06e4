// Where contexts are in their home: the rows of the tables that have one follow one another.
#pragma once

#include <array>
#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/rnic/context/cq_table.h"
#include "model/rnic/context/home_entry.h"
#include "model/rnic/context/home_image.h"
#include "model/rnic/context/irrq_table.h"
#include "model/rnic/context/orq_table.h"
#include "model/rnic/context/page_table.h"
#include "model/rnic/context/ring_table.h"
#include "model/rnic/context/rx_table.h"
#include "model/rnic/context/sqc_table.h"
#include "model/rnic/context/stag_table.h"
#include "model/rnic/context/tx_table.h"

namespace rnic {

struct PageHome {
  static constexpr std::uint32_t kRowBytes = PageRow::kPages * HomeEntry::kBytes;
};
// The firmware's part, then the stage's.
struct CqHome {
  static constexpr std::uint32_t kContextBytes = 32, kContextAt = 0, kStateBytes = 32, kStateAt = kContextBytes;
  static constexpr std::uint32_t kRowBytes = kStateAt + kStateBytes;
  using Context = HomeImage<CqContext, kContextBytes>;
  using State = HomeImage<CqState, kStateBytes>;
};

struct StagHome {
  static constexpr std::uint32_t kRowBytes = 64;
  using Row = HomeImage<StagRow, kRowBytes>;
};

struct SrqHome {
  static constexpr std::uint32_t kContextAt = 0, kContextBytes = 64, kRowBytes = kContextBytes;
  using Context = HomeImage<RingRow, kContextBytes>;
};

// A queue pair: the states of the transmit side, the firmware's parts of all tables, which are neighbours as it writes
// them at once, and the states of the receive side. Each row has its place: the firmware's part and a stage's, if it
// has both.
struct QpHome {
  static constexpr std::uint32_t kUsedBytes = 400, kRowBytes = 512;
};
struct TxHome {
  static constexpr std::uint32_t kStateAt = 0, kStateBytes = 136, kContextAt = 208, kContextBytes = 32;
  using Context = HomeImage<TxContext, kContextBytes>;
  using State = HomeImage<QpTx, kStateBytes>;
};
struct SqcHome {
  static constexpr std::uint32_t kStateAt = 136, kStateBytes = 48, kContextAt = 240, kContextBytes = 16;
  using Context = HomeImage<SqcContext, kContextBytes>;
  using State = HomeImage<QpSq, kStateBytes>;
};
struct OrqHome {
  static constexpr std::uint32_t kStateAt = 184, kStateBytes = 24, kContextAt = 256, kContextBytes = 12;
  using Context = HomeImage<OrqContext, kContextBytes>;
  using State = HomeImage<QpOrq, kStateBytes>;
};
struct SendRingHome {
  static constexpr std::uint32_t kContextAt = 268, kContextBytes = 12;
  using Context = HomeImage<RingRow, kContextBytes>;
};
struct RxHome {
  static constexpr std::uint32_t kContextAt = 280, kContextBytes = 28, kStateAt = 332, kStateBytes = 48;
  using Context = HomeImage<RxContext, kContextBytes>;
  using State = HomeImage<QpRx, kStateBytes>;
};
struct IrrqHome {
  static constexpr std::uint32_t kContextAt = 308, kContextBytes = 12, kStateAt = 380, kStateBytes = 20;
  using Context = HomeImage<IrrqContext, kContextBytes>;
  using State = HomeImage<QpIrrq, kStateBytes>;
};
struct ReceiveRingHome {
  static constexpr std::uint32_t kContextAt = 320, kContextBytes = 12;
  using Context = HomeImage<RingRow, kContextBytes>;
};

// A flow of TCP, whose parts its lower layer knows (llp/tcp/flow_home.h).
struct FlowHome {
  static constexpr std::uint32_t kRowBytes = 512;
};

struct HomeLayout {
  struct Part {
    std::uint64_t base = 0;  // octet of its first row; a multiple of 4 KiB
    std::uint32_t row_bytes = 1;
    std::uint64_t octet_of(std::uint32_t row) const { return base + std::uint64_t{row} * row_bytes; }
  };
  static constexpr std::uint64_t kAlign = 4096;

  // Tables that have no home take no room. Of a queue pair all tables are cached, or none. `flows`: that are not all on
  // the chip, or 0.
  HomeLayout(const PageTable& pages, const CqTable& cqs, const StagTable& stags, const TxTable& qps, std::size_t flows,
             const RingTable& srqs) {
    add(abi::ContextKind::kPages, cached_rows(pages), PageHome::kRowBytes);
    add(abi::ContextKind::kCq, cached_rows(cqs), CqHome::kRowBytes);
    add(abi::ContextKind::kStag, cached_rows(stags), StagHome::kRowBytes);
    add(abi::ContextKind::kQp, cached_rows(qps), QpHome::kRowBytes);
    add(abi::ContextKind::kFlow, flows, FlowHome::kRowBytes);
    add(abi::ContextKind::kSrq, cached_rows(srqs), SrqHome::kRowBytes);
  }
  const Part& operator[](abi::ContextKind kind) const { return parts_[static_cast<std::size_t>(kind)]; }
  std::uint64_t bytes() const { return bytes_; }
  // A bit for each kind that has one.
  std::uint32_t kinds() const { return kinds_; }

 private:
  static std::size_t cached_rows(const TableBase& table) { return table.cached() ? table.rows() : 0; }
  void add(abi::ContextKind kind, std::size_t rows, std::uint32_t row_bytes) {
    parts_[static_cast<std::size_t>(kind)] = {bytes_, row_bytes};
    if (rows == 0) return;
    kinds_ |= 1u << static_cast<unsigned>(kind);
    bytes_ += (std::uint64_t{rows} * row_bytes + kAlign - 1) / kAlign * kAlign;
  }
  std::array<Part, abi::kContextKinds> parts_;
  std::uint64_t bytes_ = 0;
  std::uint32_t kinds_ = 0;
};

}  // namespace rnic
