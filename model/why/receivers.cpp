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
  return static_cast<double>(busy) / static_cast<double>(to - from);
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

// Its fetch, while the message was there: of the receive request that a message used.
std::optional<Candidate> receive_request(const Rows& rows, const Passage& passage, const std::string& receiver) {
  const std::uint64_t there = passage.first(receiver, "crc_checked");
  const auto used = rows.receive_of(passage.request(), receiver);
  if (there == 0 || !used || used->fetched_ps <= there) return std::nullopt;
  const std::uint64_t ps = used->fetched_ps - there;
  const std::vector<Step> chain{{used->posted_ps, receiver, used->text + " posted", {}},
                                {there, receiver, "the first segment of " + passage.request().text + " is there", {}},
                                {used->fetched_ps, receiver, used->text + " fetched", {}}};
  if (used->posted_ps > there) {
    return Candidate{
        ps, {End::kProgram, "receive_late", used->text + " was posted after its message had come", {}, {}}, chain};
  }
  const std::uint64_t memory_ps = rows.number_of(receiver, "host.root_complex.memory_read_ns") * 1000;
  const bool memory = 2 * memory_ps >= used->fetched_ps - used->posted_ps;
  const std::string text =
      fmt::format("{} was fetched {:.3f} us after it was posted, {:.3f} us after its message had come", used->text,
                  in_us(used->fetched_ps - used->posted_ps), in_us(ps));
  return Candidate{
      ps,
      {End::kSetting,
       memory ? "memory" : "receive_fetch",
       text,
       {},
       fmt::format("nodes.{}.{}", receiver, memory ? "host.root_complex.memory_read_ns" : "rnic.rx.rqe_fetch")},
      chain};
}

}  // namespace

std::optional<Candidate> held_frames(const Rows& rows, const Passage& passage, const std::string& sender,
                                     const std::string& receiver) {
  const FrameRow* const frame = passage.arrived(sender);
  const std::uint64_t taken = passage.once(receiver, "frame_received");
  if (frame == nullptr || taken <= frame->ps) return std::nullopt;
  const RequestRow& request = passage.request();
  const std::uint64_t ps = taken - frame->ps, from = frame->ps;
  const std::string what = fmt::format("mac_rx of {} kept the last frame for {:.3f} us", receiver, in_us(ps));
  const std::vector<Step> chain{{frame->ps, receiver, "the last frame of " + request.text + " is there", frame->number},
                                {taken, receiver, "tcp_rx takes it", {}}};
  const auto found = [&](const char* kind, const std::string& why, const char* setting) {
    return Candidate{
        ps,
        {End::kSetting, kind, what + ": " + why, frame->number, fmt::format("nodes.{}.{}", receiver, setting)},
        chain};
  };
  const double datapath = datapath_share(rows, receiver, request, from, taken);
  if (datapath >= kBusy) {
    return found("datapath", fmt::format("the receive datapath was busy for {:.1f} % of that", 100 * datapath),
                 "rnic.datapath.beat_bytes");
  }
  if (auto late = receive_request(rows, passage, receiver)) return late;
  const double link = pcie_share(rows, receiver, true, request, from, taken);
  if (link >= kBusy) {
    return found("pcie_link", fmt::format("the PCIe link to the host was busy for {:.1f} % of that", 100 * link),
                 "rnic.pcie.link.width");
  }
  const std::uint64_t waited = writes_waited(rows, receiver, request, from, taken);
  if (2 * waited >= ps) {
    return found("posted_credits",
                 fmt::format("writes waited for PCIe credits for {:.3f} us, with the link busy for {:.1f} %",
                             in_us(waited), 100 * link),
                 "rnic.pcie.link.host_credits");
  }
  return Candidate{
      ps, {End::kNotRecorded, "mac_rx", what + ", and which stage held it is in no row", frame->number, {}}, chain};
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
