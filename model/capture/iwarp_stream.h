// One direction of an MPA connection as `decode` counts it: octets of the TCP stream in, FPDUs counted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/capture/ddp_counts.h"
#include "model/capture/ddp_segment.h"
#include "model/capture/mpa_stream.h"
#include "model/capture/undecoded.h"
#include "model/common/bytes.h"

namespace rnic::capture {

// Counts of what follows the startup frame.
struct FpduCounts : DdpCounts {
  struct {
    std::uint64_t good = 0, bad = 0, absent = 0;  // absent: CRC was not negotiated
  } crc;
};

enum class CrcResult : std::uint8_t { kRight, kWrong, kOff };  // kOff: CRC was not negotiated

struct SeenFpdu {
  Place first, last;                    // of the frames that brought its first and its last octet
  std::optional<SegmentHeader> header;  // none if the ULPDU is too short for it
  std::size_t payload_bytes = 0;        // without a header the whole ULPDU
  CrcResult crc = CrcResult::kOff;
  std::optional<std::uint16_t> markers;  // in the FPDU; none if the stream has no markers
};

class IwarpStream {
 public:
  using Phase = MpaStream::Phase;
  using Observe = std::function<void(const SeenFpdu&)>;

  // `name` is what reasons call the direction; `undecoded` outlives the stream. `observe` may be empty.
  IwarpStream(wire::MpaFrameKind startup, std::string name, UndecodedList& undecoded, Observe observe = nullptr)
      : name_(std::move(name)), undecoded_(undecoded), observe_(std::move(observe)), mpa_(startup) {}

  // `at` is that of the frame.
  void push(ByteSpan octets, const Place& at);

  const std::string& name() const { return name_; }
  Phase phase() const { return mpa_.phase(); }
  std::optional<wire::MpaFrame> startup() const { return mpa_.startup(); }

  // Both startup frames are known.
  void enter_rdma(bool markers, bool crc);
  // MPA ended before full operation: the rest is neither decoded nor reported.
  void leave_mpa() { mpa_.leave_mpa(); }

  // At the end of the capture: reports octets left over.
  void finish();

  const FpduCounts& counts() const { return counts_; }

 private:
  void read_fpdus();
  void read_fpdu(const wire::FpduView& fpdu);
  CrcResult check_crc(const wire::FpduView& fpdu);
  std::uint16_t check_markers(const wire::FpduView& fpdu);
  void show(CrcResult crc, std::optional<std::uint16_t> markers) const;
  void tell(const std::string& what);

  const std::string name_;
  UndecodedList& undecoded_;
  const Observe observe_;
  MpaStream mpa_;
  bool crc_ = false, markers_ = false;
  Place rest_;                       // of the frame that brought the first unused octet
  Place newest_;                     // of the frame that brought the last octet
  std::vector<std::uint8_t> ulpdu_;  // of one FPDU, markers removed
  FpduCounts counts_;
};

}  // namespace rnic::capture
