#include "model/capture/replay/replay_peer.h"

#include <algorithm>
#include <utility>

#include "model/capture/replay/sctp_endpoint.h"
#include "model/capture/replay/tcp_endpoint.h"
#include "model/common/check.h"
#include "model/wire/checksum.h"
#include "model/wire/sctp.h"

namespace rnic::replay {

namespace {

constexpr std::size_t kLowerBytes = wire::EthernetHeader::kBytes + wire::Ipv4Header::kBytes;
constexpr std::uint64_t kLineOverhead = 24;  // preamble, FCS and gap

std::uint64_t now_ps() { return static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()); }

}  // namespace

ReplayPeer::ReplayPeer(sc_core::sc_module_name nm, const Station& self, const Station& chip)
    : sc_module(nm), EthernetTarget("receiver"), self_(self), chip_(chip) {
  SC_HAS_PROCESS(ReplayPeer);
  SC_METHOD(step);
  sensitive << event_;
  dont_initialize();
}

void ReplayPeer::begin(const Script& script, std::vector<std::uint8_t> fed, Apply apply) {
  const bool active = script.model == Side::kResponder;
  script_ = &script;
  fed_ = std::move(fed);
  apply_ = std::move(apply);
  answer_.emplace(active ? wire::MpaFrameKind::kReply : wire::MpaFrameKind::kRequest);
  answer_->expect_crc(script.crc);
  next_step_ = next_change_ = forgiven_ = 0;
  closing_ = false;
  transport_ = make_transport();
  if (active) transport_->open();
  else if (script.refused) transport_->refuse();
  else transport_->listen();
  event_.notify(sc_core::SC_ZERO_TIME);
}

std::unique_ptr<PeerTransport> ReplayPeer::make_transport() {
  const std::uint32_t first = 0x1000 * ++connections_;
  const auto deliver = [this](ByteSpan octets) { answer_->push(octets); };
  if (script_->transport == host::Transport::kSctp) {
    const bool active = script_->model == Side::kResponder;
    const SctpEndpoint::Config config{script_->peer_port, script_->model_port, first, first,
                                      active ? wire::MpaFrameKind::kRequest : wire::MpaFrameKind::kReply};
    const auto emit = [this](ByteSpan packet) {
      BufferRef buf = buffers_.take();
      RNIC_CHECK(kLowerBytes + packet.size() <= buf->capacity());
      std::copy(packet.begin(), packet.end(), buf->bytes() + kLowerBytes);
      transmit(wire::kIpProtocolSctp, std::move(buf), packet.size());
    };
    return std::make_unique<SctpEndpoint>(config, emit, deliver);
  }
  const TcpEndpoint::Config config{script_->peer_port, script_->model_port, first, script_->peer_mss};
  const auto emit = [this](const wire::TcpHeader& h, ByteSpan payload) { transmit_tcp(h, payload); };
  return std::make_unique<TcpEndpoint>(config, emit, deliver);
}

bool ReplayPeer::forgive() {
  const std::size_t awaited = fed_all() ? script_->close_after : script_->steps[next_step_].model_messages;
  const std::size_t answers = answered();
  if (answers >= awaited) return false;
  forgiven_ += awaited - answers;
  return true;
}

void ReplayPeer::abort() { transport_->abort(); }

// Frames come in order; a frame's last octet may arrive later than the kernel's time.
void ReplayPeer::on_frame(const Frame& frame, std::uint64_t at_ps) {
  arrivals_.push_back({at_ps, frame});
  event_.notify(sc_core::sc_time::from_value(at_ps - now_ps()));  // the earliest notification stays
}

void ReplayPeer::step() {
  const std::uint64_t now = now_ps();
  for (; !arrivals_.empty() && arrivals_.front().at_ps <= now; arrivals_.pop_front()) {
    receive(arrivals_.front().frame, now);
  }
  if (transport_ == nullptr) return;
  if (transport_->established()) {
    feed();
    finish();
  }
  transport_->advance(now);
  if (transport_->over()) return;
  const std::uint64_t next = arrivals_.empty() ? now + kPollPs : std::min(now + kPollPs, arrivals_.front().at_ps);
  event_.notify(sc_core::sc_time::from_value(next - now));
}

void ReplayPeer::receive(const Frame& frame, std::uint64_t now) {
  const auto ethernet = wire::EthernetView::parse({frame.data(), frame.bytes});
  if (!ethernet || ethernet->header.ethertype != wire::kEthertypeIpv4 || transport_ == nullptr) return;
  const auto ip = wire::Ipv4View::parse(ethernet->payload);
  if (!ip || ip->header.is_fragment() || !transport_->packet(ip->header.protocol, ip->payload, now)) return;
  ++progress_;
  newest_frame_ps_ = std::max(newest_frame_ps_, now);
}

bool ReplayPeer::resting() const { return now_ps() >= newest_frame_ps_ + kRestPs; }

// Sends every step that is due.
void ReplayPeer::feed() {
  while (next_step_ < script_->steps.size()) {
    const Script::Step& s = script_->steps[next_step_];
    const std::size_t begin = next_step_ == 0 ? 0 : script_->steps[next_step_ - 1].end;
    if (answered() < s.model_messages) return;
    if (!changed(begin)) return;
    if (s.end > begin) transport_->send(ByteSpan(fed_).subspan(begin, s.end - begin));
    ++next_step_;
    ++progress_;
  }
}

// True if no memory change is due before the octet at `position`. A due change waits until the model has acknowledged
// everything sent and had time to place it.
bool ReplayPeer::changed(std::size_t position) {
  const std::vector<MemoryChange>& list = script_->memory.changes;
  if (next_change_ == list.size() || list[next_change_].before > position) return true;
  if (transport_->acked() < position || !resting()) return false;
  for (; next_change_ < list.size() && list[next_change_].before <= position; ++next_change_) {
    if (!apply_(list[next_change_])) return false;
  }
  return true;
}

// The peer sends its FIN once the real side has sent everything, or after the model's FIN.
void ReplayPeer::finish() {
  if (closing_) return;
  const bool said = answered() >= script_->close_after;
  const bool due = !script_->model_closes_first && fed_all() && said && resting();
  if (!due && !transport_->peer_closed()) return;
  closing_ = true;
  transport_->close();
}

void ReplayPeer::transmit_tcp(const wire::TcpHeader& header, ByteSpan payload) {
  const std::size_t header_bytes = header.bytes(), bytes = header_bytes + payload.size();
  BufferRef buf = buffers_.take();
  RNIC_CHECK(kLowerBytes + bytes <= buf->capacity());
  std::uint8_t* const tcp_at = buf->bytes() + kLowerBytes;
  header.emit(MutableByteSpan{tcp_at, header_bytes});
  std::copy(payload.begin(), payload.end(), tcp_at + header_bytes);
  wire::ChecksumAccumulator sum = wire::tcp_pseudo_header(self_.ip, chip_.ip, bytes);
  sum.add({tcp_at, bytes});
  store_be16(tcp_at + wire::TcpHeader::kChecksumOffset, sum.checksum());
  transmit(wire::kIpProtocolTcp, std::move(buf), bytes);
}

// `buf` has `bytes` octets after room for the Ethernet and IPv4 headers.
void ReplayPeer::transmit(std::uint8_t protocol, BufferRef buf, std::size_t bytes) {
  wire::EthernetHeader ethernet;
  ethernet.dst = chip_.mac;
  ethernet.src = self_.mac;
  ethernet.emit(MutableByteSpan{buf->bytes(), wire::EthernetHeader::kBytes});
  wire::Ipv4Header ip;
  ip.total_length = static_cast<std::uint16_t>(wire::Ipv4Header::kBytes + bytes);
  ip.protocol = protocol;
  ip.src = self_.ip;
  ip.dst = chip_.ip;
  ip.emit(MutableByteSpan{buf->bytes() + wire::EthernetHeader::kBytes, wire::Ipv4Header::kBytes});

  Frame frame;
  frame.bytes = static_cast<std::uint32_t>(kLowerBytes + bytes);
  frame.buf = std::move(buf);
  const std::uint64_t octets = std::max<std::uint64_t>(frame.bytes, 60) + kLineOverhead;
  line_free_ps_ = std::max(line_free_ps_, now_ps()) + octets * 8000 / kLineGbps;
  newest_frame_ps_ = line_free_ps_;
  ++progress_;
  transmitter_.send(std::move(frame), line_free_ps_);
}

}  // namespace rnic::replay
