#include "testbench/interop/sctp_peer/rdma.h"

#include <algorithm>

#include <fmt/format.h>

namespace far_end {
namespace {

constexpr std::size_t kTaggedBytes = 14, kUntaggedBytes = 18, kReadRequestBytes = 28;
constexpr std::uint8_t kTagged = 0x80, kLast = 0x40, kVersions = 0x01, kRdmapVersion = 0x40;

// RFC 5043 section 5 and choices.md 25: a multiple of 4 that leaves room for a SACK in the packet, without DATA header
// and DDP-SSN.
std::size_t mulpdu_of(unsigned mtu) {
  constexpr std::size_t kFloor = 516, kHeaders = 20 + 12 + 16, kChunkAndSsn = 18;
  return std::max(kFloor, (mtu - kHeaders) / 4 * 4 - kChunkAndSsn);
}

}  // namespace

Rdma::Rdma(Session& session, unsigned mtu) : session_(session), mulpdu_(mulpdu_of(mtu)) {}

std::uint32_t Rdma::expose(Bytes& memory, std::uint64_t base) {
  regions_[next_stag_] = {&memory, base};
  return next_stag_++;
}

void Rdma::write(std::uint32_t stag, std::uint64_t to, const Bytes& octets) {
  send_tagged(kWrite, stag, to, octets.data(), octets.size());
}

void Rdma::send(const Bytes& octets, std::optional<std::uint32_t> invalidate) {
  send_untagged(invalidate ? kSendInvalidate : kSend, kSendQueue, invalidate.value_or(0), octets);
}

void Rdma::read(std::uint32_t stag, std::uint64_t to, Bytes& sink) {
  constexpr std::uint64_t kSinkAt = 0x4000;
  reading_ = expose(sink, kSinkAt);
  Bytes request;
  put<4>(request, reading_);
  put<8>(request, kSinkAt);
  put<4>(request, sink.size());
  put<4>(request, stag);
  put<8>(request, to);
  send_untagged(kReadRequest, kReadQueue, 0, request);
  while (reading_ != 0) {
    if (!serve_next()) throw Ended("the peer has ended the session in a Read");
  }
}

std::optional<Bytes> Rdma::receive() {
  while (sends_.empty()) {
    if (!serve_next()) return std::nullopt;
  }
  Bytes message = std::move(sends_.front());
  sends_.pop_front();
  return message;
}

void Rdma::send_rtr(unsigned kind) {
  if (kind == Terms::kSend) return send({});
  if (kind == Terms::kWrite) return write(0, 0, {});
  Bytes nothing;
  read(0, 0, nothing);
}

bool Rdma::serve_next() {
  const std::optional<Bytes> segment = session_.next_segment();
  if (!segment) return false;
  const Bytes& s = *segment;
  const bool tagged = !s.empty() && (s[0] & kTagged) != 0;
  if (s.size() < (tagged ? kTaggedBytes : kUntaggedBytes)) throw Ended("a segment shorter than its header");
  if ((s[0] & 3) != kVersions) fail(1, tagged ? 1 : 2, tagged ? 4 : 6, &s);
  if ((s[1] & 0xC0) != kRdmapVersion) fail(0, 2, 5, &s);
  if (tagged) take_tagged(s);
  else take_untagged(s);
  return true;
}

std::uint8_t* Rdma::find(const Bytes& segment, std::uint32_t stag, std::uint64_t to, std::size_t bytes, Layer errors) {
  if (bytes == 0) return nullptr;  // neither STag nor offset is checked
  const auto found = regions_.find(stag);
  if (found == regions_.end()) fail(errors.layer, errors.type, errors.unknown, &segment);
  const auto& [memory, base] = found->second;
  if (to < base || to - base > memory->size() || memory->size() - (to - base) < bytes) {
    fail(errors.layer, errors.type, errors.bounds, &segment);
  }
  return memory->data() + (to - base);
}

void Rdma::take_tagged(const Bytes& s) {
  const auto opcode = s[1] & 0x0F;
  const auto stag = static_cast<std::uint32_t>(get<4>(&s[2]));
  const bool response = opcode == kReadResponse;
  if (opcode != kWrite && !(response && stag == reading_)) fail(0, 2, 6, &s);
  std::uint8_t* const place = find(s, stag, get<8>(&s[6]), s.size() - kTaggedBytes, {1, 1, 0, 1});
  if (place != nullptr) std::copy(s.begin() + kTaggedBytes, s.end(), place);
  if (!response || (s[0] & kLast) == 0) return;
  withdraw(stag);
  reading_ = 0;
}

void Rdma::take_untagged(const Bytes& s) {
  const auto opcode = static_cast<Opcode>(s[1] & 0x0F);
  const auto queue = static_cast<std::uint32_t>(get<4>(&s[6])), msn = static_cast<std::uint32_t>(get<4>(&s[10]));
  if (queue > kTerminateQueue) fail(1, 2, 1, &s);
  if (msn != next_msn_[queue] + 1) fail(1, 2, 3, &s);
  const bool fits = queue == kSendQueue   ? opcode >= kSend && opcode <= kSendSolicitedInvalidate
                    : queue == kReadQueue ? opcode == kReadRequest
                                          : opcode == kTerminate;
  if (!fits) fail(0, 2, 6, &s);
  const bool last = (s[0] & kLast) != 0;
  next_msn_[queue] += last;
  if (queue == kReadQueue) return take_read_request(s);
  if (queue == kTerminateQueue) return take_terminate(s);
  if (get<4>(&s[14]) != message_.size()) fail(1, 2, 4, &s);
  message_.insert(message_.end(), s.begin() + kUntaggedBytes, s.end());
  if (last) take_send(opcode, static_cast<std::uint32_t>(get<4>(&s[2])));
}

void Rdma::take_send(Opcode opcode, std::uint32_t invalidate) {
  if (opcode == kSendInvalidate || opcode == kSendSolicitedInvalidate) {
    if (!exposed(invalidate)) fail(0, 2, 9, nullptr);
    withdraw(invalidate);
  }
  Bytes message = std::exchange(message_, {});
  if (std::exchange(absorb_send_, false) && message.empty()) return;
  sends_.push_back(std::move(message));
}

void Rdma::take_read_request(const Bytes& s) {
  if (s.size() != kUntaggedBytes + kReadRequestBytes) fail(0, 2, 0xFF, &s);
  const std::uint8_t* const request = &s[kUntaggedBytes];
  const std::size_t bytes = get<4>(request + 12);
  const std::uint8_t* const source =
      find(s, static_cast<std::uint32_t>(get<4>(request + 16)), get<8>(request + 20), bytes, {0, 1, 0, 1});
  send_tagged(kReadResponse, static_cast<std::uint32_t>(get<4>(request)), get<8>(request + 4), source, bytes);
}

void Rdma::take_terminate(const Bytes& s) {
  if (s.size() < kUntaggedBytes + 4) throw Ended("a Terminate without its header");
  const std::uint8_t* const header = &s[kUntaggedBytes];
  peer_terminate_ = fmt::format("; received Terminate {}/{}/{:02x}", header[0] >> 4, header[0] & 0x0F, header[1]);
}

void Rdma::send_tagged(Opcode opcode, std::uint32_t stag, std::uint64_t to, const std::uint8_t* octets,
                       std::size_t bytes) {
  std::size_t sent = 0;
  do {
    const std::size_t piece = std::min(bytes - sent, mulpdu_ - kTaggedBytes);
    const bool last = sent + piece == bytes;
    Bytes segment{static_cast<std::uint8_t>(kTagged | (last ? kLast : 0) | kVersions),
                  static_cast<std::uint8_t>(kRdmapVersion | opcode)};
    put<4>(segment, stag);
    put<8>(segment, to + sent);
    segment.insert(segment.end(), octets + sent, octets + sent + piece);
    session_.send_segment(segment);
    sent += piece;
  } while (sent < bytes);
}

void Rdma::send_untagged(Opcode opcode, std::uint32_t queue, std::uint32_t invalidate, const Bytes& octets) {
  const std::uint32_t msn = ++sent_msn_[queue];
  std::size_t sent = 0;
  do {
    const std::size_t piece = std::min(octets.size() - sent, mulpdu_ - kUntaggedBytes);
    const bool last = sent + piece == octets.size();
    Bytes segment{static_cast<std::uint8_t>((last ? kLast : 0) | kVersions),
                  static_cast<std::uint8_t>(kRdmapVersion | opcode)};
    for (const std::size_t word : {std::size_t{invalidate}, std::size_t{queue}, std::size_t{msn}, sent}) {
      put<4>(segment, word);
    }
    segment.insert(segment.end(), octets.data() + sent, octets.data() + sent + piece);
    session_.send_segment(segment);
    sent += piece;
  } while (sent < octets.size());
}

// Includes the segment's header if there is one, but a Read Request's own header only with remote protection errors:
// RFC 5040, 4.8.
void Rdma::fail(std::uint8_t layer, std::uint8_t type, std::uint8_t code, const Bytes* segment) {
  Bytes header{static_cast<std::uint8_t>(layer << 4 | type), code, 0, 0};
  if (segment != nullptr) {
    const Bytes& s = *segment;
    const bool tagged = (s[0] & kTagged) != 0;
    const bool request = layer == 0 && type == 1 && !tagged;
    header[2] = request ? 0xE0 : 0xC0;  // M, D, R
    put<2>(header, s.size());
    const std::size_t bytes = (tagged ? kTaggedBytes : kUntaggedBytes) + (request ? kReadRequestBytes : 0);
    header.insert(header.end(), s.begin(), s.begin() + static_cast<std::ptrdiff_t>(std::min(s.size(), bytes)));
  }
  send_untagged(kTerminate, kTerminateQueue, 0, header);
  std::string said = fmt::format("sent Terminate {}/{}/{:02x}", layer, type, code);
  try {
    session_.terminate();
  } catch (const Ended& e) {
    said += fmt::format(", and then {}", e.what());
  }
  throw Ended(said);
}

}  // namespace far_end
