#include "testbench/interop/sctp_peer/session.h"

#include <algorithm>

#include <fmt/format.h>

namespace far_end {
namespace {

constexpr std::uint32_t kA = 0x80000000, kB = 0x40000000, kC = 0x8000, kD = 0x4000;

void put_word(Bytes& octets, const Terms& t) {
  std::uint32_t word = t.ird << 16 | t.ord;
  if (t.peer_to_peer) {
    word |= kA;
    if ((t.rtr & Terms::kSend) != 0) word |= kB;
    if ((t.rtr & Terms::kWrite) != 0) word |= kC;
    if ((t.rtr & Terms::kRead) != 0) word |= kD;
  }
  put<4>(octets, word);
}

Terms terms_of(std::uint32_t word) {
  Terms t;
  t.peer_to_peer = (word & kA) != 0;
  t.ird = word >> 16 & 0x3FFF;
  t.ord = word & 0x3FFF;
  if (t.peer_to_peer) {
    t.rtr = ((word & kB) != 0 ? Terms::kSend : 0U) | ((word & kC) != 0 ? Terms::kWrite : 0U) |
            ((word & kD) != 0 ? Terms::kRead : 0U);
  }
  return t;
}

}  // namespace

void Session::violation(const std::string& what) {
  if (!terminated_) control(Code::kTerminate, {});
  terminated_ = true;
  throw Ended("the session breaks a rule: " + what);
}

void Session::send(std::uint32_t ppid, const Bytes& octets) {
  Bytes message;
  put<2>(message, sent_++);
  append(message, octets);
  sctp_.wait("room to send", [&] { return sctp_.send(stream_, ppid, message); });
}

// It must not overtake an earlier message of ours.
void Session::control(Code code, const Bytes& octets) {
  sctp_.wait("acknowledgement", [&] { return sctp_.idle(); });
  Bytes message;
  put<2>(message, static_cast<std::uint16_t>(code));
  append(message, octets);
  send(kControl, message);
}

void Session::collect() {
  auto& received = sctp_.received();
  while (!received.empty()) {
    const Sctp::Message m = std::move(received.front());
    received.pop_front();
    if (m.stream != stream_) violation(fmt::format("a message on stream {}", m.stream));
    if (!m.unordered) violation("an ordered message");
    if (m.ppid != kSegment && m.ppid != kControl) violation(fmt::format("payload protocol identifier {}", m.ppid));
    if (m.octets.size() < (m.ppid == kControl ? 4 : 2)) violation("a short message");
    if (m.ppid == kControl && m.octets.size() > 4 + 512) violation("much private data");
    const auto ssn = static_cast<std::uint16_t>(get<2>(m.octets.data()));
    if (static_cast<std::uint16_t>(ssn - next_) > 32767) violation(fmt::format("DDP-SSN {} behind {}", ssn, next_));
    if (!come_.emplace(ssn, Message{m.ppid == kControl, Bytes(m.octets.begin() + 2, m.octets.end())}).second) {
      violation(fmt::format("DDP-SSN {} twice", ssn));
    }
  }
}

Session::Message Session::next() {
  sctp_.wait(fmt::format("message with DDP-SSN {}", next_), [this] {
    collect();
    if (come_.count(next_) == 0 && sctp_.state() == Sctp::State::kShutDown)
      throw Ended("the association was shut down");
    return come_.count(next_) != 0;
  });
  const auto found = come_.find(next_++);
  const Message message = std::move(found->second);
  come_.erase(found);
  return message;
}

Code Session::code_of(const Message& message) {
  if (!message.control) violation("a segment where a control message belongs");
  const auto code = get<2>(message.octets.data());
  if (code < 1 || code > 7) violation(fmt::format("function code {:#06x}", code));
  return static_cast<Code>(code);
}

void Session::take_terms(const Message& message, bool enhanced) {
  auto begin = message.octets.begin() + 2;
  terms_ = {};
  terms_.enhanced = enhanced;
  if (enhanced) {
    if (message.octets.size() < 6) violation("no word in an enhanced message");
    terms_ = terms_of(static_cast<std::uint32_t>(get<4>(&*begin)));
    begin += 4;
  }
  private_data_ = Bytes(begin, message.octets.end());
}

bool Session::initiate(const Terms& offered, const Bytes& private_data) {
  Bytes body;
  if (offered.enhanced) put_word(body, offered);
  append(body, private_data);
  control(offered.enhanced ? Code::kEnhancedInitiate : Code::kInitiate, body);
  const Message answer = next();
  const Code code = code_of(answer);
  if (code == (offered.enhanced ? Code::kEnhancedAccept : Code::kAccept)) {
    take_terms(answer, offered.enhanced);
    return true;
  }
  if (code == Code::kTerminate) {
    refused_ = peer_terminated_ = true;
    return false;
  }
  if (code != Code::kReject && code != Code::kEnhancedReject) violation("an Initiate is answered by no answer");
  // A reject may lack the word (choices.md 22).
  take_terms(answer, code == Code::kEnhancedReject && answer.octets.size() >= 6);
  return false;
}

void Session::await_initiate() {
  const Message request = next();
  const Code code = code_of(request);
  if (code != Code::kInitiate && code != Code::kEnhancedInitiate) violation("a session does not begin by an Initiate");
  take_terms(request, code == Code::kEnhancedInitiate);
}

void Session::accept(const Terms& most, const Bytes& private_data) {
  Bytes body;
  if (terms_.enhanced) {
    Terms answer;
    answer.ird = terms_.ord == Terms::kNotNegotiated ? Terms::kNotNegotiated : std::min(most.ird, terms_.ord);
    answer.ord = terms_.ird == Terms::kNotNegotiated ? Terms::kNotNegotiated : std::min(most.ord, terms_.ird);
    answer.peer_to_peer = terms_.peer_to_peer;
    for (const unsigned kind : {Terms::kSend, Terms::kRead, Terms::kWrite}) {
      if ((terms_.rtr & kind) != 0) answer.rtr = kind;  // one of them; the Write if there is a choice
    }
    terms_ = answer;
    put_word(body, answer);
  }
  append(body, private_data);
  control(terms_.enhanced ? Code::kEnhancedAccept : Code::kAccept, body);
}

void Session::reject(const Bytes& private_data) {
  Bytes body;
  if (terms_.enhanced) put_word(body, terms_);
  append(body, private_data);
  control(terms_.enhanced ? Code::kEnhancedReject : Code::kReject, body);
}

std::optional<Bytes> Session::next_segment() {
  if (peer_terminated_) return std::nullopt;
  Message message = next();
  if (!message.control) return std::move(message.octets);
  const Code code = code_of(message);
  if (code != Code::kTerminate) violation(fmt::format("code {} in an open session", static_cast<unsigned>(code)));
  peer_terminated_ = true;
  terminate();
  return std::nullopt;
}

void Session::terminate() {
  if (!terminated_) {
    terminated_ = true;
    control(Code::kTerminate, {});
  }
  while (next_segment()) {
  }
  sctp_.wait("acknowledgement of the Terminate", [this] { return sctp_.idle(); });
}

}  // namespace far_end
