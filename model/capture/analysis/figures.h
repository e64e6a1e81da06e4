// What is measured for each direction of a connection: samples, each with the frame that ends it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rnic::capture {

enum class FigureKind : std::uint8_t {
  kSynToSynAck,
  kSynAckToAck,
  kMpaRequestToReply,
  kAckDelay,
  kAckWait,
  kSegmentsPerAck,
  kGapToDuplicateAck,
  kThirdNewsToRetransmission,
  kLossToFast,
  kLossToRecovery,
  kLossToTimeout,
  kRto,
  kRtoFactor,
  kCeToEce,
  kEceToCwr,
  kReduction,
  kOutOfOrderDepth,
  kLateness,
  kReadToFirstResponse,
  kReadToLastResponse,
  kAtomicToResponse,
  kZeroWindow,
  kPauseToFrame,
  kPauseQuanta,
};
inline constexpr std::size_t kFigures = static_cast<std::size_t>(FigureKind::kPauseQuanta) + 1;

// Whose time a figure is. kPath: that of both and the way there and back. kNone: it is no time of a side.
enum class Reacts : std::uint8_t { kSender, kReceiver, kPath, kNone };

struct FigureInfo {
  std::string_view name, unit;
  Reacts reacts;  // the sender or the receiver of the direction's data
};
const FigureInfo& info(FigureKind kind);

struct Summary {
  std::uint64_t count = 0;
  std::int64_t min = 0, median = 0, p99 = 0, max = 0;
  std::uint64_t slowest_frame = 0;  // the first one of the largest value
};

class Figures {
 public:
  // A time below 0 is counted apart: the capture has its frames in another order. Down to -1 it is rounding.
  void add(FigureKind kind, std::int64_t value, std::uint64_t frame);
  bool has(FigureKind kind) const { return !samples_[static_cast<std::size_t>(kind)].empty(); }
  // Percentiles are the smallest samples with so many at or below them. There is at least one sample.
  Summary summary(FigureKind kind) const;
  std::uint64_t negative() const { return negative_; }

 private:
  struct Sample {
    std::int64_t value;
    std::uint64_t frame;
  };
  std::array<std::vector<Sample>, kFigures> samples_;
  std::uint64_t negative_ = 0;
};

}  // namespace rnic::capture
