#include "model/rnic/context/context.h"

#include <algorithm>
#include <string>

#include "model/common/description.h"
#include "model/common/memory.h"
#include "model/rnic/messages/parts.h"

namespace rnic {

FlowRows& ContextStore::rows_of(FlowId f) const {
  const auto of = std::find_if(flow_rows_.begin(), flow_rows_.end(),
                               [f](const FlowsOfLlp& l) { return f.v >= l.first.v && f.v - l.first.v < l.count; });
  RNIC_CHECK_MSG(of != flow_rows_.end(), "no lower layer has flow " + std::to_string(f.v));
  return of->rows;
}

// One after the other: several writes of a cycle may name one entry.
void ContextStore::apply_stags() {
  for (const auto& [i, c] : stag_writes_) apply_stag(i, c);
  stag_writes_.clear();
  for (const Stag s : stag_ends_) {
    StagContext ended = entry(index_of(s)).stag;
    if (!ended.names(s.v)) continue;
    ended.valid = false;
    apply_stag(index_of(s), ended);
  }
  stag_ends_.clear();
}

const StagRow& ContextStore::entry(std::uint32_t index) const {
  const StagRow* const row = stag_table.peek(index);
  RNIC_CHECK_MSG(row != nullptr, "an entry of the STag table is written that is not on the chip");
  return *row;
}

// A region begins each key without windows.
void ContextStore::apply_stag(std::uint32_t i, const StagContext& c) {
  const StagContext old = entry(i).stag;
  if (old.is_bound()) count_window(Stag{old.region}, -1);
  if (old.key != c.key) stag_table.change(i, &StagRow::windows, std::uint32_t{0});
  stag_table.change(i, &StagRow::stag, c);
  stag_table.settle_writes();
  if (c.is_bound()) count_window(Stag{c.region}, 1);
  valid_stags_ += c.valid;
  valid_stags_ -= old.valid;
  for (ContextObserver* o : observers_) o->wrote_stag(i, c);
}

// A window that outlives the key of its region does not count any more.
void ContextStore::count_window(Stag region, int change) {
  const StagRow* r = row(region);
  if (r == nullptr || !r->has_key(region) || (change < 0 && r->windows == 0)) return;
  stag_table.change(index_of(region), &StagRow::windows, r->windows + static_cast<std::uint32_t>(change));
  stag_table.settle_writes();
}

void ContextStore::forget(ContextObserver& observer) {
  observers_.erase(std::remove(observers_.begin(), observers_.end(), &observer), observers_.end());
}

// What the firmware wrote, from the parts that stages have of it.
QpContext ContextStore::qp(Qpn n) const {
  const ResidentQp& resident = qps_[n.v];
  const TxContext& tx = tx_table.peek(n.v)->qp;
  const RxContext& rx = rx_table.peek(n.v)->qp;
  QpContext c;
  c.state = resident.state;
  c.valid = resident.valid;
  c.responder = tx.responder;
  c.absorbs_rtr_send = rx.absorbs_rtr_send;
  c.log_sq = resident.log_sq;
  c.log_rq = resident.log_rq;
  c.version = rx.version;
  c.extensions = rx.extensions;
  c.mulpdu = tx.mulpdu;
  c.ird = rx.ird;
  c.ord = tx.ord;
  c.pd = rx.pd;
  c.flow = rx.flow;
  c.send_cq = sqc_table.peek(n.v)->qp.send_cq;
  c.recv_cq = rx.recv_cq;
  c.shares_rq = resident.shares_rq;
  c.llp = tx.llp;
  c.markers = tx.markers;
  c.crc = tx.crc;
  c.srq = Srqn{resident.srqn};
  c.sq_base = sq_table.peek(n.v)->base;
  c.rq_base = rq_table.peek(n.v)->base;
  c.epoch = resident.epoch;
  c.first_msn = rx.first_msn;
  return c;
}

void ContextStore::show_rows(ContextObserver& observer) const {
  for (std::uint32_t i = 0; i < qps() && !tx_table.cached(); ++i) {
    if (qps_[i].valid || qps_[i].epoch != 0) observer.wrote(Qpn{i}, qp(Qpn{i}));
  }
  for (std::uint32_t i = 0; i < srqs() && !srq_table.cached(); ++i) {
    const ResidentRing& r = srqs_[i];
    if (r.valid || r.epoch != 0)
      observer.wrote(Srqn{i}, {r.valid, r.log_entries, {}, srq_table.peek(i)->base, r.epoch});
  }
  for (std::uint32_t i = 0; i < pages_ && !page_table.cached(); ++i) {
    const std::uint64_t page = page_table.peek(i / PageRow::kPages)->page[i % PageRow::kPages];
    if (page != 0) observer.wrote_page(i, page);
  }
  for (const bool windows : {false, true}) {
    for (std::uint32_t i = 0; i < stags() && !stag_table.cached(); ++i) {
      const StagContext& c = stag_table.peek(i)->stag;
      if (c.is_bound() == windows) observer.wrote_stag(i, c);
    }
  }
}

void ContextStore::describe(const Description& d) {
  const auto add = [&](const char* key, const auto& registers, const char* unit, const std::string& what) {
    const auto exist = [&registers] { return static_cast<double>(registers.exist.now()); };
    d.stats().derived(key, exist, unit, what + " that exist");
    const std::size_t entries = registers.now.size();
    describe_memory(d.part(std::string("alive_") + key).stats(), {entries, entries, registers.bits(), unit, what},
                    registers.exist);
  };
  add("qps", qps_, "QPs", "queue pairs");
  add("cqs", cqs_, "CQs", "completion queues");
  add("srqs", srqs_, "SRQs", "shared receive queues");
  d.stats().derived(
      "stags", [this] { return static_cast<double>(valid_stags_); }, "STags", "STags that are valid");
  d.owners(*this);
  for (std::uint32_t i = 0; i < qps() && d.shows_probes(); ++i) {
    const ResidentQp& qp = qps_[i];
    const ProbeGroup queue_pair = d.probes().group("qp", i);
    queue_pair.number("valid", 1, "", [&qp] { return qp.valid; });
    queue_pair.state("state", *words_of<QpState>(), [&qp] { return qp.state; });
    queue_pair.number("flow", 32, "", [&qp] { return qp.valid ? qp.flow.v : 0; });
  }
}

}  // namespace rnic
