#include "model/programs/workload/workload.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "model/common/prng.h"
#include "model/programs/workload/acceptor.h"
#include "model/programs/workload/atomics.h"
#include "model/programs/workload/connector.h"
#include "model/programs/workload/ping_pong.h"
#include "model/programs/workload/requester.h"
#include "model/programs/workload/responder.h"
#include "model/programs/workload/write_ping_pong.h"

namespace rnic::workload {
namespace {

constexpr std::size_t kMaxRoles = 256;  // per program and phase: eight bits of a wr_id

host::ConnParam param_of(const ConnectionSpec& c, const SideSpec& side, host::Transport transport) {
  host::ConnParam p;
  p.transport = transport;
  p.responder_resources = side.ird;
  p.initiator_depth = side.ord;
  if (side.markers) p.flags |= abi::kCmMarkers;
  if (side.crc) p.flags |= abi::kCmCrc;
  if (c.mpa_revision == 2) p.flags |= abi::kCmEnhanced;
  constexpr std::uint8_t kRtrFlags[] = {0, abi::kCmRtrSend, abi::kCmRtrWrite, abi::kCmRtrRead};
  if (c.rtr != Rtr::kNone) p.flags |= abi::kCmPeerToPeer | kRtrFlags[static_cast<unsigned>(c.rtr)];
  p.tcp = {side.max_retries, side.keep_alive};
  p.private_data.assign(side.private_data.begin(), side.private_data.end());
  return p;
}

WorkResult::Percentiles percentiles(const Histogram& h) {
  const std::vector<std::uint64_t> p = h.percentiles({500, 990, 999});
  return {h.count(), p[0], p[1], p[2], h.max()};
}

std::vector<std::uint64_t> distribution(const Histogram& h) {
  if (h.count() == 0) return {};
  return h.percentiles({std::begin(WorkResult::kCdfPerMille), std::end(WorkResult::kCdfPerMille)});
}

}  // namespace

Workload::Workload(const Plan& plan, const std::vector<HostNode>& hosts, const WireParams& wire)
    : plan_(plan), hosts_(hosts), wire_(wire) {
  std::vector<std::uint32_t> max_setups;
  for (const HostNode& host : hosts_) max_setups.push_back(host.max_setups);
  const std::uint64_t interval_ps = plan_.setup.rate == 0 ? 0 : (1'000'000'000'000 - 1) / plan_.setup.rate + 1;
  for (const std::uint32_t batch : batches(plan_, max_setups)) openers_.push_back({{batch, interval_ps}, {}});
  for (unsigned c = 0; c < plan_.connections.size(); ++c) connect(c);
  for (std::size_t phase = 0; phase < plan_.phases.size(); ++phase) {
    for (const WorkItem& item : plan_.phases[phase]) {
      Windows windows;
      if (item.direction != Direction::kReverse) assign(phase, item, false, windows);
      if (item.direction != Direction::kForward) assign(phase, item, true, windows);
    }
  }
}

// Makes the programs at both ends of each queue pair; the listening one first, as it must run first.
void Workload::connect(unsigned connection) {
  const ConnectionSpec& c = plan_.connections[connection];
  Barrier& barrier = *this;
  pairs_.emplace_back();
  for (unsigned q = 0; q < c.qps; ++q) {
    const std::string name = c.qps == 1 ? c.name : fmt::format("{}[{}]", c.name, q);
    const std::uint16_t port = plan_.port_of(c, q);
    const bool shared = plan_.shares_port() && c.qps > 1;
    host::ConnParam connecting = param_of(c, c.from_side, plan_.transport);
    if (shared) connecting.private_data = Endpoint::numbered(static_cast<std::uint16_t>(q), connecting.private_data);
    const host::CqMode mode = c.notified ? host::CqMode::kNotified : host::CqMode::kPolled;
    Pair pair;
    endpoints_.emplace_back(
        barrier, *hosts_[c.to].context,
        Endpoint::Settings{name + " listening", port, 0, false, param_of(c, c.to_side, plan_.transport), mode,
                           c.may_end, !shared || q == 0, c.to},
        plan_.phases.size());
    pair.to = &endpoints_.back();
    endpoints_.emplace_back(barrier, *hosts_[c.from].context,
                            Endpoint::Settings{name + " connecting", port, hosts_[c.to].ip, true, std::move(connecting),
                                               mode, c.may_end, true, c.from},
                            plan_.phases.size());
    pair.from = &endpoints_.back();
    openers_[c.from].endpoints.push_back(pair.from);
    pairs_.back().push_back(pair);
  }
  if (!plan_.shares_port() || c.qps == 1) return;
  std::vector<Endpoint*> at_port;
  for (const Pair& pair : pairs_.back()) at_port.push_back(pair.to);
  pairs_.back().front().to->share_port(std::move(at_port));
}

void Workload::assign(std::size_t phase, const WorkItem& item, bool reverse, Windows& windows) {
  const char* direction = item.direction != Direction::kBoth ? "" : reverse ? " reverse" : " forward";
  groups_.push_back({&item, item.name + direction, static_cast<unsigned>(phase), reverse, {}, {}, 0, 0, {}});
  Group& group = groups_.back();
  std::map<unsigned, CountedWords*> shared;  // by node
  for (const unsigned c : item.connections) {
    const ConnectionSpec& connection = plan_.connections[c];
    const unsigned responder_node = reverse ? connection.from : connection.to;
    Window* const window = window_for(item, reverse ? connection.to : connection.from, windows);
    for (std::size_t q = 0; q < pairs_[c].size(); ++q) {
      const std::string where = connection.name + (pairs_[c].size() == 1 ? "" : fmt::format("[{}]", q));
      // A separate random stream for each transfer.
      const std::uint64_t seed = mix64(mix64(plan_.seed) ^ mix64(transfers_.size()));
      transfers_.emplace_back(item, group.name + " on " + where, seed, group.latencies);
      transfers_.back().work = static_cast<unsigned>(groups_.size());
      group.transfers.push_back(&transfers_.back());
      if (is_atomic(item.op)) transfers_.back().words = words_for(item, responder_node, shared);
      add_roles(phase, group, c, q, window);
    }
  }
  if (item.mode == Mode::kBandwidth && item.op != Op::kConnect) limit(group);
}

Window* Workload::window_for(const WorkItem& item, unsigned requester_node, Windows& windows) {
  if (item.window == 0) return nullptr;
  Window*& window = windows[requester_node];
  const std::uint64_t seed = mix64(mix64(plan_.seed + 1) ^ mix64(windows_.size()));
  if (window == nullptr) window = &windows_.emplace_back(item.window, item.count, seed);
  return window;
}

// FetchAdds of all queue pairs share a node's words. A CmpSwap depends on the earlier ones in its queue pair.
CountedWords* Workload::words_for(const WorkItem& item, unsigned responder_node,
                                  std::map<unsigned, CountedWords*>& shared) {
  CountedWords*& words = shared[responder_node];
  if (words == nullptr || item.op == Op::kCmpSwap) words = &words_.emplace_back(item.words);
  words->expect(item.count);
  return words;
}

// A port on which nothing in the plan listens.
std::uint16_t Workload::unused_port(unsigned node) const {
  std::uint16_t port = 1024;
  const auto used = [&](const ConnectionSpec& c) { return c.to == node && port >= c.port && port < c.port + c.qps; };
  while (std::any_of(plan_.connections.begin(), plan_.connections.end(), used)) ++port;
  return port;
}

ChurnSide Workload::churn_side(unsigned connection, std::size_t qp, bool from) const {
  const ConnectionSpec& c = plan_.connections[connection];
  return {hosts_[c.to].ip, plan_.port_of(c, static_cast<unsigned>(qp)), unused_port(c.to),
          param_of(c, from ? c.from_side : c.to_side, plan_.transport),
          c.notified ? host::CqMode::kNotified : host::CqMode::kPolled};
}

// For the transfer added last.
void Workload::add_roles(std::size_t phase, Group& group, unsigned connection, std::size_t qp, Window* window) {
  Transfer& transfer = *group.transfers.back();
  const Pair& pair = pairs_[connection][qp];
  Endpoint &requester = group.reverse ? *pair.to : *pair.from, &responder = group.reverse ? *pair.from : *pair.to;
  const std::size_t a = requester.roles(phase).size(), b = responder.roles(phase).size();
  if (std::max(a, b) == kMaxRoles) throw ConfigError("more than 256 work items on one connection at once");
  const auto r = static_cast<std::uint8_t>(a), s = static_cast<std::uint8_t>(b);
  const auto play = [&](std::unique_ptr<Role> asks, std::unique_ptr<Role> answers) {
    group.roles.insert(group.roles.end(), {asks.get(), answers.get()});
    requester.add(phase, std::move(asks));
    responder.add(phase, std::move(answers));
  };
  if (transfer.item.mode == Mode::kPingPong && transfer.item.op == Op::kWrite) {
    play(std::make_unique<WritePingPong>(transfer, r, true), std::make_unique<WritePingPong>(transfer, s, false));
  } else if (transfer.item.mode == Mode::kPingPong) {
    play(std::make_unique<PingPong>(transfer, r, true), std::make_unique<PingPong>(transfer, s, false));
  } else if (transfer.item.op == Op::kConnect) {
    play(std::make_unique<Connector>(transfer, r, churn_side(connection, qp, true)),
         std::make_unique<Acceptor>(transfer, s, churn_side(connection, qp, false)));
  } else if (is_atomic(transfer.item.op)) {
    play(std::make_unique<AtomicRequester>(transfer, r), std::make_unique<AtomicResponder>(transfer, s));
  } else {
    play(std::make_unique<Requester>(transfer, r, window), std::make_unique<Responder>(transfer, s));
  }
}

// The most that the wire allows, and the part of it that TCP can use. Payload leaves on its sources' links and arrives
// on its sinks' links; the smaller number of links decides.
void Workload::limit(Group& group) const {
  const WorkItem& item = *group.item;
  std::set<unsigned> sources, sinks;
  const bool from_sends = is_answered(item.op) == group.reverse;
  double worst = 0;
  std::size_t next = 0;
  for (const unsigned c : item.connections) {
    const ConnectionSpec& spec = plan_.connections[c];
    sources.insert(from_sends ? spec.from : spec.to);
    sinks.insert(from_sends ? spec.to : spec.from);
    const SideSpec& sink = from_sends ? spec.to_side : spec.from_side;
    const SideSpec& source = from_sends ? spec.from_side : spec.to_side;
    for (unsigned q = 0; q < spec.qps; ++q) {
      const std::vector<std::uint32_t>& sizes = group.transfers[next++]->sizes;
      const double one = workload::limit_gbps(item.op, sizes, wire_, sink.markers, source.markers);
      worst = worst == 0 ? one : std::min(worst, one);
    }
  }
  const auto links = static_cast<unsigned>(std::min(sources.size(), sinks.size()));
  group.limit_gbps = worst * links;
  const auto flows = static_cast<unsigned>(plan_.shares_port() ? item.connections.size()
                                                               : group.transfers.size());  // each with a window
  double share = 0;
  for (const unsigned source : sources) share = std::max(share, tcp_share(hosts_[source].path, wire_, flows));
  group.tcp_limit_gbps = group.limit_gbps * share;
}

void Workload::arrived(Endpoint& endpoint, std::uint64_t ready_ps, std::uint64_t at_ps) {
  if (endpoint.stage() == 1) set_up(endpoint, at_ps);
  last_arrival_ps_ = std::max(last_arrival_ps_, ready_ps);
  ++arrived_;
  proceed(at_ps);
}

void Workload::left(Endpoint& endpoint, std::uint64_t at_ps) {
  last_arrival_ps_ = std::max(last_arrival_ps_, at_ps);
  if (endpoint.waiting()) --arrived_;
  else if (endpoint.stage() == 1) set_up(endpoint, at_ps);
  ++left_;
  proceed(at_ps);
}

// How far a host's clock may be ahead of a host that notifies it.
std::uint64_t Workload::ahead_ps() const {
  std::uint64_t ahead = 0;
  for (const HostNode& host : hosts_) {
    const ClockDomain& clk = host.context->cpu().clock();
    ahead = std::max(ahead, (clk.lookahead() + 1) * clk.period_ps());
  }
  return ahead;
}

// Begins the next stage once all remaining endpoints have arrived.
void Workload::proceed(std::uint64_t at_ps) {
  if (arrived_ + left_ < endpoints_.size()) return;
  arrived_ = 0;
  if (stage_ == endpoints_.front().last_stage() || left_ == endpoints_.size()) {
    done_ = true;
    return;
  }
  ++stage_;
  const std::uint64_t begin_ps = std::max(last_arrival_ps_ + kBarrierNs * 1000, at_ps + ahead_ps());
  for (Endpoint& e : endpoints_) {
    if (!e.ending()) e.begin(stage_, begin_ps);
  }
  if (stage_ == 1) begin_setup(begin_ps);
}

void Workload::begin_setup(std::uint64_t begin_ps) {
  for (Opener& opener : openers_) {
    opener.opening.begin(opener.endpoints.size(), begin_ps,
                         [&](std::size_t next, std::uint64_t at_ps) { opener.endpoints[next]->admit(at_ps); });
  }
}

// The order of those that end in one cycle does not matter: the next ones begin at the same times.
void Workload::set_up(const Endpoint& endpoint, std::uint64_t at_ps) {
  if (!endpoint.connects()) return;
  Opener& opener = openers_[endpoint.node()];
  const std::uint64_t period_ps = hosts_[endpoint.node()].context->cpu().clock().period_ps();
  opener.opening.finish(at_ps + period_ps,
                        [&](std::size_t next, std::uint64_t from_ps) { opener.endpoints[next]->admit(from_ps); });
}

std::string Workload::phase_name(unsigned phase) const {
  std::string text;
  for (const WorkItem& item : plan_.phases.at(phase)) text += (text.empty() ? "" : " and ") + item.name;
  return text;
}

void Workload::aborted(const std::string& reason) { errors_.push_back(reason); }

std::uint64_t Workload::progress() const {
  std::uint64_t sum = stage_ + arrived_ + left_;
  for (const Group& g : groups_) sum += g.latencies.completed;
  return sum;
}

std::string Workload::waiting_for() const {
  constexpr std::size_t kMost = 200;
  std::string text;
  std::size_t waiting = 0;
  for (const Endpoint& e : endpoints_) {
    const std::string one = e.waiting_for();
    if (!one.empty() && ++waiting <= kMost) text += one + '\n';
  }
  if (waiting > kMost) text += fmt::format("and {} more programs\n", waiting - kMost);
  return text;
}

void Workload::restart(std::uint64_t now_ps) {
  for (Transfer& t : transfers_) {
    t.warm = t.completed;
    t.warm_retries = t.retries;
    t.warm_ps = now_ps;
  }
  for (Group& g : groups_) g.latencies.completion = g.latencies.one_way = {};
}

std::vector<WorkResult> Workload::results() const {
  std::vector<WorkResult> list;
  for (const Group& g : groups_) list.push_back(result_of(g));
  return list;
}

namespace {

double fairness(const std::vector<Transfer*>& transfers) {
  double sum = 0, squares = 0;
  for (const Transfer* t : transfers) {
    if (t->completed == t->warm || t->last_completion_ps <= t->counted_from_ps()) continue;
    std::uint64_t bytes = 0;
    for (std::uint32_t m = t->warm; m < t->completed; ++m) bytes += t->sizes[m];
    const double x = static_cast<double>(bytes) / static_cast<double>(t->last_completion_ps - t->counted_from_ps());
    sum += x;
    squares += x * x;
  }
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(transfers.size()) * squares);
}

}  // namespace

WorkResult Workload::result_of(const Group& group) const {
  WorkResult r;
  r.item = group.item->name;
  r.name = group.name;
  r.phase = group.phase;
  r.op = group.item->op;
  r.mode = group.item->mode;
  r.limit_gbps = group.limit_gbps;
  r.tcp_limit_gbps = group.tcp_limit_gbps;
  r.fairness = fairness(group.transfers);
  r.latency = percentiles(group.latencies.completion);
  r.latency_cdf = distribution(group.latencies.completion);
  r.one_way = percentiles(group.latencies.one_way);
  std::uint64_t first = UINT64_MAX, last = 0;
  bool complete = std::all_of(group.roles.begin(), group.roles.end(),
                              [](const Role* role) { return role->done() && role->unsettled().empty(); });
  for (const Transfer* t : group.transfers) {
    r.count += t->completed - t->warm;
    r.retries += t->retries - t->warm_retries;
    const auto& outcomes = t->item.outcomes;
    for (std::uint32_t m = t->warm; m < t->completed; ++m) {
      const Outcome outcome = outcomes[m % outcomes.size()];
      ++r.outcomes[static_cast<std::size_t>(outcome)];
      if (outcome == Outcome::kAccept) r.bytes += t->sizes[m];
    }
    complete = complete && t->completed == t->item.count;
    if (r.error.empty()) r.error = t->error;
    r.cut_off = r.cut_off || t->cut_off;
    if (t->completed == t->warm) continue;
    first = std::min(first, t->counted_from_ps());
    last = std::max(last, t->last_completion_ps);
  }
  if (last > first) {
    r.duration_ps = last - first;
    r.goodput_gbps = 8000.0 * static_cast<double>(r.bytes) / static_cast<double>(r.duration_ps);
    r.rate_mops = 1e6 * static_cast<double>(r.count) / static_cast<double>(r.duration_ps);
  }
  r.data_ok = complete && r.error.empty();
  return r;
}

}  // namespace rnic::workload
