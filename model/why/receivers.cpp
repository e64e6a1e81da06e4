#include "model/why/receivers.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/why/pcie_load.h"
#include "model/why/spans.h"

namespace rnic::why {
namespace {

// The time in which the receive pipeline took a frame's beats, of that in which it got them.
double datapath_share(const Rows& rows, const std::string& node, const RequestRow& within, std::uint64_t from,
                      std::uint64_t to) {
  const std::uint64_t beat = rows.number_of(node, "rnic.datapath.beat_bytes");
  const std::uint64_t period = rows.number_of(node, "rnic.clock_period_ps");
  if (beat == 0 || from >= to) return 0;
  std::uint64_t busy = 0;
  for (const EventRow& e : rows.events(fmt::format(
           "id BETWEEN {} AND {} AND kind = 'frame_received' AND node = {} AND time_ps > {} AND time_ps <= {}",
           within.first_event, within.last_event, quoted(node), from, to))) {
    busy += (e.bytes.value_or(0) + beat - 1) / beat * period;
  }
  return std::min(1.0, static_cast<double>(busy) / static_cast<double>(to - from));
}

// Octets that are placed, and not on the PCIe link yet.
std::uint64_t writes_waited(const Rows& rows, const std::string& node, const RequestRow& within, std::uint64_t from,
                            std::uint64_t to) {
  struct Step {
    std::uint64_t ps = 0;
    std::int64_t by = 0;
  };
  std::vector<Step> steps;
  for (const EventRow& e : rows.events(fmt::format("id BETWEEN {} AND {} AND kind = 'placed' AND node = {}",
                                                   within.first_event, within.last_event, quoted(node)))) {
    steps.push_back({e.ps, static_cast<std::int64_t>(e.bytes.value_or(0))});
  }
  for (const TlpRow& t : rows.tlps(node, within.first_event, within.last_event)) {
    if (t.from_chip && t.type == TlpRow::Type::kWrite && t.request) {
      steps.push_back({t.ps, -static_cast<std::int64_t>(t.bytes)});
    }
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.ps < b.ps; });
  AtLeast waiting(0, 1);
  for (const Step& s : steps) waiting.change(s.ps, s.by);
  return std::move(waiting).until(to).within(from, to);
}

// The message with which placement went on after its longest rest in that time; nothing: it did not rest.
std::optional<RequestRow> message_after_rest(const Rows& rows, const std::string& node, const RequestRow& within,
                                             std::uint64_t from, std::uint64_t to) {
  std::uint64_t last = from, longest = 0, number = 0;
  for (const EventRow& e :
       rows.events(fmt::format("id BETWEEN {} AND {} AND kind = 'placed' AND node = {} AND time_ps > {}",
                               within.first_event, within.last_event, quoted(node), from))) {
    if (last >= to) break;
    if (e.ps - last > longest && e.request) longest = e.ps - last, number = *e.request;
    last = e.ps;
  }
  return number == 0 || 2 * longest < to - from ? std::nullopt : rows.request(number);
}

// A message that was there before its receive request was fetched.
std::optional<Candidate> receive_request(const Rows& rows, const RequestRow& message, const std::string& receiver) {
  std::uint64_t there = 0;
  for (const EventRow& e :
       rows.events(fmt::format("id BETWEEN {} AND {} AND kind = 'crc_checked' AND node = {} AND request = {}",
                               message.first_event, message.last_event, quoted(receiver), message.number))) {
    if (there == 0) there = e.ps;
  }
  const auto used = rows.receive_of(message, receiver);
  if (there == 0 || !used || used->fetched_ps <= there) return std::nullopt;
  Candidate c;
  c.chain = {{used->posted_ps, receiver, used->text + " posted", {}},
             {there, receiver, "the first segment of " + message.text + " is there, which uses it", {}},
             {used->fetched_ps, receiver, used->text + " fetched", {}}};
  if (used->posted_ps > there) {
    c.cause = {End::kProgram, "receive_late", used->text + " was posted after its message had come", {}, {}};
    return c;
  }
  const std::uint64_t takes = used->fetched_ps - used->posted_ps;
  const bool memory =
      2 * rows.number_of(receiver, "host.root_complex.memory_read_ns") * 1000 >= used->fetched_ps - there;
  c.cause = {
      End::kSetting,
      memory ? "memory" : "receive_fetch",
      fmt::format("{} was fetched {:.3f} us after it was posted, {:.3f} us after {} had come", used->text, in_us(takes),
                  in_us(used->fetched_ps - there), message.text),
      {},
      fmt::format("nodes.{}.{}", receiver, memory ? "host.root_complex.memory_read_ns" : "rnic.rx.rqe_fetch.prefetch")};
  return c;
}

// A frame in the packet buffer of a node.
struct Kept {
  const Rows& rows;
  const RequestRow& within;  // events of its time
  const std::string& node;
  const FrameRow& frame;
  std::uint64_t taken_ps = 0;
  std::string what;  // "the last frame of a.0.4"
  std::uint64_t whole_ps = 0;
};

// The stage behind it that could not go on; those before it wait for it, too.
std::optional<Candidate> held(const Kept& k) {
  const std::uint64_t from = k.frame.ps, to = k.taken_ps;
  if (to <= from || !matters(to - from, k.whole_ps)) return std::nullopt;
  const std::string text = fmt::format("mac_rx of {} kept {} for {:.3f} us", k.node, k.what, in_us(to - from));
  Candidate c{to - from, {}, {{from, k.node, k.what + " is there", k.frame.number}}};
  const auto ends = [&](End end, const char* kind, const std::string& why, const std::string& setting) {
    c.cause = {end, kind, text + why, k.frame.number,
               setting.empty() ? "" : fmt::format("nodes.{}.{}", k.node, setting)};
    c.chain.push_back({to, k.node, "tcp_rx takes it", {}});
    return c;
  };
  const double datapath = datapath_share(k.rows, k.node, k.within, from, to);
  if (datapath >= kBusy) {
    return ends(End::kSetting, "datapath",
                fmt::format(": the receive datapath was busy for {:.1f} % of that", 100 * datapath),
                "rnic.datapath.beat_bytes");
  }
  if (const auto message = message_after_rest(k.rows, k.node, k.within, from, to)) {
    if (auto late = receive_request(k.rows, *message, k.node)) {
      late->ps = c.ps;
      late->cause.text = text + ": " + late->cause.text;
      late->cause.frame = k.frame.number;
      late->chain.insert(late->chain.end(), c.chain.begin(), c.chain.end());
      std::stable_sort(late->chain.begin(), late->chain.end(),
                       [](const Step& a, const Step& b) { return a.ps < b.ps; });
      return late;
    }
  }
  const double link = pcie_share(k.rows, k.node, true, k.within, from, to);
  if (link >= kBusy) {
    return ends(End::kSetting, "pcie_link",
                fmt::format(": the PCIe link to the host was busy for {:.1f} % of that", 100 * link),
                "rnic.pcie.link.width");
  }
  const std::uint64_t waited = writes_waited(k.rows, k.node, k.within, from, to);
  if (2 * waited >= to - from) {
    return ends(End::kSetting, "posted_credits",
                fmt::format(": writes waited for PCIe credits for {:.3f} us, with the link busy for {:.1f} %",
                            in_us(waited), 100 * link),
                "rnic.pcie.link.host_credits");
  }
  return ends(End::kNotRecorded, "mac_rx", ", and which stage held it is in no row", "");
}

}  // namespace

std::optional<Candidate> held_frames(const Rows& rows, const Passage& passage, const std::string& sender,
                                     const std::string& receiver, std::uint64_t whole_ps) {
  const FrameRow* const frame = passage.arrived(sender);
  if (frame == nullptr) return std::nullopt;
  const RequestRow& request = passage.request();
  return held({rows, request, receiver, *frame, passage.once(receiver, "frame_received"),
               "the last frame of " + request.text, whole_ps});
}

std::optional<Candidate> held_ack(const Rows& rows, const Passage& passage) {
  const std::string& node = passage.node();
  const FrameRow* const frame = passage.arrived(node);
  const auto ack = frame != nullptr ? rows.acknowledgement(node, *frame) : std::nullopt;
  if (!ack || !waited_for_tcp_rx(passage, *ack)) return std::nullopt;
  const RequestRow& request = passage.request();
  return held({rows, request, node, *ack, rows.taken_ps(node, ack->number), "the acknowledgement of " + request.text,
               request.polled_ps - request.posted_ps});
}

std::optional<Candidate> delayed_ack(const Rows& rows, const Passage& passage) {
  const FrameRow* const frame = passage.arrived(passage.node());
  const std::string& peer = passage.peer();
  const std::uint64_t there = peer.empty() ? 0 : passage.once(peer, "frame_received");
  if (frame == nullptr || there == 0) return std::nullopt;
  const auto ack = rows.acknowledgement(passage.node(), *frame);
  const std::uint64_t delay_ps = rows.number_of(peer, "rnic.tcp.ack_delay_ns") * 1000;
  const std::uint64_t cable_ps = rows.number_of(peer, "link.delay_ns") * 1000;
  if (!ack || delay_ps == 0 || ack->ps < there + delay_ps + cable_ps) return std::nullopt;
  Candidate c =
      by_setting(delay_ps, "ack_delay",
                 fmt::format("{} acknowledged its last octets when the timer of delayed ACKs ended, {:.3f} us "
                             "after it had them",
                             peer, in_us(delay_ps)),
                 fmt::format("nodes.{}.rnic.tcp.ack_delay_ns", peer));
  c.cause.frame = ack->number;
  c.chain = {{there, peer, "the last frame of " + passage.request().text + " is there", frame->number},
             {ack->ps, passage.node(), "its acknowledgement arrives", ack->number}};
  return c;
}

}  // namespace rnic::why
