#include "model/system/latency_breakdown.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/trace/output_file.h"

namespace rnic {
namespace {

using B = LatencyBreakdown;

// What the time until a station was spent in.
constexpr const char* kParts[B::kStations] = {"",
                                              "driver",
                                              "doorbell",
                                              "WQE fetch",
                                              "rdmap_segmenter",
                                              "payload_fetch",
                                              "mpa_framer",
                                              "marker_inserter",
                                              "crc_insert",
                                              "tcp_tx",
                                              "wire",
                                              "peer tcp_rx",
                                              "peer mpa_deframer",
                                              "peer crc_check",
                                              "peer ddp_placement",
                                              "peer rdmap_dispatch",
                                              "peer responder",
                                              "peer rdmap_segmenter",
                                              "peer payload_fetch",
                                              "peer mpa_framer",
                                              "peer marker_inserter",
                                              "peer crc_insert",
                                              "peer tcp_tx",
                                              "wire back",
                                              "tcp_rx",
                                              "mpa_deframer",
                                              "crc_check",
                                              "ddp_placement",
                                              "completion",
                                              "CQE write",
                                              "poll"};

bool has_response(abi::WrOpcode op) { return abi::is_read(op) || abi::is_atomic(op); }

// A Send or Write is complete when the peer's TCP has acknowledged it, wherever it is in the peer's pipeline then.
bool on_the_path(abi::WrOpcode op, unsigned station) {
  return has_response(op) || station <= B::kArrived || station >= B::kCompleted;
}

const char* part_name(abi::WrOpcode op, unsigned station) {
  return station == B::kCompleted && !has_response(op) ? "TCP acknowledgement" : kParts[station];
}

const char* name_of(abi::WrOpcode op) {
  switch (op) {
    case abi::WrOpcode::kSend:
      return "send";
    case abi::WrOpcode::kRdmaWrite:
      return "write";
    case abi::WrOpcode::kRdmaRead:
      return "read";
    case abi::WrOpcode::kSendWithInv:
      return "send with invalidate";
    case abi::WrOpcode::kImmediate:
      return "immediate data";
    case abi::WrOpcode::kFetchAdd:
      return "fetch and add";
    case abi::WrOpcode::kCmpSwap:
      return "compare and swap";
    case abi::WrOpcode::kRdmaReadWithInv:
      return "read with invalidate";
    case abi::WrOpcode::kLocalInv:
      return "local invalidate";
    case abi::WrOpcode::kRegMr:
      return "register";
    case abi::WrOpcode::kBindMw:
      return "bind";
  }
  return "";
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

void put(std::vector<std::uint8_t>& to, std::uint64_t number) {
  for (; number >> 7 != 0; number >>= 7) to.push_back(static_cast<std::uint8_t>(number | 0x80));
  to.push_back(static_cast<std::uint8_t>(number));
}
std::uint64_t take(const std::vector<std::uint8_t>& from, std::size_t& at) {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t octet = from[at++];
    number |= std::uint64_t{octet & 0x7fu} << shift;
    if (octet < 0x80) return number;
  }
}

RequestId key_of(RequestId id) { return {id.node(), RequestId::Kind::kSend, id.queue(), id.life(), 0}; }

double ns(double ps) { return ps / 1000; }

}  // namespace

LatencyBreakdown::LatencyBreakdown(std::vector<std::string> nodes) : nodes_(std::move(nodes)) {}

std::optional<LatencyBreakdown::Station> LatencyBreakdown::station(const TraceDomain& domain,
                                                                   const TraceEvent& e) const {
  const bool own = domain.name == nodes_.at(e.request.node() - 1);
  const auto side = [own](Station requester, Station peer) { return own ? requester : peer; };
  switch (e.kind) {
    case TraceKind::kPosted:
      return kPosted;
    case TraceKind::kWqeFetched:
      return kFetched;
    case TraceKind::kSegmented:
      return side(kCut, kResponseCut);
    case TraceKind::kPayloadRead:
      return side(kPayload, kResponsePayload);
    case TraceKind::kPassed:
      return ends_with(e.where, ".framed") ? side(kFramed, kResponseFramed) : side(kMarked, kResponseMarked);
    case TraceKind::kFpduSent:
      return side(kSealed, kResponseSealed);
    case TraceKind::kFrameSent:
    case TraceKind::kRetransmitted:
      return side(kSent, kResponseSent);
    case TraceKind::kFrameReceived:
      return side(kResponseArrived, kArrived);
    case TraceKind::kStreamDelivered:
      return side(kResponseStream, kStream);
    case TraceKind::kFpduReceived:
      return side(kResponseDeframed, kDeframed);
    case TraceKind::kCrcChecked:
      return side(kResponseChecked, kChecked);
    case TraceKind::kPlaced:
      return side(kResponsePlaced, kPlaced);
    case TraceKind::kDelivered:
      return own ? std::nullopt : std::optional(kDelivered);
    case TraceKind::kResponse:
      return kResponse;
    case TraceKind::kCompleted:
      return own ? std::optional(kCompleted) : std::nullopt;
    case TraceKind::kCqeWritten:
      return own ? std::optional(kCqeWritten) : std::nullopt;
    case TraceKind::kPolled:
      return kPolled;
    default:
      return std::nullopt;
  }
}

LatencyBreakdown::Queue& LatencyBreakdown::queue(RequestId id) {
  const std::uint64_t key = key_of(id).v;
  if (newest_ == nullptr || newest_key_ != key) {
    newest_ = &queues_[key];  // a map of nodes: the address stays
    newest_key_ = key;
  }
  return *newest_;
}

// A doorbell has the producer index, of 12 bits; all that was posted before is announced.
void LatencyBreakdown::announce(Queue& q, std::uint64_t& from, std::uint32_t producer, Station station,
                                std::uint64_t ps) {
  const std::uint64_t end = q.first + q.records.size();
  for (; from < end && ((producer - from) & 0xfff) != 0; ++from) {
    if (from >= q.first) q.records[from - q.first].at[station] = ps;
  }
}

void LatencyBreakdown::event(const TraceDomain& domain, const TraceEvent& e) {
  if (!e.request) return;
  const std::uint64_t ps = e.cycle * domain.period_ps;
  if (e.request.kind() == RequestId::Kind::kQueuePair) {
    Queue& q = queue(e.request);
    if (e.kind == TraceKind::kDoorbellWritten) announce(q, q.rung, e.values[0], kRang, ps);
    if (e.kind == TraceKind::kDoorbell) announce(q, q.arrived, e.values[0], kDoorbell, ps);
    return;
  }
  if (e.request.kind() != RequestId::Kind::kSend) return;
  const std::optional<Station> s = station(domain, e);
  if (!s) return;
  Queue& q = queue(e.request);
  const std::uint64_t n = e.request.sequence();
  if (*s == kPosted) {
    if (n != q.first + q.records.size()) {  // a number's first request, or its sequence went round
      q.records.clear();
      q.first = q.rung = q.arrived = n;
    }
    q.records.emplace_back();
    q.records.back().posted = true;
  }
  if (n < q.first || n - q.first >= q.records.size()) return;  // complete, and late news of it
  Record& r = q.records[n - q.first];
  r.at[*s] = std::max(r.at[*s], ps);
  if (*s == kFetched) r.opcode = static_cast<abi::WrOpcode>(e.values[0]);
  if (*s != kPolled) return;
  finish(e.request, r);
  // A completion stands for the unsignaled requests before it too.
  q.records.erase(q.records.begin(), q.records.begin() + static_cast<std::ptrdiff_t>(n - q.first + 1));
  q.first = n + 1;
}

// Times never decrease along the path, and never pass the end: what TCP sends once more after it was acknowledged is on
// nobody's way.
void LatencyBreakdown::finish(RequestId id, const Record& r) {
  if (!r.posted) return;
  const std::uint64_t end = r.at[kPolled];
  Finished f{id, r.opcode, end - r.at[kPosted], parts_.size()};
  std::uint64_t at = r.at[kPosted];
  for (unsigned s = kPosted + 1; s < kStations; ++s) {
    if (r.at[s] == 0 || !on_the_path(r.opcode, s)) continue;
    const std::uint64_t until = std::clamp(r.at[s], at, end);
    put(parts_, s);
    put(parts_, until - at);
    at = until;
  }
  put(parts_, 0);
  finished_.push_back(f);
}

LatencyBreakdown::Request LatencyBreakdown::read(const Finished& f) const {
  Request r{f.id, f.opcode, f.total_ps, {}};
  std::size_t at = f.parts;
  while (const std::uint64_t s = take(parts_, at)) {
    const char* const name = part_name(f.opcode, static_cast<unsigned>(s));
    r.parts.emplace_back(name, take(parts_, at));
  }
  return r;
}

LatencyBreakdown::Request LatencyBreakdown::request(std::size_t i) const { return read(finished_.at(i)); }

void LatencyBreakdown::write(const std::string& file) const {
  OutputFile out(file);
  out.write("request\toperation\ttotal_ps\tparts\n");
  for (const Finished& f : finished_) {
    std::string line = fmt::format("{}\t{}\t{}\t", f.id.text(nodes_), name_of(f.opcode), f.total_ps);
    const char* between = "";
    for (const auto& [part, ps] : read(f).parts) {
      line += fmt::format("{}{}={}", between, part, ps);
      between = ";";
    }
    out.write(line + '\n');
  }
  out.close();
}

nlohmann::ordered_json LatencyBreakdown::json() const {
  std::map<std::pair<std::uint32_t, abi::WrOpcode>, std::vector<const Finished*>> groups;
  for (const Finished& f : finished_) groups[{f.id.node(), f.opcode}].push_back(&f);
  auto list = nlohmann::ordered_json::array();
  for (auto& [key, group] : groups) {
    const auto slower = [](const Finished* a, const Finished* b) {
      return a->total_ps != b->total_ps ? a->total_ps < b->total_ps : a->id < b->id;
    };
    std::sort(group.begin(), group.end(), slower);
    const auto at = [&g = group](double share) { return g[static_cast<std::size_t>(share * double(g.size() - 1))]; };
    const std::pair<const char*, const Finished*> examples[] = {
        {"p50", at(0.5)}, {"p99", at(0.99)}, {"worst", group.back()}};
    std::map<std::string_view, double> sums;
    double total = 0;
    for (const Finished* f : group) {
      total += static_cast<double>(f->total_ps);
      for (const auto& [part, ps] : read(*f).parts) sums[part] += static_cast<double>(ps);
    }
    auto parts = nlohmann::ordered_json::array();
    for (unsigned s = kPosted + 1; s < kStations; ++s) {
      const char* const name = part_name(key.second, s);
      const auto sum = sums.find(name);
      if (sum == sums.end()) continue;
      nlohmann::ordered_json part{{"name", name}, {"mean_ns", ns(sum->second / double(group.size()))}};
      for (const auto& [which, f] : examples) {
        double ps = 0;
        for (const auto& [n, d] : read(*f).parts) ps += std::string_view(n) == name ? static_cast<double>(d) : 0;
        part[std::string(which) + "_ns"] = ns(ps);
      }
      parts.push_back(std::move(part));
    }
    nlohmann::ordered_json totals{{"mean_ns", ns(total / double(group.size()))}}, ids;
    for (const auto& [which, f] : examples) {
      totals[std::string(which) + "_ns"] = ns(static_cast<double>(f->total_ps));
      ids[which] = f->id.text(nodes_);
    }
    list.push_back({{"node", nodes_.at(key.first - 1)},
                    {"operation", name_of(key.second)},
                    {"requests", group.size()},
                    {"parts", std::move(parts)},
                    {"total", std::move(totals)},
                    {"examples", std::move(ids)}});
  }
  return list;
}

}  // namespace rnic
