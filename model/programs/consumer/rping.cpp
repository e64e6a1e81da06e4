#include "model/programs/consumer/rping.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "model/wire/fields.h"

namespace rnic::consumer {
namespace {

// rping's payload: the number of the round, then letters, which start one further each round.
void fill_round(std::uint8_t* octets, std::uint32_t size, std::uint64_t round) {
  constexpr unsigned kFirst = 'A', kLetters = 'z' - 'A' + 1;
  const std::string text = fmt::format("rdma-ping-{}: ", round);
  const std::size_t copied = std::min<std::size_t>(text.size(), size);
  std::memcpy(octets, text.data(), copied);
  for (std::uint32_t i = static_cast<std::uint32_t>(copied); i < size; ++i) {
    octets[i] = static_cast<std::uint8_t>(kFirst + (round + i - copied) % kLetters);
  }
  if (size != 0) octets[size - 1] = 0;
}

}  // namespace

Rping::Rping(host::Context& context, const ProgramSpec& spec, std::uint8_t access)
    : Consumer(context, spec, {kSource + 2 * ((spec.size + 4095) / 4096 * 4096), access, 1}) {}

void Rping::completed(const host::Wc& wc) {
  if (wc.opcode == abi::WcOpcode::kRdmaRead) return read_done();
  if (wc.opcode != abi::WcOpcode::kRecv) return;
  if (wc.byte_len != RpingInfo::kBytes) return fail(fmt::format("a Send of {} octets, not 16", wc.byte_len));
  const auto info = wire::parse_fields<RpingInfo>({octets(kReceived, RpingInfo::kBytes), RpingInfo::kBytes});
  receive(kReceived, RpingInfo::kBytes);
  told(*info);
}

void Rping::tell(const RpingInfo& info) {
  wire::emit_fields(info, {octets(kSent, RpingInfo::kBytes), RpingInfo::kBytes});
  post({}, kSent, RpingInfo::kBytes);
}

RpingClient::RpingClient(host::Context& context, const ProgramSpec& spec)
    : Rping(context, spec, abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead) {}

void RpingClient::ping() {
  if (record_.rounds == 0) record_.first_ps = time_ps();
  read_ = false;
  fill_round(octets(kSource, spec_.size), spec_.size, record_.rounds);
  std::memset(octets(sink(), spec_.size), 0, spec_.size);
  tell({address(kSource), key(), spec_.size});
}

void RpingClient::told(const RpingInfo&) {
  if (!read_) {
    read_ = true;
    return tell({address(sink()), key(), spec_.size});
  }
  if (std::memcmp(octets(kSource, spec_.size), octets(sink(), spec_.size), spec_.size) != 0) {
    return fail(fmt::format("round {}: the returned data differs from the data sent", record_.rounds));
  }
  count_round(2 * std::uint64_t{spec_.size});
  if (record_.rounds == spec_.count) disconnect();
  else ping();
}

RpingServer::RpingServer(host::Context& context, const ProgramSpec& spec) : Rping(context, spec, abi::kLocalWrite) {}

void RpingServer::told(const RpingInfo& info) {
  if (record_.rounds == 0 && !has_data_) record_.first_ps = time_ps();
  if (info.size > spec_.size) return fail(fmt::format("the client has {} octets, more than {}", info.size, spec_.size));
  host::SendWr wr;
  wr.remote_addr = info.address;
  wr.rkey = info.stag;
  wr.opcode = has_data_ ? abi::WrOpcode::kRdmaWrite : abi::WrOpcode::kRdmaRead;
  size_ = info.size;
  post(wr, kSource, size_);
  if (!has_data_) return;
  has_data_ = false;
  tell({});
  count_round(2 * std::uint64_t{size_});
}

void RpingServer::read_done() {
  const std::string begin = fmt::format("rdma-ping-{}: ", record_.rounds);
  const std::size_t compared = std::min<std::size_t>(begin.size(), size_ == 0 ? 0 : size_ - 1);
  if (std::memcmp(octets(kSource, size_), begin.data(), compared) != 0) {
    return fail(fmt::format("the data does not begin with '{}'", begin));
  }
  has_data_ = true;
  tell({});
}

}  // namespace rnic::consumer
