// What a board says: the five lines of a mismatch, and its report.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/check.h"
#include "model/golden/board.h"
#include "model/wire/ddp.h"
#include "model/wire/fpdu.h"
#include "model/wire/rdmap.h"

namespace rnic::golden {
namespace {

// Whose segment it is: "ULPDU of 1442 octets, Send MSN 12 MO 2884"; empty where the octets do not begin with one.
std::string ulpdu_text(const Record& record) {
  ByteSpan octets(record.octets());
  const std::string_view name = record.shape().name;
  if (name == "fpdu") {
    if (octets.size() < 4 || wire::fpdu_bytes(load_be16(octets.data())) != octets.size()) return "";
    octets = octets.subspan(wire::kUlpduLengthBytes, load_be16(octets.data()));
  } else if (name != "ulpdu") {
    return "";
  }
  std::string text = fmt::format("ULPDU of {} octets", octets.size());
  const auto opcode = [](std::uint8_t rdmap) { return to_string(wire::RdmapControl::opcode(rdmap)); };
  if (const auto untagged = wire::DdpUntaggedView::parse(octets)) {
    const auto& h = untagged->header;
    text += fmt::format(", {} on queue {} MSN {} MO {}", opcode(h.rdmap), h.qn, h.msn, h.mo);
  } else if (const auto tagged = wire::DdpTaggedView::parse(octets)) {
    const auto& h = tagged->header;
    text += fmt::format(", {} to STag {:#x} TO {:#x}", opcode(h.rdmap), h.stag, h.to);
  }
  return text;
}

std::string_view key_name(const Member& key) {
  if (key.name == std::string_view("qpn")) return "QP";
  if (key.name == std::string_view("rqn_number")) return "queue";
  return key.name;
}

}  // namespace

std::string Board::stream_text(const Place& place, const Lane& lane, const Record& record) const {
  const std::string ulpdu = ulpdu_text(record);
  return fmt::format("octet {} of what {}.{} gave{}{}; {} before it were right", lane.octets, rules_.name,
                     ports()[place.port].name, ulpdu.empty() ? "" : ", ", ulpdu, lane.compared);
}

void Board::fail(const Place& place, const std::string& what, const Expected* expected, const Seen* seen,
                 const std::string& differs) {
  PortState& port = ports_[place.port];
  const Lane& lane = port.lanes[place.key];
  const Record& record = expected != nullptr ? expected->record : seen->record;
  const std::string of =
      port.key.empty() ? "" : fmt::format(" of {} {}", key_name(*port.key.back()), place.key & 0xffff'ffff);
  std::string when = expected != nullptr ? fmt::format("cycle {}", expected->accepted) : "nothing that gives it";
  when += seen != nullptr ? fmt::format("; given cycle {}", seen->given) : fmt::format("; not given by cycle {}", now_);
  if (expected != nullptr) {
    const Cycle until = seen != nullptr ? seen->given : now_;
    when += fmt::format(": {} later", until - std::min(until, expected->accepted));
  }
  if (port.latencies.count() != 0)
    when += fmt::format(" ({} to {} before)", port.latencies.min(), port.latencies.max());
  const Cycle from = expected != nullptr ? expected->accepted : seen->given;
  constexpr Cycle kBefore = 32;
  verdict_ =
      fmt::format("{}: {} {}{} {}\n  stream    {}\n  accepted  {}\n  {}\n  see       cycles {} to {}", rules_.name,
                  ports()[place.port].message, lane.compared + 1, of, what, stream_text(place, lane, record), when,
                  !differs.empty()      ? "differs   " + differs
                  : expected != nullptr ? "expected  " + summary(record)
                                        : "seen      " + summary(record),
                  from - std::min(from, kBefore), seen != nullptr ? seen->given : now_);
  go_on();
  RNIC_CHECK(false);
}

void Board::fail_missing(const Place& place) { fail(place, "is missing", find_expected(place), nullptr, ""); }

// An access to memory that should have been another one, if only one is expected.
void Board::fail_too_many(const Place& place) {
  const PortState& port = ports_[place.port];
  const Lane& lane = port.lanes.at(place.key);
  const auto seen =
      std::find_if(lane.seen.begin(), lane.seen.end(), [&](const Seen& each) { return each.number == place.number; });
  if (!port.is_memory || lane.expected.size() != 1) fail(place, "is one too many", nullptr, &*seen, "");
  const Expected& expected = lane.expected.front();
  fail(place, "differs", &expected, &*seen, difference(expected.record, seen->record, beat_bytes_, "tag"));
}

std::string Board::report() const {
  nlohmann::ordered_json all, ports = nlohmann::ordered_json::array();
  std::uint64_t compared = 0;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const PortState& port = ports_[i];
    compared += port.compared;
    if (this->ports()[i].push) {
      ports.push_back({{"name", this->ports()[i].name}, {"accepted", port.accepted}});
      continue;
    }
    std::uint64_t waiting = 0;
    for (const auto& [key, lane] : port.lanes) waiting += lane.expected.size();
    const Latencies& l = port.latencies;
    nlohmann::ordered_json histogram = nlohmann::ordered_json::array();
    for (const auto& [cycles, n] : l.histogram()) histogram.push_back({cycles, n});
    ports.push_back({{"name", this->ports()[i].name},
                     {"compared", port.compared},
                     {"keys", port.lanes.size()},
                     {"expected", waiting},
                     {"latency",
                      {{"min", l.min()},
                       {"mean", l.mean()},
                       {"max", l.max()},
                       {"p50", l.percentile(50)},
                       {"p95", l.percentile(95)},
                       {"p99", l.percentile(99)},
                       {"histogram", histogram}}}});
  }
  all["board"] = rules_.name;
  all["cycle"] = now_;
  all["compared"] = compared;
  if (order_) all["waiting"] = order_->messages();
  all["ports"] = ports;
  all["mismatch"] = verdict_;
  return all.dump(1);
}

}  // namespace rnic::golden
