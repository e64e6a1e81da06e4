// One direction of an MPA connection: octets of the TCP stream in, the startup frame and then FPDUs out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/bytes.h"
#include "model/wire/fpdu_view.h"
#include "model/wire/mpa_frame.h"

namespace rnic::capture {

class MpaStream {
 public:
  enum class Phase : std::uint8_t {
    kStartup,      // the startup frame is not complete
    kNegotiating,  // it is complete; later octets wait for the other side's startup frame
    kRdma,         // FPDUs
    kStreaming,    // not MPA, or no longer: the rest belongs to the ULP
    kBroken,       // invalid startup frame: see error()
  };

  explicit MpaStream(wire::MpaFrameKind startup) : startup_kind_(startup) {}

  void push(ByteSpan octets);
  Phase phase() const { return phase_; }
  wire::MpaFrameError error() const { return error_; }
  // Octets of the startup frame; 0 until it is complete.
  std::size_t startup_bytes() const { return startup_octets_.size(); }
  std::optional<wire::MpaFrame> startup() const;  // its private data is a view into this stream

  // Both startup frames are known.
  void enter_rdma(bool markers);
  // MPA ended before full operation.
  void leave_mpa();

  // The next complete FPDU; nullopt while there is none. The view lasts until the next push().
  std::optional<wire::FpduView> next_fpdu();
  // After the octets pushed follow `octets` that the capture did not keep. Call it when next_fpdu() finds no more.
  // Returns the FPDU whose beginning is there, if there is one; the view lasts until the next push(). Where the next
  // one begins is known if the rest of this one is all that is missing; otherwise FPDUs are left out up to a push()
  // that begins like one.
  std::optional<wire::FpduView> skip(std::size_t octets);
  bool is_lost() const { return is_lost_; }
  // Octets of the FPDU that skip() returned are still to come.
  bool is_within() const { return to_swallow_ != 0; }
  // position(): octets up to the end of the newest FPDU, startup frame included. rest(): unused octets after it.
  std::uint64_t position() const { return startup_bytes() + fpdu_octets_; }
  std::size_t rest() const { return buffer_.size() - used_; }

 private:
  void read_startup();
  std::size_t skip_startup(std::size_t octets);
  std::optional<wire::FpduView> skip_fpdus(std::size_t octets);
  std::size_t swallow(std::size_t octets);
  void lose(std::size_t octets);
  bool begins_fpdu(ByteSpan octets) const;

  const wire::MpaFrameKind startup_kind_;
  Phase phase_ = Phase::kStartup;
  wire::MpaFrameError error_ = wire::MpaFrameError::kNone;
  bool markers_ = false;
  std::vector<std::uint8_t> startup_octets_;
  std::vector<std::uint8_t> buffer_;  // octets after the startup frame, without those used before the last push
  std::size_t used_ = 0;              // of the buffer
  std::uint64_t fpdu_octets_ = 0;     // used in total
  std::size_t to_swallow_ = 0;        // octets still to come of an FPDU that skip() returned
  bool is_lost_ = false;              // where the next FPDU begins is not known
};

// True if the FPDU's CRC is right.
bool crc_ok(const wire::FpduView& fpdu);

}  // namespace rnic::capture
