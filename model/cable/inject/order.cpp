#include "model/cable/inject/order.h"

#include <fmt/format.h>

namespace rnic::inject {
namespace {

std::string message_of(const Injection& i) {
  if (i.message.is_startup()) return i.message.name();
  const std::string segment = i.segment != 0 ? fmt::format(", segment {}", i.segment) : "";
  return fmt::format("{} {}{}", i.message.name(), i.number, segment);
}

}  // namespace

void Order::changed(const Field& field, const ChangedValue& value) {
  done = true;
  if (value.before == value.after) return;
  const std::string name = injection->change.field ? field.name : fmt::format("octet {}", *injection->change.octet);
  what =
      fmt::format("{}: {} of {}: {} to {}", injection->name, name, message_of(*injection), value.before, value.after);
}

void Order::closed() {
  what = fmt::format("{}: FIN after {} octets of {}", injection->name, *injection->change.close_after,
                     message_of(*injection));
  done = true;
}

}  // namespace rnic::inject
