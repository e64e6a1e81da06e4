#include "model/golden/board.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/check.h"
#include "model/config/overlay.h"
#include "model/config/resolve.h"
#include "model/golden/abi/rnic_golden.h"
#include "model/golden/kinds.h"
#include "model/golden/settings.h"

namespace rnic::golden {
namespace {

// Of one key. A device that is right holds much less.
constexpr std::size_t kMostWaiting = 1024, kMostWeight = 4u << 20;

const Kind& kind_of(const BoardRules& rules) {
  for (const Kind& kind : kinds()) {
    if (std::string_view(kind.name) == rules.stage) return kind;
  }
  throw std::logic_error(std::string("a board of no kind: ") + rules.stage);
}

// The board's own settings, which are taken out of those of its stage.
BoardConfig own_settings(nlohmann::json& settings) {
  nlohmann::json own = nlohmann::json::object();
  for (const FieldInfo& field : list_fields<BoardConfig>()) {
    if (!settings.contains(field.key)) continue;
    own[field.key] = settings[field.key];
    settings.erase(field.key);
  }
  try {
    return resolve<BoardConfig>(Overlay::from_json(own, "settings"));
  } catch (const ConfigError& error) {
    throw Error(RNIC_E_SETTINGS, error.what());
  }
}

// Memory for what is taken from the predictor.
class Room {
 public:
  explicit Room(const Shape& shape) : image_(std::max(shape.layout->size, sizeof(MarksHead))) {
    MarksHead head{};
    head.size = static_cast<std::uint32_t>(shape.layout->size);
    head.octets = octets().data();
    head.octets_room = static_cast<std::uint32_t>(octets().size());
    head.marks = marks().data();
    head.marks_room = static_cast<std::uint32_t>(marks().size());
    const std::size_t used = shape.marks ? offsetof(MarksHead, marks_room) + 4 : shape.octets ? sizeof(OctetsHead) : 4;
    std::memcpy(image_.data(), static_cast<const void*>(&head), std::min(used, image_.size()));
  }
  void* get() { return image_.data(); }

 private:
  static std::vector<std::uint8_t>& octets() {
    thread_local std::vector<std::uint8_t> memory(1 << 17);
    return memory;
  }
  static std::vector<Mark>& marks() {
    thread_local std::vector<Mark> memory(1 << 12);
    return memory;
  }
  std::vector<std::uint8_t> image_;
};

}  // namespace

Board::Board(const BoardRules& rules, std::string_view settings) : rules_(rules), kind_(kind_of(rules)) {
  nlohmann::json json = parse_settings(settings);
  config_ = own_settings(json);
  kind_settings_ = json.dump();
  open_bench();
  if (const auto beat = json.find("beat_bytes"); beat != json.end()) beat_bytes_ = beat->get<unsigned>();
}

void Board::open_bench() {
  bench_.reset();
  bench_ = kind_.make(kind_settings_);
  ports_.resize(ports().size());
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    ports_[i].key = find_member(*ports()[i].shape, rules_.key);
    RNIC_CHECK(ports_[i].key != nullptr || *rules_.key == 0);
  }
}

void Board::go_on() {
  if (!verdict_.empty()) throw Error(RNIC_E_MISMATCH, verdict_);
}

std::uint64_t Board::key_of(std::uint32_t port, const Record& record) const {
  const Member* const key = ports_[port].key;
  return key == nullptr ? 0 : record.value(*key);
}

// Time has come to `cycle`. What was given in an earlier one, and not expected by its end, is too much; what is
// expected for too long is missing.
void Board::pass(Cycle cycle) {
  go_on();
  if (cycle < now_) {
    throw Error(RNIC_E_TIME, fmt::format("cycle {} comes after cycle {}; the calls of a board are in the order of time",
                                         cycle, now_));
  }
  if (cycle == now_) return;
  now_ = cycle;
  for (const Place& place : ahead_) {
    const Lane& lane = ports_[place.port].lanes[place.key];
    if (!lane.seen.empty()) fail(place, "is one too many", nullptr, &lane.seen.front(), "");
  }
  ahead_.clear();
  for (; !due_.empty(); due_.pop_front()) {
    const Place& place = due_.front();
    const Lane& lane = ports_[place.port].lanes[place.key];
    if (lane.compared > place.number) continue;
    if (now_ - place.since <= config_.max_latency) break;
    if (now_ - place.since - stalls_.since(place.since) <= config_.max_latency) break;
    fail(place, "is missing", &lane.expected.front(), nullptr, "");
  }
  stalls_.forget_before(due_.empty() ? now_ : due_.front().since);
}

void Board::accepted(std::uint32_t port, const void* message, Cycle cycle) {
  pass(cycle);
  ports()[port].push(message);
  ++ports_[port].accepted;
  collect(cycle);
}

// What the predictor gives for all that it was given.
void Board::collect(Cycle accepted) {
  for (std::uint32_t port = 0; port < ports_.size(); ++port) {
    if (!ports()[port].take) continue;
    const Shape& shape = *ports()[port].shape;
    for (Room room(shape); ports()[port].take(room.get());) {
      Record record(shape, room.get());
      const std::uint64_t key = key_of(port, record);
      Lane& lane = ports_[port].lanes[key];
      due_.push_back({port, key, lane.compared + lane.expected.size(), accepted});
      lane.weight += record.weight();
      lane.expected.push_back({std::move(record), accepted});
      compare(port, key, lane);
    }
  }
}

void Board::given(std::uint32_t port, const void* message, Cycle cycle) {
  Record record(*ports()[port].shape, message);
  pass(cycle);
  const std::uint64_t key = key_of(port, record);
  Lane& lane = ports_[port].lanes[key];
  lane.weight += record.weight();
  lane.seen.push_back({std::move(record), cycle});
  compare(port, key, lane);
  if (!lane.seen.empty()) ahead_.push_back({port, key, lane.compared, cycle});
}

void Board::compare(std::uint32_t port, std::uint64_t key, Lane& lane) {
  for (; !lane.expected.empty() && !lane.seen.empty(); lane.expected.pop_front(), lane.seen.pop_front()) {
    const Expected& expected = lane.expected.front();
    const Seen& seen = lane.seen.front();
    const std::string differs = difference(expected.record, seen.record, beat_bytes_);
    if (!differs.empty()) fail({port, key, lane.compared, expected.accepted}, "differs", &expected, &seen, differs);
    ++lane.compared;
    ++ports_[port].compared;
    ports_[port].latencies.add(seen.given - std::min(seen.given, expected.accepted));
    lane.octets += expected.record.octets().size();
    lane.weight -= expected.record.weight() + seen.record.weight();
  }
  check_weight(port, key, lane);
}

void Board::check_weight(std::uint32_t port, std::uint64_t key, const Lane& lane) {
  if (std::max(lane.expected.size(), lane.seen.size()) <= kMostWaiting && lane.weight <= kMostWeight) return;
  if (lane.expected.empty()) fail({port, key, lane.compared, now_}, "is one too many", nullptr, &lane.seen.front(), "");
  fail({port, key, lane.compared, now_}, fmt::format("is missing, and {} after it", lane.expected.size() - 1),
       &lane.expected.front(), nullptr, "");
}

// What was accepted before has the row as it was.
void Board::row(const Table& table, std::uint32_t index, const void* row, Cycle cycle) {
  pass(cycle);
  table.set(index, row);
  collect(cycle);
}

void Board::stalled(Cycle from, Cycle to) {
  go_on();
  if (to < from) throw Error(RNIC_E_TIME, fmt::format("the range of cycles from {} to {} has none", from, to));
  stalls_.add(from, to);
  pass(std::max(to, now_));
}

void Board::end(Cycle cycle) {
  pass(cycle);
  for (const Place& place : ahead_) {
    const Lane& lane = ports_[place.port].lanes[place.key];
    if (!lane.seen.empty()) fail(place, "is one too many", nullptr, &lane.seen.front(), "");
  }
  for (const Place& place : due_) {
    const Lane& lane = ports_[place.port].lanes[place.key];
    if (lane.compared <= place.number) fail(place, "is missing", &lane.expected.front(), nullptr, "");
  }
  if (std::any_of(ports_.begin(), ports_.end(), [](const PortState& port) { return port.compared != 0; })) return;
  std::uint64_t accepted = 0;
  for (const PortState& port : ports_) accepted += port.accepted;
  verdict_ =
      fmt::format("{}: nothing was compared: the device accepted {} transactions and gave none", rules_.name, accepted);
  go_on();
}

// Nothing that was accepted before is expected after it. What was compared and counted remains.
void Board::reset(Cycle cycle) {
  pass(cycle);
  open_bench();
  for (PortState& port : ports_) {
    for (auto& [key, lane] : port.lanes) {
      lane.expected.clear();
      lane.seen.clear();
      lane.weight = 0;
    }
  }
  due_.clear();
  ahead_.clear();
}

}  // namespace rnic::golden
