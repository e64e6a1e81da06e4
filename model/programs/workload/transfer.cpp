#include "model/programs/workload/transfer.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic::workload {
namespace {

constexpr std::uint64_t kMaxRegionBytes = 256u << 20;

}  // namespace

const char* op_name(Op op) {
  constexpr const char* kNames[] = {"send", "write", "read", "write_imm", "fetch_add", "cmp_swap", "connect"};
  return kNames[static_cast<unsigned>(op)];
}

std::uint32_t receives_of(const WorkItem& item) {
  return std::min({item.count, std::max(16u, 2 * item.depth), kMaxReceives});
}

Transfer::Transfer(const WorkItem& i, std::string text, std::uint64_t seed, Latencies& all)
    : item(i),
      label(std::move(text)),
      sizes(message_sizes(i.size, i.count, seed)),
      payload(i.pattern, seed),
      reply(i.pattern, ~seed),
      latencies(all) {
  for (const std::uint32_t size : sizes) {
    max_size = std::max(max_size, size);
    bytes += size;
    offsets.push_back(region_bytes);
    region_bytes = (region_bytes + size + item.align - 1) & ~std::uint64_t{item.align - 1};
  }
  posted_ps.resize(item.count);
  if (item.op != Op::kSend && item.op != Op::kConnect && !is_atomic(item.op) && region_bytes > kMaxRegionBytes) {
    throw ConfigError(
        fmt::format("work '{}': {} octets on one queue pair; at most {} in one item, since each message "
                    "has a place of its own",
                    item.name, region_bytes, kMaxRegionBytes));
  }
}

void Transfer::fail(const std::string& reason) {
  if (error.empty()) error = label + ": " + reason;
}

void Transfer::cut(const std::string& reason) {
  if (error.empty()) cut_off = true;
  fail(reason);
}

void Transfer::check(ByteSpan found, std::uint32_t message, const PayloadGenerator& expected) {
  const auto d = expected.compare(found, message);
  if (!d) return;
  fail(fmt::format("message {} of {} octets differs first at octet {}: expected {:#04x}, found {:#04x}", message,
                   found.size(), d->offset, d->expected, d->found));
}

}  // namespace rnic::workload
