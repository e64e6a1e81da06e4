// What a connection received in order: for the firmware, which reads it, or for the deframer, to which it leaves (RFC
// 5044 section 7.1: streaming mode, then RDMA mode); and the end of the stream.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/common/bytes.h"
#include "model/rnic/llp/received_octets.h"
#include "model/rnic/messages/datapath.h"

namespace rnic::tcp {

class ReceivedStream {
 public:
  enum class Mode : std::uint8_t { kStreaming, kRdma, kDiscard };

  ReceivedStream()
      : finished_(false),
        fin_to_report_(false),
        reset_to_report_(false),
        released_(false),
        end_sent_(false),
        end_passed_(false) {}

  // ---- Modes

  bool rdma() const { return mode_ == Mode::kRdma; }
  bool discards() const { return mode_ == Mode::kDiscard; }
  // The firmware wants that many octets, once. All three: false if another mode was entered meanwhile.
  bool read(std::uint32_t bytes);
  // Withdraws the read, if the octets have not arrived.
  void unread() { wanted_ = 0; }
  // The rest of the stream leaves to the deframer.
  bool enter_rdma();
  // No more reads: `room` is what was kept. FPDUs are not discarded.
  bool discard(llp::ReceivedPool& pool, std::uint32_t& room);

  // ---- Octets in order that wait

  bool empty() const { return pieces_.empty(); }
  std::uint32_t head() const { return pieces_.head; }  // of them, in the pool
  bool read_pending() const { return wanted_ != 0; }
  std::uint32_t octets(const llp::ReceivedPool& pool) const {
    return pieces_.empty() ? 0 : pool[pieces_.tail].end() - pool[pieces_.head].seq;
  }
  // The latest ones.
  void append(llp::ReceivedPool& pool, llp::ReceivedOctets&& octets);
  const llp::ReceivedOctets& front(const llp::ReceivedPool& pool) const { return pool[pieces_.head]; }
  llp::ReceivedOctets take_front(llp::ReceivedPool& pool);
  // Waiting octets are in host memory: only a header that represents them stays. False if no piece has all of them.
  bool replace(llp::ReceivedPool& pool, std::uint32_t seq, std::uint32_t bytes, BufferRef header,
               std::uint32_t header_bytes);
  // Copies the first ones.
  void take(llp::ReceivedPool& pool, MutableByteSpan to);
  void clear(llp::ReceivedPool& pool) { pieces_.clear(pool); }

  // ---- Offsets in the stream of RDMA mode

  // Octets leave to the deframer: returns the offset of the first one.
  std::uint64_t leave(std::uint32_t bytes) { return std::exchange(offset_, offset_ + bytes); }
  // The offset of the next octet received in order.
  std::uint64_t end(const llp::ReceivedPool& pool) const { return offset_ + octets(pool); }

  // ---- The end. In RDMA mode a beat represents the FIN or RST, so that it passes every stage after the FPDUs.

  // Called for each repetition, too.
  void on_fin() { finished_ = fin_to_report_ = true; }
  // May come after a FIN.
  void on_reset() { reset_to_report_ = true; }
  // The connection is released, except for an end that has not passed.
  void release(llp::ReceivedPool& pool);
  bool released() const { return released_; }
  StreamEnd end_kind() const { return finished_ ? StreamEnd::kInOrder : StreamEnd::kReset; }
  void on_end_sent() { end_sent_ = true; }
  void on_end_passed() { end_passed_ = true; }
  bool end_passed() const { return end_passed_; }
  bool awaits_end() const { return end_sent_ && !end_passed_; }
  // All octets have left, and the beat that represents the FIN or RST is to follow them.
  bool end_due() const {
    return rdma() && empty() && (fin_to_report_ || reset_to_report_) && !end_sent_ && !end_passed_;
  }

  enum class Report : std::uint8_t {
    kNothing,
    kLater,  // in the next cycle
    kOctets,
    kSendEnd,  // nothing yet: the beat that represents the FIN or RST has to leave, behind what is leaving
    kFin,
    kReset,
    kReleased
  };
  // The next report to the owner of the connection. `busy`: octets of this flow are still leaving, or being written
  // early.
  Report next_report(const llp::ReceivedPool& pool, bool busy);
  bool reset_to_report() const { return reset_to_report_; }
  // Octets for the pending read.
  std::uint32_t end_read(const llp::ReceivedPool& pool) { return std::min(octets(pool), std::exchange(wanted_, 0)); }

  static constexpr const char* kMessage = "received_stream";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("offset", 64, m.offset_);
    v("pieces", m.pieces_);
    v("wanted", 32, m.wanted_);
    v("mode", 2, m.mode_);
    visit_bits(v, "finished", 1, bool{m.finished_}, m, [](auto& of, bool value) { of.finished_ = value; });
    visit_bits(v, "fin_to_report", 1, bool{m.fin_to_report_}, m,
               [](auto& of, bool value) { of.fin_to_report_ = value; });
    visit_bits(v, "reset_to_report", 1, bool{m.reset_to_report_}, m,
               [](auto& of, bool value) { of.reset_to_report_ = value; });
    visit_bits(v, "released", 1, bool{m.released_}, m, [](auto& of, bool value) { of.released_ = value; });
    visit_bits(v, "end_sent", 1, bool{m.end_sent_}, m, [](auto& of, bool value) { of.end_sent_ = value; });
    visit_bits(v, "end_passed", 1, bool{m.end_passed_}, m, [](auto& of, bool value) { of.end_passed_ = value; });
  }

 private:
  std::uint64_t offset_ = 0;  // of the next octet that leaves
  llp::SlotList pieces_;
  std::uint32_t wanted_ = 0;
  Mode mode_ = Mode::kStreaming;
  bool finished_ : 1, fin_to_report_ : 1, reset_to_report_ : 1, released_ : 1;
  bool end_sent_ : 1, end_passed_ : 1;
};

}  // namespace rnic::tcp
