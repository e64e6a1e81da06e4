#include "model/capture/replay/replay_peer.h"

#include <algorithm>
#include <utility>

#include "model/wire/checksum.h"
#include "model/wire/tcp_frame_view.h"

namespace rnic::replay {

namespace {

constexpr std::size_t kHeaderRoom =
    wire::EthernetHeader::kBytes + wire::Ipv4Header::kBytes + wire::TcpHeader::kBytes + wire::TcpOptions::kMaxBytes;
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
  closing_ = refused_ = false;
  TcpEndpoint::Config config;
  config.port = script.peer_port;
  config.peer_port = script.model_port;
  config.isn = 0x1000 * ++connections_;
  config.mss = script.peer_mss;
  tcp_ = std::make_unique<TcpEndpoint>(
      config, [this](const wire::TcpHeader& h, ByteSpan payload) { transmit(h, payload); },
      [this](ByteSpan octets) { answer_->push(octets); });
  if (active) tcp_->open();
  else if (script.refused) tcp_->refuse();
  else tcp_->listen();
  event_.notify(sc_core::SC_ZERO_TIME);
}

bool ReplayPeer::forgive() {
  const std::size_t awaited = fed_all() ? script_->close_after : script_->steps[next_step_].model_messages;
  const std::size_t answers = answered();
  if (answers >= awaited) return false;
  forgiven_ += awaited - answers;
  return true;
}

void ReplayPeer::abort() { tcp_->abort(); }

// Frames come in order; their last octet may arrive later than the kernel's time.
void ReplayPeer::on_frame(const Frame& frame, std::uint64_t at_ps) {
  arrivals_.push_back({at_ps, frame});
  event_.notify(sc_core::sc_time::from_value(at_ps - now_ps()));  // the earliest notification stays
}

void ReplayPeer::step() {
  const std::uint64_t now = now_ps();
  for (; !arrivals_.empty() && arrivals_.front().at_ps <= now; arrivals_.pop_front()) {
    receive(arrivals_.front().frame, now);
  }
  if (tcp_ == nullptr) return;
  if (tcp_->established()) {
    feed();
    finish();
    tcp_->advance(now);
  }
  if (tcp_->over()) return;
  const std::uint64_t next = arrivals_.empty() ? now + kPollPs : std::min(now + kPollPs, arrivals_.front().at_ps);
  event_.notify(sc_core::sc_time::from_value(next - now));
}

void ReplayPeer::receive(const Frame& frame, std::uint64_t now) {
  const auto segment = wire::TcpFrameView::parse({frame.data(), frame.bytes});
  const bool ours = segment && script_ != nullptr && segment->tcp.header.dst_port == script_->peer_port;
  if (!ours) return;
  ++progress_;
  newest_frame_ps_ = now;
  refused_ = refused_ || (segment->tcp.header.has(wire::TcpHeader::kRst) && !tcp_->established());
  tcp_->segment(segment->tcp, now);
}

bool ReplayPeer::resting() const { return now_ps() >= newest_frame_ps_ + kRestPs; }

// Sends every step whose time has come.
void ReplayPeer::feed() {
  while (next_step_ < script_->steps.size()) {
    const Script::Step& s = script_->steps[next_step_];
    const std::size_t begin = next_step_ == 0 ? 0 : script_->steps[next_step_ - 1].end;
    if (answered() < s.model_messages) return;
    if (!changed(begin)) return;
    if (s.end > begin) tcp_->send(ByteSpan(fed_).subspan(begin, s.end - begin));
    ++next_step_;
    ++progress_;
  }
}

// True if no change of memory is due before the octet at `position`. One that is waits until the model has taken in all
// that was sent and had time to place it.
bool ReplayPeer::changed(std::size_t position) {
  const std::vector<MemoryChange>& list = script_->memory.changes;
  if (next_change_ == list.size() || list[next_change_].before > position) return true;
  if (tcp_->acked() < position || !resting()) return false;
  for (; next_change_ < list.size() && list[next_change_].before <= position; ++next_change_) {
    if (!apply_(list[next_change_])) return false;
  }
  return true;
}

// The peer's FIN comes when the real side has said everything, or after its own.
void ReplayPeer::finish() {
  if (closing_) return;
  const bool said = answered() >= script_->close_after;
  const bool due = !script_->model_closes_first && fed_all() && said && resting();
  if (!due && !tcp_->peer_closed()) return;
  closing_ = true;
  tcp_->close();
}

void ReplayPeer::transmit(const wire::TcpHeader& header, ByteSpan payload) {
  const std::size_t tcp_bytes = header.bytes(), packet = wire::Ipv4Header::kBytes + tcp_bytes + payload.size();
  BufferRef buf = buffers_.take();
  RNIC_CHECK(kHeaderRoom + payload.size() <= buf->capacity());
  std::uint8_t* const ip_at = buf->bytes() + wire::EthernetHeader::kBytes;
  std::uint8_t* const tcp_at = ip_at + wire::Ipv4Header::kBytes;
  wire::EthernetHeader ethernet;
  ethernet.dst = chip_.mac;
  ethernet.src = self_.mac;
  ethernet.emit(MutableByteSpan{buf->bytes(), wire::EthernetHeader::kBytes});
  wire::Ipv4Header ip;
  ip.total_length = static_cast<std::uint16_t>(packet);
  ip.protocol = wire::kIpProtocolTcp;
  ip.src = self_.ip;
  ip.dst = chip_.ip;
  ip.emit(MutableByteSpan{ip_at, wire::Ipv4Header::kBytes});
  header.emit(MutableByteSpan{tcp_at, tcp_bytes});
  std::copy(payload.begin(), payload.end(), tcp_at + tcp_bytes);
  wire::ChecksumAccumulator sum = wire::tcp_pseudo_header(ip.src, ip.dst, tcp_bytes + payload.size());
  sum.add({tcp_at, tcp_bytes + payload.size()});
  store_be16(tcp_at + wire::TcpHeader::kChecksumOffset, sum.checksum());

  Frame frame;
  frame.bytes = static_cast<std::uint32_t>(wire::EthernetHeader::kBytes + packet);
  frame.buf = std::move(buf);
  const std::uint64_t octets = std::max<std::uint64_t>(frame.bytes, 60) + kLineOverhead;
  line_free_ps_ = std::max(line_free_ps_, now_ps()) + octets * 8000 / kLineGbps;
  newest_frame_ps_ = line_free_ps_;
  ++progress_;
  transmitter.send(std::move(frame), line_free_ps_);
}

}  // namespace rnic::replay
