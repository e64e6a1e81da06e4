#include "model/cable/fault_model.h"

#include <algorithm>

#include "model/cable/corruption.h"
#include "model/wire/ethernet.h"

namespace rnic {
namespace {

constexpr std::uint32_t kLongestFrame = 16384;
constexpr std::uint64_t kPsPerUs = 1'000'000;

// Random streams.
enum : std::uint64_t { kLoss = 1, kDuplicate, kReorder, kCorrupt, kCorruptRepaired, kBurst, kJitter, kMark };
std::uint64_t stream(std::uint64_t seed, std::uint64_t kind) { return mix64(seed ^ mix64(kind)); }

}  // namespace

FaultModel::FaultModel(const FaultConfig& config, const std::string& path, std::uint64_t seed)
    : config_(config),
      loss_(config.loss, path + ".loss", stream(seed, kLoss)),
      duplicate_(config.duplicate, path + ".duplicate", stream(seed, kDuplicate)),
      reorder_(config.reorder, path + ".reorder", stream(seed, kReorder)),
      corrupt_(config.corrupt, path + ".corrupt", stream(seed, kCorrupt)),
      corrupt_repaired_(config.corrupt_repaired, path + ".corrupt_repaired", stream(seed, kCorruptRepaired)),
      mark_(config.mark, path + ".mark", stream(seed, kMark)),
      burst_(stream(seed, kBurst)),
      jitter_(stream(seed, kJitter)),
      down_us_(config.down_us, path + ".down_us"),
      slow_us_(config.rate.at_us, path + ".rate.at_us"),
      short_us_(config.mtu.at_us, path + ".mtu.at_us"),
      copies_(kLongestFrame) {}

bool FaultModel::harmless() const {
  return loss_.never() && duplicate_.never() && reorder_.never() && corrupt_.never() && corrupt_repaired_.never() &&
         mark_.never() && config_.burst.enter_ppm == 0 && config_.delay.ns == 0 && config_.delay.jitter_ns == 0 &&
         config_.rate.mbps == 0 && config_.mtu.bytes == 0 && down_us_.empty();
}

CableEvent FaultModel::event(CableEvent::Kind kind, const char* setting, const Frame& frame, std::uint64_t ps) const {
  CableEvent e;
  e.kind = kind;
  e.direction = direction_;
  e.frame = &frame;
  e.ps = ps + propagation_ps_;
  e.text = setting;
  return e;
}

FaultModel::Fate FaultModel::pass(Frame& frame, std::uint64_t& ps) {
  ++counters_.frames;
  if (const Loss* const why = loss(frame, ps)) {
    ++(counters_.*why->counter);
    happened(event(CableEvent::Kind::kLost, why->setting, frame, ps));
    return why == &kTooLong && config_.mtu.icmp ? Fate::kTooLong : Fate::kLost;
  }
  if (!queued(frame, ps)) {
    CableEvent e = event(CableEvent::Kind::kQueueDropped, "rate.queue_bytes", frame, ps);
    e.ps = ps;  // where the queue is
    happened(e);
    return Fate::kLost;
  }
  const std::uint64_t late_ps = delay(ps);
  corrupt(frame, ps);
  mark(frame, ps);
  if (late_ps != 0) {
    CableEvent e = event(CableEvent::Kind::kReordered, "reorder", frame, ps);
    e.late_ns = late_ps / 1000;
    happened(e);
  }
  if (!duplicate_.picks(counters_.frames)) return Fate::kOnce;
  ++counters_.duplicated;
  happened(event(CableEvent::Kind::kDuplicated, "duplicate", frame, ps));
  return Fate::kTwice;
}

const FaultModel::Loss FaultModel::kDown{"down_us", &FaultCounters::lost_while_down},
    FaultModel::kTooLong{"mtu", &FaultCounters::too_long}, FaultModel::kPicked{"loss", &FaultCounters::lost},
    FaultModel::kInBurst{"burst", &FaultCounters::lost_in_bursts};

const FaultModel::Loss* FaultModel::loss(const Frame& frame, std::uint64_t ps) {
  const bool by_pick = loss_.picks(counters_.frames), by_burst = lost_in_burst();
  const bool by_length = config_.mtu.bytes != 0 && frame.bytes > wire::EthernetHeader::kBytes + config_.mtu.bytes &&
                         short_us_.contains(ps / kPsPerUs);
  if (down_us_.contains(ps / kPsPerUs)) return &kDown;
  if (by_length) return &kTooLong;
  if (by_pick) return &kPicked;
  return by_burst ? &kInBurst : nullptr;
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

void FaultModel::corrupt(Frame& frame, std::uint64_t ps) {
  const auto flipped = [&](const BitPlace& place, const char* setting, bool checksum_right) {
    CableEvent e = event(CableEvent::Kind::kCorrupted, setting, frame, ps);
    e.octet = place.octet;
    e.bit = place.bit;
    e.checksum_right = checksum_right;
    happened(e);
  };
  if (corrupt_.picks(counters_.frames)) {
    if (const auto place = flip_bit(frame, copies_, corrupt_.prng())) {
      ++counters_.corrupted;
      flipped(*place, "corrupt", false);
    }
  }
  if (!corrupt_repaired_.picks(counters_.frames)) return;
  if (const auto place = flip_payload_bit(frame, copies_, corrupt_repaired_.prng())) {
    ++counters_.corrupted_repaired;
    flipped(*place, "corrupt_repaired", true);
  }
}

void FaultModel::mark(Frame& frame, std::uint64_t ps) {
  if (!mark_.picks(counters_.frames) || !mark_congestion(frame, copies_)) return;
  ++counters_.marked;
  happened(event(CableEvent::Kind::kMarked, "mark", frame, ps));
}

std::uint64_t FaultModel::delay(std::uint64_t& ps) {
  const DelayConfig& c = config_.delay;
  ps += c.ns * 1000;
  if (c.jitter_ns != 0) ps += jitter_.between(0, c.jitter_ns * 1000);
  ps = newest_ps_ = std::max(ps, newest_ps_);
  if (!reorder_.picks(counters_.frames)) return 0;
  ++counters_.reordered;
  ps += c.reorder_ns * 1000;
  return c.reorder_ns * 1000;
}

}  // namespace rnic
