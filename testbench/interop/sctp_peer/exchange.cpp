#include "testbench/interop/sctp_peer/exchange.h"

#include <algorithm>

#include <fmt/format.h>

namespace far_end {
namespace {

constexpr std::size_t kNoteBytes = 24, kRpingBytes = 16;
constexpr std::uint64_t kSourceAt = 0x10000, kSinkAt = 0x7F0000000123;
constexpr std::uint32_t kNoStag = 0xBADBAD00;

std::uint32_t number_of(Operation op) { return static_cast<std::uint32_t>(op); }

// A different payload for each message.
void fill(Bytes& octets, std::uint32_t number) {
  for (std::size_t i = 0; i < octets.size(); ++i) {
    octets[i] = static_cast<std::uint8_t>(31 * number + 7 * i + i / 251);
  }
}

// rping's payload: the round's number, letters that start one later each round, and a zero.
void fill_rping(Bytes& octets, std::uint32_t round) {
  const std::string head = fmt::format("rdma-ping-{}: ", round);
  for (std::size_t i = 0; i < octets.size(); ++i) {
    const std::size_t letter = 'A' + (round + i - head.size()) % ('z' - 'A' + 1);
    octets[i] = i < head.size() ? static_cast<std::uint8_t>(head[i]) : static_cast<std::uint8_t>(letter);
  }
  if (!octets.empty()) octets.back() = 0;
}

void compare(const Bytes& expected, const Bytes& got, std::uint32_t round) {
  if (expected.size() != got.size()) {
    throw Ended(fmt::format("round {}: {} octets, not {}", round, got.size(), expected.size()));
  }
  const auto different = std::mismatch(expected.begin(), expected.end(), got.begin());
  if (different.first == expected.end()) return;
  throw Ended(fmt::format("round {}: octet {} is {:#04x}, not {:#04x}", round, different.first - expected.begin(),
                          *different.second, *different.first));
}

}  // namespace

void Exchange::run() {
  if (options_.tool == "echo") return options_.connect ? echo_client() : echo_server();
  if (options_.tool == "rping") return options_.connect ? rping_client() : rping_server();
  if (!options_.connect && rdma_.receive()) throw Ended("a Send that nobody expects");
}

void Exchange::tell(const Note& note, std::optional<std::uint32_t> invalidate) {
  Bytes octets;
  for (const std::uint32_t word : {note.operation, note.number, note.size, note.stag}) put<4>(octets, word);
  put<8>(octets, note.address);
  rdma_.send(octets, invalidate);
}

Exchange::Note Exchange::hear(const Bytes& message) {
  if (message.size() != kNoteBytes) throw Ended(fmt::format("a note of {} octets", message.size()));
  const auto word = [&](std::size_t at) { return static_cast<std::uint32_t>(get<4>(&message[at])); };
  return {word(0), word(4), word(8), word(12), get<8>(&message[16])};
}

Bytes Exchange::wanted() {
  std::optional<Bytes> message = rdma_.receive();
  if (!message) throw Ended(fmt::format("the peer has ended the session after {} rounds", rounds_));
  return std::move(*message);
}

void Exchange::done() { round_done_(++rounds_); }

void Exchange::echo_client() {
  const std::uint32_t op = number_of(options_.op);
  source_.resize(options_.size);
  sink_.resize(options_.size);
  const std::uint32_t key = options_.bad_stag ? kNoStag : rdma_.expose(sink_, kSinkAt);
  tell({op, options_.count, options_.size, key, kSinkAt});
  Note server = hear(wanted());
  if (options_.bad_write) server.stag = kNoStag;
  while (rounds_ < options_.count) {
    fill(source_, rounds_);
    std::fill(sink_.begin(), sink_.end(), std::uint8_t{0});
    echo_round(server);
    compare(source_, sink_, rounds_);
    done();
  }
}

void Exchange::echo_round(const Note& server) {
  const std::uint32_t op = number_of(options_.op);
  if (options_.op == Operation::kSend) {
    rdma_.send(source_);
    sink_ = wanted();
    return;
  }
  const bool reads = options_.op == Operation::kRead;
  if (!reads) rdma_.write(server.stag, server.address, source_);
  const std::uint32_t key = options_.bad_stag ? kNoStag
                            : reads           ? rdma_.expose(source_, kSourceAt)
                                              : rdma_.expose(sink_, kSinkAt);
  tell({op, rounds_, options_.size, key, reads ? kSourceAt : kSinkAt});
  const Note back = hear(wanted());
  if (back.number != rounds_) throw Ended(fmt::format("message {} came back, not {}", back.number, rounds_));
  if (options_.op == Operation::kWriteInvalidate && rdma_.exposed(key)) throw Ended("the STag was not invalidated");
  rdma_.withdraw(key);
  if (reads) rdma_.read(back.stag, back.address, sink_);
}

void Exchange::echo_server() {
  const Note client = hear(wanted());
  if (client.size > options_.size) throw Ended(fmt::format("the client has {} octets", client.size));
  sink_.resize(client.size);
  const std::uint32_t key = rdma_.expose(sink_, kSinkAt);
  tell({client.operation, client.number, client.size, options_.bad_stag ? kNoStag : key, kSinkAt});
  while (rounds_ < client.number) {
    const Bytes message = wanted();
    if (client.operation == number_of(Operation::kSend)) {
      rdma_.send(message);
    } else {
      Note note = hear(message);
      if (options_.bad_write) note.stag = kNoStag;
      if (client.operation == number_of(Operation::kRead)) {
        rdma_.read(note.stag, note.address, sink_);
        tell({client.operation, rounds_, client.size, options_.bad_stag ? kNoStag : key, kSinkAt});
      } else {
        rdma_.write(note.stag, note.address, sink_);
        const bool invalidate = client.operation == number_of(Operation::kWriteInvalidate);
        tell(note, invalidate ? std::optional(note.stag) : std::nullopt);
      }
    }
    done();
  }
  if (rdma_.receive()) throw Ended("a Send behind the last round");
}

void Exchange::tell_rping(std::uint64_t address, std::uint32_t stag, std::uint32_t size) {
  Bytes octets;
  put<8>(octets, address);
  put<4>(octets, options_.bad_stag ? kNoStag : stag);
  put<4>(octets, size);
  rdma_.send(octets);
}

void Exchange::rping_client() {
  source_.resize(options_.size);
  sink_.resize(options_.size);
  const std::uint32_t source = rdma_.expose(source_, kSourceAt), sink = rdma_.expose(sink_, kSinkAt);
  while (rounds_ < options_.count) {
    fill_rping(source_, rounds_);
    std::fill(sink_.begin(), sink_.end(), std::uint8_t{0});
    tell_rping(kSourceAt, source, options_.size);
    wanted();
    tell_rping(kSinkAt, sink, options_.size);
    wanted();
    compare(source_, sink_, rounds_);
    done();
  }
}

void Exchange::rping_server() {
  while (const std::optional<Bytes> message = rdma_.receive()) {
    const auto place = [](const Bytes& m) {
      if (m.size() != kRpingBytes) throw Ended(fmt::format("a Send of {} octets, not 16", m.size()));
      return std::pair(static_cast<std::uint32_t>(get<4>(&m[8])), get<8>(&m[0]));
    };
    const auto [from, from_at] = place(*message);
    source_.resize(std::min<std::uint64_t>(get<4>(&(*message)[12]), options_.size));
    sink_.resize(source_.size());
    rdma_.read(from, from_at, sink_);
    fill_rping(source_, rounds_);
    compare(source_, sink_, rounds_);
    tell_rping(0, 0, 0);
    const auto [to, to_at] = place(wanted());
    rdma_.write(options_.bad_write ? kNoStag : to, to_at, sink_);
    tell_rping(0, 0, 0);
    done();
  }
}

}  // namespace far_end
