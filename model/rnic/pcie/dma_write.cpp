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

void DmaWrite::in_pages(unsigned client, const char* name, PageTable& pages, StagTable& stags) {
  Client& c = *clients_.at(client);
  c.in_pages = std::make_unique<PageQueue<DmaWriteRequest>>(*this, name, c.request, pages, stags);
  page_queues_.add(*c.in_pages);
}

// A TLP stays within 4 KiB, so within a page of a list.
BusPiece DmaWrite::next_of(Client& client) const {
  const DmaWriteRequest& r = client.oldest();
  const BusPiece p = client.active ? BusPiece{r.address, r.bytes} : client.in_pages->next();
  return {p.address, cut(p.address, p.bytes, max_payload_)};
}

void DmaWrite::check(const DmaWriteRequest& r, const Client& client) {
  RNIC_CHECK(r.bytes > 0);
  RNIC_CHECK(!r.notify || client.done);
  RNIC_CHECK(r.src_offset + r.bytes <= r.src->capacity());
}

// False if the client has nothing to send yet.
bool DmaWrite::begin(Client& client) {
  if (client.active) return true;
  if (page_queues_.queued() && client.queued()) {
    check(client.in_pages->front(), client);
    return client.in_pages->ready();
  }
  if (!client.request->can_pop()) return false;
  client.current = client.request->pop();
  client.active = true;
  check(client.current, client);
  return true;
}

// Has a piece to send and, if it is the last of a request with notify, room for the answer.
bool DmaWrite::ready(Client& client) {
  if (!begin(client)) return false;
  const DmaWriteRequest& r = client.oldest();
  return !r.notify || (*client.done)->can_push() || next_of(client).bytes < r.bytes;
}

void DmaWrite::send_piece(unsigned number) {
  Client& client = *clients_[number];
  DmaWriteRequest& r = client.oldest();
  const auto [address, n] = next_of(client);
  const bool last = n == r.bytes;
  client.lost |= !client.active && client.in_pages->lost();
  const std::uint8_t* from = r.src->bytes() + r.src_offset;
  Tlp tlp = Tlp::write(address, from, n, last ? std::move(r.src) : r.src);
  tlp.purpose = purpose_of(client.purpose, tlp.owner);
  tlp.issued = now();
  tlps->push(std::move(tlp));
  if (words_ != nullptr && number != watching_) words_->written(address, n);
  ++counters_.tlps;
  counters_.bytes += n;
  r.src_offset += n;
  counters_.requests += last;
  if (last && r.notify) (*client.done)->push({r.tag, !std::exchange(client.lost, false)});
  sent(client, n);
}

void DmaWrite::sent(Client& client, std::uint32_t octets) {
  if (!client.active) return client.in_pages->sent(octets);
  client.current.address += octets;
  client.current.bytes -= octets;
  client.active = client.current.bytes != 0;
}

void DmaWrite::reset() {
  for (const auto& client : clients_) {
    client->current = {};
    client->active = client->lost = false;
    if (client->in_pages) client->in_pages->reset();
  }
  next_ = 0;
}

Wake DmaWrite::tick() {
  const auto count = static_cast<unsigned>(clients_.size());
  const bool looked = page_queues_.look_ahead();
  bool sent = false;
  for (unsigned i = 0, c = next_; i < count; ++i, c = c + 1 == count ? 0 : c + 1) {
    Client& client = *clients_[c];
    if (!has_work(client)) continue;
    if (sent) return Wake::next_cycle();
    if (!tlps->can_push()) break;
    if (!space_.get().bus_master()) {
      space_.await(*this);
      break;
    }
    if (!ready(client)) continue;
    send_piece(c);
    sent = true;
    next_ = c + 1 == count ? 0 : c + 1;
  }
  const unsigned last = next_ == 0 ? count - 1 : next_ - 1;
  return looked || (sent && has_work(*clients_[last])) ? Wake::next_cycle() : Wake::on_traffic();
}

void DmaWrite::describe(const Description& d) {
  d.counters(counters_);
  d.series("pcie.written", 160, counters_, &DmaWriteCounters::bytes);
}

}  // namespace rnic::pcie
