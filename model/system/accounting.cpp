#include "model/system/accounting.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/kernel_time.h"
#include "model/system/link_account.h"

namespace rnic {
namespace {

constexpr const char *kLink = "link", *kCore = "core";

}  // namespace

Accounting::Accounting(const System& system, const UtilizationMeter& meter) : system_(system), meter_(meter) {
  for (const Station& s : system.stations()) {
    for (const Described::AccountOf& a : s.parts.accounts) things_.push_back({s.name, a.spec, a.clk, a.account});
    if (system.config().sim.account_links) add_links(s);
  }
  before_.resize(things_.size());
  cycles_before_.resize(things_.size());
}

Accounting::~Accounting() = default;

void Accounting::add_links(const Station& s) {
  for (LinkBase* link : s.parts.links) {
    links_.push_back(std::make_unique<LinkAccount>(*link));
    const std::string& name = link->name();
    things_.push_back({s.name,
                       {name.substr(name.find('.') + 1), kLink, Reach::kNobodyWaits, ""},
                       &s.node->core_clk,
                       [account = links_.back().get()](Cycle at) -> Account& { return account->until(at); }});
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
    if (things_[i].spec.kind == kLink) things_[i].account(things_[i].clk->next());  // or its moves pile up
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
  for (const Described::Way& way : system_.cable_parts().ways) {
    FullQueues q{system_.end_name(way.from), system_.end_name(way.to), 0, 0};
    if (way.queue_drops != nullptr) q.at_link = *way.queue_drops;
    for (const Station& s : system_.stations()) {
      if (s.name == q.receiver && s.parts.overflows != nullptr) q.at_receiver = *s.parts.overflows;
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

// Host cores, of nodes that have more of them than sim.account_cores.
std::map<std::string, std::vector<std::size_t>> Accounting::many_cores() const {
  const std::size_t most = system_.config().sim.account_cores;
  std::map<std::string, std::vector<std::size_t>> cores;
  for (std::size_t i = 0; i < things_.size() && most != 0; ++i) {
    if (std::string_view(things_[i].spec.kind) == kCore) cores[things_[i].node].push_back(i);
  }
  for (auto i = cores.begin(); i != cores.end();) i = i->second.size() <= most ? cores.erase(i) : std::next(i);
  return cores;
}

std::map<std::string, std::size_t> Accounting::cores_left_out() const {
  std::map<std::string, std::size_t> numbers;
  for (const auto& [node, cores] : many_cores()) numbers[node] = cores.size() - system_.config().sim.account_cores;
  return numbers;
}

// Of equally busy cores the first ones.
std::vector<bool> Accounting::shown(const std::vector<Account::Totals>& all) const {
  std::vector<bool> shown(things_.size(), true);
  std::map<std::string, std::vector<std::size_t>> many = many_cores();
  for (auto& [node, cores] : many) {
    std::stable_sort(cores.begin(), cores.end(),
                     [&](std::size_t a, std::size_t b) { return all[a].busy > all[b].busy; });
    for (std::size_t k = system_.config().sim.account_cores; k < cores.size(); ++k) shown[cores[k]] = false;
  }
  return shown;
}

nlohmann::ordered_json Accounting::json() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const std::vector<Account::Totals> all = totals();
  const std::vector<bool> is_shown = shown(all);
  for (std::size_t i = 0; i < things_.size(); ++i) {
    if (!is_shown[i]) continue;
    const Accounted& t = things_[i];
    const Account& account = t.account(t.clk->next());
    std::uint64_t starved = 0;
    for (const WorkPhase& phase : phases_) starved += phase.totals[i].empty;
    std::vector<std::uint64_t> histogram = account.cycles_at();
    for (std::size_t k = 0; k < cycles_before_[i].size(); ++k) histogram[k] -= cycles_before_[i][k];
    while (histogram.size() > 1 && histogram.back() == 0) histogram.pop_back();
    list.push_back({{"node", t.node},
                    {"name", t.spec.name},
                    {"kind", t.spec.kind},
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

nlohmann::ordered_json Accounting::json(const WorkPhase& phase) const {
  std::vector<PhaseUse> busy = phase.busy;
  std::stable_sort(busy.begin(), busy.end(), [](const PhaseUse& x, const PhaseUse& y) { return x.share > y.share; });
  nlohmann::ordered_json utilization = nlohmann::ordered_json::object(), occupancy = nlohmann::ordered_json::array();
  for (const PhaseUse& use : busy) utilization[use.resource.name] = use.share;
  const std::vector<bool> is_shown = shown(totals());
  for (std::size_t i = 0; i < things_.size(); ++i) {
    const Account::Totals& its = phase.totals[i];
    if (!is_shown[i] || its.busy + its.blocked == 0) continue;
    occupancy.push_back({{"node", things_[i].node},
                         {"name", things_[i].spec.name},
                         {"cycles", its.cycles},
                         {"busy_cycles", its.busy},
                         {"blocked_cycles", its.blocked},
                         {"starved_cycles", its.empty}});
  }
  return {{"utilization", std::move(utilization)}, {"occupancy", std::move(occupancy)}};
}

}  // namespace rnic
