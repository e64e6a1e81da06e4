// The contexts of a kind's stages: the tables that a caller fills, row by row, as the firmware does.
#pragma once

#include <cstdint>
#include <vector>

#include "model/golden/bench.h"
#include "model/rnic/context/context.h"
#include "model/rnic/messages/failed_segment.h"

namespace rnic::golden {

// By the names of the program's settings, below `context` and `fwcpu`.
struct ContextsConfig {
  unsigned qps = 256, srqs = 64, stags = 1024, pages = 16384, max_ird = 32, max_ord = 32;
  template <class V>
  static void fields(V& v) {
    v("qps", &ContextsConfig::qps, "queue pairs", in_range(1, 1 << 16));
    v("srqs", &ContextsConfig::srqs, "shared receive queues", in_range(1, 1 << 10));
    v("stags", &ContextsConfig::stags, "STag table entries", in_range(1, 1 << 20));
    v("pages", &ContextsConfig::pages, "entries of the page table, for regions over page lists", in_range(1, 1 << 20),
      unit("pages"));
    v("max_ird", &ContextsConfig::max_ird, "most RDMA Reads and atomics that a QP serves at a time",
      in_range(1, 0x3ffe));
    v("max_ord", &ContextsConfig::max_ord, "most RDMA Reads and atomics that a QP has outstanding",
      in_range(1, 0x3ffe));
  }
};

// A row of the table "qp": what the firmware writes of a queue pair, without the places of its rings in host memory.
struct QpRow {
  QpContext qp;

  static constexpr const char* kMessage = "qp_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    QpContext::fields(v, m.qp);
    v("log_sq", 4, m.qp.log_sq);
    v("log_rq", 4, m.qp.log_rq);
    v("send_cq", m.qp.send_cq);
    v("recv_cq", m.qp.recv_cq);
  }
};

// A row of the table "page": the bus address of one page of a list.
struct PageEntry {
  std::uint64_t address = 0;

  static constexpr const char* kMessage = "page_entry";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 64, m.address);
  }
};

// They hold what they are given; what a stage must not be given is refused (Error) before anything has changed.
class Contexts {
 public:
  Contexts(ClockDomain& clk, const ContextsConfig& config) : store(clk, sizes(config)), config_(config) {}

  ContextStore store;

  void write_qp(std::uint32_t index, const QpRow& row);
  void write_stag(std::uint32_t index, const StagContext& row);
  void write_page(std::uint32_t index, const PageEntry& row);
  void write_srq(std::uint32_t index, const SrqContext& row);

  // Of a message that names a queue pair: there is one with this number.
  void check_qp(const char* message, Qpn qpn) const;

 private:
  static ContextStore::Sizes sizes(const ContextsConfig& config);

  const ContextsConfig config_;
};

// How many a queue pair may have in a queue that its stage empties. That is looked up where it may be full.
class Bounds {
 public:
  explicit Bounds(unsigned qps) : at_most_(qps) {}
  // Whether there is room for one more, which then is there. `held()`: how many there are.
  template <class Held>
  bool takes(Qpn qpn, std::uint32_t room, Held held) {
    std::uint32_t& n = at_most_[qpn.v];
    if (n >= room) n = held();
    if (n >= room) return false;
    ++n;
    return true;
  }

 private:
  std::vector<std::uint32_t> at_most_;
};

// The headers of a segment are whole, or missing.
void check_segment(const char* message, const FailedSegment& segment);

// A bench with contexts.
class ContextBench : public Bench {
 public:
  ContextTables* contexts() final { return &contexts_.store; }

 protected:
  static constexpr unsigned kNoBeats = 64;  // the width of a datapath that a stage does not have

  ContextBench(unsigned beat_bytes, const ContextsConfig& config) : Bench(beat_bytes), contexts_(clk_, config) {}
  void qp_table() {
    table<QpRow>("qp", [this](std::uint32_t i, const QpRow& row) { contexts_.write_qp(i, row); });
  }
  void stag_tables() {
    table<StagContext>("stag", [this](std::uint32_t i, const StagContext& row) { contexts_.write_stag(i, row); });
    table<PageEntry>("page", [this](std::uint32_t i, const PageEntry& row) { contexts_.write_page(i, row); });
  }
  void srq_table() {
    table<SrqContext>("srq", [this](std::uint32_t i, const SrqContext& row) { contexts_.write_srq(i, row); });
  }
  // An input about queue pairs.
  template <class T>
  void in_of_qp(PopPort<T>& port, const char* name) {
    in(port, name, [this](const auto& m) { contexts_.check_qp(Message<T>::kName, m.qpn); });
  }
  template <class T, class Check>
  void in_of_qp(PopPort<T>& port, const char* name, Check check) {
    in(port, name, [this, check](const auto& m) {
      contexts_.check_qp(Message<T>::kName, m.qpn);
      check(m);
    });
  }

  Contexts contexts_;
};

}  // namespace rnic::golden
