#include "model/rnic/fwcpu/gdb/gdb_session.h"

#include <algorithm>

#include <fmt/format.h>

namespace rnic {
namespace {

// Numbers of signals as gdb has them.
constexpr int kSigInt = 2, kSigIll = 4, kSigTrap = 5, kSigAbrt = 6, kSigSegv = 11, kSigXcpu = 24;
constexpr unsigned kInstructionsPerPoll = 4096;
constexpr const char* kError = "E01";

constexpr std::string_view kTargetXml =
    "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
    "<target version=\"1.0\"><architecture>riscv:rv32</architecture></target>";

int signal_of(abi::FaultCause cause) {
  switch (cause) {
    case abi::FaultCause::kIllegalInstruction:
      return kSigIll;
    case abi::FaultCause::kBusFault:
    case abi::FaultCause::kStackOverflow:
      return kSigSegv;
    case abi::FaultCause::kWatchdog:
      return kSigXcpu;
    case abi::FaultCause::kPanic:
    case abi::FaultCause::kNone:
      break;
  }
  return kSigAbrt;
}

bool starts_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

// "address,length" and what follows.
struct Range {
  std::uint32_t from, bytes;
};
std::optional<Range> range_of(std::string_view& text) {
  const auto from = rsp_number(text);
  if (!from || text.empty() || text[0] != ',') return std::nullopt;
  text.remove_prefix(1);
  const auto bytes = rsp_number(text);
  return bytes ? std::optional<Range>({*from, *bytes}) : std::nullopt;
}

std::string word(std::uint32_t value) {
  std::uint8_t octets[4];
  store_le32(octets, value);
  return rsp_hex(octets, sizeof octets);
}
std::optional<std::uint32_t> word_of(std::string_view digits) {
  const auto octets = rsp_unhex(digits);
  if (!octets || octets->size() != 4) return std::nullopt;
  return load_le32(reinterpret_cast<const std::uint8_t*>(octets->data()));
}

}  // namespace

GdbSession::GdbSession(std::vector<Thread> threads, DebugChannel& channel)
    : threads_(std::move(threads)), channel_(channel), signal_(kSigTrap) {}

void GdbSession::begin() { serve(); }

void GdbSession::poll() {
  if (state_ != State::kRunning || !receive(false) || !interrupted_) return;
  stop(stopped_, kSigInt);
}

void GdbSession::end(bool passed) {
  if (state_ != State::kRunning) return;
  reply(passed ? "W00" : "W01");
  state_ = State::kGone;
}

void GdbSession::before_instruction(DebugTarget& target, std::uint32_t pc) {
  if (state_ != State::kRunning) return;
  if (until_poll_-- == 0) {
    until_poll_ = kInstructionsPerPoll;
    if (!receive(false)) return;
  }
  if (interrupted_) return stop(number_of(target), kSigInt);
  if (&target == stepping_ || breakpoints_.count(pc) != 0) stop(number_of(target), kSigTrap);
}

void GdbSession::faulted(DebugTarget& target, abi::FaultCause cause) {
  if (state_ == State::kRunning) stop(number_of(target), signal_of(cause));
}

void GdbSession::stop(std::size_t thread, int signal) {
  state_ = State::kStopped;
  stopped_ = selected_ = thread;
  signal_ = signal;
  stepping_ = nullptr;
  interrupted_ = false;
  reply(stop_reply());
  serve();
}

void GdbSession::serve() {
  while (state_ == State::kStopped && receive(true)) continue;
}

bool GdbSession::receive(bool wait) {
  std::string octets;
  if (!channel_.receive(octets, wait)) {
    state_ = State::kGone;
    return false;
  }
  for (const char c : octets) {
    if (const auto input = decoder_.take(c)) take(*input);
  }
  return true;
}

void GdbSession::take(const RspInput& input) {
  switch (input.kind) {
    case RspInput::Kind::kAck:
      return;
    case RspInput::Kind::kNak:
      return channel_.send(last_sent_);
    case RspInput::Kind::kBadPacket:
      return channel_.send("-");
    case RspInput::Kind::kInterrupt:
      interrupted_ = state_ == State::kRunning;
      return;
    case RspInput::Kind::kPacket:
      break;
  }
  channel_.send("+");
  const std::string text = answer(input.payload);
  if (state_ != State::kRunning && state_ != State::kKilled) reply(text);  // others are answered when they stop
}

void GdbSession::reply(std::string_view payload) {
  last_sent_ = rsp_packet(payload);
  channel_.send(last_sent_);
}

// An empty answer means an unknown packet.
std::string GdbSession::answer(std::string_view packet) {
  if (packet.empty()) return "";
  const std::string_view rest = packet.substr(1);
  switch (packet[0]) {
    case '?':
      return stop_reply();
    case 'g':
      return read_registers();
    case 'G':
      return write_registers(rest);
    case 'p':
      return read_register(rest);
    case 'P':
      return write_register(rest);
    case 'm':
      return read_memory(rest);
    case 'M':
      return write_memory(rest);
    case 'z':
    case 'Z':
      return breakpoint(packet);
    case 'c':
    case 's':
      return resume(packet);
    case 'H':
      return rest.empty() ? kError : select(rest);
    case 'T': {
      std::string_view number = rest;
      const auto thread = rsp_number(number);
      return thread && *thread >= 1 && *thread <= threads_.size() ? "OK" : kError;
    }
    case 'D':
      state_ = State::kGone;
      return "OK";
    case 'k':
      state_ = State::kKilled;
      return "";
    case 'v':
      if (packet == "vCont?") return "vCont;c;C;s;S";
      if (starts_with(packet, "vCont;")) return resume(packet.substr(6));
      if (starts_with(packet, "vKill")) {
        reply("OK");
        state_ = State::kKilled;
      }
      return "";
    case 'q':
      return query(packet);
    default:
      return "";
  }
}

std::string GdbSession::query(std::string_view packet) {
  constexpr std::string_view kFeature = "qXfer:features:read:target.xml:", kExtra = "qThreadExtraInfo,";
  if (starts_with(packet, "qSupported")) {
    return fmt::format("PacketSize={:x};qXfer:features:read+;vContSupported+", RspDecoder::kMaxPayload);
  }
  if (starts_with(packet, kFeature)) return read_feature(packet.substr(kFeature.size()));
  if (packet == "qAttached") return "1";
  if (packet == "qC") return fmt::format("QC{:x}", stopped_ + 1);
  if (packet == "qfThreadInfo") {
    std::string list = "m";
    for (std::size_t t = 1; t <= threads_.size(); ++t) list += fmt::format("{}{:x}", t == 1 ? "" : ",", t);
    return list;
  }
  if (packet == "qsThreadInfo") return "l";
  if (starts_with(packet, kExtra)) {
    packet.remove_prefix(kExtra.size());
    const auto thread = rsp_number(packet);
    if (!thread || *thread < 1 || *thread > threads_.size()) return kError;
    const std::string& name = threads_[*thread - 1].name;
    return rsp_hex(reinterpret_cast<const std::uint8_t*>(name.data()), name.size());
  }
  return "";
}

std::string GdbSession::read_feature(std::string_view text) const {
  const auto range = range_of(text);
  if (!range) return kError;
  if (range->from >= kTargetXml.size()) return "l";
  const std::string_view rest = kTargetXml.substr(range->from);
  return (rest.size() > range->bytes ? "m" : "l") + std::string(rest.substr(0, range->bytes));
}

std::string GdbSession::read_registers() const {
  std::string all;
  for (unsigned r = 0; r < DebugTarget::kRegisters; ++r) all += word(selected().get(r));
  return all;
}

std::string GdbSession::write_registers(std::string_view digits) {
  if (digits.size() != DebugTarget::kRegisters * 8 || !rsp_unhex(digits)) return kError;
  for (unsigned r = 0; r < DebugTarget::kRegisters; ++r) selected().set(r, *word_of(digits.substr(8 * r, 8)));
  return "OK";
}

std::string GdbSession::read_register(std::string_view text) const {
  const auto reg = rsp_number(text);
  return reg && *reg < DebugTarget::kRegisters ? word(selected().get(*reg)) : kError;
}

std::string GdbSession::write_register(std::string_view text) {
  const auto reg = rsp_number(text);
  if (!reg || *reg >= DebugTarget::kRegisters || text.empty() || text[0] != '=') return kError;
  const auto value = word_of(text.substr(1));
  if (!value) return kError;
  selected().set(*reg, *value);
  return "OK";
}

// As much as fits a packet: gdb requests the rest.
std::string GdbSession::read_memory(std::string_view text) const {
  const auto range = range_of(text);
  if (!range) return kError;
  const std::size_t bytes = std::min<std::size_t>(range->bytes, RspDecoder::kMaxPayload / 2);
  const MutableByteSpan octets = selected().octets(range->from, bytes, false);
  return octets.empty() ? kError : rsp_hex(octets.data(), octets.size());
}

std::string GdbSession::write_memory(std::string_view text) {
  const auto range = range_of(text);
  if (!range || text.empty() || text[0] != ':') return kError;
  const auto from = rsp_unhex(text.substr(1));
  if (!from || from->size() != range->bytes) return kError;
  const MutableByteSpan to = selected().octets(range->from, range->bytes, true);
  if (to.empty()) return kError;
  std::copy(from->begin(), from->end(), to.data());
  return "OK";
}

// Z0 and Z1 are the same here: the program is never changed, and there is no limit.
std::string GdbSession::breakpoint(std::string_view packet) {
  if (packet.size() < 3 || (packet[1] != '0' && packet[1] != '1') || packet[2] != ',') return "";
  std::string_view text = packet.substr(3);
  const auto range = range_of(text);
  if (!range) return kError;
  if (packet[0] == 'Z') breakpoints_.insert(range->from);
  else breakpoints_.erase(range->from);
  return "OK";
}

// "c", "s", or the actions of vCont, of which the first that steps counts: "s:2;c".
std::string GdbSession::resume(std::string_view actions) {
  stepping_ = nullptr;
  for (std::size_t at = 0; at < actions.size();) {
    std::string_view action = actions.substr(at, actions.find(';', at) - at);
    at += action.size() + 1;
    if (action.empty() || (action[0] != 's' && action[0] != 'S')) continue;
    std::size_t thread = stopped_;
    if (const std::size_t colon = action.find(':'); colon != std::string_view::npos) {
      action.remove_prefix(colon + 1);
      const auto number = rsp_number(action);
      if (!number || *number < 1 || *number > threads_.size()) return kError;
      thread = *number - 1;
    }
    stepping_ = threads_[thread].target;
    break;
  }
  state_ = State::kRunning;
  return "";
}

// "g1": whose registers and memory. "c1", which to resume, is part of vCont. 0 and -1 are any and all threads.
std::string GdbSession::select(std::string_view text) {
  const bool registers = text[0] == 'g';
  text.remove_prefix(1);
  if (!registers || text == "-1" || text == "0") return "OK";
  const auto thread = rsp_number(text);
  if (!thread || *thread < 1 || *thread > threads_.size()) return kError;
  selected_ = *thread - 1;
  return "OK";
}

std::string GdbSession::stop_reply() const { return fmt::format("T{:02x}thread:{:x};", signal_, stopped_ + 1); }

std::size_t GdbSession::number_of(const DebugTarget& target) const {
  return static_cast<std::size_t>(
      std::find_if(threads_.begin(), threads_.end(), [&](const Thread& t) { return t.target == &target; }) -
      threads_.begin());
}

}  // namespace rnic
