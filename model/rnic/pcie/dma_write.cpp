#include "model/rnic/pcie/dma_write.h"

#include <utility>

#include "model/common/description.h"
#include "model/rnic/pcie/cut.h"

namespace rnic::pcie {

DmaWrite::DmaWrite(sc_core::sc_module_name nm, ClockDomain& clk, unsigned clients, const PcieLinkConfig& link,
                   ConfigSpace& space)
    : Stage(nm, clk), space_(space), max_payload_(link.max_payload_bytes) {
  for (unsigned i = 0; i < clients; ++i) clients_.push_back(std::make_unique<Client>(*this));
}

PushPort<DmaWriteDone>& DmaWrite::done(unsigned client) {
  auto& port = clients_.at(client)->done;
  return port ? *port : port.emplace(*this, "done");
}

// A TLP stays within 4 KiB, so within a page of a list.
BusPiece DmaWrite::next_of(const DmaWriteRequest& r) const {
  const BusPiece p = r.region == 0 ? BusPiece{r.address, r.bytes} : contexts_->first_of({r.address, r.bytes, r.region});
  return {p.address, cut(p.address, p.bytes, max_payload_)};
}

// Has a piece to send and, if it is the last of a request with notify, room for the answer.
bool DmaWrite::ready(Client& client) {
  if (!client.active) {
    if (!client.request->can_pop()) return false;
    client.current = client.request->pop();
    client.active = true;
    RNIC_CHECK(client.current.bytes > 0);
    RNIC_CHECK(!client.current.notify || client.done);
    RNIC_CHECK(client.current.src_offset + client.current.bytes <= client.current.src->capacity());
    ++counters_.requests;
  }
  const DmaWriteRequest& r = client.current;
  return !r.notify || (*client.done)->can_push() || next_of(r).bytes < r.bytes;
}

void DmaWrite::send_piece(unsigned number) {
  Client& client = *clients_[number];
  DmaWriteRequest& r = client.current;
  const auto [address, n] = next_of(r);
  const bool last = n == r.bytes;
  const std::uint8_t* from = r.src->bytes() + r.src_offset;
  Tlp tlp = Tlp::write(address, from, n, last ? std::move(r.src) : r.src);
  tlp.issued = now();
  tlps->push(std::move(tlp));
  if (words_ != nullptr && number != watching_) words_->written(address, n);
  ++counters_.tlps;
  counters_.bytes += n;
  r.address += n;
  r.src_offset += n;
  r.bytes -= n;
  if (!last) return;
  client.active = false;
  if (r.notify) (*client.done)->push({r.tag});
}

void DmaWrite::reset() {
  for (const auto& client : clients_) {
    client->current = {};
    client->active = false;
  }
  next_ = 0;
}

Wake DmaWrite::tick() {
  const auto count = static_cast<unsigned>(clients_.size());
  bool sent = false;
  for (unsigned i = 0, c = next_; i < count; ++i, c = c + 1 == count ? 0 : c + 1) {
    Client& client = *clients_[c];
    if (!client.active && !client.request->can_pop()) continue;
    if (sent) return Wake::next_cycle();
    if (!tlps->can_push()) return Wake::on_traffic();
    if (!space_.get().bus_master()) {
      space_.await(*this);
      return Wake::on_traffic();
    }
    if (!ready(client)) continue;
    send_piece(c);
    sent = true;
    next_ = c + 1 == count ? 0 : c + 1;
  }
  const unsigned last = next_ == 0 ? count - 1 : next_ - 1;
  const bool more = sent && (clients_[last]->active || clients_[last]->request->can_pop());
  return more ? Wake::next_cycle() : Wake::on_traffic();
}

void DmaWrite::describe(const Description& d) {
  d.counters(counters_);
  d.series("pcie.written", 160, counters_, &DmaWriteCounters::bytes);
}

}  // namespace rnic::pcie
