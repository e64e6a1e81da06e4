#include "model/capture/replay/replay_memory.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/capture/replay/terminate_reader.h"
#include "model/common/check.h"
#include "model/common/crc32c.h"
#include "model/wire/ddp.h"
#include "model/wire/fpdu.h"

namespace rnic::replay {

namespace {

// Marks an STag that the real side did not have: its index is beyond any table of the model.
constexpr std::uint32_t kUnknown = 0x80000000;

constexpr std::size_t kTaggedStagAt = 2, kTaggedToAt = 6;                              // in a DDP header
constexpr std::size_t kInvalidateStagAt = 2;                                           // in an untagged DDP header
constexpr std::size_t kSinkStagAt = 0, kSinkToAt = 4, kSrcStagAt = 16, kSrcToAt = 20;  // in a Read Request

}  // namespace

ReplayMemory::ReplayMemory(const Script& script, host::Context& context, host::Pd pd, host::Pd foreign)
    : script_(script), context_(context) {
  for (const Region& r : script.memory.regions) {
    const std::uint64_t address = context.memory().alloc(r.octets.size(), 64);
    std::copy(r.octets.begin(), r.octets.end(), context.memory().span(address, r.octets.size()).data());
    host::Mr* mr =
        context.reg_mr(r.foreign ? foreign : pd, address, r.octets.size(), r.access | abi::kRemoteInvalidate);
    if (mr == nullptr) {
      throw ConfigError(fmt::format("{} memory regions, more than the device's {} STags", script.memory.regions.size(),
                                    context.query_device().max_mr));
    }
    regions_.push_back({mr, address});
  }
}

bool ReplayMemory::ready() const {
  return std::all_of(regions_.begin(), regions_.end(), [](const Registered& r) { return r.mr->ready(); });
}

bool ReplayMemory::failed() const {
  return std::any_of(regions_.begin(), regions_.end(), [](const Registered& r) { return r.mr->failed(); });
}

// An offset that wraps is not translated, so that it still wraps.
ReplayMemory::Place ReplayMemory::to_model(std::uint32_t stag, unsigned generation, std::uint64_t to,
                                           std::uint64_t bytes) const {
  const auto at = script_.memory.find(stag, generation, to);
  if (!at) return {stag | kUnknown, to};
  if (wraps(to, bytes)) return {regions_[*at].mr->rkey(), to};
  return {regions_[*at].mr->rkey(), to - script_.memory.regions[*at].base + regions_[*at].address};
}

ReplayMemory::Place ReplayMemory::to_real(std::uint32_t stag, std::uint64_t to) const {
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const Region& r = script_.memory.regions[i];
    if (regions_[i].mr->rkey() != stag) continue;
    return {r.stag, wrapping_.count(to) != 0 ? to : to - regions_[i].address + r.base};
  }
  const auto unknown = unknown_.find(stag);
  return {unknown == unknown_.end() ? stag : unknown->second, to};
}

std::vector<std::uint8_t> ReplayMemory::translated() {
  std::vector<std::uint8_t> octets = script_.fed.octets();
  for (std::size_t i = 0; i < script_.fed.segments().size(); ++i) translate(i, octets);
  return octets;
}

void ReplayMemory::translate(std::size_t segment, std::vector<std::uint8_t>& octets) {
  const DdpSegment& s = script_.fed.segments()[segment];
  const auto model = [&](std::uint32_t stag, std::uint64_t to, std::uint64_t bytes) {
    const Place place = to_model(stag, script_.memory.generation(stag, segment), to, bytes);
    if (wraps(to, bytes)) wrapping_.insert(to);
    if (place.stag == (stag | kUnknown)) unknown_[place.stag] = stag;
    return place;
  };
  std::uint8_t* const header = octets.data() + s.begin + wire::kUlpduLengthBytes;
  std::uint8_t* const payload = octets.data() + s.payload_at;
  if (s.header.tagged && s.payload_bytes != 0) {
    const Place place = model(s.header.stag, s.header.to, s.payload_bytes);
    store_be32(header + kTaggedStagAt, place.stag);
    store_be64(header + kTaggedToAt, place.to);
  } else if (wire::invalidates(s.header.opcode)) {
    store_be32(header + kInvalidateStagAt, model(s.header.stag, 0, 0).stag);
  } else if (const auto r = wire::ReadRequest::parse(script_.fed.payload(s));
             s.header.opcode == wire::Opcode::kReadRequest && r && r->size != 0) {
    const Place place = model(r->src_stag, r->src_to, r->size);
    store_be32(payload + kSrcStagAt, place.stag);
    store_be64(payload + kSrcToAt, place.to);
  }
  if (!script_.crc) return;
  const std::size_t covered = s.end - s.begin - wire::kFpduCrcBytes;
  const std::uint8_t* const fpdu = script_.fed.octets().data() + s.begin;
  if (crc32c({fpdu, covered}) != load_crc32c(fpdu + covered)) return;  // it was wrong already
  store_crc32c(octets.data() + s.begin + covered, crc32c({octets.data() + s.begin, covered}));
}

Message ReplayMemory::translated_back(Message message) const {
  const auto back = [this](std::uint8_t* stag, std::uint8_t* to) {
    const Place place = to_real(load_be32(stag), load_be64(to));
    store_be32(stag, place.stag);
    store_be64(to, place.to);
  };
  std::vector<std::uint8_t>& p = message.payload;
  if (message.header.opcode == wire::Opcode::kReadRequest && p.size() == wire::ReadRequest::kBytes) {
    back(p.data() + kSinkStagAt, p.data() + kSinkToAt);
  }
  if (message.header.opcode != wire::Opcode::kTerminate) return message;
  const auto terminate = read_terminate(p);
  if (!terminate || terminate->ddp_header.empty()) return message;
  constexpr std::size_t kDdpHeaderAt = wire::TerminateHeader::kControlBytes + 2;
  std::uint8_t* const header = p.data() + kDdpHeaderAt;
  if (terminate->ddp_header.size() == wire::DdpTaggedHeader::kBytes) {
    back(header + kTaggedStagAt, header + kTaggedToAt);
  } else if (!terminate->read_request.empty()) {
    std::uint8_t* const request = header + wire::DdpUntaggedHeader::kBytes;
    back(request + kSrcStagAt, request + kSrcToAt);
  } else {
    const std::uint32_t stag = load_be32(header + kInvalidateStagAt);
    if (stag != 0) store_be32(header + kInvalidateStagAt, to_real(stag, 0).stag);
  }
  return message;
}

// A zero-length Read uses no memory, so its sink is not translated.
host::Sge ReplayMemory::sink(std::size_t message, const wire::ReadRequest& read) const {
  if (read.size == 0) return {read.sink_to, 0, read.sink_stag};
  const Place place = to_model(read.sink_stag, script_.memory.sinks.at(message), read.sink_to, read.size);
  return {place.to, read.size, place.stag};
}

std::vector<std::string> ReplayMemory::misplaced() const {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const std::vector<std::uint8_t>& expected = script_.memory.final[i];
    const MutableByteSpan got = context_.memory().span(regions_[i].address, expected.size());
    const auto at = std::mismatch(expected.begin(), expected.end(), got.data());
    if (at.first == expected.end()) continue;
    const Region& r = script_.memory.regions[i];
    list.push_back(fmt::format("STag {:#010x}, TO {:#x}: {:#04x} instead of {:#04x}", r.stag,
                               r.base + static_cast<std::uint64_t>(at.first - expected.begin()), *at.second,
                               *at.first));
  }
  return list;
}

bool ReplayMemory::apply(const MemoryChange& change) {
  const Registered& r = regions_[change.region];
  if (change.ends) {
    to_end_ = r.mr;
    return r.mr->destroyed();
  }
  const MutableByteSpan at = context_.memory().span(r.address + change.offset, change.octets.size());
  std::copy(change.octets.begin(), change.octets.end(), at.data());
  return true;
}

void ReplayMemory::advance() {
  if (to_end_ != nullptr && !std::exchange(ended_, true)) context_.dereg_mr(*to_end_);
}

}  // namespace rnic::replay
