// Sessions of a peer with the chip: the octets give the steps, and how each step is bent.
#include <fmt/format.h>

#include "testbench/fuzz/chip_bench.h"

// Leak checking misses memory that only the stacks of SystemC's threads hold.
extern "C" int __lsan_is_turned_off() { return 1; }

namespace rnic::fuzz {
namespace {

using test::operator+;  // for octets

constexpr unsigned kSteps = 40;

// The errors in one step of the peer.
class Bend {
 public:
  explicit Bend(Input& in) : kind_(in.octet()) {
    if (kind_ < kFirst) return;
    at_ = in.number(2);
    with_ = in.octet();
  }
  // Before and after framing.
  Bytes ulpdu(Bytes b) const { return kind_ % 4 == 0 ? spoilt(std::move(b)) : b; }
  Bytes fpdu(Bytes b) const { return kind_ % 4 == 1 ? spoilt(std::move(b)) : b; }
  // Bends the frame that carries it, with correct checksums or with the original ones.
  void frame(RawPeer& peer) const {
    if (kind_ < kFirst || kind_ % 4 < 2) return;
    peer.bend = [bend = *this](Bytes& f) {
      f = bend.spoilt(std::move(f));
      if (f.size() > kLongestFrame) f.resize(kLongestFrame);
      if (bend.kind_ % 4 == 2) RawPeer::set_checksums(f);
    };
  }

 private:
  static constexpr std::size_t kLongestFrame = 1600;
  static constexpr unsigned kFirst = 0xa0;  // most steps are not bent
  Bytes spoilt(Bytes b) const {
    if (kind_ < kFirst || b.empty()) return b;
    const std::size_t at = at_ % b.size();
    switch (kind_ / 4 % 4) {
      case 0:
        b.resize(at);
        break;
      case 1:
        b.insert(b.begin() + static_cast<std::ptrdiff_t>(at), with_ % 64u, static_cast<std::uint8_t>(at_));
        break;
      default:
        b[at] = static_cast<std::uint8_t>(b[at] ^ (with_ | (with_ == 0)));
    }
    return b;
  }
  unsigned kind_ = 0;
  std::uint64_t at_ = 0;
  std::uint8_t with_ = 0;
};

class Session {
 public:
  Session(ChipBench& bench, Input in) : bench_(bench), peer_(bench.station()), in_(in) {}

  void run() {
    if (!connect()) return;
    for (unsigned i = 0; i < kSteps && !in_.empty(); ++i) step();
    peer_.wait_us(5);
    take_answers();
    end();
  }

 private:
  bool connect() {
    const std::uint8_t how = in_.octet();
    const Bend bend(in_);
    if (how & 1) return be_called(how, bend);
    bench_.program().accepting.push_back(bench_.qp);
    const Bend syn(in_);
    syn.frame(peer_);
    stream_ = peer_.try_connect();
    if (stream_ == nullptr) return false;
    stream_->try_start(bend.fpdu(startup("Req", how)));
    if (stream_->negotiated()) send(test::tagged("C140", 0, 0), bend);
    return true;
  }
  // The chip connects.
  bool be_called(std::uint8_t how, const Bend& bend) {
    bench_.on_host([&] {
      host::ConnParam param;
      param.flags = how & 2 ? abi::kCmCrc | abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrWrite | abi::kCmRtrRead
                            : abi::kCmCrc | abi::kCmMarkers;
      bench_.driver().connect(*bench_.qp, kPeer, kPort, param, bench_.program().channel());
    });
    stream_ = &peer_.accept();
    stream_->answer(bend.fpdu(startup("Rep", how)));
    return true;
  }
  // RFC 5044 section 7.1.1, RFC 6581 section 9.
  Bytes startup(const char* kind, std::uint8_t how) {
    Bytes frame =
        test::from_hex(kind[2] == 'q' ? "4D504120494420526571204672616D65" : "4D504120494420526570204672616D65");
    const bool enhanced = how & 2;
    const Bytes rest = enhanced ? in_bytes(4) : Bytes{};
    frame.push_back(static_cast<std::uint8_t>((how & 0xc0) | (enhanced ? 0x10 : 0)));
    frame.push_back(how & 4 ? 0 : enhanced ? 2 : 1);
    const Bytes data = how & 8 ? in_bytes(in_.octet()) : Bytes{};
    const std::size_t bytes = rest.size() + data.size();
    frame.push_back(static_cast<std::uint8_t>(bytes >> 8));
    frame.push_back(static_cast<std::uint8_t>(bytes));
    return frame + rest + data;
  }
  Bytes in_bytes(std::size_t n) {
    const ByteSpan octets = in_.take(n);
    return {octets.begin(), octets.end()};
  }

  // A place in or near one of the grants.
  struct Place {
    std::uint32_t stag;
    std::uint64_t to;
  };
  Place place() {
    const std::uint8_t which = in_.octet();
    const ChipBench::Grant& g = bench_.grants[which % bench_.grants.size()];
    const auto offset = static_cast<std::int16_t>(in_.number(2));
    const std::uint64_t begin = bench_.base(g) + (which & 0x80 ? g.bytes : 0);
    return {g.region->rkey() ^ (which & 0x40 ? in_.octet() : 0u),
            begin + static_cast<std::uint64_t>(std::int64_t{offset})};
  }
  Bytes payload(std::size_t limit = 2048) {
    const std::size_t bytes = in_.number(2) % limit;
    Bytes b(bytes);
    const std::uint8_t first = in_.octet();
    for (std::size_t i = 0; i < bytes; ++i) b[i] = static_cast<std::uint8_t>(first + i);
    return b;
  }
  void send(const Bytes& ulpdu, const Bend& bend) {
    const Bytes straight = bend.ulpdu(ulpdu);
    const Bytes fpdu = bend.fpdu(stream_->fpdu(straight));
    bend.frame(peer_);
    stream_->send(fpdu);
  }
  // DDP and RDMAP control octets of a segment, as hex.
  static std::string control(bool tagged, bool last, unsigned opcode) {
    return fmt::format("{:02x}{:02x}", (tagged ? 0x80u : 0) | (last ? 0x40u : 0) | 1u, 0x40u | opcode);
  }

  void step() {
    const std::uint8_t what = in_.octet();
    const Bend bend(in_);
    const bool last = (what & 0x80) == 0;
    switch (what & 0x1f) {
      case 0:
      case 1: {
        const Place p = place();
        return send(test::tagged(control(true, last, what & 0x20 ? 2 : 0).c_str(), p.stag, p.to, payload()), bend);
      }
      case 2:
      case 3: {  // a Send of any kind, or its next segment if the previous segment was not the last
        const unsigned opcode = 3 + in_.octet() % 4;
        const std::uint32_t invalidates = opcode % 2 == 0 ? place().stag : 0;
        const Bytes data = payload(300);
        send(test::octets(control(false, last, opcode).c_str(), invalidates, std::uint32_t{0}, msn_send_, offset_) +
                 data,
             bend);
        offset_ = last ? 0 : offset_ + static_cast<std::uint32_t>(data.size());
        msn_send_ += last;
        return;
      }
      case 4:
      case 5: {
        const Place p = place();
        const auto size = static_cast<std::uint32_t>(in_.number(2));
        return send(test::read_request(msn_read_++, 0x5678, in_.number(1), size, p.stag, p.to), bend);
      }
      case 6: {
        const Place p = place();
        const std::uint32_t operation = what & 0x20 ? 2 : in_.octet() & 0x0f;
        return send(test::untagged(control(false, true, 10).c_str(), 0, 1, msn_read_++,
                                   test::octets("", operation, std::uint32_t{7}, p.stag, p.to, std::uint64_t{1},
                                                std::uint64_t{0}, std::uint64_t{0}, ~std::uint64_t{0})),
                    bend);
      }
      case 7:
        return send(test::untagged(control(false, true, what & 0x20 ? 9 : 8).c_str(), 0, 0, msn_send_++, in_bytes(8)),
                    bend);
      case 8:
        return send(test::untagged(control(false, true, 7).c_str(), 0, 2, 1, in_bytes(in_.octet() % 64)), bend);
      case 9:  // any segment at all
        return send(in_bytes(in_.octet()), bend);
      case 10: {  // any octets of the stream
        const Bytes octets = in_bytes(in_.octet());
        bend.frame(peer_);
        return stream_->send(octets);
      }
      case 11: {  // two FPDUs, the second ahead of the first
        const Place p = place();
        const Bytes first = stream_->fpdu(bend.ulpdu(test::tagged("C140", p.stag, p.to, payload(200))));
        const Bytes second = bend.fpdu(stream_->fpdu(test::tagged("C140", p.stag, p.to, payload(200))));
        stream_->send_ahead(first, second);
        if (what & 0x20) peer_.wait_us(1);
        stream_->send(first);
        return stream_->send(second);
      }
      case 12:
        return peer_.send_frame(in_bytes(14 + in_.octet()));
      case 13:
        return peer_.wait_us(in_.octet());
      case 14:
        return post();
      case 15:
        return manage();
      case 16:
        return take_answers();
      case 17:
        if (ended_) return;
        ended_ = what & 0x20;
        bend.frame(peer_);
        return ended_ ? stream_->send_fin() : stream_->send_last(stream_->fpdu(test::tagged("C140", 0, 0)));
      default:
        return take_answers();
    }
  }

  // The host program posts a request.
  void post() {
    host::SendWr wr;
    const std::uint8_t what = in_.octet();
    constexpr abi::WrOpcode kOps[] = {abi::WrOpcode::kSend, abi::WrOpcode::kRdmaWrite, abi::WrOpcode::kRdmaRead,
                                      abi::WrOpcode::kFetchAdd};
    wr.opcode = kOps[what % 4];
    wr.send_flags = abi::kWqeSignaled;
    wr.num_sge = 1;
    const ChipBench::Grant& g = bench_.grants[0];
    wr.sg_list[0] = {bench_.arena + g.at, wr.opcode == abi::WrOpcode::kFetchAdd ? 8u : 1 + in_.octet() * 3u,
                     g.region->lkey()};
    wr.remote_addr = 0x1000;
    wr.rkey = 0x1234;
    bench_.on_host([&] { bench_.qp->post_send(wr); });
  }
  void manage() {
    const std::uint8_t what = in_.octet();
    bench_.on_host([&] {
      host::QpModifyAttr attr;
      attr.to = abi::QpState::kError;
      switch (what % 3) {
        case 0:
          return void(bench_.driver().disconnect(*bench_.qp));
        case 1:
          return bench_.driver().modify_qp(*bench_.qp, attr);
        default:
          return bench_.driver().query_qp(*bench_.qp);
      }
    });
  }

  // Reads the chip's output, which must be correct whatever the chip received, and answers its requests.
  void take_answers() {
    while (stream_->negotiated() && stream_->unread() >= 8) {
      const Bytes ulpdu = stream_->receive();
      if (ulpdu.size() < 18) return;
      const unsigned opcode = ulpdu[1] & 0x0f;
      if (opcode == 1 && ulpdu.size() == 46) answer_read(ulpdu);
      if (opcode == 10) answer_atomic(ulpdu);
    }
  }
  void answer_read(const Bytes& request) {
    const std::uint8_t how = in_.octet();
    const Bend bend(in_);
    std::uint32_t bytes = load_be32(&request[30]);
    if (how & 1) bytes += static_cast<std::int8_t>(in_.octet());
    const std::uint64_t to = load_be64(&request[22]) + (how & 2 ? in_.octet() : 0);
    send(test::tagged(control(true, (how & 4) == 0, 2).c_str(), load_be32(&request[18]), to, Bytes(bytes % 1400, how)),
         bend);
  }
  void answer_atomic(const Bytes& request) {
    const Bend bend(in_);
    send(test::untagged(control(false, true, 11).c_str(), 0, 3, msn_response_++,
                        test::octets("", load_be32(&request[22]), std::uint64_t{5})),
         bend);
  }

  // Ends the stream, in whatever state it is: in order, or at once.
  void end() {
    if ((in_.octet() & 1) && !ended_) {
      stream_->send_fin();
      stream_->receive_fin();
    }
    stream_->abort();
  }

  static constexpr std::uint32_t kPeer = 0x0a000002;
  static constexpr std::uint16_t kPort = 7471;
  ChipBench& bench_;
  RawPeer& peer_;
  Input in_;
  RawStream* stream_ = nullptr;
  std::uint32_t msn_send_ = 1, msn_read_ = 1, msn_response_ = 1, offset_ = 0;
  bool ended_ = false;
};

void chip(ByteSpan octets) {
  static ChipBench* const bench = new ChipBench([](ChipBench& b, Input in) { Session(b, in).run(); });  // never ends
  bench->play(octets);
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {{"chip", chip}};
  return all;
}

}  // namespace rnic::fuzz
