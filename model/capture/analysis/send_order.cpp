#include "model/capture/analysis/send_order.h"

namespace rnic::capture {

SendOrder SendOrderReader::read(const Segment& segment) {
  const SendOrder by_time = by_timestamp(segment), by_number = by_id(segment);
  return by_time != SendOrder::kUnknown ? by_time : by_number;
}

// The clock may stand between two segments.
SendOrder SendOrderReader::by_timestamp(const Segment& segment) {
  const auto& timestamps = segment.header.options.timestamps;
  if (!timestamps) return SendOrder::kUnknown;
  const std::int32_t step = newest_timestamp_ ? wire::seq_diff(timestamps->value, *newest_timestamp_) : 1;
  if (step > 0) newest_timestamp_ = timestamps->value;
  if (step == 0) return SendOrder::kUnknown;
  return step > 0 ? SendOrder::kNewest : SendOrder::kOvertaken;
}

// Others of the host count in between. Senders that do not count (random numbers, or 0) show it early.
SendOrder SendOrderReader::by_id(const Segment& segment) {
  constexpr int kMostStep = 1024;
  if (!segment.ipv4_id) return SendOrder::kUnknown;
  const auto step = newest_id_ ? static_cast<std::int16_t>(*segment.ipv4_id - *newest_id_) : std::int16_t{1};
  if (step > 0 || !newest_id_) newest_id_ = segment.ipv4_id;
  counts_ids_ = counts_ids_ && step < kMostStep && step > -kMostStep;
  if (!counts_ids_ || step == 0) return SendOrder::kUnknown;
  return step > 0 ? SendOrder::kNewest : SendOrder::kOvertaken;
}

}  // namespace rnic::capture
