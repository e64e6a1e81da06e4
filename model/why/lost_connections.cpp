#include "model/why/lost_connections.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "model/why/repairs.h"

namespace rnic::why {
namespace {

// Why a node has sent an RST: an error of its stream, a connection that it had lost itself, or a command.
void by_reset(const Rows& rows, const ResetRow& reset, Answer& a) {
  const std::string of = reset.sender.empty() ? "a peer outside of the model" : reset.sender;
  a.from_ps = reset.frame.ps;
  a.chain.push_back({reset.frame.ps, a.node, "RST of " + of + " is there", reset.frame.number});
  if (reset.sender.empty()) {
    a.cause = Cause{End::kPeer, "reset", "a peer outside of the model has reset it", reset.frame.number, {}};
    return;
  }
  const auto before = rows.events(fmt::format(
      "node = {} AND time_ps <= {} AND (kind = 'refused' OR (kind = 'terminated' AND words GLOB 'ordered *') "
      "OR (kind = 'handled' AND words GLOB 'tcp_reset*') OR (kind = 'command' AND words GLOB 'd*'))",
      quoted(reset.sender), reset.frame.ps));
  if (before.empty()) {
    a.cause = Cause{End::kProgram,
                    "reset",
                    of + " knew no such connection, and nothing of it had failed there",
                    reset.frame.number,
                    {}};
    return;
  }
  const EventRow& why = before.back();
  a.chain.insert(a.chain.begin(), Step{why.ps, why.node, why.kind + " " + why.words, {}});
  const bool by_command = why.kind == "command";
  a.cause = Cause{by_command ? End::kProgram : End::kPeer,
                  "reset",
                  fmt::format("{} has reset it, after {} {} at {:.3f} us", of, why.kind, why.words, in_us(why.ps)),
                  reset.frame.number,
                  {}};
}

using Resent = std::pair<std::uint64_t, std::uint64_t>;  // a request, and where octets begin in its message

// Its retries are used up: of the only segment of the node that was sent again as often as they allow, and has lost no
// connection yet.
void by_retries(const Rows& rows, const EventRow& lost, std::set<Resent>& used, Answer& a) {
  const bool tcp = lost.words.rfind("tcp", 0) == 0;
  const std::string setting = tcp ? "rnic.tcp.max_retries" : "rnic.sctp.max_retries";
  const std::uint64_t allowed = std::max<std::uint64_t>(1, rows.number_of(lost.node, setting));
  std::map<Resent, std::vector<const EventRow*>> timeouts;
  for (const EventRow& again : rows.sent_again()) {
    const Resent part{*again.request, again.offset.value_or(0)};
    const bool counts = again.node == lost.node && again.ps <= lost.ps && again.words == "timeout";
    if (counts && used.count(part) == 0) timeouts[part].push_back(&again);
  }
  for (auto part = timeouts.begin(); part != timeouts.end();) {
    part = part->second.size() < allowed ? timeouts.erase(part) : std::next(part);
  }
  if (timeouts.size() != 1) {
    const std::string text = timeouts.empty()
                                 ? "neither an RST nor all retries of a segment came before"
                                 : fmt::format("which of {} segments whose retries are used up", timeouts.size());
    a.cause = Cause{End::kNotRecorded, "connection_lost", text, {}, {}};
    return;
  }
  const auto& [part, times] = *timeouts.begin();
  used.insert(part);
  Repair repair = repair_of(rows, *times.front());
  a.request = rows.text_of(part.first);
  a.from_ps = repair.sent_ps;
  a.cause = std::move(repair.cause);
  a.cause->text +=
      fmt::format("; sent again {} times (nodes.{}.{}), and never acknowledged", times.size(), lost.node, setting);
  a.chain = std::move(repair.chain);
}

}  // namespace

std::vector<Answer> lost_connections(const Rows& rows) {
  std::vector<Answer> answers;
  if (!rows.has_words("tcp_reset*") && !rows.has_words("sctp_lost*")) return answers;
  std::map<std::string, std::uint64_t> last;  // loss of a node's connection
  std::set<Resent> used;
  for (const EventRow& lost :
       rows.events("kind = 'handled' AND (words GLOB 'tcp_reset*' OR words GLOB 'sctp_lost*')")) {
    Answer a;
    a.symptom = Symptom::kLostConnection;
    a.node = lost.node;
    a.text = "its transport has lost a connection";
    a.from_ps = a.to_ps = lost.ps;
    if (const auto reset = rows.reset_to(lost.node, last[lost.node], lost.ps)) by_reset(rows, *reset, a);
    else by_retries(rows, lost, used, a);
    a.chain.push_back({lost.ps, lost.node, lost.words, {}});
    last[lost.node] = lost.ps;
    answers.push_back(std::move(a));
  }
  return answers;
}

}  // namespace rnic::why
