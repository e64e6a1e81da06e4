// The association engine with its packet stages, and the firmware's sessions on its streams: the octets script a peer
// that sets an association up correctly, and then sends arbitrary chunks with correct checksums.
#include <algorithm>
#include <map>
#include <utility>

#include "firmware/conn/stream_session.h"
#include "model/common/overloaded.h"
#include "testbench/fuzz/input.h"
#include "testbench/unit/rnic/llp/sctp/sctp_pair.h"

namespace rnic::fuzz {
namespace {

using test::Bytes;
using StreamAction = fw::SctpStreamAction;
using Action = fw::SessionAction::Kind;
using wire::SctpChunkType;

constexpr std::uint16_t kListened = 5000, kPeers = 6000;
constexpr unsigned kSteps = 200;
constexpr std::uint32_t kAssociations = 4, kStreams = 4;
constexpr std::uint32_t kTag = 0x01020304;

// Anything left half done ends soon, and space is scarce.
SctpConfig impatient() {
  SctpConfig c;
  c.max_associations = kAssociations;
  c.streams = kStreams;
  c.receive_buffer = 16384;
  c.send_chunks = 16;
  c.rto_initial_us = c.rto_min_us = 20;
  c.rto_max_us = 100;
  c.idle_us = 10'000;
  c.max_init_retries = c.max_retries = 3;
  c.reorder_chunks = 64;
  c.reassembly_messages = 2;
  c.ddp_window = 32;
  c.seed = 1;
  return c;
}

fw::SessionPolicy policy() {
  fw::SessionPolicy p;
  p.enhanced = true;
  p.ird = p.ord = 8;
  p.max_ird = 16;
  return p;
}

class Bench final : public test::StageTest {
 public:
  Bench() {
    side_.op.send(fw::SctpListen{kListened});
    advance(100);
  }

  void play(Input in) {
    set_up(in);
    for (unsigned n = 0; n < kSteps && !in.empty(); ++n) step(in);
    flush(kTag);
    advance(2000);
    firmware(in);
    end();
  }

 private:
  void TestBody() override {}

  // ---- Time

  void advance(Cycle cycles) {
    sc_core::sc_start(sc_core::sc_time::from_value(cycles * clk.period_ps()), sc_core::SC_EXIT_ON_STARVATION);
  }
  void come_to_rest() {
    advance(50'000'000);
    require(!sc_core::sc_pending_activity(), "the engine does not come to rest");
  }

  // ---- Packets

  static Bytes chunk(std::uint8_t type, std::uint8_t flags, const Bytes& value) {
    Bytes c = {type, flags, 0, 0};
    store_be16(&c[2], static_cast<std::uint16_t>(4 + value.size()));
    c.insert(c.end(), value.begin(), value.end());
    c.resize(wire::sctp_padded(c.size()));
    return c;
  }
  static void put(Bytes& to, std::uint64_t value, unsigned octets) {
    for (unsigned shift = 8 * octets; shift != 0; shift -= 8)
      to.push_back(static_cast<std::uint8_t>(value >> (shift - 8)));
  }
  void flush(std::uint32_t tag_wanted) {
    if (chunks_.empty()) return;
    Bytes packet(wire::SctpHeader::kBytes);
    wire::SctpHeader{kPeers, port_, tag_wanted == kTag ? engine_tag_ : tag_wanted}.emit(packet);
    packet.insert(packet.end(), chunks_.begin(), chunks_.end());
    chunks_.clear();
    packet.resize(std::min<std::size_t>(wire::sctp_padded(packet.size()), 1480));
    store_crc32c(&packet[kSctpChecksumOffset], sctp_checksum(packet));

    Frame f;
    f.buf = frames_.take();
    MutableByteSpan at{f.buf->bytes(), f.buf->capacity()};
    wire::EthernetHeader ethernet;
    ethernet.dst = test::kSctpMac[0];
    ethernet.src = test::kSctpMac[1];
    wire::Ipv4Header ip;
    ip.total_length = static_cast<std::uint16_t>(wire::Ipv4Header::kBytes + packet.size());
    ip.protocol = wire::kIpProtocolSctp;
    ip.src.v = test::kSctpIp[1];
    ip.dst.v = test::kSctpIp[0];
    std::size_t bytes = ethernet.emit(at);
    bytes += ip.emit(at.subspan(bytes));
    std::copy(packet.begin(), packet.end(), at.data() + bytes);
    f.bytes = static_cast<std::uint32_t>(bytes + packet.size());
    in_.send(f);
  }

  // The engine must send whole chunks of known types, whatever it receives.
  template <class F>
  void look(F f) {
    for (; seen_ < out_.size(); ++seen_) {
      const Frame& frame = out_[seen_];
      const ByteSpan packet = ByteSpan(frame.data(), frame.bytes).subspan(34);
      const auto header = wire::SctpHeader::parse(packet);
      require(header && load_crc32c(packet.data() + kSctpChecksumOffset) == sctp_checksum(packet),
              "a bad packet is sent");
      wire::SctpChunks chunks(packet.subspan(wire::SctpHeader::kBytes));
      while (const auto c = chunks.next()) {
        const auto data = c->type == SctpChunkType::kData ? wire::SctpData::parse(c->value) : std::nullopt;
        if (data && wire::seq_diff(data->tsn, sent_) > 0) sent_ = data->tsn;
        f(*header, *c);
      }
      require(!chunks.malformed(), "a malformed chunk is sent");
    }
  }
  void look() {
    look([](const wire::SctpHeader&, const wire::SctpChunk&) {});
  }

  // ---- Set-up: correct, by either side

  void set_up(Input& in) {
    const bool called = (in.octet() & 1) != 0;
    Bytes parameters;
    put(parameters, 0xc0060008, 4), put(parameters, 1, 4);
    Bytes init;
    put(init, kTag, 4), put(init, 8000, 4), put(init, 0x00040004, 4), put(init, 1, 4);
    tsn_ = 1;
    Bytes cookie;
    bool echoed = false;
    const auto answers = [&](const wire::SctpHeader& header, const wire::SctpChunk& c) {
      if (c.type == SctpChunkType::kInit || c.type == SctpChunkType::kInitAck) {
        const auto init_of = wire::SctpInit::parse(c.value);
        engine_tag_ = init_of->initiate_tag;
        sent_ = init_of->initial_tsn - 1;
        port_ = header.src_port;
        wire::SctpItems items(wire::SctpInit::parameters(c.value));
        while (const auto item = items.next()) {
          if (item->type == 7) cookie.assign(item->value.begin(), item->value.end());
        }
      }
      echoed |= c.type == SctpChunkType::kCookieEcho || c.type == SctpChunkType::kCookieAck;
    };
    if (called) {
      side_.op.send(fw::SctpConnect{test::kSctpIp[1], kPeers});
      advance(200);
      look(answers);
      put(init, 0x00070008, 4), put(init, 0x01020304, 4);  // a cookie
      append(init, parameters);
      chunks_ = chunk(2, 0, init);
      flush(kTag);
      advance(200);
      look(answers);
      chunks_ = chunk(11, 0, {});
    } else {
      port_ = kListened;
      append(init, parameters);
      chunks_ = chunk(1, 0, init);
      flush(0);
      advance(200);
      look(answers);
      chunks_ = chunk(10, 0, cookie);
    }
    flush(kTag);
    advance(200);
    look(answers);
    require(echoed, "no association can be set up");
    firmware(in);
  }

  // ---- Steps

  void step(Input& in) {
    const std::uint8_t what = in.octet();
    switch (what % 8) {
      case 0:
      case 1:
        return data(in, what);
      case 2:
        return sack(in, what);
      case 3: {
        const ByteSpan octets = in.take(in.octet());
        chunks_.insert(chunks_.end(), octets.begin(), octets.end());
        chunks_.resize(wire::sctp_padded(chunks_.size()));
        return;
      }
      case 4: {
        const std::uint8_t type = in.octet();
        const ByteSpan value = in.take(what >> 3);
        return append(chunk(type % 16, what >> 7, {value.begin(), value.end()}));
      }
      case 5:
        return segment(in.octet(), what >> 3);
      default:
        flush(what == 0xff ? static_cast<std::uint32_t>(in.number(4)) : kTag);
        advance(Cycle{8} << (what >> 3) % 16);
        look();
        firmware(in);
    }
  }
  static void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }
  void append(const Bytes& more) { append(chunks_, more); }

  // The next TSN and DDP-SSN, unless the input says otherwise.
  void data(Input& in, std::uint8_t what) {
    const std::uint8_t bend = what >> 3, stream = in.octet(), bytes = in.octet();
    const bool control = what % 8 == 1;
    std::uint32_t tsn = tsn_ + (bend & 1 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(in.octet())) : 0);
    std::uint16_t& next = ssn_[stream % kStreams];
    const std::uint16_t ssn = static_cast<std::uint16_t>(next + (bend & 2 ? in.octet() - 128 : 0));
    if ((bend & 1) == 0) ++tsn_;
    if ((bend & 2) == 0) ++next;
    Bytes value;
    put(value, tsn, 4), put(value, stream & 0x80 ? stream : stream % kStreams, 2), put(value, 0, 2);
    put(value, bend & 4 ? in.octet() : control ? 17 : 16, 4);
    put(value, ssn, 2);
    if (control) put(value, bytes % 9, 2);
    const ByteSpan tail = in.take(control ? bytes >> 4 : 0);
    value.insert(value.end(), tail.begin(), tail.end());
    if (!control) value.resize(value.size() + 14 + 5u * bytes, bytes);
    append(chunk(0, bend & 8 ? in.octet() & 0xf : 7, value));
    if ((bend & 16) == 0) flush(kTag);
  }

  void sack(Input& in, std::uint8_t what) {
    const std::uint8_t behind = what >> 6, gaps = what >> 3 & 3;
    Bytes value;
    put(value, sent_ - behind, 4);
    put(value, in.octet() * 64u, 4);
    put(value, gaps, 2), put(value, 0, 2);
    for (unsigned g = 0; g < gaps; ++g) put(value, in.octet() % 8, 2), put(value, in.octet() % 16, 2);
    append(chunk(3, 0, value));
  }

  void segment(std::uint8_t which, std::uint8_t size) {
    for (auto& [flow, session] : sessions_) {
      if (session.state() != fw::SessionState::kOpen || which-- % 4 != 0) continue;
      side_.source.send(FlowId{flow}, Bytes(14 + 45u * size, which));
      return;
    }
  }

  // ---- The firmware, as ConnectionManager runs it

  void firmware(Input& in) {
    for (; heard_ < side_.event.size(); ++heard_) {
      const LlpEvent& event = side_.event[heard_];
      if (event.flow() == kNoFlow) continue;
      fw::StreamSession& session = sessions_[event.flow().v];
      lives_[event.flow().v] = event.life();
      event.visit(Overloaded{
          [&](const fw::SctpConnected& e) { run(e.flow, session.connect(policy())); },
          [&](const fw::SctpControl& e) {
            Bytes whole(wire::kDdpSsnBytes);
            whole.insert(whole.end(), event.data->bytes(), event.data->bytes() + e.bytes);
            run(e.flow, session.control(wire::decode_session_message(whole, true), policy(), true));
            if (session.state() != fw::SessionState::kPending) return;
            const std::uint8_t host = in.octet() % 4;
            if (host == 3) return;  // it never answers
            run(e.flow, host == 2 ? session.reject(policy()) : session.accept(policy()));
          },
          [&](const fw::SctpAcked& e) { run(e.flow, session.acknowledged()); },
          [&](const fw::SctpPeerClosed& e) {
            wire::SessionDecode terminate;
            terminate.message.code = wire::SessionCode::kTerminate;
            run(e.flow, session.control(terminate, policy(), true));
          },
          [&](const fw::SctpViolation& e) { run(e.flow, session.violation(e.terminate)); },
          [&](const fw::SctpStray& e) { run(e.flow, session.stray(e.terminate)); },
          [&](const fw::SctpLost& e) { sessions_.erase(e.flow.v); },
          [](const auto&) {},
      });
    }
  }
  // Actions for the host or for RDMAP are left out.
  void run(FlowId flow, const fw::SessionActions& actions) {
    constexpr std::pair<Action, StreamAction> kStreamOps[] = {{Action::kBegin, StreamAction::kBegin},
                                                              {Action::kOpen, StreamAction::kOpen},
                                                              {Action::kDiscard, StreamAction::kDiscard},
                                                              {Action::kEndRun, StreamAction::kEndRun},
                                                              {Action::kRestart, StreamAction::kRestart}};
    for (const fw::SessionAction& a : actions) {
      for (const auto& [action, on_stream] : kStreamOps) {
        if (a.kind == action) side_.op.send(fw::SctpStream{flow, on_stream, lives_[flow.v]});
      }
      if (a.kind != Action::kSend) continue;
      Bytes octets(a.message.bytes());
      require(a.message.emit(octets) == octets.size(), "a session message that cannot be");
      const auto bytes = static_cast<std::uint32_t>(octets.size() - wire::kDdpSsnBytes);
      BufferRef data = pool_.take();
      std::copy(octets.begin() + wire::kDdpSsnBytes, octets.end(), data->bytes());
      side_.op.send(LlpOp(fw::SctpSend{flow, {0, bytes}, lives_[flow.v]}, std::move(data)));
    }
  }

  // ---- The end

  // Aborts associations that are up; others give up: nothing is left of any.
  void end() {
    advance(200);  // the firmware's last operations may begin another life
    for (std::uint32_t a = 0; a < kAssociations; ++a) {
      side_.op.send(side_.flow_op(StreamAction::kAbort, FlowId{test::kFirstFlow + a * kStreams}));
    }
    come_to_rest();
    look();
    sessions_.clear();
    ssn_ = {};
    side_.event.clear(), out_.clear();
    heard_ = seen_ = 0;
    side_.source.forget();
    side_.early.placed.clear();
    side_.sink.segments.clear(), side_.sink.ends.clear(), side_.sink.last_beats.clear();
    require(pool_.in_use() == 0, "buffers are left");
    require(frames_.in_use() == 0, "frames are left");
  }

  BufferPool pool_{kFrameHeadroom + 1500 + 64}, frames_{2048};
  test::SctpSide side_{"dut_", clk, 0, impatient(), TcpConfig{}, pool_};
  test::Source<Frame> in_ = test::drive(side_.rx.in);
  test::Sink<Frame> out_ = test::collect(side_.tx.out);
  std::map<std::uint32_t, fw::StreamSession> sessions_;  // by flow, as is the next
  std::map<std::uint32_t, std::uint16_t> lives_;         // of the last event
  Bytes chunks_;                                         // of the packet being built
  std::uint32_t engine_tag_ = 0, tsn_ = 0, sent_ = 0;    // sent_: the engine's highest TSN
  std::uint16_t port_ = 0;                               // the engine's
  std::array<std::uint16_t, kStreams> ssn_{};
  std::size_t heard_ = 0, seen_ = 0;
};

void association(ByteSpan octets) {
  static Bench* const bench = new Bench;  // SystemC elaborates once
  bench->play(Input(octets));
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {{"association", association}};
  return all;
}

}  // namespace rnic::fuzz
