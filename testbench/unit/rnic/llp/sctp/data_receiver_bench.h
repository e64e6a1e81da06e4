// One association's receiver with its surroundings: takes packets written by hand and returns its answers as octets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "model/rnic/llp/sctp/data_receiver.h"

namespace rnic::sctp {

constexpr std::uint8_t kWhole = 0x07, kFirst = 0x06, kMiddle = 0x04, kLast = 0x05, kI = 0x08;  // U is set in all

struct TestChunk {
  std::uint32_t tsn = 0;
  std::uint8_t flags = kWhole;
  std::uint16_t stream = 0;
  std::vector<std::uint8_t> octets = std::vector<std::uint8_t>(4, 0xaa);
  std::uint32_t ppid = 16;
};

inline TestChunk chunk_of(std::uint32_t tsn, std::uint8_t flags, std::size_t bytes, std::uint8_t octet = 0x55) {
  TestChunk chunk;
  chunk.tsn = tsn;
  chunk.flags = flags;
  chunk.octets.assign(bytes, octet);
  return chunk;
}

inline std::string hex(ByteSpan octets) {
  std::string text;
  for (const std::uint8_t octet : octets) {
    text += "0123456789ABCDEF"[octet >> 4];
    text += "0123456789ABCDEF"[octet & 15];
  }
  return text;
}

class ReceiverBench {
 public:
  explicit ReceiverBench(const SctpConfig& config = {}, std::uint32_t initial_tsn = 1000, std::uint32_t mtu = 1500)
      : settings(config, mtu, 20, 4000), memory(settings.fragments) {
    receiver.start(settings, memory, initial_tsn, static_cast<std::uint16_t>(config.streams));
  }

  // The upper layer takes each message; with `refuse` it has no room for this one.
  ReceivedData chunk(const TestChunk& c, bool refuse = false) {
    BufferRef packet = pool_.take();
    std::uint8_t* at = packet->bytes();
    const std::size_t length = 16 + c.octets.size();
    const std::uint32_t words[] = {static_cast<std::uint32_t>(c.flags << 16 | length), c.tsn,
                                   static_cast<std::uint32_t>(c.stream) << 16, c.ppid};
    for (const std::uint32_t word : words) {
      for (int shift = 24; shift >= 0; shift -= 8) *at++ = static_cast<std::uint8_t>(word >> shift);
    }
    std::copy(c.octets.begin(), c.octets.end(), at);
    return raw(packet, length, refuse);
  }
  // A packet whose first `length` octets are a DATA chunk.
  ReceivedData raw(const BufferRef& packet, std::size_t length, bool refuse = false) {
    const ByteSpan whole(packet->bytes(), length);
    const ReceivedData data =
        receiver.on_data(settings, memory, packet, {wire::SctpChunkType::kData, whole[1], whole.subspan(4), whole});
    if (data.fate != DataFate::kMessage) return data;
    if (refuse) receiver.refuse(memory);
    else receiver.accept(memory);
    return data;
  }
  // Receives a packet of these chunks. Returns what became of the last one.
  ReceivedData packet(Cycle now, const std::vector<TestChunk>& chunks) {
    ReceivedData last;
    receiver.begin_packet();
    for (const TestChunk& c : chunks) last = chunk(c);
    receiver.end_packet(settings, now);
    return last;
  }
  // The SACK that is owed, if any.
  std::string sack(std::size_t room = 1460) { return receiver.sack_owed() ? written_sack(room) : ""; }
  std::string written_sack(std::size_t room) {
    wire::SctpWriter writer(MutableByteSpan(out_), {1, 2, 3});
    receiver.write_sack(settings, writer, room);
    return text(writer.finish());
  }
  // Receives a packet of one chunk whose message the upper layer refuses. Returns the SACK.
  std::string refused(Cycle now, const TestChunk& c) {
    receiver.begin_packet();
    EXPECT_EQ(chunk(c, true).fate, DataFate::kMessage);
    receiver.end_packet(settings, now);
    return sack();
  }
  // Receives a packet. Returns the SACK for it.
  std::string answer(Cycle now, const std::vector<TestChunk>& chunks, std::size_t room = 1460) {
    packet(now, chunks);
    return sack(room);
  }
  std::uint32_t packets_held() const { return pool_.in_use(); }

  ReceiverSettings settings;
  FragmentMemory memory;
  DataReceiver receiver;

 private:
  std::string text(std::size_t bytes) const {
    return hex(ByteSpan(out_.data(), bytes).subspan(wire::SctpHeader::kBytes));
  }

  BufferPool pool_{9216};
  std::vector<std::uint8_t> out_ = std::vector<std::uint8_t>(16384);
};

}  // namespace rnic::sctp
