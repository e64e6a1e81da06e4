// The sending half of one end of the link: ordering rules, credits of the other end's receive buffers, wire time.
#pragma once

#include <array>
#include <cstdint>

#include "model/common/account.h"
#include "model/common/ring.h"
#include "model/common/stage.h"
#include "model/rnic/pcie/link_timing.h"
#include "model/rnic/pcie/tlp.h"

namespace rnic {
class ProbeGroup;
}

namespace rnic::pcie {

// Of all TLPs in a direction of the link, and of those for each purpose.
struct TransmitCounters {
  std::uint64_t tlps = 0, data_bytes = 0, wire_bytes = 0, credit_stalls = 0, wait_ps = 0, credit_wait_ps = 0;
  template <class V>
  static void fields(V& v) {
    v("tlps", &TransmitCounters::tlps, "TLPs", "TLPs sent in this direction");
    v("data_bytes", &TransmitCounters::data_bytes, "octets", "requested octets in TLPs, without padding");
    v("wire_bytes", &TransmitCounters::wire_bytes, "octets",
      "octets on the wire, including headers, framing and the share of DLLPs");
    v("credit_stalls", &TransmitCounters::credit_stalls, "stalls",
      "a TLP was ready and the wire free, but there was no credit");
    v("wait_ps", &TransmitCounters::wait_ps, "ps",
      "waits of all TLPs together, each from when it was ready at this end until it went onto the wire");
    v("credit_wait_ps", &TransmitCounters::credit_wait_ps, "ps",
      "of that, from the first time at which one had no credit when its turn came");
  }
};

// Belongs to a stage, which it wakes when a refusal may have ended.
class PcieTransmitter final {
 public:
  PcieTransmitter(Stage& owner, const PcieLinkConfig& link, const CreditConfig& receiver);

  // Which of the TLPs at the heads of `n` queues may leave in this cycle: the oldest that has credit, as long as
  // nothing passes an older posted request (PCI Express Base Specification, section 2.4.1). Empty queues are nullptr.
  // -1: none; the owner is woken when that can change.
  int choose(const Tlp* const* heads, unsigned n);

  // Puts the chosen TLP, which was ready from that cycle on, on the wire; returns when its last octet arrives, in ps.
  std::uint64_t send(const Tlp& tlp, Cycle ready);
  // When the first octet of the TLP sent last went onto the wire.
  std::uint64_t began_ps(const Tlp& last) const {
    return (free_at_ticks_ - timing_.ticks(last)) / LinkTiming::kTicksPerPs;
  }

  // Credits of a TLP are back at at_ps, which never decreases.
  void credit_returned(const Tlp& tlp, std::uint64_t at_ps);

  // When the last octet of the TLP sent last has left, in ps.
  std::uint64_t free_ps() const { return (free_at_ticks_ + LinkTiming::kTicksPerPs - 1) / LinkTiming::kTicksPerPs; }
  // After a reset of the link: all credits are back, and the wire is free from up_ps on.
  void restart(std::uint64_t up_ps);

  // Requests a wake-up at the first cycle in which the wire takes another TLP.
  void wake_when_free();

  const TransmitCounters& counters() const { return counters_; }
  const TransmitCounters& counters(Purpose of) const { return by_purpose_[static_cast<unsigned>(of)]; }
  bool waits_for_credit() const { return waits_for_credit_; }

  // Credits in use until cycle `at`, of a class that limits them. A TLP that waits for either kind is reported as
  // waiting for headers, if these are limited.
  Account& headers(FlowClass c, Cycle at) { return settled(at), accounts_[static_cast<unsigned>(c)].headers; }
  Account& data(FlowClass c, Cycle at) { return settled(at), accounts_[static_cast<unsigned>(c)].data; }
  // The credits of each class that limits them. `to`: "host" or "device".
  void describe(const Description& d, const char* to);
  bool limits_headers(FlowClass c) const { return initial_[static_cast<unsigned>(c)].headers != kInfinite; }
  bool limits_data(FlowClass c) const { return initial_[static_cast<unsigned>(c)].data != kInfinite; }

 private:
  static constexpr std::uint32_t kInfinite = 0xffffffff;
  struct Credits {
    std::uint32_t headers = kInfinite, data = kInfinite;
  };
  struct Update {
    std::uint64_t at_ps = 0;
    std::uint32_t data = 0;
    FlowClass of = FlowClass::kPosted;
  };
  struct CreditAccounts {
    Account headers, data;
  };
  static std::array<Credits, kFlowClasses> initial(const CreditConfig& receiver);
  CreditAccounts accounts_of(FlowClass c) const;
  void account(FlowClass c, Cycle at);
  void describe_credits(const ProbeGroup& group, FlowClass c, std::string name, bool data) const;
  void refuse(unsigned classes);
  void settled(Cycle at);
  std::uint32_t in_use(FlowClass c, bool data, Cycle at) const;
  Cycle credit_after(Cycle at) const;
  void take_update(Cycle at);
  bool wire_free() const { return free_cycle_ <= owner_.clock().now(); }
  bool has_credit(const Tlp& tlp) const;
  bool holds(FlowClass of, std::uint32_t data) const;
  void take_updates();
  void wait_for_credit(Purpose of);
  void count_credit_wait(Purpose of);

  Stage& owner_;
  const LinkTiming timing_;
  const std::uint64_t propagation_ps_;
  const std::array<Credits, kFlowClasses> initial_;
  std::array<Credits, kFlowClasses> credits_;
  Ring<Update> updates_;
  std::uint64_t free_at_ticks_ = 0;  // when the wire is free, in 1/1024 ps
  Cycle free_cycle_ = 0;             // the cycle of that time: the next TLP is handed over then and starts then
  bool waits_for_credit_ = false;
  unsigned refused_ = 0;  // classes, one bit each
  static constexpr unsigned kMostQueues = 4;
  // By queue: since when its head has no credit, from the first time on that its turn came; kNever: it had none yet.
  std::array<Cycle, kMostQueues> no_credit_since_;
  unsigned chosen_ = 0;  // the queue of the TLP to be sent
  std::array<CreditAccounts, kFlowClasses> accounts_;
  TransmitCounters counters_;
  std::array<TransmitCounters, kPurposes> by_purpose_{};
};

}  // namespace rnic::pcie
