#include "model/rnic/llp/sctp/fragments.h"

#include <algorithm>
#include <utility>

#include "model/wire/tcp.h"

namespace rnic::sctp {

using llp::kNil;

Fragments::Fate Fragments::put(FragmentMemory& m, const TsnMap& tsns, Piece&& piece, ByteSpan& message,
                               EndedStreams& ended) {
  const std::uint32_t tsn = piece.tsn, longest = m.limits.message(piece.ppid);
  if (!fits(m, tsns, run_of(m, tsn - 1), piece, run_of(m, tsn + 1))) {
    ended.add(piece.stream);
    pass(m, tsn, ended);
    return Fate::kBroken;
  }
  end_open_neighbours(m, tsn, piece.begins(), piece.ends(), ended);
  insert(m, std::move(piece));
  const Run run = run_of(m, tsn);
  if (run.octets > longest || run.pieces > FragmentLimits::kMessagePieces) {
    end(m, run, ended);
    return Fate::kBroken;
  }
  if (!m.pool[run.first].begins() || !m.pool[run.last].ends()) return Fate::kKept;

  std::uint8_t* to = m.message.data();
  for (std::uint32_t at = run.first, i = 0; i < run.pieces; ++i, at = m.pool[at].next) {
    to = std::copy_n(m.pool[at].data, m.pool[at].bytes, to);
  }
  message = {m.message.data(), run.octets};
  return Fate::kComplete;
}

// A received TSN that is not a piece was a whole message, the end or the beginning of a completed one, or was dropped.
bool Fragments::fits(const FragmentMemory& m, const TsnMap& tsns, const Run& left, const Piece& piece,
                     const Run& right) {
  const bool goes_on_left = left.pieces != 0 ? m.pool[left.last].goes_on_with(piece) : !tsns.has(piece.tsn - 1);
  const bool goes_on_right = right.pieces != 0 ? piece.goes_on_with(m.pool[right.first]) : !tsns.has(piece.tsn + 1);
  return (piece.begins() || goes_on_left) && (piece.ends() || goes_on_right);
}

void Fragments::end_open_neighbours(FragmentMemory& m, std::uint32_t tsn, bool left, bool right, EndedStreams& ended) {
  if (left) {
    const Run run = run_of(m, tsn - 1);
    if (run.pieces != 0 && !m.pool[run.last].ends()) end(m, run, ended);
  }
  if (right) {
    const Run run = run_of(m, tsn + 1);
    if (run.pieces != 0 && !m.pool[run.first].begins()) end(m, run, ended);
  }
}

Fragments::Run Fragments::run_of(const FragmentMemory& m, std::uint32_t tsn) const {
  Run run;
  for (std::uint32_t before = kNil, at = list_.head; at != kNil; before = at, at = m.pool[at].next) {
    const Piece& piece = m.pool[at];
    const bool same = run.pieces != 0 && m.pool[run.last].tsn + 1 == piece.tsn && m.pool[run.last].goes_on_with(piece);
    if (!same) {
      if (run.pieces != 0 && wire::seq_ge(m.pool[run.last].tsn, tsn)) break;
      if (wire::seq_gt(piece.tsn, tsn)) return {};
      run = {before, at, at, 0, 0};
    }
    run.last = at;
    ++run.pieces;
    run.octets += piece.bytes;
  }
  return run.pieces != 0 && wire::seq_ge(m.pool[run.last].tsn, tsn) ? run : Run{};
}

Fragments::Run Fragments::alone(const FragmentMemory& m, std::uint32_t tsn) const {
  std::uint32_t before = kNil, at = list_.head;
  for (; m.pool[at].tsn != tsn; at = m.pool[at].next) before = at;
  return {before, at, at, 1, m.pool[at].bytes};
}

void Fragments::insert(FragmentMemory& m, Piece&& piece) {
  std::uint32_t before = kNil;
  for (std::uint32_t at = list_.head; at != kNil && wire::seq_lt(m.pool[at].tsn, piece.tsn); at = m.pool[at].next) {
    before = at;
  }
  ++pieces_;
  octets_ += piece.bytes;
  const std::uint32_t slot = m.pool.take();
  m.pool[slot] = std::move(piece);
  list_.insert_after(m.pool, before, slot);
}

void Fragments::end(FragmentMemory& m, const Run& run, EndedStreams& ended) {
  ended.add(m.pool[run.first].stream);
  drop(m, run);
}

void Fragments::drop(FragmentMemory& m, const Run& run) {
  std::uint32_t at = run.first;
  for (std::uint32_t i = 0; i < run.pieces; ++i) at = m.pool.give_back(at);
  (run.before == kNil ? list_.head : m.pool[run.before].next) = at;
  if (at == kNil) list_.tail = run.before;
  pieces_ -= run.pieces;
  octets_ -= run.octets;
}

std::optional<std::uint32_t> Fragments::drop_last(FragmentMemory& m, std::uint32_t tsn) {
  if (empty() || wire::seq_le(m.pool[list_.tail].tsn, tsn)) return std::nullopt;
  const std::uint32_t dropped = m.pool[list_.tail].tsn;
  drop(m, alone(m, dropped));
  return dropped;
}

void Fragments::clear(FragmentMemory& m) {
  list_.clear(m.pool);
  pieces_ = octets_ = 0;
}

}  // namespace rnic::sctp
