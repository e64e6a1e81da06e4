#include "model/programs/consumer/echo.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "model/common/prng.h"
#include "model/wire/fields.h"

namespace rnic::consumer {
namespace {

// A different payload for each message.
void fill(std::uint8_t* octets, std::uint32_t size, std::uint64_t number) {
  Prng prng(mix64(number));
  for (std::uint32_t i = 0; i < size; i += 8) {
    const std::uint64_t word = prng.next();
    std::memcpy(octets + i, &word, std::min<std::size_t>(8, size - i));
  }
}

}  // namespace

Echo::Echo(host::Context& context, const ProgramSpec& spec)
    : Consumer(context, spec,
               {kReceived + 4 * room(spec.size), abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead, 1, true}),
      operation_(spec.operation) {}

void Echo::completed(const host::Wc& wc) {
  if (wc.opcode == abi::WcOpcode::kRdmaRead) return read_done();
  if (wc.opcode != abi::WcOpcode::kRecv) return;
  const std::uint64_t place = received(place_);
  place_ ^= 1;
  post_receive();
  heard(place, wc.byte_len);
}

void Echo::tell(const EchoNote& note, std::uint32_t invalidate) {
  wire::emit_fields(note, {octets(kNote, EchoNote::kBytes), EchoNote::kBytes});
  host::SendWr wr;
  if (invalidate != 0) wr.opcode = abi::WrOpcode::kSendWithInv;
  wr.invalidate_rkey = invalidate;
  post(wr, kNote, EchoNote::kBytes);
}

void Echo::transfer(abi::WrOpcode opcode, std::uint64_t local, const EchoNote& remote) {
  host::SendWr wr;
  wr.opcode = opcode;
  wr.remote_addr = remote.address;
  wr.rkey = remote.stag;
  post(wr, local, remote.size);
}

EchoNote Echo::note_at(std::uint64_t place, std::uint32_t bytes) {
  if (bytes != EchoNote::kBytes) return fail(fmt::format("a note of {} octets, not 24", bytes)), EchoNote{};
  return *wire::parse_fields<EchoNote>({octets(place, EchoNote::kBytes), EchoNote::kBytes});
}

void EchoClient::established() {
  record_.first_ps = time_ps();
  tell({static_cast<std::uint32_t>(operation_), spec_.count, spec_.size, key(), address(sink())});
}

void EchoClient::say_next() {
  const auto number = static_cast<std::uint32_t>(record_.rounds);
  fill(octets(source(), spec_.size), spec_.size, number);
  std::memset(octets(sink(), spec_.size), 0, spec_.size);
  const auto operation = static_cast<std::uint32_t>(operation_);
  switch (operation_) {
    case EchoOperation::kSend:
      return post({}, source(), spec_.size);
    case EchoOperation::kRead:
      return tell({operation, number, spec_.size, key(), address(source())});
    case EchoOperation::kWrite:
      transfer(abi::WrOpcode::kRdmaWrite, source(), server_);
      return tell({operation, number, spec_.size, key(), address(sink())});
    case EchoOperation::kWriteInvalidate:
      transfer(abi::WrOpcode::kRdmaWrite, source(), server_);
      open_window(sink(), spec_.size);
      return tell({operation, number, spec_.size, window_key(), address(sink())});
  }
}

void EchoClient::heard(std::uint64_t place, std::uint32_t bytes) {
  if (!greeted_) {
    greeted_ = true;
    server_ = note_at(place, bytes);
    server_.size = spec_.size;
    return say_next();
  }
  if (operation_ == EchoOperation::kSend) {
    if (bytes != spec_.size) return fail(fmt::format("an echo of {} octets, not {}", bytes, spec_.size));
    return compare(place);
  }
  EchoNote note = note_at(place, bytes);
  if (note.number != record_.rounds)
    return fail(fmt::format("message {} came back, not {}", note.number, record_.rounds));
  if (operation_ != EchoOperation::kRead) return compare(sink());
  note.size = spec_.size;
  transfer(abi::WrOpcode::kRdmaRead, sink(), note);
}

void EchoClient::compare(std::uint64_t place) {
  const std::uint8_t* const sent = octets(source(), spec_.size);
  const std::uint8_t* const echoed = octets(place, spec_.size);
  const auto different = std::mismatch(sent, sent + spec_.size, echoed);
  if (different.first != sent + spec_.size) {
    return fail(fmt::format("message {}: octet {} came back as {:#04x}, not {:#04x}", record_.rounds,
                            different.first - sent, *different.second, *different.first));
  }
  count_round(2 * std::uint64_t{spec_.size});
  if (record_.rounds == spec_.count) disconnect();
  else say_next();
}

void EchoServer::heard(std::uint64_t place, std::uint32_t bytes) {
  if (!greeted_) return greet(place, bytes);
  if (operation_ == EchoOperation::kSend) {
    post({}, place, bytes);
    return count_round(2 * std::uint64_t{bytes});
  }
  const EchoNote note = note_at(place, bytes);
  if (note.size != size_) return fail(fmt::format("message {} has {} octets, not {}", note.number, note.size, size_));
  echo(note);
}

// The client's operation applies from here on.
void EchoServer::greet(std::uint64_t place, std::uint32_t bytes) {
  record_.first_ps = time_ps();
  const EchoNote note = note_at(place, bytes);
  if (!error().empty()) return;
  if (note.operation > static_cast<std::uint32_t>(EchoOperation::kRead)) {
    return fail(fmt::format("the client requests operation {}, which does not exist", note.operation));
  }
  if (note.size > spec_.size) return fail(fmt::format("the client has {} octets, more than {}", note.size, spec_.size));
  operation_ = static_cast<EchoOperation>(note.operation);
  count_ = note.number;
  size_ = note.size;
  greeted_ = true;
  tell({note.operation, note.number, note.size, key(), address(sink())});
}

void EchoServer::echo(const EchoNote& note) {
  if (operation_ == EchoOperation::kRead) return transfer(abi::WrOpcode::kRdmaRead, sink(), note);
  transfer(abi::WrOpcode::kRdmaWrite, sink(), note);
  tell(note, operation_ == EchoOperation::kWriteInvalidate ? note.stag : 0);
  count_round(2 * std::uint64_t{size_});
}

// Now the client reads the echo.
void EchoServer::read_done() {
  tell({static_cast<std::uint32_t>(operation_), static_cast<std::uint32_t>(record_.rounds), size_, key(),
        address(sink())});
  count_round(2 * std::uint64_t{size_});
}

}  // namespace rnic::consumer
