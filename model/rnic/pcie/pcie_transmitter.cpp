#include "model/rnic/pcie/pcie_transmitter.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/common/description.h"

namespace rnic::pcie {

PcieTransmitter::PcieTransmitter(Stage& owner, const PcieLinkConfig& link, const CreditConfig& receiver)
    : owner_(owner),
      timing_(link),
      propagation_ps_(std::uint64_t{link.propagation_ns} * 1000),
      initial_(initial(receiver)),
      credits_(initial_),
      accounts_{accounts_of(FlowClass::kPosted), accounts_of(FlowClass::kNonPosted),
                accounts_of(FlowClass::kCompletion)} {
  no_credit_since_.fill(kNever);
  // A receiver that can never hold the largest TLP would stop the link forever.
  if (receiver.posted_data != 0 && receiver.posted_data * 16 < link.max_payload_bytes) {
    throw ConfigError("pcie: posted_data credits do not hold one TLP of max_payload_bytes");
  }
  if (receiver.completion_data != 0 && receiver.completion_data * 16 < link.max_payload_bytes) {
    throw ConfigError("pcie: completion_data credits do not hold one TLP of max_payload_bytes");
  }
}

std::array<PcieTransmitter::Credits, kFlowClasses> PcieTransmitter::initial(const CreditConfig& receiver) {
  const auto advertised = [](unsigned n) { return n == 0 ? kInfinite : std::uint32_t{n}; };
  return {{{advertised(receiver.posted_headers), advertised(receiver.posted_data)},
           {advertised(receiver.non_posted_headers), kInfinite},
           {advertised(receiver.completion_headers), advertised(receiver.completion_data)}}};
}

void PcieTransmitter::wake_when_free() { owner_.wake(std::max(owner_.clock().now() + 1, free_cycle_)); }

bool PcieTransmitter::has_credit(const Tlp& tlp) const { return holds(tlp.flow_class(), tlp.data_credits()); }

bool PcieTransmitter::holds(FlowClass of, std::uint32_t data) const {
  const Credits& c = credits_[static_cast<unsigned>(of)];
  return c.headers > 0 && c.data >= data;
}

void PcieTransmitter::take_updates() {
  for (const std::uint64_t now_ps = owner_.clock().now_ps(); !updates_.empty() && updates_.front().at_ps <= now_ps;) {
    take_update(owner_.clock().cycle_at_or_after(updates_.front().at_ps));
  }
}

// The oldest one, which arrived in cycle `at`.
void PcieTransmitter::take_update(Cycle at) {
  const Update u = updates_.pop();
  Credits& c = credits_[static_cast<unsigned>(u.of)];
  if (c.headers != kInfinite) ++c.headers;
  if (c.data != kInfinite) c.data += u.data;
  account(u.of, at);
}

// An update counts from its time on, though it is processed when the next TLP is there.
void PcieTransmitter::settled(Cycle at) {
  while (!updates_.empty()) {
    const Cycle due = owner_.clock().cycle_at_or_after(updates_.front().at_ps);
    if (due >= at) return;
    take_update(due);
  }
}

PcieTransmitter::CreditAccounts PcieTransmitter::accounts_of(FlowClass c) const {
  const Credits& all = initial_[static_cast<unsigned>(c)];
  return {Account{all.headers == kInfinite ? 0 : all.headers}, Account{all.data == kInfinite ? 0 : all.data}};
}

void PcieTransmitter::account(FlowClass of, Cycle at) {
  const auto i = static_cast<unsigned>(of);
  const bool waits = (refused_ >> i & 1) != 0;
  const Credits &all = initial_[i], &left = credits_[i];
  if (all.headers != kInfinite) accounts_[i].headers.set(at, all.headers - left.headers, waits);
  if (all.data != kInfinite) accounts_[i].data.set(at, all.data - left.data, waits && all.headers == kInfinite);
}

void PcieTransmitter::refuse(unsigned classes) {
  if (classes == refused_) return;
  const unsigned changed = std::exchange(refused_, classes) ^ classes;
  for (unsigned i = 0; i < kFlowClasses; ++i) {
    if ((changed >> i & 1) != 0) account(static_cast<FlowClass>(i), owner_.clock().now());
  }
}

void PcieTransmitter::wait_for_credit(Purpose of) {
  ++counters_.credit_stalls;
  ++by_purpose_[static_cast<unsigned>(of)].credit_stalls;
  waits_for_credit_ = updates_.empty();
  if (!waits_for_credit_) owner_.wake(owner_.clock().cycle_at_or_after(updates_.front().at_ps));
}

void PcieTransmitter::credit_returned(const Tlp& tlp, std::uint64_t at_ps) {
  updates_.push({at_ps, tlp.data_credits(), tlp.flow_class()});
  if (!waits_for_credit_) return;
  waits_for_credit_ = false;
  owner_.wake(owner_.clock().cycle_at_or_after(at_ps));
}

void PcieTransmitter::restart(std::uint64_t up_ps) {
  updates_.clear();
  credits_ = initial_;
  refused_ = 0;
  no_credit_since_.fill(kNever);
  waits_for_credit_ = false;
  for (unsigned i = 0; i < kFlowClasses; ++i) account(static_cast<FlowClass>(i), owner_.clock().now());
  free_at_ticks_ = up_ps * LinkTiming::kTicksPerPs;
  free_cycle_ = owner_.clock().cycle_at_or_after(up_ps);
}

int PcieTransmitter::choose(const Tlp* const* heads, unsigned n) {
  if (!wire_free()) {
    wake_when_free();
    return -1;
  }
  take_updates();
  // Of the same age, a posted request goes first, then the earlier queue.
  const auto older = [](const Tlp& a, const Tlp& b) {
    return a.issued != b.issued ? a.issued < b.issued : a.type == TlpType::kMWr && b.type != TlpType::kMWr;
  };
  unsigned refused = 0;
  const Tlp* first = nullptr;  // of those refused: a stall is its own
  for (std::uint32_t tried = 0;;) {
    int oldest = -1;
    for (unsigned i = 0; i < n; ++i) {
      if (heads[i] == nullptr || (tried >> i & 1) != 0) continue;
      if (oldest < 0 || older(*heads[i], *heads[oldest])) oldest = static_cast<int>(i);
    }
    if (oldest < 0) break;
    if (has_credit(*heads[oldest])) {
      refuse(refused);
      chosen_ = static_cast<unsigned>(oldest);
      return oldest;
    }
    Cycle& since = no_credit_since_.at(static_cast<unsigned>(oldest));
    if (since == kNever) since = owner_.clock().now();
    if (first == nullptr) first = heads[oldest];
    refused |= 1u << static_cast<unsigned>(heads[oldest]->flow_class());
    if (heads[oldest]->flow_class() == FlowClass::kPosted) break;
    tried |= 1u << oldest;
  }
  refuse(refused);
  if (first != nullptr) wait_for_credit(first->purpose);
  return -1;
}

// Of the TLP to be sent, which was refused before.
void PcieTransmitter::count_credit_wait(Purpose of) {
  const Cycle since = std::exchange(no_credit_since_[chosen_], kNever);
  const std::uint64_t ps = (owner_.clock().now() - since) * owner_.clock().period_ps();
  counters_.credit_wait_ps += ps;
  by_purpose_[static_cast<unsigned>(of)].credit_wait_ps += ps;
}

std::uint64_t PcieTransmitter::send(const Tlp& tlp, Cycle ready) {
  const FlowClass of = tlp.flow_class();
  const std::uint32_t data_bytes = tlp.wire_data_bytes(), wire_bytes = timing_.wire_bytes(tlp, data_bytes);
  const std::uint32_t data = Tlp::data_credits(data_bytes);
  RNIC_CHECK(wire_free() && holds(of, data));
  Credits& c = credits_[static_cast<unsigned>(of)];
  if (c.headers != kInfinite) --c.headers;
  if (c.data != kInfinite) c.data -= data;
  account(of, owner_.clock().now());
  const std::uint64_t start = std::max(free_at_ticks_, owner_.clock().now_ps() * LinkTiming::kTicksPerPs);
  free_at_ticks_ = start + wire_bytes * timing_.ticks_per_octet();
  free_cycle_ = free_at_ticks_ / (owner_.clock().period_ps() * LinkTiming::kTicksPerPs);
  const std::uint64_t wait_ps = start / LinkTiming::kTicksPerPs - ready * owner_.clock().period_ps();
  const std::uint32_t bytes = tlp.has_data() ? tlp.bytes : 0;
  for (TransmitCounters* each : {&counters_, &by_purpose_[static_cast<unsigned>(tlp.purpose)]}) {
    ++each->tlps;
    each->data_bytes += bytes;
    each->wire_bytes += wire_bytes;
    each->wait_ps += wait_ps;
  }
  if (no_credit_since_[chosen_] != kNever) count_credit_wait(tlp.purpose);
  return free_ps() + propagation_ps_;
}

// Credits come back between two calls.
std::uint32_t PcieTransmitter::in_use(FlowClass c, bool data, Cycle at) const {
  const auto i = static_cast<unsigned>(c);
  std::uint32_t used = data ? initial_[i].data - credits_[i].data : initial_[i].headers - credits_[i].headers;
  updates_.any([&](const Update& u) {
    if (owner_.clock().cycle_at_or_after(u.at_ps) > at) return true;
    if (u.of == c) used -= data ? u.data : 1;
    return false;
  });
  return used;
}

Cycle PcieTransmitter::credit_after(Cycle at) const {
  Cycle next = kNever;
  updates_.any([&](const Update& u) {
    const Cycle due = owner_.clock().cycle_at_or_after(u.at_ps);
    if (due > at) next = due;
    return due > at;
  });
  return next;
}

void PcieTransmitter::describe(const Description& d, const char* to) {
  const bool to_host = std::string_view(to) == "host";
  const double octet_ps = static_cast<double>(timing_.ticks_per_octet()) / LinkTiming::kTicksPerPs;
  d.use(UseKind::kPcie, fmt::format("PCIe {} to {}, {{node}}", to_host ? "device" : "host", to), to_host ? 20 : 30,
        [this, octet_ps] { return static_cast<double>(counters_.wire_bytes) * octet_ps; });
  for (unsigned i = 0; i < kPurposes; ++i) {
    const std::string name = fmt::format("pcie.to_{}.{}", to, kPurposeNames[i]);
    const unsigned position = (to_host ? 300 : 400) + 2 * i;
    d.series(name.c_str(), position, by_purpose_[i], &TransmitCounters::wire_bytes, true);
    d.series((name + ".waiting").c_str(), position + 1, by_purpose_[i], &TransmitCounters::wait_ps, true);
  }
  constexpr std::pair<FlowClass, const char*> kClasses[] = {
      {FlowClass::kPosted, "posted"}, {FlowClass::kNonPosted, "non-posted"}, {FlowClass::kCompletion, "completion"}};
  for (const auto& [c, name] : kClasses) {
    for (const bool data : {false, true}) {
      if (!(data ? limits_data(c) : limits_headers(c))) continue;
      // A wait for both is reported as one for headers.
      const Reach reach = data && limits_headers(c) ? Reach::kNobodyWaits : Reach::kCredits;
      d.account({fmt::format("pcie.to_{}.{}_{}", to, name, data ? "data" : "headers"), "credits", reach,
                 fmt::format("PCIe {}{} credits to the {}", name, data ? " data" : "", to), to_host ? 200u : 210u},
                [this, of = c, data](Cycle at) -> Account& { return data ? this->data(of, at) : headers(of, at); });
      describe_credits(d.probes().group("pcie").group(std::string("to_") + to), c, name, data);
    }
  }
}

void PcieTransmitter::describe_credits(const ProbeGroup& group, FlowClass c, std::string name, bool data) const {
  std::replace(name.begin(), name.end(), '-', '_');
  Probe credits;
  credits.name = name + (data ? "_data" : "_headers") + "_in_use";
  credits.width = 16;
  credits.unit = "credits";
  credits.in_cycle = true;
  credits.read = [this, of = c, data](Cycle at) { return in_use(of, data, at); };
  credits.changes_after = [this](Cycle at) { return credit_after(at); };
  group.add(std::move(credits));
}

}  // namespace rnic::pcie
