// Races of the stages of requests, answers and errors.
#include "model/common/bytes.h"
#include "model/golden/abi/rnic_golden_messages.h"
#include "model/golden/order.h"
#include "model/golden/qp_races.h"
#include "model/golden/write_answers.h"

namespace rnic::golden {
namespace {

// A request at IRD, and a response that has left.
class IrrqRaces final : public QpRaces {
 public:
  explicit IrrqRaces(Bench& predictor) : QpRaces(predictor, RNIC_IRRQ_IN) {}
  Shown shown(std::uint32_t port, const Record&) const override {
    return port == RNIC_IRRQ_EVENT ? Shown::kLacks : Shown::kWell;
  }
  // One that is queued shows nothing before its turn.
  bool is_about(const Item& request, const Record& event) const override {
    if (length_.of(request.record) != failed_length_.of(event)) return false;
    const Member* const a = find_member(request.record.shape(), "segment_octets");
    const Member* const b = find_member(event.shape(), "failed_octets");
    for (unsigned i = 0; i < a->count; ++i) {
      if (request.record.value(*a, i) != event.value(*b, i)) return false;
    }
    return true;
  }

 private:
  Field length_{"segment_length"}, failed_length_{"failed_length"};
};

// A response that nothing waits for, and a request.
class ResponseQueueRaces final : public QpRaces {
 public:
  explicit ResponseQueueRaces(Bench& predictor) : QpRaces(predictor, RNIC_RESPONSE_QUEUE_IN) {}
  Shown shown(std::uint32_t port, const Record& given) const override {
    if (port == RNIC_RESPONSE_QUEUE_DMA) return Shown::kWell;
    if (port != RNIC_RESPONSE_QUEUE_EVENT) return Shown::kControl;
    return is_cause(given, 1, 2, 2) ? Shown::kLacks : Shown::kRefused;
  }
  // A write names no queue pair, but it has the value of its response.
  std::uint64_t group_of(std::uint32_t port, const Record& given, const Order& waiting) const override {
    if (port != RNIC_RESPONSE_QUEUE_DMA) return QpRaces::group_of(port, given, waiting);
    if (given.octets().size() != sizeof(std::uint64_t)) return kAllGroups;
    const std::uint64_t value = load_le64(given.octets().data());
    const Item* const response =
        waiting.find([&](const Item& item) { return item.is_message && original_.of(item.record) == value; });
    return response != nullptr ? response->group : kAllGroups;
  }
  bool takes(std::uint32_t port, const Record& record, Cycle) override {
    if (port == RNIC_RESPONSE_QUEUE_WRITTEN) answers_.come(record);
    return port == RNIC_RESPONSE_QUEUE_WRITTEN;
  }
  void gives(std::uint32_t port, const Record&, std::uint64_t, Cycle) override {
    if (port == RNIC_RESPONSE_QUEUE_DMA) answers_.give();
  }
  void matched(std::uint32_t port, std::uint64_t expected, std::uint64_t given) override {
    if (port == RNIC_RESPONSE_QUEUE_DMA) answers_.match(expected, given);
  }
  bool holds() const override { return answers_.wait(); }
  bool waits_for_memory() const override { return answers_.are_open(); }

 private:
  WriteAnswers answers_{predictor_.ports()[RNIC_RESPONSE_QUEUE_WRITTEN]};
  Field original_{"response_original"};
};

// An error, and the end of its queue pair: an error names no use of the number.
class TerminateRaces final : public QpRaces {
 public:
  explicit TerminateRaces(Bench& predictor) : QpRaces(predictor, RNIC_TERMINATE_GENERATOR_IN) {}
  Shown shown(std::uint32_t, const Record&) const override { return Shown::kWell; }

 protected:
  bool is_of_use(const Record&, const Item*) const override { return true; }
};

}  // namespace

std::unique_ptr<Races> irrq_races(Bench& predictor) { return std::make_unique<IrrqRaces>(predictor); }
std::unique_ptr<Races> response_queue_races(Bench& predictor) {
  return std::make_unique<ResponseQueueRaces>(predictor);
}
std::unique_ptr<Races> terminate_races(Bench& predictor) { return std::make_unique<TerminateRaces>(predictor); }

}  // namespace rnic::golden
