#include "model/system/accounting.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/kernel_time.h"
#include "model/system/link_account.h"

namespace rnic {
namespace {

constexpr const char *kSlots = "slots", *kCredits = "credits", *kTags = "tags", *kCore = "core",
                     *kFirmware = "firmware", *kLink = "link";

}  // namespace

Accounting::Accounting(const std::vector<Station>& stations, const CableFaults& faults, const UtilizationMeter& meter,
                       bool links)
    : stations_(stations), faults_(faults), meter_(meter) {
  for (const Station& s : stations) {
    add_node(s);
    if (links) add_links(s);
  }
  before_.resize(things_.size());
  cycles_before_.resize(things_.size());
}

Accounting::~Accounting() = default;

void Accounting::add_links(const Station& s) {
  for (LinkBase* link : s.node->chip.links()) {
    links_.push_back(std::make_unique<LinkAccount>(*link));
    const std::string& name = link->name();
    things_.push_back({s.name, name.substr(name.find('.') + 1), kLink, Reach::kNobodyWaits, "", &s.node->core_clk,
                       [account = links_.back().get()](Cycle at) -> Account& { return account->until(at); }});
  }
}

// One line for each thing: its name, what it is called as a bottleneck, and how far from the programs it lies.
void Accounting::add_node(const Station& s) {
  Rnic& chip = s.node->chip;
  const ClockDomain *core = &s.node->core_clk, *host = &s.node->host_clk;
  const auto add = [&](std::string name, const char* kind, Reach reach, std::string limit, const ClockDomain* clk,
                       auto account, bool reads_memory = false) {
    things_.push_back({s.name, std::move(name), kind, reach, std::move(limit), clk, std::move(account), reads_memory});
  };
  const auto as_it_is = [](Account& account) { return [&account](Cycle) -> Account& { return account; }; };

  add("tx.wqe_prefetch", kSlots, Reach::kWorkQueue, "WQE prefetch", core, as_it_is(chip.wqe_fetch.places()), true);
  add("tx.wqe_reads", kSlots, Reach::kFetch, "WQE reads", core, as_it_is(chip.wqe_fetch.reads_in_flight()), true);
  add("rx.rqe_prefetch", kSlots, Reach::kNobodyWaits, "", core, as_it_is(chip.rqe_fetch.places()));
  add("rx.rqe_waits", kSlots, Reach::kFetch, "RQE prefetch", core, as_it_is(chip.ddp_placement.request_waits()), true);
  add("rx.rqe_reads", kSlots, Reach::kFetch, "RQE reads", core, as_it_is(chip.rqe_fetch.reads_in_flight()), true);
  add("tx.ord", kSlots, Reach::kRequests, "ORD", core, as_it_is(chip.rdmap_segmenter.waits(TxWait::kOrd)));
  add("tx.fence", kSlots, Reach::kRequests, "fence", core, as_it_is(chip.rdmap_segmenter.waits(TxWait::kFence)));
  add("tx.first_fpdu", kSlots, Reach::kRequests, "first FPDU of the peer", core,
      as_it_is(chip.rdmap_segmenter.waits(TxWait::kFirstFpdu)));
  add("tx.credit", kCredits, Reach::kWindow, "TCP window", core, as_it_is(chip.rdmap_segmenter.waits(TxWait::kCredit)));
  add("tx.sctp_credit", kCredits, Reach::kWindow, "SCTP window", core,
      as_it_is(chip.rdmap_segmenter.waits(TxWait::kSctpCredit)));
  add("tcp.unacknowledged", kCredits, Reach::kNobodyWaits, "", core, as_it_is(chip.tcp_tx.unacknowledged()));
  add("tcp.congested_flows", kSlots, Reach::kNobodyWaits, "", core, as_it_is(chip.tcp_tx.congested()));
  add("tcp.flows_in_flight", kSlots, Reach::kNobodyWaits, "", core, as_it_is(chip.tcp_tx.in_flight()));
  add("tcp.repairing_flows", kSlots, Reach::kElse, "losses", core, as_it_is(chip.tcp_tx.repairing()));
  add("tx.jobs", kSlots, Reach::kFetch, "payload fetch jobs", core, as_it_is(chip.payload_fetch.jobs()), true);
  add("responder.irrq", kSlots, Reach::kNobodyWaits, "", core, as_it_is(chip.irrq.held()));
  add("responder.atomics", kSlots, Reach::kFetch, "atomic operations", core, as_it_is(chip.atomic_alu.slots()), true);
  add("pcie.read_requests", kSlots, Reach::kTags, "PCIe read requests", core, as_it_is(chip.pcie.dma_read.requests()),
      true);
  add("pcie.tags", kTags, Reach::kTags, "PCIe tags", core, as_it_is(chip.pcie.dma_read.tags()), true);

  constexpr std::pair<pcie::FlowClass, const char*> kClasses[] = {{pcie::FlowClass::kPosted, "posted"},
                                                                  {pcie::FlowClass::kNonPosted, "non-posted"},
                                                                  {pcie::FlowClass::kCompletion, "completion"}};
  for (const bool device : {true, false}) {
    pcie::PcieTransmitter& sender = (device ? chip.pcie.endpoint.port : s.node->root_complex.port).transmitter();
    const char* const scope = device ? "pcie.to_host" : "pcie.to_device";
    for (const auto& [of, text] : kClasses) {
      if (sender.limits_headers(of)) {
        add(fmt::format("{}.{}_headers", scope, text), kCredits, Reach::kCredits,
            fmt::format("PCIe {} credits to the {}", text, device ? "host" : "device"), device ? core : host,
            [&sender, c = of](Cycle at) -> Account& { return sender.headers(c, at); });
      }
      if (sender.limits_data(of)) {
        const bool alone = !sender.limits_headers(of);
        add(fmt::format("{}.{}_data", scope, text), kCredits, alone ? Reach::kCredits : Reach::kNobodyWaits,
            fmt::format("PCIe {} data credits to the {}", text, device ? "host" : "device"), device ? core : host,
            [&sender, c = of](Cycle at) -> Account& { return sender.data(c, at); });
      }
    }
  }
  add("host.memory_reads", kSlots, Reach::kHostMemory, "host memory", host,
      as_it_is(s.node->root_complex.pending_reads()));
  add("host.answered_reads", kSlots, Reach::kNobodyWaits, "", host,
      [&complex = s.node->root_complex](Cycle at) -> Account& { return complex.answered_reads(at); });
  add("fwcpu", kFirmware, Reach::kProcessor, "firmware", core, as_it_is(chip.fwcpu.account()));
  unsigned number = 0;
  for (const auto& c : s.node->cpu.cores()) {
    add(fmt::format("host.core{}", number), kCore, Reach::kProcessor, fmt::format("host core {}", number), host,
        as_it_is(c->account()));
    ++number;
  }
}

std::vector<Account::Totals> Accounting::all() const {
  std::vector<Account::Totals> list;
  for (const Accounted& t : things_) {
    const Cycle at = t.clk->next();
    list.push_back(t.account(at).totals(at));
  }
  return list;
}

std::vector<Account::Totals> Accounting::totals() const {
  std::vector<Account::Totals> list = all();
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = list[i] - before_[i];
  return list;
}

void Accounting::follow(bool working, unsigned phase) {
  for (std::size_t i = 0; i < things_.size() && !links_.empty(); ++i) {
    if (things_[i].kind == kLink) things_[i].account(things_[i].clk->next());  // or its moves pile up
  }
  if (working_) follow_uses();
  if (working == working_ && (!working || phase == open_.number)) return;
  std::vector<Account::Totals> now = totals();
  const std::uint64_t now_ps = kernel_time_ps();
  if (working_) {
    WorkPhase ended{open_.number, now_ps - open_.time_ps, now, {}, full_queues()};
    for (std::size_t i = 0; i < now.size(); ++i) ended.totals[i] = now[i] - open_.totals[i];
    for (std::size_t i = 0; i < ended.full.size(); ++i) {
      ended.full[i].at_link -= open_.full[i].at_link;
      ended.full[i].at_receiver -= open_.full[i].at_receiver;
    }
    for (std::size_t i = 0; i < uses_.size() && ended.time_ps != 0; ++i) {
      const Use& use = uses_[i];
      const double ps = use.now - use.begin;
      ended.busy.push_back({meter_.resources()[i], ps / static_cast<double>(ended.time_ps),
                            ps / std::max({use.last - use.first, ps, 1.0})});
    }
    phases_.push_back(std::move(ended));
  }
  working_ = working;
  open_ = {phase, now_ps, std::move(now), {}, full_queues()};
  followed_ps_ = static_cast<double>(now_ps);
  meter_.busy_ps(busy_);
  uses_.clear();
  for (const double ps : busy_) uses_.push_back({ps, ps});
}

// Until now.
std::vector<FullQueues> Accounting::full_queues() const {
  std::vector<FullQueues> list;
  for (std::size_t i = 0; i < stations_.size(); ++i) {
    FullQueues q{stations_[i].name, stations_[i].joined_to, 0, 0};
    if (const FaultCounters* faults = faults_.counters(static_cast<unsigned>(i))) q.at_link = faults->queue_drops;
    for (const Station& s : stations_) {
      if (s.name == q.receiver) q.at_receiver = s.node->chip.mac_rx.counters().overflow;
    }
    list.push_back(std::move(q));
  }
  return list;
}

void Accounting::follow_uses() {
  const auto now_ps = static_cast<double>(kernel_time_ps());
  meter_.busy_ps(busy_);
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    Use& use = uses_[i];
    if (busy_[i] == use.now) continue;
    const double ps = busy_[i] - use.now;
    if (use.first < 0) use.first = now_ps - ps;
    use.last = followed_ps_ + ps;
    use.now = busy_[i];
  }
  followed_ps_ = now_ps;
}

void Accounting::restart() {
  const bool working = working_;
  const unsigned phase = open_.number;
  follow(false, 0);
  phases_.clear();
  before_ = all();
  for (std::size_t i = 0; i < things_.size(); ++i) {
    cycles_before_[i] = things_[i].account(things_[i].clk->next()).cycles_at();
  }
  if (working) follow(true, phase);
}

nlohmann::ordered_json Accounting::json() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const std::vector<Account::Totals> all = totals();
  for (std::size_t i = 0; i < things_.size(); ++i) {
    const Accounted& t = things_[i];
    const Account& account = t.account(t.clk->next());
    std::uint64_t starved = 0;
    for (const WorkPhase& phase : phases_) starved += phase.totals[i].empty;
    std::vector<std::uint64_t> histogram = account.cycles_at();
    for (std::size_t k = 0; k < cycles_before_[i].size(); ++k) histogram[k] -= cycles_before_[i][k];
    while (histogram.size() > 1 && histogram.back() == 0) histogram.pop_back();
    list.push_back({{"node", t.node},
                    {"name", t.name},
                    {"kind", t.kind},
                    {"capacity", account.capacity()},
                    {"cycle_ps", t.clk->period_ps()},
                    {"cycles", all[i].cycles},
                    {"busy_cycles", all[i].busy},
                    {"blocked_cycles", all[i].blocked},
                    {"starved_cycles", starved},
                    {"idle_cycles", all[i].empty - starved},
                    {"bin_width", account.bin_width()},
                    {"histogram", histogram}});
  }
  return list;
}

}  // namespace rnic
