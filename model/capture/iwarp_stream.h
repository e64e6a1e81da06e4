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
  std::uint64_t cut = 0;  // FPDUs of which the capture kept only the beginning; no CRC counts for them
};

// kOff: CRC was not negotiated. kMissing: the capture kept only the beginning of the FPDU.
enum class CrcResult : std::uint8_t { kRight, kWrong, kOff, kMissing };

struct SeenFpdu {
  Place first, last;                    // of the frames that brought its first and its last octet
  std::optional<SegmentHeader> header;  // none if the ULPDU is too short for it
  std::size_t payload_bytes = 0;        // with what the capture did not keep; without a header the whole ULPDU
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

  // After the octets pushed follow `octets` that the capture did not keep.
  void skip(std::size_t octets);

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
  void check_markers(const wire::FpduView& fpdu);
  void read_cut(const wire::FpduView& fpdu);
  SeenFpdu seen(const wire::FpduView& fpdu, CrcResult crc) const;
  void show_begun();
  void tell(const std::string& what);

  const std::string name_;
  UndecodedList& undecoded_;
  const Observe observe_;
  MpaStream mpa_;
  bool crc_ = false, markers_ = false;
  std::optional<SeenFpdu> begun_;    // its end is missing, and still to come
  std::optional<Place> lost_;        // of the frame from which on an FPDU's header was not kept
  Place rest_;                       // of the frame that brought the first unused octet
  Place newest_;                     // of the frame that brought the last octet
  std::vector<std::uint8_t> ulpdu_;  // of one FPDU, markers removed
  FpduCounts counts_;
};

}  // namespace rnic::capture
