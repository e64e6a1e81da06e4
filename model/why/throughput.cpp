#include "model/why/throughput.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "model/why/passage.h"
#include "model/why/payload_reads.h"
#include "model/why/repairs.h"

namespace rnic::why {
namespace {

// Octets, and the time that each of these takes to be replaced by others.
struct Sum {
  std::string text;
  double octets = 0, ps = 0;
  double gbps() const { return ps == 0 ? 0 : 8000 * octets / ps; }
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

using Lives = std::vector<const Life*>;

// At most so many of them, at equal distances.
Lives some_of(const Lives& lives) {
  constexpr std::size_t kSome = 16;
  Lives some;
  for (std::size_t i = 0; i < std::min(kSome, lives.size()); ++i) {
    some.push_back(lives[i * lives.size() / std::min(kSome, lives.size())]);
  }
  return some;
}

std::string peer_of(const Rows& rows, const Life& life) { return Passage(rows, life.row, life.node).peer(); }

// A window of octets goes once a round trip, which begins where its credit is taken: in the segmenter.
Sum by_window(const Rows& rows, const Lives& lives, const std::string& node) {
  std::vector<double> round_trips;
  for (const Life* life : some_of(lives)) {
    for (const EventRow& cut :
         rows.events(fmt::format("id BETWEEN {} AND {} AND kind = 'segmented' AND request = {}", life->row.first_event,
                                 life->row.last_event, life->row.number))) {
      const auto& frames = rows.frames(node, life->row.number, cut.offset);
      const auto ack = frames.empty() ? std::nullopt : rows.acknowledgement(node, frames.front());
      if (ack && ack->ps > cut.ps) round_trips.push_back(static_cast<double>(ack->ps - cut.ps));
    }
  }
  const std::uint64_t window =
      lives.empty() ? 0 : rows.number_of(peer_of(rows, *lives.front()), "rnic.tcp.window_bytes");
  const double round_trip = median(round_trips);
  return {fmt::format("window of {} octets / {:.3f} us from the segmenter to the acknowledgement", window,
                      round_trip / 1e6),
          static_cast<double>(window), round_trip};
}

// As many as were under way at a time go once in the time of one.
Sum by_requests(const Lives& lives, const char* what, std::uint64_t (*from)(const Life&),
                std::uint64_t (*to)(const Life&)) {
  std::vector<std::pair<std::uint64_t, int>> changes;
  std::vector<double> times;
  double octets = 0;
  for (const Life* life : lives) {
    changes.emplace_back(from(*life), 1);
    changes.emplace_back(to(*life), -1);
    times.push_back(static_cast<double>(to(*life) - from(*life)));
    octets += static_cast<double>(life->bytes);
  }
  std::sort(changes.begin(), changes.end());
  int now = 0, most = 0;
  for (const auto& [ps, by] : changes) most = std::max(most, now += by);
  if (times.empty()) return {};
  const double size = octets / static_cast<double>(times.size()), time = median(times);
  return {fmt::format("{} {} x {:.0f} octets / {:.3f} us of one", most, what, size, time / 1e6), most * size, time};
}

// Of one queue, as each has its own.
Sum by_ord(Lives lives) {
  lives.erase(
      std::remove_if(lives.begin(), lives.end(), [&](const Life* l) { return l->queue != lives.front()->queue; }),
      lives.end());
  return by_requests(
      lives, "Reads", [](const Life& l) { return l.first_cut_ps; }, [](const Life& l) { return l.done_ps; });
}

Sum by_depth(const Lives& lives) {
  return by_requests(
      lives, "requests", [](const Life& l) { return l.row.posted_ps; }, [](const Life& l) { return l.row.polled_ps; });
}

Sum by_tags(const Rows& rows, const Lives& lives, const std::string& node) {
  const auto means = lives.empty() ? std::nullopt : read_means(rows, lives[lives.size() / 2]->row, node);
  if (!means) return {};
  const double tags = static_cast<double>(rows.number_of(node, "rnic.pcie.dma_read.max_tags"));
  return {fmt::format("{:.0f} tags x {:.0f} octets / {:.3f} us of a read", tags, means->octets, means->ps / 1e6),
          tags * means->octets, means->ps};
}

// From the first post to the last poll.
double measured_gbps(const Lives& lives) {
  std::uint64_t from = UINT64_MAX, to = 0, octets = 0;
  for (const Life* life : lives) {
    from = std::min(from, life->row.posted_ps);
    to = std::max(to, life->row.polled_ps);
    octets += life->bytes;
  }
  return to <= from ? 0 : 8000 * static_cast<double>(octets) / static_cast<double>(to - from);
}

// The requests of a node, or of the first one, with the operation that moved most.
Lives most_of(const std::vector<Life>& lives, const std::string& node) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> octets;  // by node and operation
  for (const Life& life : lives) {
    if (node.empty() || life.node == node) octets[{life.node, life.operation}] += life.bytes;
  }
  const auto most =
      std::max_element(octets.begin(), octets.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  Lives chosen;
  for (const Life& life : lives) {
    if (most != octets.end() && std::pair(life.node, life.operation) == most->first) chosen.push_back(&life);
  }
  return chosen;
}

// What the names of accounts and busy resources begin with, and what sets them. Those of a node begin with "rnic" or
// "host". Without a setting: nothing is wrong.
struct Known {
  std::string_view name, setting;
};
constexpr std::array kKnown{
    Known{"wire", ""},
    Known{"ORD", "connections.*.ord"},
    Known{"fence", "work.*.fence_every"},
    Known{"first FPDU", ""},
    Known{"requests outstanding", "rnic.tx.rdmap_segmenter.outstanding"},
    Known{"requests", "work.*.depth"},
    Known{"TCP window", "rnic.tcp.window_bytes"},
    Known{"SCTP window", "rnic.sctp.receive_buffer"},
    Known{"TCP transmit memory", "rnic.tcp.tx_memory"},
    Known{"SCTP transmit memory", "rnic.sctp.tx_memory"},
    Known{"WQE prefetch", "rnic.tx.wqe_fetch.prefetch"},
    Known{"WQE reads", "rnic.tx.wqe_fetch.reads"},
    Known{"RQE prefetch", "rnic.rx.rqe_fetch.prefetch"},
    Known{"RQE reads", "rnic.rx.rqe_fetch.reads"},
    Known{"payload fetch jobs", "rnic.tx.payload_fetch.jobs"},
    Known{"parked FPDUs", "rnic.rx.ddp_placement.parked"},
    Known{"atomic operations", "rnic.responder.atomic_alu.operations"},
    Known{"PCIe tags", "rnic.pcie.dma_read.max_tags"},
    Known{"PCIe read requests", "rnic.pcie.dma_read.max_requests"},
    Known{"PCIe host to device", "rnic.pcie.link.width"},
    Known{"PCIe device to host", "rnic.pcie.link.width"},
    Known{"PCIe", "rnic.pcie.link"},
    Known{"transmit datapath", "rnic.datapath.beat_bytes"},
    Known{"receive datapath", "rnic.datapath.beat_bytes"},
    Known{"link rate", "link.*.rate.mbps"},
    Known{"host memory", "host.root_complex.memory_read_ns"},
    Known{"host core", "host.cpu"},
    Known{"firmware", "rnic.fwcpu.clock_divider"},
};

// "node a" of an account, or what follows the comma of a busy resource.
std::string node_in(const std::string& name, const std::string& where) {
  if (where.rfind("node ", 0) == 0) return where.substr(5);
  const std::size_t comma = name.rfind(", ");
  return comma == std::string::npos ? "" : name.substr(comma + 2);
}

std::string setting_of(std::string_view setting, const std::string& node, const std::string& peer) {
  if (setting == "rnic.tcp.window_bytes") return fmt::format("nodes.{}.{}", peer.empty() ? "*" : peer, setting);
  const bool of_node = setting.rfind("rnic.", 0) == 0 || setting.rfind("host.", 0) == 0;
  return of_node ? fmt::format("nodes.{}.{}", node.empty() ? "*" : node, setting) : std::string(setting);
}

// "QP receive cache", "STag cache misses": its settings are below the first word.
std::string cache_of(const std::string& name) {
  std::string word = name.substr(0, name.find(' '));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return "rnic.context.cache." + word + (name.find("misses") == std::string::npos ? ".entries" : ".misses_in_flight");
}

// What losses, and windows that fell after them, begin with.
Cause by_losses(const Rows& rows) {
  if (rows.sent_again().empty()) {
    return {End::kStart, "slow_start", "the congestion window had not grown yet, and nothing was sent again", {}, {}};
  }
  Cause first = repair_of(rows, rows.sent_again().front()).cause;
  first.text = "the first of " + std::to_string(rows.sent_again().size()) + " that were sent again: " + first.text;
  return first;
}

std::optional<Cause> cause_of(const Rows& rows, const Lives& lives, const std::string& name, const std::string& node) {
  if (name == "losses" || name == "TCP congestion window") return by_losses(rows);
  const auto known =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return name.rfind(k.name, 0) == 0; });
  const bool is_cache = name.find(" cache") != std::string::npos;
  if (known == kKnown.end() && !is_cache) {
    return Cause{End::kNotRecorded, "bottleneck", "what sets it: " + name + " is no name that the rules know", {}, {}};
  }
  const std::string setting = is_cache ? cache_of(name) : std::string(known->setting);
  if (setting.empty()) return std::nullopt;
  const Sum sum = name == "ORD"          ? by_ord(lives)
                  : name == "requests"   ? by_depth(lives)
                  : name == "TCP window" ? by_window(rows, lives, node)
                  : name == "PCIe tags"  ? by_tags(rows, lives, node)
                                         : Sum{};
  std::string text = name;
  if (sum.gbps() != 0) {
    text += fmt::format(": {} = {:.2f} Gb/s at most, measured {:.2f} Gb/s", sum.text, sum.gbps(), measured_gbps(lives));
  }
  const std::string peer = lives.empty() ? "" : peer_of(rows, *lives.front());
  const bool is_programs = name == "requests" || name == "fence" || name.rfind("host core", 0) == 0;
  return Cause{is_programs ? End::kProgram : End::kSetting, name, text, {}, setting_of(setting, node, peer)};
}

}  // namespace

std::optional<Answer> throughput(const Rows& rows, const std::vector<Life>& lives) {
  const std::string line = rows.fact("bottleneck"), name = rows.fact("bottleneck.name");
  if (line.empty() || name == "none") return std::nullopt;
  Answer a;
  a.symptom = Symptom::kThroughput;
  a.text = line;
  a.node = node_in(name, rows.fact("bottleneck.where"));
  a.cause = cause_of(rows, most_of(lives, a.node), name, a.node);
  return a;
}

}  // namespace rnic::why
