// atomic_alu: its lookups of contexts and pages are answered here, and its DMA reads land where the stage's do.
#pragma once

#include <memory>

#include "model/common/bytes.h"
#include "model/rnic/responder/atomic_alu.h"
#include "rtl-stubs/verilated/asked.h"
#include "rtl-stubs/verilated/atomic_owners.h"
#include "rtl-stubs/verilated/messages.h"
#include "rtl-stubs/verilated/pins.h"
#include "rtl-stubs/verilated/wrong_numbers.h"

namespace rnic::rtl {

template <class Model>
class AtomicAluPinsOf : public Pins<Model, AtomicAlu> {
 public:
  AtomicAluPinsOf(AtomicAlu& stage, ContextTables& contexts)
      : stage_(stage),
        contexts_(contexts),
        in_progress_(contexts.in_flight, StagWrites::kAtomic),
        unanswered_(contexts) {}

  template <class V>
  void links(Model& m, V& v) {
    v.in(stage_.written, m.written_valid_i, m.written_ready_o, m.written_i);
    v.out(stage_.out, m.out_ready_i, m.out_valid_o, m.out_o);
    v.out(stage_.event, m.event_ready_i, m.event_valid_o, m.event_o);
    v.out(stage_.write, m.write_ready_i, m.write_valid_o, m.write_o);
    v.in(stage_.read_done, m.read_done_valid_i, m.read_done_ready_o, m.read_done_i);
    v.in(stage_.in, m.in_valid_i, m.in_ready_o, m.in_i);
    v.out(stage_.read, m.read_ready_i, m.read_valid_o, m.read_o);
  }

  using Pins<Model, AtomicAlu>::offered;
  void offered(const QueuedAtomic& r, Model&) { offered_ = r.segment.owner; }
  void offered(const DmaReadDone& done, Model& m) const { m.read_done_data_i = load_le64(stage_.landing(done.tag)); }
  // The rows of the tables that are there; the older operation at its address.
  static constexpr unsigned kRounds = 2;
  void look_up(Model& m, unsigned round) const {
    if (round == 0) {
      qp(m.in_qp_index_o, m.in_qp_i);
      qp(m.answer_qp_index_o, m.answer_qp_i);
      stags(m);
      pages(m);
    } else {
      m.older_overwritten_i = stage_.words().overwritten(m.older_index_o);
    }
  }

  bool waits_for_others(const Model&) const {
    return memory_ != 0 || entries_.awaited(stage_.target.entry()) || regions_.awaited(stage_.target.region()) ||
           page_rows_.awaited(stage_.pages);
  }
  std::size_t owes(const Model& m) const { return waits_for_others(m) ? 0 : unanswered_.count(); }

  template <class T>
  const char* wrong(const T& message) const {
    return wrong_qp(contexts_, message);
  }
  const char* wrong(const DmaReadRequest& read) const {
    return stage_.has(read.tag) ? nullptr : "a read with the tag of no operation";
  }
  using Pins<Model, AtomicAlu>::pushed;
  // The owner of a refused request; none for one that failed.
  void pushed(QpEvent& event, const Model& m) {
    if (!m.failed_o) event.failed.owner = offered_;
    unanswered_.end(event.qpn);
  }
  void pushed(DmaReadRequest& r, const Model&) {
    ++memory_;
    r.dst = stage_.landing(r.tag);
    r.owner = owners_.taken();  // it is a request's first action
  }
  void pushed(DmaWriteRequest& w, const Model& m) {
    ++memory_;
    w.src = buffers_->take(owners_.write(w.address));
    store_le64(w.src->bytes(), m.write_data_o);
  }
  using Pins<Model, AtomicAlu>::compare_content;
  template <class F>
  void compare_content(const DmaWriteRequest& w, const Model& m, F&& f) const {
    f("data", load_le64(w.src->bytes()), m.write_data_o);
  }
  using Pins<Model, AtomicAlu>::taken;
  void taken(const QueuedAtomic& r, const Model&) {
    owners_.take(r);
    unanswered_.open(r.qpn, r.epoch);
  }
  void taken(const DmaReadDone& done, const Model& m) {
    owners_.read(done.tag, m.read_done_data_i);
    --memory_;
  }
  void taken(const DmaWriteDone&, const Model&) { --memory_; }
  void pushed(AtomicWork& work, const Model&) {
    work.owner = owners_.answer(work.qpn, work.response.request_id);
    unanswered_.close(work.qpn, work.epoch);
  }
  void stand_in(const Model& m) {
    if (m.release_o) {
      stage_.words().release(m.release_index_o);
      owners_.release(m.release_index_o);
      in_progress_.end(m.release_index_o);
    }
    if (m.in_valid_i && !m.in_ready_o) contexts_.wake_at_change(stage_);
    entries_.note(m.stag_ask_o, m.stag_drop_o);
    regions_.note(m.region_ask_o, m.region_drop_o);
    page_rows_.note(m.pages_ask_o, m.pages_drop_o);
    if (m.stag_drop_o) stage_.target.entry().drop();
    if (m.stag_ask_o) stage_.target.entry().ask(m.in_stag_index_o);
    if (m.region_drop_o) stage_.target.region().drop();
    if (m.region_ask_o) stage_.target.region().ask(m.in_region_index_o);
    if (m.pages_drop_o) stage_.pages.drop();
    if (m.pages_ask_o) stage_.pages.ask(m.pages_index_o);
    if (m.word_watch_o) {
      in_progress_.begin(m.word_index_o);
      owners_.start(m.word_index_o, m.word_address_o);
      stage_.words().watch(m.word_index_o, m.word_address_o, m.word_follows_o ? m.older_index_o : WordWatch::kNoEntry);
    }
    AtomicAluCounters& c = stage_.counters();
    c.fetch_adds += m.fetch_add_o;
    c.cmp_swaps += m.cmp_swap_o;
    c.forwarded += m.forwarded_o;
    c.held_up += m.held_up_o;
    c.refused += m.refused_o;
    c.failed += m.failed_o;
  }

 private:
  template <class Port>
  void qp(std::uint32_t index, Port& port) const {
    pack(contexts_.has(Qpn{index}) ? contexts_.life(Qpn{index}) : QpLife{}, port);
  }
  void pages(Model& m) const {
    m.pages_ready_i = stage_.pages.can_ask();
    m.pages_valid_i = stage_.pages.can_use();
    if (!m.pages_valid_i) return;
    m.pages_row_i = stage_.pages.front().index;
    pack(stage_.pages.ok() ? stage_.pages.row() : PageRow{{kNowhere, kNowhere, kNowhere, kNowhere}}, m.pages_i);
  }
  void stags(Model& m) const {
    StagTable::Reader& entry = stage_.target.entry();
    StagTable::Reader& region = stage_.target.region();
    m.stag_ready_i = entry.can_ask();
    m.region_ready_i = region.can_ask();
    m.stag_valid_i = entry.can_use();
    m.region_valid_i = region.can_use();
    if (m.stag_valid_i) pack(entry.ok() ? entry.row().stag : StagContext{}, m.in_stag_i);
    if (!m.region_valid_i) return;
    m.region_row_i = region.front().index;
    pack(region.ok() ? region.row().stag : StagContext{}, m.in_region_i);
  }

  AtomicAlu& stage_;
  ContextTables& contexts_;
  std::shared_ptr<BufferPool> buffers_ = std::make_shared<BufferPool>(abi::kAtomicBytes);  // one for all copies
  WritesInAnyOrder in_progress_;
  AtomicOwners owners_;
  RequestId offered_;  // owner of the offered request
  AskedRows entries_, regions_, page_rows_;
  std::size_t memory_ = 0;  // accesses that are not answered yet
  OpenMessages unanswered_;
};

}  // namespace rnic::rtl
