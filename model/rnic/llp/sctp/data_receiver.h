// The receiving half of one association (RFC 9260 section 6): which TSNs were received, the fate of each DATA chunk,
// and what is acknowledged when. It reads no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/common/buffer.h"
#include "model/common/bytes.h"
#include "model/common/cycle.h"
#include "model/rnic/llp/sctp/fragments.h"
#include "model/rnic/llp/sctp/sctp_config.h"
#include "model/rnic/llp/sctp/tsn_map.h"
#include "model/wire/sctp.h"

namespace rnic::sctp {

// Shared by all associations of a chip.
struct ReceiverSettings {
  // ConfigError if the longest message does not fit three quarters of the buffer.
  ReceiverSettings(const SctpConfig& config, std::uint32_t ip_mtu, std::uint32_t ip_header_bytes,
                   std::uint64_t period_ps);

  std::uint32_t tsn_window;   // beyond the cumulative TSN
  std::uint32_t buffer;       // octets: the largest a_rwnd
  std::uint32_t window_step;  // the increase of a_rwnd that warrants a window update
  unsigned sack_every;        // packets with DATA that are acknowledged together
  Cycle sack_delay;           // longest wait of an acknowledgement
  FragmentLimits fragments;
};

enum class DataFate : std::uint8_t {
  kIgnored,        // the association's state accepts no DATA
  kMalformed,      // too short for its header
  kNoUserData,     // ABORT with cause 9
  kDuplicate,      // nothing else happens
  kBeyondWindow,   // not acknowledged
  kNoRoom,         // not acknowledged
  kUnknownStream,  // acknowledged; ERROR with cause 1
  kPiece,          // acknowledged, kept until the message is complete
  kBroken,         // acknowledged; a piece of no message, or of one that is too long
  kMessage,        // for the upper layer: acknowledged if it accepts it
};

struct ReceivedData {
  DataFate fate = DataFate::kIgnored;
  wire::SctpData header;  // of the chunk; unknown if it is ignored or malformed
  bool unordered = false;
  // Of kMessage: a window on the packet, or on memory that the next chunk may overwrite.
  ByteSpan message;
  EndedStreams ended;  // their sessions end, whatever the fate of the chunk itself
  // Pieces beyond it that were evicted for it: they are missing again.
  std::uint32_t given_up = 0;
};

// Its owner passes the chunks of each packet in turn, runs the timer and sends:
//     receiver.begin_packet();
//     for each DATA chunk: receiver.on_data(...), and for a message receiver.accept(...) or receiver.refuse(...)
//     receiver.end_packet(...)
//     if (receiver.sack_owed()) receiver.write_sack(...)
class DataReceiver {
 public:
  static constexpr std::size_t kListedDuplicates = 32;  // between two SACKs; more are not listed

  // How the association's state treats DATA.
  enum class Mode : std::uint8_t {
    kDrop,
    kTake,          // ESTABLISHED, SHUTDOWN-PENDING
    kShutdownSent,  // accepted, and acknowledged by the SHUTDOWN that answers it (section 9.2)
  };

  DataReceiver()
      : first_(true),
        owed_(false),
        data_(false),
        fresh_(false),
        immediate_(false),
        met_gap_(false),
        dropped_(false),
        offers_(false),
        of_pieces_(false) {}

  // A new association, or one that the peer restarted. `streams`: valid ids are below it.
  void start(const ReceiverSettings& s, FragmentMemory& m, std::uint32_t initial_tsn, std::uint16_t streams);
  void set_mode(Mode mode) { mode_ = mode; }
  // Frees what is kept.
  void clear(FragmentMemory& m) { fragments_.clear(m); }

  // ---- A packet

  void begin_packet() {
    data_ = fresh_ = immediate_ = dropped_ = false;
    met_gap_ = tsns_.has_gap();
  }
  // `packet` holds the chunk.
  ReceivedData on_data(const ReceiverSettings& s, FragmentMemory& m, const BufferRef& packet,
                       const wire::SctpChunk& chunk);
  // After each kMessage, before anything else: the upper layer accepts the message, whose octets it holds until
  // consume(), or has no room for it. Then the chunk, or the last of several, counts as never received, and the peer
  // retransmits it.
  void accept(FragmentMemory& m);
  void refuse(FragmentMemory& m);
  // Decides on a SACK.
  void end_packet(const ReceiverSettings& s, Cycle now);

  // ---- Acknowledgements

  // When on_delay_over() is to be called; kNever: not at all.
  Cycle deadline() const { return deadline_; }
  // The delayed-SACK timer expired. Ignored before the deadline: a SACK was sent meanwhile.
  void on_delay_over(Cycle now) {
    if (now < deadline_) return;
    deadline_ = kNever;
    owed_ = true;
  }
  // The upper layer has consumed that many octets of messages. A window update may become due.
  void consume(const ReceiverSettings& s, std::uint32_t octets);

  bool sack_owed() const { return owed_; }
  // A SACK may travel with a packet that is sent anyway.
  bool sack_pending() const { return owed_ || deadline_ != kNever; }
  // Octets of the SACK that write_sack() would write.
  std::size_t sack_bytes(std::size_t room) const;
  // `room`: octets left in the packet, at least kMinSackBytes.
  static constexpr std::size_t kMinSackBytes = wire::SctpChunk::kHeaderBytes + wire::SctpSack::kBytes;
  void write_sack(const ReceiverSettings& s, wire::SctpWriter& to, std::size_t room);
  // A SHUTDOWN was sent, with cumulative_tsn(): it acknowledges like a SACK without gap blocks and duplicates.
  void shutdown_sent();

  // ---- State

  std::uint32_t cumulative_tsn() const { return tsns_.cumulative(); }
  // The a_rwnd of a SACK. Once closed, the window opens by at least a step (section 6.2: no silly window).
  std::uint32_t window(const ReceiverSettings& s) const {
    const std::uint32_t free = free_octets(s);
    return announced_ == 0 && free < s.window_step ? 0 : free;
  }
  const Fragments& fragments() const { return fragments_; }
  // All memory of one association: these, a bit for each TSN of the window, and the pieces within FragmentLimits.
  static constexpr std::size_t context_bytes(std::uint32_t tsn_window) { return sizeof(DataReceiver) + tsn_window / 8; }

 private:
  struct Entries {
    std::size_t blocks = 0, duplicates = 0;
  };
  Entries entries(std::size_t room) const;
  std::uint32_t free_octets(const ReceiverSettings& s) const {
    const std::uint32_t held = unconsumed_ + fragments_.octets();
    return held < s.buffer ? s.buffer - held : 0;
  }
  bool make_room(const ReceiverSettings& s, FragmentMemory& m, std::size_t bytes, bool piece, ReceivedData& data);
  void take(FragmentMemory& m, const BufferRef& packet, const wire::SctpChunk& chunk, ReceivedData& data);
  void take_piece(FragmentMemory& m, const BufferRef& packet, std::uint8_t flags, ByteSpan octets, ReceivedData& data);

  TsnMap tsns_;
  Fragments fragments_;
  Cycle deadline_ = kNever;
  std::uint32_t unconsumed_ = 0;  // octets of messages that the upper layer holds
  std::uint32_t announced_ = 0;   // the latest a_rwnd
  std::uint32_t offered_tsn_ = 0;
  std::uint16_t offered_octets_ = 0, streams_ = 0;
  std::array<std::uint32_t, kListedDuplicates> duplicates_ = {};
  std::uint8_t listed_ = 0;   // valid ones of duplicates_
  std::uint8_t packets_ = 0;  // with DATA, since the last SACK
  Mode mode_ = Mode::kDrop;
  bool first_ : 1;  // no DATA received yet
  bool owed_ : 1;
  // Of the packet: it has DATA, a TSN that was missing, the I bit; it found a gap; a chunk of it was not acknowledged.
  bool data_ : 1, fresh_ : 1, immediate_ : 1, met_gap_ : 1, dropped_ : 1;
  bool offers_ : 1, of_pieces_ : 1;  // a message that is neither accepted nor refused yet
};
static_assert(sizeof(DataReceiver) <= 208, "context of an association in its receiver, without the bits of its TSNs");

}  // namespace rnic::sctp
