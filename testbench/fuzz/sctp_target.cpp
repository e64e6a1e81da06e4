// Packets for one association and its endpoint, in any state.
#include <array>
#include <optional>

#include "model/rnic/llp/sctp/setup.h"
#include "testbench/fuzz/input.h"
#include "testbench/fuzz/parsers.h"

namespace rnic::fuzz {
namespace {

using sctp::Setup;
using wire::SctpChunkType;

constexpr std::uint64_t kSeed = 1;
constexpr std::uint32_t kPeer = 0x0a000001;
constexpr std::size_t kPacketBytes = 1480;

class Bench {
 public:
  void step(Input& input) {
    now_ += input.number(2);
    const std::uint8_t what = input.octet();
    switch (what % 8) {
      case 0:
        if (association_.state() == Setup::State::kClosed) association_.connect({kPeer, 1, 2}, now_, out_);
        break;
      case 1:
        association_.shutdown({static_cast<std::uint32_t>(input.number(1)), (what & 8) != 0}, now_, out_);
        break;
      case 2:
        association_.proceed({static_cast<std::uint32_t>(input.number(1)), (what & 8) != 0}, now_, out_);
        break;
      case 3:
        association_.expired(static_cast<sctp::SetupTimer>(what / 8 % sctp::kSetupTimers), now_, out_);
        break;
      case 4:
        if ((what & 0xf8) == 0xf8) association_.abort(wire::SctpCause::kUserInitiatedAbort, input.take(4), out_);
        else echo_cookie();
        break;
      default:
        receive(input, what);
    }
    check();
  }

 private:
  // The tag is correct more often than by chance.
  void receive(Input& input, std::uint8_t what) {
    const std::uint32_t tags[] = {association_.terms().own_tag, association_.terms().own_tag, 0,
                                  association_.terms().peer_tag};
    wire::SctpHeader header{2, 1, tags[what >> 6]};
    std::array<std::uint8_t, 2048> octets;
    std::size_t bytes = header.emit(octets);
    for (const std::uint8_t octet : input.take(input.number(1) * ((what & 32) != 0 ? 4 : 1))) octets[bytes++] = octet;
    deliver({octets.data(), bytes});
  }
  // Returns the cookie of the endpoint's last INIT ACK.
  void echo_cookie() {
    if (cookie_bytes_ == 0) return;
    std::array<std::uint8_t, 256> octets;
    wire::SctpWriter writer(octets, {2, 1, cookie_tag_});
    writer.begin(SctpChunkType::kCookieEcho);
    writer.put(ByteSpan(cookie_.data(), cookie_bytes_));
    deliver({octets.data(), writer.finish()});
  }
  void deliver(ByteSpan packet) {
    const auto received = sctp::Received::parse(packet, kPeer);
    require(received.has_value(), "a whole header is refused");
    if (association_.state() != Setup::State::kClosed) {
      association_.receive(*received, now_, out_);
    } else if (const auto cookie = endpoint_.receive(*received, true, now_, out_)) {
      association_.accept(*cookie, *received, now_, out_);
      require(association_.state() == Setup::State::kEstablished || out_.events() > 1, "accepted, but not up");
    }
  }
  void check() {
    const ByteSpan packet = out_.packet();
    require(packet.size() <= kPacketBytes && packet.size() % wire::kSctpAlign == 0, "the length of a packet");
    if (packet.empty()) return;
    const auto header = wire::SctpHeader::parse(packet);
    wire::SctpChunks chunks(packet.subspan(wire::SctpHeader::kBytes));
    std::size_t count = 0;
    bool alone = false;
    while (const auto chunk = chunks.next()) {
      ++count;
      require(chunk->type != SctpChunkType::kData && chunk->type != SctpChunkType::kSack, "DATA or SACK is sent");
      require(chunk->type != SctpChunkType::kCookieAck || count == 1, "COOKIE ACK is not the first");
      require(chunk->type != SctpChunkType::kCookieEcho || count == 1, "COOKIE ECHO is not the first");
      alone = alone || chunk->type == SctpChunkType::kInit || chunk->type == SctpChunkType::kInitAck ||
              chunk->type == SctpChunkType::kShutdownComplete;
      if (chunk->type == SctpChunkType::kInitAck) keep_cookie(chunk->value);
    }
    require(count != 0 && !chunks.malformed(), "a malformed packet is sent");
    require(!alone || count == 1, "a chunk that travels alone is bundled");
    require(header->src_port == 1 && header->dst_port == 2, "ports");
  }
  void keep_cookie(ByteSpan value) {
    const auto view = sctp::InitView::parse(value);
    require(view && view->has_cookie && view->init.initiate_tag != 0, "an INIT ACK that nobody takes");
    cookie_tag_ = view->init.initiate_tag;
    cookie_bytes_ = view->cookie.size();
    require(cookie_bytes_ <= cookie_.size(), "a long cookie");
    for (std::size_t i = 0; i < cookie_bytes_; ++i) cookie_[i] = view->cookie[i];
  }

  sctp::Endpoint endpoint_{SctpConfig{}, 1'000'000, kPacketBytes, kSeed};
  Setup association_{endpoint_};
  sctp::Outcome out_;
  Cycle now_ = 1;
  std::uint32_t cookie_tag_ = 0;
  std::size_t cookie_bytes_ = 0;
  std::array<std::uint8_t, 128> cookie_{};
};

}  // namespace

void sctp_setup(ByteSpan octets) {
  Bench bench;
  for (Input input(octets); !input.empty();) bench.step(input);
}

}  // namespace rnic::fuzz
