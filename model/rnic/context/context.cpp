#include "model/rnic/context/context.h"

#include "model/common/description.h"
#include "model/rnic/messages/parts.h"

namespace rnic {

void ContextStore::note_read(FlowId f, Cycle cycle) const {
  if (read_until_.size() != flows_.size()) read_until_.assign(flows_.size(), 0);
  read_until_[f.v] = std::max(read_until_[f.v], cycle);
}

// What the datapath reads.
void ContextStore::check_reads(FlowId f, const FlowContext& c) const {
  const FlowContext& old = flow(f);
  const bool same =
      c.tx_markers == old.tx_markers && c.rx_markers == old.rx_markers && c.crc == old.crc && c.epoch == old.epoch;
  RNIC_CHECK_MSG(same || f.v >= read_until_.size() || read_until_[f.v] <= clk_.now(),
                 "the context of flow " + std::to_string(f.v) + " changes while its octets are in the pipeline");
}

// One after the other: several writes of a cycle may name one entry. A region begins each key without windows.
void ContextStore::apply_stags() {
  for (const auto& [i, c] : stag_writes_) {
    const StagContext old = stag_table.peek(i)->stag;
    if (old.is_bound()) count_window(Stag{old.region}, -1);
    if (old.key != c.key) stag_table.write(i, &StagRow::windows, std::uint32_t{0});
    stag_table.write(i, &StagRow::stag, c);
    stag_table.settle_writes();
    if (c.is_bound()) count_window(Stag{c.region}, 1);
  }
  stag_writes_.clear();
}

// A window that outlives the key of its region does not count any more.
void ContextStore::count_window(Stag region, int change) {
  const StagRow* r = row(region);
  if (r == nullptr || !r->has_key(region) || (change < 0 && r->windows == 0)) return;
  stag_table.write(index_of(region), &StagRow::windows, r->windows + static_cast<std::uint32_t>(change));
  stag_table.settle_writes();
}

void ContextStore::describe(const Description& d) {
  const auto add = [&](const char* key, const auto& table, const char* unit, const char* text) {
    const auto valid = [&table] {
      return static_cast<double>(std::count_if(table.begin(), table.end(), [](const auto& c) { return c.valid; }));
    };
    d.stats().derived(key, valid, unit, text);
  };
  add("qps", qps_, "QPs", "queue pairs that exist");
  add("cqs", cqs_, "CQs", "completion queues that exist");
  add("srqs", srqs_, "SRQs", "shared receive queues that exist");
  const auto valid_stags = [this] {
    double valid = 0;
    for (std::uint32_t i = 0; i < stag_table.rows(); ++i) valid += stag_table.peek(i)->stag.valid ? 1 : 0;
    return valid;
  };
  d.stats().derived("stags", valid_stags, "STags", "STags that are valid");
  d.owners(*this);
  for (std::uint32_t i = 0; i < qps_.size() && d.shows_probes(); ++i) {
    const QpContext& qp = qps_[i];
    const ProbeGroup queue_pair = d.probes().group("qp", i);
    queue_pair.number("valid", 1, "", [&qp] { return qp.valid; });
    queue_pair.state("state", *words_of<QpState>(), [&qp] { return qp.state; });
    queue_pair.number("flow", 32, "", [&qp] { return qp.valid ? qp.flow.v : 0; });
  }
}

}  // namespace rnic
