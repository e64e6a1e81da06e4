// One direction of an MPA connection: octets of the TCP stream in, FPDUs out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/capture/undecoded.h"
#include "model/common/bytes.h"
#include "model/wire/fpdu.h"
#include "model/wire/mpa_frame.h"
#include "model/wire/terminate.h"

namespace rnic::capture {

// What was seen after the startup frame.
struct FpduCounts {
  std::map<unsigned, std::uint64_t> by_opcode;
  std::uint64_t payload_bytes = 0;  // of Writes, Read Responses and Sends, without headers
  struct {
    std::uint64_t good = 0, bad = 0, absent = 0;  // absent: CRC was not negotiated
  } crc;
  std::vector<wire::TerminateCause> terminates;
};

class IwarpStream {
 public:
  enum class Phase : std::uint8_t {
    kStartup,      // the startup frame is not complete
    kNegotiating,  // it is; what follows waits for the other side's
    kRdma,         // FPDUs
    kStreaming,    // not MPA, or not any more: the rest is somebody else's
    kBroken,       // a startup frame that cannot be used: told to `undecoded`
  };

  // `name` is the direction in reasons; `undecoded` outlives the stream.
  IwarpStream(wire::MpaFrameKind startup, std::string name, UndecodedList& undecoded)
      : startup_kind_(startup), name_(std::move(name)), undecoded_(undecoded) {}
  IwarpStream(const IwarpStream&) = delete;  // startup_ looks into startup_octets_
  IwarpStream& operator=(const IwarpStream&) = delete;

  void push(ByteSpan octets, std::uint64_t offset);

  const std::string& name() const { return name_; }
  Phase phase() const { return phase_; }
  const std::optional<wire::MpaFrame>& startup() const { return startup_; }

  // Both startup frames are known.
  void enter_rdma(bool markers, bool crc);
  // MPA is over before it began: nothing is decoded and nothing complained about.
  void leave_mpa();

  // At the end of the capture: tells what is left over.
  void finish();

  const FpduCounts& counts() const { return counts_; }

 private:
  void read_startup();
  void read_fpdus();
  std::optional<std::size_t> fpdu_size(ByteSpan stream) const;
  void read_fpdu(ByteSpan fpdu);
  void take_ulpdu(ByteSpan fpdu);
  void check_crc(ByteSpan fpdu);
  void count(ByteSpan ulpdu);
  void tell(const std::string& what);

  const wire::MpaFrameKind startup_kind_;
  const std::string name_;
  UndecodedList& undecoded_;
  Phase phase_ = Phase::kStartup;
  bool markers_ = false, crc_ = false;

  std::vector<std::uint8_t> buffer_;  // not decoded yet; starts with a startup frame or an FPDU
  std::uint64_t buffer_offset_ = 0;   // in the file, of the frame that brought the first octet of the buffer
  std::uint64_t newest_offset_ = 0;   // of the frame that brought the last
  std::vector<std::uint8_t> startup_octets_;
  std::optional<wire::MpaFrame> startup_;
  wire::StreamPosition position_ = 0;  // of the first octet of the buffer
  std::vector<std::uint8_t> ulpdu_;    // of one FPDU, markers removed
  FpduCounts counts_;
};

}  // namespace rnic::capture
