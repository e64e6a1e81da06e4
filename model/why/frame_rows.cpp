#include <algorithm>

#include "model/trace/run_database.h"
#include "model/why/rows.h"

namespace rnic::why {

// At once: rules ask for those of many segments, and there is no index.
void Rows::read_frames() {
  reading([&] {
    SqliteStatement row = database_.prepare(
        "SELECT number, time_ps, serial, swallowed, sender, request, offset FROM frames ORDER BY serial, number");
    while (row.step()) {
      const FrameRow frame{row.number(0), time_of(row, 1), row.is_null(2) ? 0 : row.number(2), row.text(3)};
      const std::string sender = row.text(4);
      if (frame.serial == 0) {
        if (!of_router_) of_router_ = frame;
        continue;
      }
      numbers_.try_emplace({sender, frame.serial}, frame.number);
      if (!frame.swallowed.empty()) swallowed_.emplace_back(sender, frame);
      if (row.is_null(5)) continue;
      const auto offset = row.is_null(6) ? std::nullopt : std::optional(row.number(6));
      parts_[{sender, row.number(5), offset}].push_back(frame);
    }
  });
  std::sort(swallowed_.begin(), swallowed_.end(),
            [](const auto& a, const auto& b) { return a.second.number < b.second.number; });
}

const std::vector<FrameRow>& Rows::frames(const std::string& sender, std::uint64_t request,
                                          std::optional<std::uint64_t> offset) const {
  static const std::vector<FrameRow> kNone;
  const auto found = parts_.find({sender, request, offset});
  return found != parts_.end() ? found->second : kNone;
}

std::optional<std::uint64_t> Rows::number(const std::string& sender, std::uint64_t serial) const {
  const auto found = numbers_.find({sender, serial});
  return found != numbers_.end() ? std::optional(found->second) : std::nullopt;
}

std::vector<TcpRow> Rows::tcp_without_messages() const {
  return reading([&] {
    SqliteStatement row = database_.prepare(
        "SELECT number, time_ps, serial, swallowed, sender, request, seq, ack, flags, payload FROM frames WHERE seq IS "
        "NOT NULL AND sender IS NOT NULL AND request IS NOT NULL AND offset IS NULL AND (flags & 2 OR payload > 0) "
        "ORDER BY number");
    std::vector<TcpRow> frames;
    while (row.step()) {
      const FrameRow frame{row.number(0), time_of(row, 1), row.is_null(2) ? 0 : row.number(2), row.text(3)};
      frames.push_back({frame, row.text(4), row.number(5), row.number(6), row.number(7), row.number(8), row.number(9)});
    }
    return frames;
  });
}

const FrameRow* Rows::swallowed(const std::string& to, std::uint64_t from_ps, std::uint64_t to_ps) const {
  for (const auto& [sender, frame] : swallowed_) {
    if (sender != to && frame.ps >= from_ps && frame.ps <= to_ps) return &frame;
  }
  return nullptr;
}

std::optional<std::pair<std::string, FrameRow>> Rows::never_repaired() const {
  const std::pair<std::string, FrameRow>* first = nullptr;
  for (const auto& [part, frames] : parts_) {
    const bool came = std::any_of(frames.begin(), frames.end(), [](const FrameRow& f) { return f.swallowed.empty(); });
    if (came) continue;
    for (const auto& lost : swallowed_) {
      if (lost.second.number != frames.front().number) continue;
      if (first == nullptr || lost.second.number < first->second.number) first = &lost;
    }
  }
  return first != nullptr ? std::optional(*first) : std::nullopt;
}

// Frames of an owner with the same octets leave the buffer in the order in which they came.
std::uint64_t Rows::taken_ps(const std::string& node, std::uint64_t frame) const {
  return reading([&]() -> std::uint64_t {
    SqliteStatement row = database_.prepare(
        "SELECT time_ps FROM (SELECT e.time_ps, row_number() OVER (ORDER BY e.id) AS n FROM events e JOIN frames f ON "
        "f.number = ?1 WHERE e.kind = 'frame_received' AND e.node = ?2 AND e.request IS f.request AND e.offset IS "
        "f.offset) WHERE n = (SELECT count(*) FROM frames g JOIN frames f ON f.number = ?1 WHERE g.sender = f.sender "
        "AND g.request IS f.request AND g.offset IS f.offset AND g.swallowed IS NULL AND g.time_ps <= f.time_ps)");
    row.bind(1, frame);
    row.bind(2, node);
    return row.step() ? time_of(row, 0) : 0;
  });
}

std::optional<ResetRow> Rows::reset_to(const std::string& node, std::uint64_t after_ps, std::uint64_t until_ps) const {
  return reading([&]() -> std::optional<ResetRow> {
    SqliteStatement row = database_.prepare(
        "SELECT number, time_ps, serial, sender FROM frames WHERE flags & 4 AND sender IS NOT ? AND swallowed IS NULL "
        "AND time_ps > ? AND time_ps <= ? ORDER BY number LIMIT 1");
    row.bind(1, node);
    row.bind(2, after_ps);
    row.bind(3, until_ps);
    if (!row.step()) return std::nullopt;
    return ResetRow{{row.number(0), time_of(row, 1), row.is_null(2) ? 0 : row.number(2), {}}, row.text(3)};
  });
}

// By both sequence numbers, as a node's connections number their octets apart from each other.
std::optional<FrameRow> Rows::acknowledgement(const std::string& of, const FrameRow& frame) const {
  return reading([&]() -> std::optional<FrameRow> {
    SqliteStatement row = database_.prepare(
        "SELECT a.number, a.time_ps, a.serial FROM frames f JOIN frames a ON a.sender <> f.sender AND a.number > "
        "f.number AND a.swallowed IS NULL WHERE f.number = ? AND f.sender = ? AND f.seq IS NOT NULL AND "
        "(a.ack - f.seq - f.payload) & 4294967295 < 67108864 AND (a.seq - f.ack) & 4294967295 < 67108864 ORDER BY "
        "a.number LIMIT 1");
    row.bind(1, frame.number);
    row.bind(2, of);
    if (!row.step()) return std::nullopt;
    return FrameRow{row.number(0), time_of(row, 1), row.is_null(2) ? 0 : row.number(2), {}};
  });
}

}  // namespace rnic::why
