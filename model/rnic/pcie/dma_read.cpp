#include "model/rnic/pcie/dma_read.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "model/common/description.h"
#include "model/rnic/pcie/cut.h"

namespace rnic::pcie {

DmaRead::DmaRead(sc_core::sc_module_name nm, ClockDomain& clk, unsigned clients, const DmaReadConfig& config,
                 const PcieLinkConfig& link, ConfigSpace& space)
    : Stage(nm, clk),
      space_(space),
      max_read_request_(link.max_read_request_bytes),
      timeout_us_(config.completion_timeout_us),
      timeout_cycles_(clk.cycle_at_or_after(std::uint64_t{config.completion_timeout_us} * 1'000'000)),
      requests_(config.max_requests),
      tags_(config.max_tags),
      tags_account_(config.max_tags),
      requests_account_(config.max_requests) {
  for (unsigned i = 0; i < clients; ++i) clients_.push_back(std::make_unique<Client>(*this));
  for (unsigned i = config.max_requests; i-- > 0;) free_requests_.push_back(static_cast<std::uint16_t>(i));
  for (unsigned i = 0; i < config.max_tags; ++i) free_tags_.push(static_cast<std::uint16_t>(i));
}

// Completions of a TLP are contiguous, and each gives what is left (PCI Express Base Specification, section 2.3.1.1).
bool DmaRead::continues(const Tag& tag, const Tlp& tlp) const {
  return tlp.byte_count == tag.left && tlp.bytes <= tag.left && tlp.bytes != 0 &&
         tlp.lower_address == (tag.address & 0x7f);
}

void DmaRead::receive() {
  if (!completions->can_pop()) return;
  const Tlp tlp = completions->pop();
  if (tlp.tag >= tags_.size() || tags_[tlp.tag].left == 0) {
    ++counters_.unexpected;
    return;
  }
  Tag& tag = tags_[tlp.tag];
  const std::uint16_t request = tag.request;
  const bool data = tlp.type == TlpType::kCplD && tlp.status == CplStatus::kSc;
  if (data && !continues(tag, tlp)) {
    ++counters_.malformed;
    give_up(tag);
    return;
  }
  const bool good = data && !tlp.poisoned;
  if (good && request != kNone) {
    std::memcpy(tag.dst, tlp.data(), tlp.bytes);
    counters_.bytes += tlp.bytes;
  }
  if (!good && request != kNone) requests_[request].ok = false;
  tag.address += tlp.bytes;
  tag.dst += tlp.bytes;
  tag.left -= data ? tlp.bytes : tag.left;
  if (tag.left != 0) return;
  free_tags_.push(tlp.tag);
  if (request != kNone) end_tlp(request, good);
}

// The request continues without this TLP; the tag keeps waiting for what may still come.
void DmaRead::give_up(Tag& tag) {
  const std::uint16_t request = std::exchange(tag.request, kNone);
  if (request != kNone) end_tlp(request, false);
}

void DmaRead::end_tlp(std::uint16_t request, bool ok) {
  Request& q = requests_[request];
  q.ok = q.ok && ok;
  --q.outstanding;
  finish_if_over(request);
}

void DmaRead::finish_if_over(std::uint16_t request) {
  Request& q = requests_[request];
  Client& client = *clients_[q.client];
  if (!q.ok && client.current == request) {  // the rest is not requested
    client.current = kNone;
    if (q.in_pages) client.in_pages->abandon();
  }
  if (client.current == request || q.outstanding != 0) return;
  client.answers.push({q.r.tag, q.ok});
  ++answers_;
  counters_.failed_requests += q.ok ? 0 : 1;
  q.r.hold = {};
  free_requests_.push_back(request);
}

void DmaRead::expire() {
  while (!deadlines_.empty()) {
    const Deadline d = deadlines_.front();
    Tag& tag = tags_[d.tag];
    const bool waiting = tag.left != 0 && tag.serial == d.serial && tag.request != kNone;
    if (waiting && d.at > now()) return;
    deadlines_.pop();
    if (!waiting) continue;
    ++counters_.timeouts;
    give_up(tag);
  }
}

void DmaRead::answer() {
  if (answers_ == 0) return;
  for (const auto& each : clients_) {
    Client& client = *each;
    if (client.answers.empty() || !client.done->can_push()) continue;
    client.done->push(client.answers.pop());
    --answers_;
    if (!client.answers.empty()) wake(now() + 1);
  }
}

void DmaRead::in_pages(unsigned client, const char* name, PageTable& pages, StagTable& stags) {
  Client& c = *clients_.at(client);
  c.in_pages = std::make_unique<PageQueue<DmaReadRequest>>(*this, name, c.request, pages, stags);
  page_queues_.add(*c.in_pages);
}

bool DmaRead::has_work(Client& client) const {
  const bool begun = client.current != kNone;
  if (!page_queues_.queued()) return begun || (client.request->can_pop() && !free_requests_.empty());
  if (begun && !requests_[client.current].in_pages) return true;
  if (!begun && free_requests_.empty()) return false;
  return client.queued() ? client.in_pages->ready() : client.request->can_pop();
}

// The first client with work, from this one on; as many as there are if none has any.
unsigned DmaRead::with_work(unsigned first) {
  const auto count = static_cast<unsigned>(clients_.size());
  for (unsigned i = 0, c = first; i < count; ++i, c = c + 1 == count ? 0 : c + 1) {
    if (has_work(*clients_[c])) return c;
  }
  return count;
}

// True when there is more to send in the next cycle.
bool DmaRead::issue() {
  const auto count = static_cast<unsigned>(clients_.size());
  const unsigned client = with_work(next_);
  if (client == count || free_tags_.empty() || !tlps->can_push()) return false;
  if (!space_.get().bus_master()) {
    space_.await(*this);
    return false;
  }
  send_piece(client);
  next_ = client + 1 == count ? 0 : client + 1;
  return !free_tags_.empty() && with_work(client) != count;
}

// A tag, or room for a request, is waited for.
void DmaRead::account() {
  const bool no_tag = free_tags_.empty(), no_room = free_requests_.empty();
  bool for_tag = false, for_room = false;
  if (no_tag || no_room) {
    for (const auto& each : clients_) {
      Client& client = *each;
      for_tag |= no_tag && has_work(client);
      for_room |= no_room && client.current == kNone && (client.queued() || client.request->can_pop());
    }
  }
  tags_account_.set(now(), static_cast<unsigned>(tags_.size() - free_tags_.size()), for_tag);
  requests_account_.set(now(), static_cast<unsigned>(requests_.size() - free_requests_.size()), for_room);
}

// A TLP stays within 4 KiB, so within a page of a list.
BusPiece DmaRead::next_of(const Client& client) const {
  const Request& q = requests_[client.current];
  const BusPiece p = q.in_pages ? client.in_pages->next() : BusPiece{q.r.address + q.cut, q.r.bytes - q.cut};
  return {p.address, cut(p.address, p.bytes, max_read_request_)};
}

void DmaRead::begin(Client& client) {
  client.current = free_requests_.back();
  free_requests_.pop_back();
  Request& fresh = requests_[client.current];
  fresh.in_pages = client.queued();
  fresh.r = fresh.in_pages ? client.in_pages->front() : client.request->pop();
  RNIC_CHECK(fresh.r.bytes > 0);
  fresh.cut = 0;
  fresh.ok = true;
  ++counters_.requests;
}

void DmaRead::send_piece(unsigned c) {
  Client& client = *clients_[c];
  if (client.current == kNone) {
    begin(client);
    requests_[client.current].client = static_cast<std::uint16_t>(c);
  }
  Request& q = requests_[client.current];
  const auto [address, n] = next_of(client);
  const std::uint16_t number = free_tags_.pop();
  Tag& tag = tags_[number];
  tag = {address, q.r.dst + q.cut, n, tag.serial + 1, client.current};
  deadlines_.push({now() + timeout_cycles_, tag.serial, number});
  Tlp tlp = Tlp::read(address, n, number, q.r.hold ? q.r.hold->owner() : q.r.owner);
  tlp.purpose = purpose_of(client.purpose, tlp.owner);
  tlp.issued = now();
  tlps->push(std::move(tlp));
  ++counters_.tlps;
  ++q.outstanding;
  q.cut += n;
  if (q.in_pages) client.in_pages->sent(n);
  if (q.cut == q.r.bytes) client.current = kNone;
}

void DmaRead::reset() {
  for (const auto& each : clients_) {
    Client& client = *each;
    client.current = kNone;
    client.answers = {};
    if (client.in_pages) client.in_pages->reset();
  }
  requests_.assign(requests_.size(), {});
  free_requests_.clear();
  for (std::size_t i = requests_.size(); i-- > 0;) free_requests_.push_back(static_cast<std::uint16_t>(i));
  for (Tag& tag : tags_) tag.request = kNone;
  next_ = 0;
  answers_ = 0;
  account();
}

void DmaRead::lose_tags() {
  free_tags_.clear();
  for (std::uint16_t i = 0; i < tags_.size(); ++i) {
    tags_[i].left = 0;
    free_tags_.push(i);
  }
  deadlines_.clear();
}

Wake DmaRead::tick() {
  receive();
  expire();
  const bool looked = page_queues_.look_ahead();
  const bool more = issue() || looked;
  answer();
  account();
  if (more || completions->can_pop()) return Wake::next_cycle();
  return deadlines_.empty() ? Wake::on_traffic() : Wake::at_cycle(deadlines_.front().at);
}

std::string DmaRead::waiting_for() const {
  const std::size_t in_use = tags_.size() - free_tags_.size();
  return in_use == 0 ? "" : "completions of " + std::to_string(in_use) + " read TLPs";
}

void DmaRead::describe(const Description& d) {
  d.counters(counters_);
  d.limit(counters_.timeouts, fmt::format("reads of host memory took longer than "
                                          "rnic.pcie.dma_read.completion_timeout_us {}",
                                          timeout_us_));
  d.series("pcie.read", 150, counters_, &DmaReadCounters::bytes);
  d.account({"pcie.read_requests", "slots", Reach::kTags, "PCIe read requests", 180, {}, true}, requests_account_);
  d.account({"pcie.tags", "tags", Reach::kTags, "PCIe tags", 190, AccountRole::kReadTags, true}, tags_account_);
  const ProbeGroup pcie = d.probes().group("pcie");
  pcie.number("tags_in_use", 16, "slots", [this] { return tags_account_.taken(); });
  pcie.number("read_requests", 16, "requests", [this] { return requests_account_.taken(); });
}

}  // namespace rnic::pcie
