#include "testbench/support/raw_peer.h"

#include <algorithm>
#include <utility>

namespace rnic::test {

namespace {

constexpr unsigned kFin = 1, kSyn = 2, kRst = 4, kPsh = 8, kAck = 16;  // RFC 9293 section 3.1
constexpr std::size_t kTcp = 14 + 20;                                  // start of the TCP header
constexpr std::size_t kSegment = 1460;

void put(Bytes& b, std::uint64_t value, unsigned octets) {
  while (octets-- != 0) b.push_back(static_cast<std::uint8_t>(value >> 8 * octets));
}
std::uint32_t get(const Bytes& b, std::size_t at, unsigned octets) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < octets; ++i) value = value << 8 | b.at(at + i);
  return value;
}
void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

// RFC 1071, of [from, end), added to a sum.
std::uint16_t checksum(const Bytes& b, std::size_t from, std::size_t to, std::uint32_t sum) {
  for (std::size_t i = from; i < to; ++i) sum += i % 2 == from % 2 ? std::uint32_t{b[i]} << 8 : b[i];
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}
void set16(Bytes& b, std::size_t at, std::uint16_t value) {
  b[at] = static_cast<std::uint8_t>(value >> 8);
  b[at + 1] = static_cast<std::uint8_t>(value);
}

}  // namespace

RawPeer::RawPeer(sc_core::sc_module_name nm, Addresses addresses)
    : sc_module(nm), EthernetTarget("in"), addresses_(std::move(addresses)), arrived_("arrived") {
  SC_HAS_PROCESS(RawPeer);
  SC_METHOD(take_frames);
  sensitive << arrived_;
  dont_initialize();
  SC_THREAD(play);
}

void RawPeer::play() {
  if (script_) script_();
  done_ = true;
}

bool RawPeer::wait_for(const std::function<bool()>& condition) {
  const sc_core::sc_time end = sc_core::sc_time_stamp() + sc_core::sc_time(1, sc_core::SC_MS);
  while (!condition() && sc_core::sc_time_stamp() < end) sc_core::wait(end - sc_core::sc_time_stamp(), changed_);
  return condition();
}

RawStream& RawPeer::connect() {
  RawStream* const s = try_connect();
  EXPECT_NE(s, nullptr) << "no answer to our SYN";
  return s != nullptr ? *s : *streams_.back();
}

RawStream* RawPeer::try_connect() {
  RawStream& s = stream(next_port_++, addresses_.chip_port);
  s.transmit(kSyn, {});
  return wait_for([&] { return s.open_ || s.reset_; }) && s.open_ ? &s : nullptr;
}

void RawPeer::forget_streams(const RawStream& kept) {
  const auto ended = [&](const std::unique_ptr<RawStream>& s) { return s.get() != &kept; };
  streams_.erase(std::remove_if(streams_.begin(), streams_.end(), ended), streams_.end());
  of_the_chip_.clear();
  accepted_ = 0;
}

RawStream& RawPeer::accept() {
  EXPECT_TRUE(wait_for([&] { return of_the_chip_.size() > accepted_ && of_the_chip_[accepted_]->open_; })) << "no SYN";
  return *of_the_chip_.at(accepted_++);
}

RawStream& RawPeer::stream(std::uint16_t port, std::uint16_t chip_port) {
  streams_.push_back(std::make_unique<RawStream>(*this, port, chip_port));
  return *streams_.back();
}

void RawPeer::on_frame(const Frame& frame, std::uint64_t at_ps) {
  const auto kernel_ps = static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
  arrivals_.push_back({at_ps, Bytes(frame.data(), frame.data() + frame.bytes)});
  arrived_.notify(sc_core::sc_time::from_value(at_ps - kernel_ps));
}

void RawPeer::take_frames() {
  const auto now_ps = static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
  while (!arrivals_.empty() && arrivals_.front().ps <= now_ps) {
    const Bytes frame = std::move(arrivals_.front().octets);
    arrivals_.pop_front();
    dispatch(frame);
  }
  changed_.notify(sc_core::SC_ZERO_TIME);
}

void RawPeer::dispatch(const Bytes& frame) {
  const auto chip_port = static_cast<std::uint16_t>(get(frame, kTcp, 2));
  const auto port = static_cast<std::uint16_t>(get(frame, kTcp + 2, 2));
  for (auto s = streams_.rbegin(); s != streams_.rend(); ++s) {
    if ((*s)->port_ == port && (*s)->chip_port_ == chip_port) return (*s)->on_segment(frame);
  }
  if (port != addresses_.port || (lenient && (get(frame, kTcp + 13, 1) & kSyn) == 0)) return refuse(frame);
  of_the_chip_.push_back(&stream(port, chip_port));
  of_the_chip_.back()->on_segment(frame);
}

void RawPeer::refuse(const Bytes& frame) {
  if (!lenient || (get(frame, kTcp + 13, 1) & kRst) != 0) return;
  const RawStream stranger(*this, static_cast<std::uint16_t>(get(frame, kTcp + 2, 2)),
                           static_cast<std::uint16_t>(get(frame, kTcp, 2)));
  const auto unbent = std::exchange(bend, nullptr);
  transmit(stranger, get(frame, kTcp + 8, 4), 0, kRst, {});
  bend = unbent;
}

void RawPeer::transmit(const RawStream& stream, std::uint32_t seq, std::uint32_t ack, unsigned flags,
                       const Bytes& payload) {
  const Bytes options = flags & kSyn ? Bytes{2, 4, kSegment >> 8, kSegment & 0xff} : Bytes{};  // MSS
  Bytes f = addresses_.chip_mac;
  append(f, addresses_.mac);
  put(f, 0x0800, 2);
  put(f, 0x4500, 2), put(f, 20 + 20 + options.size() + payload.size(), 2);
  put(f, 0x00014000, 4), put(f, 0x40060000, 4);  // identification, DF; TTL 64, TCP
  put(f, addresses_.ip, 4), put(f, addresses_.chip_ip, 4);
  put(f, stream.port_, 2), put(f, stream.chip_port_, 2), put(f, seq, 4), put(f, ack, 4);
  put(f, (20 + options.size()) / 4 << 4, 1), put(f, flags, 1), put(f, 0xffff, 2), put(f, 0, 4);
  append(f, options);
  append(f, payload);
  set_checksums(f);
  if (const auto change = std::exchange(bend, nullptr)) change(f);
  send_frame(f);
}

void RawPeer::set_checksums(Bytes& f) {
  if (f.size() < kTcp + 20) return;
  set16(f, 24, 0), set16(f, kTcp + 16, 0);
  set16(f, 24, checksum(f, 14, 34, 0));
  std::uint32_t pseudo = 6 + static_cast<std::uint32_t>(f.size() - kTcp);
  for (std::size_t at = 26; at < 34; at += 2) pseudo += get(f, at, 2);
  set16(f, kTcp + 16, checksum(f, kTcp, f.size(), pseudo));
}

void RawPeer::send_frame(const Bytes& octets) {
  Frame frame;
  frame.buf = pool_.take();
  frame.bytes = static_cast<std::uint32_t>(octets.size());
  std::copy(octets.begin(), octets.end(), frame.buf->bytes());
  out.send(frame, static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()));
}

RawStream::RawStream(RawPeer& peer, std::uint16_t port, std::uint16_t chip_port)
    : peer_(peer), port_(port), chip_port_(chip_port), seq_(0xfffff000u + port), chips_ack_(seq_) {}

void RawStream::transmit(unsigned flags, const Bytes& payload) {
  peer_.transmit(*this, seq_, ack_, flags, payload);
  seq_ += static_cast<std::uint32_t>(payload.size()) + ((flags & (kSyn | kFin)) != 0);
}

// Everything arrives in order and once.
void RawStream::on_segment(const Bytes& frame) {
  const unsigned flags = get(frame, kTcp + 13, 1);
  const std::size_t begin = kTcp + (frame[kTcp + 12] >> 4) * 4u;
  const std::size_t end = 14 + get(frame, 16, 2);
  if (flags & kAck) chips_ack_ = get(frame, kTcp + 8, 4);
  if (flags & kRst) {
    reset_ = true;
    return;
  }
  if (flags & kSyn) {
    ack_ = get(frame, kTcp + 4, 4) + 1;
    if (!(flags & kAck)) return transmit(kSyn | kAck, {});
    open_ = true;
    return transmit(kAck, {});
  }
  open_ = true;
  if (begin == end && !(flags & kFin)) return;
  if (get(frame, kTcp + 4, 4) != ack_) {
    if (peer_.lenient) return transmit(kAck, {});
    ADD_FAILURE() << "the chip's sequence numbers are not in order";
    return;
  }
  received_.insert(received_.end(), frame.begin() + static_cast<std::ptrdiff_t>(begin),
                   frame.begin() + static_cast<std::ptrdiff_t>(end));
  ack_ += static_cast<std::uint32_t>(end - begin);
  if (flags & kFin) {
    ++ack_;
    fin_ = true;
  }
  transmit(kAck, {});
}

void RawStream::send(const Bytes& octets) {
  for (std::size_t at = 0; at < octets.size(); at += kSegment) {
    const std::size_t end = std::min(at + kSegment, octets.size());
    transmit(kAck | kPsh, Bytes(octets.begin() + static_cast<std::ptrdiff_t>(at),
                                octets.begin() + static_cast<std::ptrdiff_t>(end)));
  }
}

void RawStream::send_ahead(const Bytes& first, const Bytes& second) {
  peer_.transmit(*this, seq_ + static_cast<std::uint32_t>(first.size()), ack_, kAck | kPsh, second);
}

Bytes RawStream::fpdu(const Bytes& ulpdu) {
  marker_at_ = 512 - to_chip_.pos % 512;
  return to_chip_.fpdu(ulpdu);
}

void RawStream::send_last(const Bytes& octets) { transmit(kAck | kPsh | kFin, octets); }

void RawStream::send_rst() { transmit(kRst, {}); }

void RawStream::abort() {
  seq_ = chips_ack_;
  transmit(kRst, {});
}

void RawStream::send_fin() { transmit(kAck | kFin, {}); }

bool RawStream::take(std::size_t octets, Bytes& to) {
  const bool there = peer_.wait_for([&] { return received_.size() >= octets || fin_ || reset_; });
  if (!there || received_.size() < octets) return false;
  const auto end = received_.begin() + static_cast<std::ptrdiff_t>(octets);
  to.insert(to.end(), received_.begin(), end);
  received_.erase(received_.begin(), end);
  return true;
}

Bytes RawStream::start(const Bytes& request) {
  const Bytes reply = try_start(request);
  EXPECT_FALSE(reply.empty()) << "no reply to our request";
  return reply;
}

Bytes RawStream::try_start(const Bytes& request) {
  send(request);
  Bytes reply;
  if (!take_frame(reply)) return {};
  agree(request, reply);
  return reply;
}

Bytes RawStream::answer(const Bytes& reply) {
  Bytes request;
  if (!take_frame(request)) {
    ADD_FAILURE() << "no request";
    return request;
  }
  send(reply);
  agree(reply, request);
  return request;
}

bool RawStream::take_frame(Bytes& frame) { return take(20, frame) && take(get(frame, 18, 2), frame); }

void RawStream::agree(const Bytes& ours, const Bytes& chips) {
  const auto flags = [](const Bytes& frame) { return frame.size() > 16 ? frame[16] : std::uint8_t{0}; };
  negotiated_ = (flags(chips) & 0x20) == 0;
  to_chip_.markers = flags(chips) & 0x80;
  from_chip_.markers = flags(ours) & 0x80;
  to_chip_.crc = from_chip_.crc = (flags(chips) | flags(ours)) & 0x40;
}

// An FPDU is one segment, so its length is available; the reference's FPDU of its ULPDU must have the same octets.
Bytes RawStream::receive() {
  const bool leading = from_chip_.markers && from_chip_.pos % 512 == 0;
  Bytes wire;
  if (!take(leading ? 6 : 2, wire)) return {};
  const std::size_t bytes = get(wire, wire.size() - 2, 2);
  MpaReference same_place = from_chip_;
  const std::size_t wire_bytes = same_place.fpdu(Bytes(bytes)).size();
  if (!take(wire_bytes - wire.size(), wire)) return {};

  Bytes plain;  // without markers
  for (std::size_t i = 0; i < wire.size(); i += 4) {
    if (from_chip_.markers && (from_chip_.pos + i) % 512 == 0) continue;
    plain.insert(plain.end(), wire.begin() + static_cast<std::ptrdiff_t>(i),
                 wire.begin() + static_cast<std::ptrdiff_t>(i + 4));
  }
  const Bytes ulpdu(plain.begin() + 2, plain.begin() + 2 + static_cast<std::ptrdiff_t>(bytes));
  EXPECT_EQ(wire, from_chip_.fpdu(ulpdu)) << "markers, pad or CRC of the chip";
  return ulpdu;
}

bool RawStream::receive_fin() {
  return peer_.wait_for([&] { return fin_ || reset_; }) && fin_;
}

}  // namespace rnic::test
