// Races of the stages whose messages are of queue pairs.
#pragma once

#include <string_view>

#include "model/golden/races.h"

namespace rnic::golden {

inline bool is_table(const Item& row, std::string_view name) { return row.table->name == name; }

// Queue pairs are groups, and their rows begin and end their streams.
class QpRaces : public Races {
 public:
  QpRaces(Bench& predictor, std::uint32_t messages) : Races(predictor), messages_(messages) {}
  void classify(Item& item) const override {
    item.is_message = item.table == nullptr && item.port == messages_;
    if (item.table == nullptr) item.group = qpn_.of(item.record);
    else item.group = is_table(item, "qp") ? item.port : kAllGroups;
  }
  Role role(const Item& control, const Item* message, const Order&) const override {
    if (control.table == nullptr) return Role::kGives;
    if (is_table(control, "page")) return Role::kOpens;
    const bool valid = valid_.of(control.record) != 0;
    if (control.group == kAllGroups) return valid ? Role::kOpens : Role::kEnds;
    return valid && is_of_use(control.record, message) ? Role::kOpens : Role::kSilences;
  }
  std::uint64_t group_of(std::uint32_t, const Record& given, const Order&) const override {
    return qpn_.is_in(given) ? qpn_.of(given) : kAllGroups;
  }

 protected:
  // A message about another use of the number is nothing to this row.
  virtual bool is_of_use(const Record& row, const Item* message) const {
    return message == nullptr || epoch_.of(row) == message_epoch_.of(message->record);
  }
  bool is_cause(const Record& event, unsigned layer, unsigned etype, unsigned code) const {
    return layer_.of(event) == layer && etype_.of(event) == etype && code_.of(event) == code;
  }

 private:
  const std::uint32_t messages_;  // their port
  Field qpn_{"qpn"}, valid_{"valid"}, epoch_{"epoch"}, message_epoch_{"epoch"};
  Field layer_{"cause_layer"}, etype_{"cause_etype"}, code_{"cause_code"};
};

}  // namespace rnic::golden
