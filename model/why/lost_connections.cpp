#include "model/why/lost_connections.h"

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

// Its retries are used up: of the octets that it sent again last.
void by_retries(const Rows& rows, const EventRow& lost, Answer& a) {
  const EventRow* last = nullptr;
  for (const EventRow& again : rows.sent_again()) {
    if (again.node == lost.node && again.ps <= lost.ps && again.words == "timeout") last = &again;
  }
  if (last == nullptr) {
    a.cause = Cause{End::kNotRecorded, "connection_lost", "neither an RST nor a retransmission came before", {}, {}};
    return;
  }
  const EventRow* first = nullptr;
  unsigned times = 0;
  for (const EventRow& again : rows.sent_again()) {
    if (again.node != last->node || again.request != last->request || again.offset != last->offset) continue;
    if (first == nullptr) first = &again;
    ++times;
  }
  Repair repair = repair_of(rows, *first);
  a.request = rows.text_of(*first->request);
  a.from_ps = repair.sent_ps;
  a.cause = std::move(repair.cause);
  a.cause->text +=
      fmt::format("; sent again {} times (nodes.{}.rnic.tcp.max_retries), and never acknowledged", times, lost.node);
  a.chain = std::move(repair.chain);
}

}  // namespace

std::vector<Answer> lost_connections(const Rows& rows) {
  std::vector<Answer> answers;
  if (!rows.has_words("tcp_reset*") && !rows.has_words("sctp_lost*")) return answers;
  std::map<std::string, std::uint64_t> last;  // loss of a node's connection
  for (const EventRow& lost :
       rows.events("kind = 'handled' AND (words GLOB 'tcp_reset*' OR words GLOB 'sctp_lost*')")) {
    Answer a;
    a.symptom = Symptom::kLostConnection;
    a.node = lost.node;
    a.text = "its transport has lost a connection";
    a.from_ps = a.to_ps = lost.ps;
    if (const auto reset = rows.reset_to(lost.node, last[lost.node], lost.ps)) by_reset(rows, *reset, a);
    else by_retries(rows, lost, a);
    a.chain.push_back({lost.ps, lost.node, lost.words, {}});
    last[lost.node] = lost.ps;
    answers.push_back(std::move(a));
  }
  return answers;
}

}  // namespace rnic::why
