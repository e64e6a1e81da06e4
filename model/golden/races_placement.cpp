// Races of ddp_placement.
#include "model/common/bytes.h"
#include "model/golden/abi/rnic_golden_messages.h"
#include "model/golden/order.h"
#include "model/golden/races.h"
#include "model/rnic/context/tables.h"
#include "model/wire/ddp.h"
#include "model/wire/fpdu.h"

namespace rnic::golden {
namespace {

// Segments race with what receive requests, Reads and responses give to their queue pair, with its end, and with the
// end of STags. A segment that waits for a receive request does so as long as host memory takes.
class PlacementRaces final : public Races {
 public:
  using Races::Races;
  void classify(Item& item) const override {
    item.is_message =
        item.table == nullptr && (item.port == RNIC_DDP_PLACEMENT_IN || item.port == RNIC_DDP_PLACEMENT_SCTP_IN);
    if (item.table != nullptr) item.group = is_qp(item) ? item.port : kAllGroups;
    else item.group = is_of_queue(item.port) ? queue_of(item) : qpn_.of(item.record);
  }
  Role role(const Item& control, const Item* message, const Order& waiting) const override {
    if (control.port == RNIC_DDP_PLACEMENT_FLUSH && control.table == nullptr) return Role::kSilences;
    if (control.table == nullptr) return is_needed(control, message, waiting) ? Role::kGives : Role::kFollows;
    const bool valid = valid_.of(control.record) != 0;
    if (!is_qp(control)) return valid ? Role::kOpens : Role::kEnds;
    const bool of_use = message == nullptr ||
                        life_of(static_cast<std::uint32_t>(epoch_.of(control.record))) == life_.of(message->record);
    const auto state = static_cast<QpState>(state_.of(control.record));
    const bool over = state == QpState::kTerminate || state == QpState::kError;
    return valid && of_use && !over ? Role::kOpens : Role::kSilences;
  }
  Shown shown(std::uint32_t port, const Record& given) const override {
    if (port == RNIC_DDP_PLACEMENT_OUT) {
      if (flushed_.of(given) != 0) return Shown::kControl;
      return ended_.of(given) != 0 && given_epoch_.of(given) == 0 ? Shown::kIgnored : Shown::kWell;
    }
    if (port != RNIC_DDP_PLACEMENT_EVENT) return Shown::kNothing;
    const unsigned layer = cause(layer_, given), etype = cause(etype_, given), code = cause(code_, given);
    // A ring that holds less than was announced. A segment that finds its shared queue so is returned.
    if (layer == 0 && etype == 0 && failed_.of(given) == 0) return Shown::kControl;
    const bool lacks = (layer == 1 && etype == 2 && code == 2) || (layer == 0 && etype == 2 && code == 6);
    return lacks ? Shown::kLacks : Shown::kRefused;
  }
  // The end of a stream that is no queue pair's names its flow alone.
  std::uint64_t group_of(std::uint32_t port, const Record& given, const Order& waiting) const override {
    if (port == RNIC_DDP_PLACEMENT_OUT && ended_.of(given) != 0) {
      const Item* const end = waiting.find([&](const Item& item) {
        return item.is_message && ends_.of(item.record) != 0 && flow_.of(item.record) == given_flow_.of(given);
      });
      if (end != nullptr) return end->group;
    }
    return port == RNIC_DDP_PLACEMENT_OUT || port == RNIC_DDP_PLACEMENT_EVENT ? qpn_.of(given) : kAllGroups;
  }
  bool is_patient(const Item& item) const override {
    if (ends_.of(item.record) != 0) return true;
    const Qpn qpn{static_cast<std::uint32_t>(item.group)};
    if (!predictor_.contexts()->has(qpn)) return false;
    const RxRow& row = *predictor_.contexts()->rx_table.peek(qpn.v);
    const bool is_of = row.qp.flow.v == flow_.of(item.record) && life_of(row.qp.epoch) == life_.of(item.record);
    return is_of && row.qp.takes_segments() && !row.current().stopped();
  }
  // A request of a shared queue is taken by the header of a Send, whose payload may wait.
  bool may_precede(std::uint32_t port) const override {
    return port == RNIC_DDP_PLACEMENT_RQE_TAKEN || port == RNIC_DDP_PLACEMENT_SRQ_EVENT;
  }

 private:
  // Of an untagged segment, after its FPDU's length field (RFC 5041 figure 5).
  static constexpr std::size_t kQueueNumberAt = wire::kUlpduLengthBytes + 6, kWithDdpHeader = kQueueNumberAt + 4;
  static bool is_qp(const Item& row) { return row.table->name == std::string_view("qp"); }
  static bool is_of_queue(std::uint32_t port) {
    return port == RNIC_DDP_PLACEMENT_POSTED || port == RNIC_DDP_PLACEMENT_RQE || port == RNIC_DDP_PLACEMENT_SRQ_ARM;
  }
  // A message waits for nothing that came after it, but for what its kind has to have. A doorbell alone is nothing to
  // have: its request has to come, too.
  bool is_needed(const Item& control, const Item* message, const Order& waiting) const {
    if (message == nullptr || control.number < message->number) return true;
    const auto& octets = message->record.octets();
    if (ends_.of(message->record) != 0 || octets.size() < kWithDdpHeader) return false;
    const bool is_tagged = wire::DdpControl::tagged(octets[wire::kUlpduLengthBytes]);
    const bool is_request = !is_tagged && load_be32(octets.data() + kQueueNumberAt) == 1;
    if (control.port == RNIC_DDP_PLACEMENT_READ_ISSUED) return is_tagged;
    if (control.port == RNIC_DDP_PLACEMENT_ANSWERED) return is_request;
    if (is_tagged || is_request) return false;
    if (control.port != RNIC_DDP_PLACEMENT_POSTED) return true;
    return waiting.find([&](const Item& item) {
      return item.table == nullptr && item.port == RNIC_DDP_PLACEMENT_RQE && item.number > control.number &&
             number_.of(item.record) == number_.of(control.record) &&
             shared_.of(item.record) == shared_.of(control.record);
    }) != nullptr;
  }
  static unsigned cause(const Field& field, const Record& event) { return static_cast<unsigned>(field.of(event)); }
  // A shared queue is of all queue pairs.
  std::uint64_t queue_of(const Item& item) const {
    if (item.port == RNIC_DDP_PLACEMENT_SRQ_ARM || shared_.of(item.record) != 0) return kAllGroups;
    return number_.of(item.record);
  }

  Field qpn_{"qpn"}, shared_{"rqn_shared"}, number_{"rqn_number"};
  Field flow_{"flow"}, life_{"life"}, ends_{"ends"};
  Field valid_{"valid"}, state_{"state"}, epoch_{"epoch"}, given_epoch_{"epoch"};
  Field flushed_{"flushed"}, ended_{"ended"}, given_flow_{"flow"}, layer_{"cause_layer"}, etype_{"cause_etype"},
      code_{"cause_code"}, failed_{"failed_length"};
};

}  // namespace

std::unique_ptr<Races> placement_races(Bench& predictor) { return std::make_unique<PlacementRaces>(predictor); }

}  // namespace rnic::golden
