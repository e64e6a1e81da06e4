#include "model/capture/sctp_reassembly.h"

#include <iterator>

#include <fmt/format.h>

namespace rnic::capture {

using wire::SctpData;

void SctpReassembly::data(std::uint8_t flags, const SctpData& header, ByteSpan user_data, std::size_t missing,
                          const Place& at, const Deliver& deliver) {
  constexpr std::uint8_t kWhole = SctpData::kBegin | SctpData::kEnd;
  const std::int64_t position = tsns_.position(header.tsn);
  if (!tsns_.take(position)) return;
  if ((flags & kWhole) == kWhole) {
    deliver({at, at, header.stream, header.ppid, (flags & SctpData::kUnordered) != 0, user_data, missing});
    return;
  }
  pieces_.emplace(position, Piece{flags, header, {user_data.begin(), user_data.end()}, missing, at});
  join(position, at, deliver);
}

// The fragments of a message have consecutive TSNs (RFC 9260 section 6.9); B and E mark the first and last.
void SctpReassembly::join(std::int64_t position, const Place& at, const Deliver& deliver) {
  const std::uint8_t flags = pieces_.at(position).flags;
  std::int64_t first = position, last = position;
  const auto after = runs_.find(position + 1);
  if ((flags & SctpData::kEnd) == 0 && after != runs_.end() &&
      (pieces_.at(after->first).flags & SctpData::kBegin) == 0) {
    last = after->second;
    runs_.erase(after);
  }
  if (auto before = runs_.lower_bound(position); (flags & SctpData::kBegin) == 0 && before != runs_.begin()) {
    --before;
    if (before->second == position - 1 && (pieces_.at(before->second).flags & SctpData::kEnd) == 0) {
      first = before->first;
    }
  }
  runs_[first] = last;
  const bool whole =
      (pieces_.at(first).flags & SctpData::kBegin) != 0 && (pieces_.at(last).flags & SctpData::kEnd) != 0;
  if (!whole) return;
  runs_.erase(first);
  assemble(first, last, at, deliver);
}

void SctpReassembly::assemble(std::int64_t first, std::int64_t last, const Place& at, const Deliver& deliver) {
  const auto begin = pieces_.find(first);
  const auto end = std::next(pieces_.find(last));
  const Piece& head = begin->second;
  bool alike = true;
  std::vector<std::uint8_t> octets;
  std::size_t missing = 0;
  for (auto next = begin; next != end; ++next) {
    const Piece& piece = next->second;
    alike = alike && piece.header.stream == head.header.stream && piece.header.ppid == head.header.ppid &&
            ((piece.flags ^ head.flags) & SctpData::kUnordered) == 0;
    if (missing == 0) octets.insert(octets.end(), piece.octets.begin(), piece.octets.end());
    else missing += piece.octets.size();
    missing += piece.missing;
  }
  ++fragmented_;
  if (alike) {
    deliver(
        {head.at, at, head.header.stream, head.header.ppid, (head.flags & SctpData::kUnordered) != 0, octets, missing});
  } else {
    undecoded_.push_back({head.at, fmt::format("{}: TSN {}: the fragments of a message differ in stream, PPID or U",
                                               name_, head.header.tsn)});
  }
  pieces_.erase(begin, end);
}

void SctpReassembly::finish() {
  for (const auto& [first, last] : runs_) {
    const Piece& head = pieces_.at(first);
    undecoded_.push_back({head.at, fmt::format("{}: TSN {}: {} fragments are no whole message", name_, head.header.tsn,
                                               last - first + 1)});
  }
}

}  // namespace rnic::capture
