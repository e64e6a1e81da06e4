#include "model/capture/analysis/figures.h"

#include <algorithm>

#include "model/common/check.h"
#include "model/common/nearest_rank.h"

namespace rnic::capture {
namespace {

constexpr FigureInfo kInfo[] = {
    {"syn_to_syn_ack", "ns", Reacts::kReceiver},
    {"syn_ack_to_ack", "ns", Reacts::kReceiver},
    {"mpa_request_to_reply", "ns", Reacts::kReceiver},
    {"ack_delay", "ns", Reacts::kReceiver},
    {"ack_wait", "ns", Reacts::kReceiver},
    {"segments_per_ack", "segments", Reacts::kNone},
    {"gap_to_duplicate_ack", "ns", Reacts::kReceiver},
    {"third_news_to_retransmission", "ns", Reacts::kSender},
    {"loss_to_fast_retransmission", "ns", Reacts::kPath},
    {"loss_to_recovery_retransmission", "ns", Reacts::kPath},
    {"loss_to_timeout", "ns", Reacts::kPath},
    {"rto", "ns", Reacts::kSender},
    {"rto_factor", "%", Reacts::kNone},
    {"ce_to_ece", "ns", Reacts::kReceiver},
    {"ece_to_cwr", "ns", Reacts::kSender},
    {"reduction", "%", Reacts::kNone},
    {"out_of_order_depth", "segments", Reacts::kNone},
    {"lateness", "ns", Reacts::kNone},
    {"read_to_first_response", "ns", Reacts::kReceiver},
    {"read_to_last_response", "ns", Reacts::kReceiver},
    {"atomic_to_response", "ns", Reacts::kReceiver},
    {"zero_window_to_update", "ns", Reacts::kNone},
    {"pause_to_next_frame", "ns", Reacts::kNone},
    {"pause", "quanta", Reacts::kNone},
};
static_assert(sizeof kInfo / sizeof kInfo[0] == kFigures);

}  // namespace

const FigureInfo& info(FigureKind kind) { return kInfo[static_cast<std::size_t>(kind)]; }

void Figures::add(FigureKind kind, std::int64_t value, std::uint64_t frame) {
  if (value < -1) {
    ++negative_;
    return;
  }
  samples_[static_cast<std::size_t>(kind)].push_back({std::max<std::int64_t>(value, 0), frame});
}

Summary Figures::summary(FigureKind kind) const {
  std::vector<Sample> samples = samples_[static_cast<std::size_t>(kind)];
  RNIC_CHECK(!samples.empty());
  const auto less = [](const Sample& a, const Sample& b) { return a.value < b.value; };
  const auto slowest = std::max_element(samples.begin(), samples.end(), less);
  Summary summary{samples.size(), 0, 0, 0, slowest->value, slowest->frame};
  const auto ranked = [&](unsigned per_mille) {
    const auto nth = samples.begin() + static_cast<std::ptrdiff_t>(nearest_rank(samples.size(), per_mille) - 1);
    std::nth_element(samples.begin(), nth, samples.end(), less);
    return nth->value;
  };
  summary.median = ranked(500);
  summary.p99 = ranked(990);
  summary.min = std::min_element(samples.begin(), samples.end(), less)->value;
  return summary;
}

}  // namespace rnic::capture
