#include "model/programs/workload/transfer.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/common/prng.h"

namespace rnic::workload {
namespace {

constexpr std::uint64_t kMaxRegionBytes = 256u << 20;
constexpr std::uint64_t kPlaces = 0x706c61636573;  // a stream of random numbers of its own

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
  const auto aligned = [&](std::uint64_t n) { return (n + i.align - 1) & ~std::uint64_t{i.align - 1}; };
  for (const std::uint32_t size : sizes) {
    max_size = std::max(max_size, size);
    bytes += size;
    if (item.places != 0) continue;
    offsets.push_back(region_bytes);
    region_bytes = aligned(region_bytes + size);
  }
  if (item.places != 0) {
    stride = static_cast<std::uint32_t>(aligned(max_size));
    region_bytes = std::uint64_t{stride} * item.places;
    Prng random(mix64(seed ^ kPlaces));
    for (std::uint32_t m = 0; m < item.count; ++m) offsets.push_back(random.below(item.places) * stride);
  }
  posted_ps.resize(item.count);
  if (item.op != Op::kSend && item.op != Op::kConnect && !is_atomic(item.op) && region_bytes > kMaxRegionBytes) {
    throw ConfigError(fmt::format("work '{}': {} octets of remote memory on one queue pair; at most {} in one item{}",
                                  item.name, region_bytes, kMaxRegionBytes,
                                  item.places == 0 ? ", since each message has a place of its own (`places`)" : ""));
  }
}

// Writes of one queue pair to one place are placed in their order, as each has a Write of its own.
std::vector<Placed> placed(const Transfer& transfer) {
  std::vector<Placed> list;
  if (transfer.stride == 0) {
    for (std::uint32_t m = 0; m < transfer.item.count; ++m) list.push_back({transfer.offsets[m], m});
    return list;
  }
  std::vector<std::int64_t> last(transfer.item.places, -1);
  for (std::uint32_t m = 0; m < transfer.item.count; ++m) last[transfer.offsets[m] / transfer.stride] = m;
  for (std::uint32_t place = 0; place < transfer.item.places; ++place) {
    if (last[place] < 0) continue;
    list.push_back({std::uint64_t{place} * transfer.stride, static_cast<std::uint32_t>(last[place])});
  }
  return list;
}

void Transfer::fail(const std::string& reason) {
  if (error.empty()) error = label + ": " + reason;
}

void Transfer::cut(const std::string& reason) {
  if (error.empty()) cut_off = true;
  fail(reason);
}

std::optional<PayloadGenerator::Difference> Transfer::check(ByteSpan found, std::uint32_t message,
                                                            const PayloadGenerator& expected) {
  const auto d = expected.compare(found, message);
  if (!d) return d;
  fail(fmt::format("message {} of {} octets differs first at octet {}: expected {:#04x}, found {:#04x}", message,
                   found.size(), d->offset, d->expected, d->found));
  return d;
}

}  // namespace rnic::workload
