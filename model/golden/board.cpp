#include "model/golden/board.h"

#include <algorithm>
#include <cstring>
#include <utility>

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

// The members of the first list that the messages have.
std::vector<const Member*> key_members(const Shape& shape, std::string_view lists) {
  std::vector<const Member*> members;
  for (bool is_there = false; !is_there && !lists.empty();) {
    std::string_view list = lists.substr(0, lists.find('|'));
    lists.remove_prefix(std::min(lists.size(), list.size() + 1));
    members.clear();
    while (!list.empty()) {
      const std::string_view name = list.substr(0, list.find(','));
      list.remove_prefix(std::min(list.size(), name.size() + 1));
      members.push_back(find_member(shape, name));
    }
    is_there = std::find(members.begin(), members.end(), nullptr) == members.end();
    if (!is_there) members.clear();
  }
  return members;
}

bool is_memory_access(const Shape& shape) {
  const std::string_view name = shape.name;
  return name == "dma_write" || name == "dma_read_request";
}

}  // namespace

Board::Board(const BoardRules& rules, std::string_view settings) : rules_(rules), kind_(kind_of(rules)) {
  nlohmann::json json = parse_settings(settings);
  config_ = own_settings(json);
  kind_settings_ = json.dump();
  open_bench();
  if (const auto beat = json.find("beat_bytes"); beat != json.end()) beat_bytes_ = beat->get<unsigned>();
}

void Board::open_bench() {
  races_.reset();
  order_.reset();
  bench_.reset();
  bench_ = kind_.make(kind_settings_);
  if (rules_.races != nullptr) {
    races_ = rules_.races(*bench_);
    order_.emplace(config_.race_window, config_.max_latency);
  }
  ports_.resize(ports().size());
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const Shape& shape = *ports()[i].shape;
    ports_[i].key = key_members(shape, rules_.key);
    ports_[i].is_memory = ports()[i].take != nullptr && is_memory_access(shape);
    RNIC_CHECK(!ports_[i].key.empty() || *rules_.key == 0 || races_);
  }
}

void Board::go_on() {
  if (!verdict_.empty()) throw Error(RNIC_E_MISMATCH, verdict_);
}

std::uint64_t Board::key_of(std::uint32_t port, const Record& record) const {
  std::uint64_t key = 0;
  for (const Member* const member : ports_[port].key) key = key << 32 | record.value(*member);
  return key;
}

// Cycles since then, without those in which an output had no room, or memory had not answered.
Cycle Board::age(Cycle since) const {
  const Cycle all = now_ - std::min(now_, since);
  return all <= config_.max_latency ? all : all - std::min(all, waits_.since(since));
}

// Time has come to `cycle`. What was given in an earlier one, and not expected by its end, is too much, unless
// something waits that may give it; what is expected for too long is missing.
void Board::pass(Cycle cycle) {
  go_on();
  if (cycle < now_) {
    throw Error(RNIC_E_TIME, fmt::format("cycle {} comes after cycle {}; the calls of a board are in the order of time",
                                         cycle, now_));
  }
  if (cycle == now_) return;
  give_up_waiting();
  if (races_ && races_->waits_for_memory()) waits_.add(now_, cycle);
  now_ = cycle;
  while (order_) {
    const auto item = order_->due(now_, stalls_, waits_, *races_);
    if (!item) break;
    feed(*item, nullptr);
  }
  for (; !due_.empty(); due_.pop_front()) {
    const Place& place = due_.front();
    if (find_expected(place) == nullptr) continue;
    if (age(place.since) <= config_.max_latency) break;
    fail_missing(place);
  }
  if (waits_.empty()) return;
  const Cycle oldest = std::min(order_ ? order_->oldest() : kNever, due_.empty() ? now_ : due_.front().since);
  for (Stalls* const ranges : {&stalls_, &waits_}) {
    ranges->forget_before(std::min(oldest, ahead_.empty() ? now_ : ahead_.front().since));
  }
}

// Cycle `now_` is over.
void Board::give_up_waiting() {
  for (const Place& place : std::exchange(before_, {})) {
    if (find_expected(place) != nullptr) fail_missing(place);
  }
  for (const Place& place : std::exchange(ahead_, {})) {
    if (!is_open(place)) continue;
    Lane& lane = ports_[place.port].lanes[place.key];
    const auto seen =
        std::find_if(lane.seen.begin(), lane.seen.end(), [&](const Seen& each) { return each.number == place.number; });
    if (may_wait(place, seen->record)) {
      ahead_.push_back(place);
      continue;
    }
    if (!races_ || !races_->excuses(place.port, seen->record, seen->number)) fail_too_many(place);
    lane.weight -= seen->record.weight();
    lane.seen.erase(seen);
  }
}

// Something waits that may explain it.
bool Board::may_wait(const Place& place, const Record& seen) const {
  return order_ && races_->may_wait(place.port) && age(place.since) <= config_.max_latency &&
         (races_->holds() || order_->holds(races_->group_of(place.port, seen, *order_)) ||
          races_->may_precede(place.port));
}

bool Board::is_open(const Place& seen) const {
  const auto& all = ports_[seen.port].lanes.at(seen.key).seen;
  return std::any_of(all.begin(), all.end(), [&](const Seen& each) { return each.number == seen.number; });
}

const Board::Expected* Board::find_expected(const Place& place) const {
  const auto& all = ports_[place.port].lanes.at(place.key).expected;
  const auto it = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.number >= place.number; });
  return it != all.end() && it->number == place.number ? &*it : nullptr;
}

void Board::accepted(std::uint32_t port, const void* message, Cycle cycle) {
  pass(cycle);
  if (!order_) {
    ports()[port].push(message);
    ++ports_[port].accepted;
    return collect(cycle);
  }
  Record record(*ports()[port].shape, message);
  const bool is_taken = races_->takes(port, record, cycle);
  ++ports_[port].accepted;
  if (is_taken) return collect(cycle);
  add({nullptr, port, std::move(record), cycle});
}

void Board::add(Item item) {
  races_->classify(item);
  order_->add(std::move(item));
  explain_all();
}

// The predictor gets it, and says what has to come. It may refuse the item.
void Board::feed(const Item& item, const Record* given) {
  struct Over {
    Board& board;
    const Item& item;
    ~Over() {
      board.comes_before_ = false;
      board.races_->ends(item);
    }
  } const over{*this, item};
  races_->begins(item, given);
  if (item.table != nullptr) item.table->set(item.port, item.record.structure());
  else ports()[item.port].push(item.record.structure());
  collect(item.cycle);
}

// What is given and not expected: the predictor gets what it may come of, in the order that it shows.
void Board::explain(std::uint32_t port, Lane& lane) {
  while (!lane.seen.empty() && (ports_[port].is_memory || lane.expected.empty())) {
    const Record& given = lane.seen.front().record;
    Shown shown = races_->shown(port, given);
    if (shown == Shown::kNothing) return;
    const std::uint64_t group = races_->group_of(port, given, *order_);
    const Item* const message = order_->oldest_message(group);
    const bool is_refusal = shown == Shown::kLacks || shown == Shown::kRefused;
    if (is_refusal && message != nullptr && !races_->is_about(*message, given)) shown = Shown::kPassed;
    const auto item = order_->next(group, shown, *races_);
    if (!item) return;
    comes_before_ = !ports_[port].is_memory;
    feed(*item, &given);
  }
}

void Board::explain_all() {
  for (std::size_t i = 0; i < ahead_.size(); ++i) {
    const Place place = ahead_[i];
    explain(place.port, ports_[place.port].lanes[place.key]);
  }
}

// What the predictor gives for all that it was given.
void Board::collect(Cycle accepted) {
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t port = 0; port < ports_.size(); ++port) {
      if (!ports()[port].take) continue;
      const Shape& shape = *ports()[port].shape;
      for (Room room(shape); ports()[port].take(room.get());) {
        Record record(shape, room.get());
        again = races_ != nullptr;
        if (!races_ || !races_->keeps(port, record)) expect(port, std::move(record), accepted);
      }
    }
  }
}

void Board::expect(std::uint32_t port, Record record, Cycle accepted) {
  const std::uint64_t key = key_of(port, record);
  Lane& lane = ports_[port].lanes[key];
  const Place place{port, key, lane.expected_n, accepted};
  due_.push_back(place);
  for (std::size_t i = due_.size() - 1; i > 0 && due_[i - 1].since > due_[i].since; --i)
    std::swap(due_[i - 1], due_[i]);
  lane.weight += record.weight();
  lane.expected.push_back({std::move(record), accepted, lane.expected_n++});
  compare(port, key, lane);
  if (comes_before_ && ports_[port].is_memory) before_.push_back(place);
}

void Board::given(std::uint32_t port, const void* message, Cycle cycle) {
  Record record(*ports()[port].shape, message);
  pass(cycle);
  const std::uint64_t key = key_of(port, record);
  Lane& lane = ports_[port].lanes[key];
  const Place place{port, key, lane.seen_n, cycle};
  if (races_) races_->gives(port, record, lane.seen_n, cycle);
  lane.weight += record.weight();
  lane.seen.push_back({std::move(record), cycle, lane.seen_n++});
  compare(port, key, lane);
  if (races_) {
    collect(cycle);  // a comparison may have answered a write
    if (!lane.seen.empty()) explain(port, lane);
  }
  if (!lane.seen.empty() && is_open(place)) ahead_.push_back(place);
}

void Board::compare(std::uint32_t port, std::uint64_t key, Lane& lane) {
  if (ports_[port].is_memory) {
    compare_memory(port, lane);
  } else {
    for (; !lane.expected.empty() && !lane.seen.empty(); lane.expected.pop_front(), lane.seen.pop_front()) {
      const Expected& expected = lane.expected.front();
      const Seen& seen = lane.seen.front();
      const std::string differs = difference(expected.record, seen.record, beat_bytes_);
      if (!differs.empty()) fail({port, key, lane.compared, expected.accepted}, "differs", &expected, &seen, differs);
      passed(port, expected, seen, lane);
      lane.weight -= seen.record.weight();
    }
  }
  check_weight(port, key, lane);
}

void Board::passed(std::uint32_t port, const Expected& expected, const Seen& seen, Lane& lane) {
  ++lane.compared;
  ++ports_[port].compared;
  ports_[port].latencies.add(seen.given - std::min(seen.given, expected.accepted));
  lane.octets += expected.record.octets().size();
  lane.weight -= expected.record.weight();
}

void Board::check_weight(std::uint32_t port, std::uint64_t key, const Lane& lane) {
  if (std::max(lane.expected.size(), lane.seen.size()) <= kMostWaiting && lane.weight <= kMostWeight) return;
  if (lane.expected.empty()) fail({port, key, lane.compared, now_}, "is one too many", nullptr, &lane.seen.front(), "");
  fail({port, key, lane.compared, now_}, fmt::format("is missing, and {} after it", lane.expected.size() - 1),
       &lane.expected.front(), nullptr, "");
}

// What was accepted before has the row as it was, unless it races with it.
void Board::row(const Table& table, std::uint32_t index, const void* row, Cycle cycle) {
  pass(cycle);
  if (order_) return add({&table, index, Record(*table.shape, row), cycle});
  table.set(index, row);
  collect(cycle);
}

void Board::stalled(Cycle from, Cycle to) {
  go_on();
  if (to < from) throw Error(RNIC_E_TIME, fmt::format("the range of cycles from {} to {} has none", from, to));
  stalls_.add(from, to);
  waits_.add(from, to);
  pass(std::max(to, now_));
}

void Board::end(Cycle cycle) {
  pass(cycle);
  while (order_) {
    const auto item = order_->rest(*races_);
    if (!item) break;
    feed(*item, nullptr);
  }
  give_up_waiting();
  for (const Place& place : due_) {
    if (find_expected(place) != nullptr) fail_missing(place);
  }
  for (const Place& place : ahead_) {
    if (is_open(place)) fail_too_many(place);
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
  before_.clear();
}

}  // namespace rnic::golden
