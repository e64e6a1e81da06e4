#include "model/cable/fault_model.h"

#include <algorithm>

#include "model/cable/corruption.h"
#include "model/wire/ethernet.h"

namespace rnic {
namespace {

constexpr std::uint32_t kLongestFrame = 16384;
constexpr std::uint64_t kPsPerUs = 1'000'000;

// Random streams.
enum : std::uint64_t { kLoss = 1, kDuplicate, kReorder, kCorrupt, kCorruptRepaired, kBurst, kJitter };
std::uint64_t stream(std::uint64_t seed, std::uint64_t kind) { return mix64(seed ^ mix64(kind)); }

}  // namespace

FaultModel::FaultModel(const FaultConfig& config, const std::string& path, std::uint64_t seed)
    : config_(config),
      loss_(config.loss, path + ".loss", stream(seed, kLoss)),
      duplicate_(config.duplicate, path + ".duplicate", stream(seed, kDuplicate)),
      reorder_(config.reorder, path + ".reorder", stream(seed, kReorder)),
      corrupt_(config.corrupt, path + ".corrupt", stream(seed, kCorrupt)),
      corrupt_repaired_(config.corrupt_repaired, path + ".corrupt_repaired", stream(seed, kCorruptRepaired)),
      burst_(stream(seed, kBurst)),
      jitter_(stream(seed, kJitter)),
      down_us_(config.down_us, path + ".down_us"),
      slow_us_(config.rate.at_us, path + ".rate.at_us"),
      short_us_(config.mtu.at_us, path + ".mtu.at_us"),
      copies_(kLongestFrame) {}

bool FaultModel::harmless() const {
  return loss_.never() && duplicate_.never() && reorder_.never() && corrupt_.never() && corrupt_repaired_.never() &&
         config_.burst.enter_ppm == 0 && config_.delay.ns == 0 && config_.delay.jitter_ns == 0 &&
         config_.rate.mbps == 0 && config_.mtu.bytes == 0 && down_us_.empty();
}

FaultModel::Fate FaultModel::pass(Frame& frame, std::uint64_t& ps) {
  ++counters_.frames;
  if (std::uint64_t* const why = loss(frame, ps)) {
    ++*why;
    return why == &counters_.too_long && config_.mtu.icmp ? Fate::kTooLong : Fate::kLost;
  }
  if (!queued(frame, ps)) return Fate::kLost;
  corrupt(frame);
  delay(ps);
  if (!duplicate_.picks(counters_.frames)) return Fate::kOnce;
  ++counters_.duplicated;
  return Fate::kTwice;
}

std::uint64_t* FaultModel::loss(const Frame& frame, std::uint64_t ps) {
  const bool by_pick = loss_.picks(counters_.frames), by_burst = lost_in_burst();
  const bool by_length = config_.mtu.bytes != 0 && frame.bytes > wire::EthernetHeader::kBytes + config_.mtu.bytes &&
                         short_us_.contains(ps / kPsPerUs);
  if (down_us_.contains(ps / kPsPerUs)) return &counters_.lost_while_down;
  if (by_length) return &counters_.too_long;
  if (by_pick) return &counters_.lost;
  return by_burst ? &counters_.lost_in_bursts : nullptr;
}

bool FaultModel::lost_in_burst() {
  const BurstConfig& c = config_.burst;
  if (c.enter_ppm == 0) return false;
  const bool was_in_burst = in_burst_;
  in_burst_ = in_burst_ ? burst_.below(1'000'000) >= c.leave_ppm : burst_.below(1'000'000) < c.enter_ppm;
  if (in_burst_ && !was_in_burst) ++counters_.bursts;
  return in_burst_ && burst_.below(1'000'000) < c.loss_ppm;
}

// The line serves one frame at a time; the others wait in the queue.
bool FaultModel::queued(const Frame& frame, std::uint64_t& ps) {
  if (config_.rate.mbps == 0) return true;
  const std::uint64_t start_ps = std::max(ps, line_free_ps_);
  if (!slow_us_.contains(ps / kPsPerUs)) {
    ps = start_ps;  // after the frames that still wait
    return true;
  }
  const std::uint64_t waiting_bytes = (start_ps - ps) * config_.rate.mbps / 8'000'000;
  if (waiting_bytes + frame.bytes > config_.rate.queue_bytes) {
    ++counters_.queue_drops;
    return false;
  }
  const std::uint64_t carried_ps = std::uint64_t{frame.bytes} * 8'000'000 / config_.rate.mbps;
  rate_busy_ps_ += carried_ps;
  if (start_ps != line_free_ps_) line_busy_from_ps_ = start_ps;
  ps = line_free_ps_ = start_ps + carried_ps;
  return true;
}

void FaultModel::corrupt(Frame& frame) {
  if (corrupt_.picks(counters_.frames) && flip_bit(frame, copies_, corrupt_.prng())) ++counters_.corrupted;
  if (corrupt_repaired_.picks(counters_.frames) && flip_payload_bit(frame, copies_, corrupt_repaired_.prng())) {
    ++counters_.corrupted_repaired;
  }
}

void FaultModel::delay(std::uint64_t& ps) {
  const DelayConfig& c = config_.delay;
  ps += c.ns * 1000;
  if (c.jitter_ns != 0) ps += jitter_.between(0, c.jitter_ns * 1000);
  ps = newest_ps_ = std::max(ps, newest_ps_);
  if (!reorder_.picks(counters_.frames)) return;
  ++counters_.reordered;
  ps += c.reorder_ns * 1000;
}

}  // namespace rnic
