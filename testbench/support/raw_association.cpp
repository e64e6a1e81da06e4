#include "testbench/support/raw_association.h"

#include <utility>

#include "model/common/sctp_checksum.h"

namespace rnic::test {
namespace {

// RFC 9260 section 3.2.
constexpr std::uint8_t kData = 0, kInit = 1, kInitAck = 2, kSack = 3, kAbort = 6, kShutdown = 7, kShutdownAck = 8,
                       kCookieEcho = 10, kCookieAck = 11, kShutdownComplete = 14;
constexpr std::size_t kSctp = 14 + 20, kChunks = kSctp + 12;
constexpr std::uint32_t kFirstTsn = 1000;

void put(Bytes& b, std::uint64_t value, unsigned octets) {
  while (octets-- != 0) b.push_back(static_cast<std::uint8_t>(value >> 8 * octets));
}
std::uint32_t get(const Bytes& b, std::size_t at, unsigned octets) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < octets; ++i) value = value << 8 | b.at(at + i);
  return value;
}
void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }
std::size_t padded(std::size_t octets) { return (octets + 3) / 4 * 4; }

Bytes chunk(std::uint8_t type, std::uint8_t flags, const Bytes& value) {
  Bytes c{type, flags};
  put(c, 4 + value.size(), 2);
  append(c, value);
  c.resize(padded(c.size()));
  return c;
}

}  // namespace

RawAssociations::RawAssociations(sc_core::sc_module_name nm, Addresses addresses)
    : sc_module(nm), EthernetTarget("in"), addresses_(std::move(addresses)), arrived_("arrived") {
  SC_HAS_PROCESS(RawAssociations);
  SC_METHOD(take_frames);
  sensitive << arrived_;
  dont_initialize();
  SC_THREAD(play);
}

void RawAssociations::play() {
  if (script_) script_();
  done_ = true;
}

bool RawAssociations::wait_for(const std::function<bool()>& condition) {
  const sc_core::sc_time end = sc_core::sc_time_stamp() + sc_core::sc_time(1, sc_core::SC_MS);
  while (!condition() && sc_core::sc_time_stamp() < end) sc_core::wait(end - sc_core::sc_time_stamp(), changed_);
  return condition();
}

void RawAssociations::on_frame(const Frame& frame, std::uint64_t at_ps) {
  const auto kernel_ps = static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
  arrivals_.push_back({at_ps, Bytes(frame.data(), frame.data() + frame.bytes)});
  arrived_.notify(sc_core::sc_time::from_value(at_ps - kernel_ps));
}

void RawAssociations::take_frames() {
  const auto now_ps = static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
  while (!arrivals_.empty() && arrivals_.front().ps <= now_ps) {
    const Bytes frame = std::move(arrivals_.front().octets);
    arrivals_.pop_front();
    dispatch(frame);
  }
  changed_.notify(sc_core::SC_ZERO_TIME);
}

// Drops chunks that do not belong to the association opened last.
void RawAssociations::dispatch(const Bytes& frame) {
  if (get(frame, kSctp + 2, 2) != port_ || get(frame, kSctp + 4, 4) != tag_) return;
  const std::size_t end = 14 + get(frame, 16, 2);
  for (std::size_t at = kChunks; at + 4 <= end;) {
    const std::size_t bytes = get(frame, at + 2, 2);
    on_chunk(
        {frame.begin() + static_cast<std::ptrdiff_t>(at), frame.begin() + static_cast<std::ptrdiff_t>(at + bytes)});
    at += padded(bytes);
  }
}

void RawAssociations::on_chunk(const Bytes& c) {
  switch (c[0]) {
    case kInitAck:
      chip_tag_ = get(c, 4, 4);
      chip_tsn_ = get(c, 16, 4) - 1;
      for (std::size_t at = 20; at + 4 <= c.size(); at += padded(get(c, at + 2, 2))) {
        if (get(c, at, 2) != 7) continue;  // State Cookie
        cookie_.assign(c.begin() + static_cast<std::ptrdiff_t>(at + 4),
                       c.begin() + static_cast<std::ptrdiff_t>(at + get(c, at + 2, 2)));
      }
      return;
    case kCookieAck:
      up_ = true;
      return;
    case kData: {
      if (get(c, 4, 4) != chip_tsn_ + 1) return;
      ++chip_tsn_;
      if (get(c, 12, 4) == 17) codes.push_back(static_cast<std::uint16_t>(get(c, 18, 2)));
      Bytes sack;
      put(sack, chip_tsn_, 4), put(sack, 0x10000, 4), put(sack, 0, 4);
      return send({chunk(kSack, 0, sack)});
    }
    case kAbort:
      aborted = true;
      return;
    case kShutdownAck:
      return send({chunk(kShutdownComplete, 0, {})});
    default:
      return;
  }
}

void RawAssociations::open() {
  ++port_, ++tag_;
  tsn_ = kFirstTsn;
  ssn_ = 0;
  cookie_.clear();
  codes.clear();
  aborted = up_ = false;
  Bytes init;
  put(init, tag_, 4), put(init, 0x10000, 4), put(init, 0x00100010, 4), put(init, tsn_, 4);
  put(init, 0xc0060008, 4), put(init, 1, 4);  // Adaptation Layer Indication: DDP
  send_tagged(0, {chunk(kInit, 0, init)});
  EXPECT_TRUE(wait_for([this] { return !cookie_.empty(); })) << "no answer to our INIT";
  send({chunk(kCookieEcho, 0, cookie_)});
  EXPECT_TRUE(wait_for([this] { return up_; })) << "no COOKIE ACK";
}

Bytes RawAssociations::data(std::uint32_t ppid, const Bytes& user_data) {
  Bytes d;
  put(d, tsn_++, 4), put(d, 0, 4), put(d, ppid, 4), put(d, ssn_++, 2);
  append(d, user_data);
  return chunk(kData, 7, d);  // unordered, whole
}

Bytes RawAssociations::control(std::uint16_t code, const Bytes& private_data) {
  Bytes message;
  put(message, code, 2);
  append(message, private_data);
  return data(17, message);
}

Bytes RawAssociations::segment(const Bytes& ddp_segment) { return data(16, ddp_segment); }

Bytes RawAssociations::shutdown() const {
  Bytes acked;
  put(acked, chip_tsn_, 4);
  return chunk(kShutdown, 0, acked);
}

void RawAssociations::send(const std::vector<Bytes>& chunks) { send_tagged(chip_tag_, chunks); }

void RawAssociations::send_tagged(std::uint32_t tag, const std::vector<Bytes>& chunks) {
  Bytes packet;
  put(packet, port_, 2), put(packet, addresses_.chip_port, 2), put(packet, tag, 4), put(packet, 0, 4);
  for (const Bytes& c : chunks) append(packet, c);
  const std::uint32_t crc = sctp_checksum({packet.data(), packet.size()});
  for (unsigned i = 0; i < 4; ++i) packet[8 + i] = static_cast<std::uint8_t>(crc >> 8 * i);

  Bytes f = addresses_.chip_mac;
  append(f, addresses_.mac);
  put(f, 0x0800, 2);
  put(f, 0x4500, 2), put(f, 20 + packet.size(), 2);
  put(f, 0x00014000, 4), put(f, 0x40840000, 4);  // identification, DF; TTL 64, SCTP
  put(f, addresses_.ip, 4), put(f, addresses_.chip_ip, 4);
  std::uint32_t sum = 0;
  for (std::size_t at = 14; at < kSctp; at += 2) sum += get(f, at, 2);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  f[24] = static_cast<std::uint8_t>(~sum >> 8);
  f[25] = static_cast<std::uint8_t>(~sum);
  append(f, packet);

  Frame frame;
  frame.buf = pool_.take();
  frame.bytes = static_cast<std::uint32_t>(f.size());
  std::copy(f.begin(), f.end(), frame.buf->bytes());
  out.send(frame, static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()));
}

}  // namespace rnic::test
