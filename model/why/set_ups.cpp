#include "model/why/set_ups.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "model/why/repairs.h"

namespace rnic::why {
namespace {

constexpr std::uint64_t kSyn = 2, kAck = 16;

// A connection's frames until the MPA Reply; nullptr: not sent.
struct SetUp {
  const TcpRow *syn = nullptr, *syn_ack = nullptr, *request = nullptr, *reply = nullptr;
  std::uint64_t takes() const { return reply->frame.ps - syn->frame.ps; }
};

// The first frame with octets that an owner has sent is its MPA Request or Reply. A SYN/ACK acknowledges the SYN.
std::vector<SetUp> set_ups_of(const std::vector<TcpRow>& frames) {
  std::map<std::uint64_t, const TcpRow*> first_octets;      // by owner
  std::map<std::uint64_t, SetUp> by_owner;                  // of its SYN
  std::map<std::uint64_t, std::vector<std::uint64_t>> syn;  // owners, by the acknowledgement that they wait for
  for (const TcpRow& f : frames) {
    if (f.payload != 0) first_octets.try_emplace(f.owner, &f);
    if ((f.flags & (kSyn | kAck)) == kSyn && by_owner.try_emplace(f.owner, SetUp{&f}).second) {
      syn[(f.seq + 1) & 0xffffffff].push_back(f.owner);
    }
    if ((f.flags & (kSyn | kAck)) != (kSyn | kAck)) continue;
    for (const std::uint64_t owner : syn[f.ack]) {
      SetUp& s = by_owner.at(owner);
      if (s.syn_ack == nullptr && s.syn->sender != f.sender) s.syn_ack = &f;
    }
  }
  std::vector<SetUp> complete;
  for (auto& [owner, s] : by_owner) {
    if (s.syn_ack == nullptr) continue;
    const auto request = first_octets.find(owner), reply = first_octets.find(s.syn_ack->owner);
    if (request == first_octets.end() || reply == first_octets.end()) continue;
    s.request = request->second;
    s.reply = reply->second;
    const std::array<std::uint64_t, 4> times{s.syn->frame.ps, s.syn_ack->frame.ps, s.request->frame.ps,
                                             s.reply->frame.ps};
    if (std::is_sorted(times.begin(), times.end())) complete.push_back(s);
  }
  return complete;
}

// "host_command accept, 3200 cycles".
struct Handler {
  std::string event;
  std::uint64_t cycles = 0;
};
Handler handler_of(const std::string& words) {
  const std::size_t comma = words.rfind(", ");
  Handler h{words.substr(0, comma)};
  if (comma != std::string::npos) std::from_chars(words.data() + comma + 2, words.data() + words.size(), h.cycles);
  return h;
}

struct Busy {
  std::uint64_t ps = 0;
  unsigned pieces = 0;
  std::map<std::string, std::uint64_t> by_event;
};

// What the firmware of a node did between two times.
Busy firmware_between(const Rows& rows, const std::string& node, std::uint64_t from, std::uint64_t to) {
  const std::string period = rows.setting(node, "rnic.clock_period_ps");
  std::uint64_t cycle_ps = 0;
  std::from_chars(period.data(), period.data() + period.size(), cycle_ps);
  Busy busy;
  for (const EventRow& e :
       rows.events(fmt::format("kind = 'handled' AND node = {} AND time_ps < {}", quoted(node), to))) {
    const Handler h = handler_of(e.words);
    const std::uint64_t begin = std::max(e.ps, from), end = std::min(e.ps + h.cycles * cycle_ps, to);
    if (begin >= end) continue;
    busy.ps += end - begin;
    busy.by_event[h.event] += end - begin;
    ++busy.pieces;
  }
  return busy;
}

// What the cores of a node did for its program then.
Busy programs_between(const Rows& rows, const std::string& node, std::uint64_t from, std::uint64_t to) {
  Busy busy;
  for (const EventRow& e :
       rows.events(fmt::format("kind = 'worked' AND node = {} AND time_ps < {}", quoted(node), to))) {
    std::uint64_t takes = 0;
    std::from_chars(e.words.data(), e.words.data() + e.words.size(), takes);
    const std::uint64_t begin = std::max(e.ps, from), end = std::min(e.ps + takes, to);
    if (begin >= end) continue;
    busy.ps += end - begin;
    busy.by_event[e.place] += end - begin;
    ++busy.pieces;
  }
  return busy;
}

Cause busy_cause(const SetUp& s, const std::string& node, const Busy& busy, bool firmware) {
  const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(busy.by_event.begin(), busy.by_event.end(), by_time);
  const std::string text = fmt::format(
      "{} of {}: {} {} took {:.3f} of {:.3f} us, {} {:.3f} us of it", firmware ? "firmware" : "program", node,
      busy.pieces, firmware ? "handlers" : "calls", in_us(busy.ps), in_us(s.takes()), most->first, in_us(most->second));
  return {firmware ? End::kSetting : End::kProgram, firmware ? "firmware" : "core", text, s.request->frame.number,
          fmt::format("nodes.{}.{}", node, firmware ? "rnic.fwcpu.clock_divider" : "host.cpu")};
}

// A frame of it that the cable swallowed; else the firmware, or the program, that worked longest in its time.
std::optional<Cause> cause_of(const Rows& rows, const SetUp& s) {
  for (const TcpRow* f : {s.syn, s.syn_ack, s.request, s.reply}) {
    if (!f->frame.swallowed.empty()) return by_cable_of(f->frame.swallowed, f->frame.number);
  }
  std::optional<Cause> most;
  std::uint64_t longest = s.takes() / 10;
  for (const std::string& node : {s.syn->sender, s.reply->sender}) {
    for (const bool firmware : {true, false}) {
      const auto between = firmware ? firmware_between : programs_between;
      const Busy busy = between(rows, node, s.syn->frame.ps, s.reply->frame.ps);
      if (busy.ps <= longest) continue;
      longest = busy.ps;
      most = busy_cause(s, node, busy, firmware);
    }
  }
  return most;
}

}  // namespace

std::optional<Answer> slowest_set_up(const Rows& rows) {
  const std::vector<TcpRow> frames = rows.tcp_without_messages();
  const std::vector<SetUp> all = set_ups_of(frames);
  if (all.empty()) return std::nullopt;
  const SetUp& s =
      *std::max_element(all.begin(), all.end(), [](const SetUp& a, const SetUp& b) { return a.takes() < b.takes(); });
  Answer a;
  a.symptom = Symptom::kSetUp;
  a.node = s.syn->sender;
  a.request = rows.text_of(s.syn->owner);
  a.from_ps = s.syn->frame.ps;
  a.to_ps = s.reply->frame.ps;
  a.cause = cause_of(rows, s);
  const std::array<std::pair<const char*, const TcpRow*>, 4> steps{
      {{"SYN", s.syn}, {"SYN/ACK", s.syn_ack}, {"MPA Request", s.request}, {"MPA Reply", s.reply}}};
  for (const auto& [name, f] : steps) a.chain.push_back({f->frame.ps, f->sender, name, f->frame.number});
  for (std::size_t i = 1; i < steps.size(); ++i) {
    a.waits.push_back({steps[i].first, a.chain[i].ps - a.chain[i - 1].ps});
  }
  return a;
}

}  // namespace rnic::why
