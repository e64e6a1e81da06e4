// SCTP packets, both ways: the vector's chunks to octets, and the octets that a receiver is given to chunks.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "model/common/crc32c.h"
#include "model/common/sctp_checksum.h"
#include "model/conformance/json_fields.h"
#include "model/conformance/vector_kinds.h"
#include "model/wire/ddp_session.h"
#include "model/wire/sctp.h"

namespace rnic::conformance {
namespace {

using nlohmann::json;
using wire::SctpChunk;
using wire::SctpChunkType;
using wire::SctpData;

constexpr struct {
  const char* name;
  SctpChunkType type;
} kTypes[] = {
    {"data", SctpChunkType::kData},
    {"init", SctpChunkType::kInit},
    {"init_ack", SctpChunkType::kInitAck},
    {"sack", SctpChunkType::kSack},
    {"heartbeat", SctpChunkType::kHeartbeat},
    {"heartbeat_ack", SctpChunkType::kHeartbeatAck},
    {"abort", SctpChunkType::kAbort},
    {"shutdown", SctpChunkType::kShutdown},
    {"shutdown_ack", SctpChunkType::kShutdownAck},
    {"error", SctpChunkType::kError},
    {"cookie_echo", SctpChunkType::kCookieEcho},
    {"cookie_ack", SctpChunkType::kCookieAck},
    {"shutdown_complete", SctpChunkType::kShutdownComplete},
};

SctpChunkType type_of(const json& chunk) {
  const std::string name = chunk.at("type");
  for (const auto& t : kTypes) {
    if (name == t.name) return t.type;
  }
  throw std::invalid_argument("no type of chunk: " + name);
}

// Encoding.

std::uint8_t flags_of(const json& chunk, SctpChunkType type) {
  if (type == SctpChunkType::kData) {
    return static_cast<std::uint8_t>(
        (flag(chunk, "i") ? SctpData::kImmediate : 0) | (flag(chunk, "u") ? SctpData::kUnordered : 0) |
        (flag(chunk, "b") ? SctpData::kBegin : 0) | (flag(chunk, "e") ? SctpData::kEnd : 0));
  }
  return flag(chunk, "t", false) ? SctpChunk::kTagReflected : 0;
}

void put_items(wire::SctpWriter& w, const json& items, const char* type) {
  for (const json& item : items) w.item(field<std::uint16_t>(item, type), hex_field(item, "value_hex"));
}

void put_chunk(wire::SctpWriter& w, const json& chunk) {
  const SctpChunkType type = type_of(chunk);
  w.begin(type, flags_of(chunk, type));
  switch (type) {
    case SctpChunkType::kData:
      w.put(SctpData{field<std::uint32_t>(chunk, "tsn"), field<std::uint16_t>(chunk, "sid"),
                     field<std::uint16_t>(chunk, "ssn"), field<std::uint32_t>(chunk, "ppid")});
      w.put(hex_field(chunk, "user_hex"));
      break;
    case SctpChunkType::kInit:
    case SctpChunkType::kInitAck:
      w.put(wire::SctpInit{field<std::uint32_t>(chunk, "tag"), field<std::uint32_t>(chunk, "a_rwnd"),
                           field<std::uint16_t>(chunk, "os"), field<std::uint16_t>(chunk, "mis"),
                           field<std::uint32_t>(chunk, "itsn")});
      put_items(w, chunk.at("params"), "type");
      break;
    case SctpChunkType::kSack: {
      const json &gaps = chunk.at("gaps"), &tsns = chunk.at("dups");
      w.put(wire::SctpSack{field<std::uint32_t>(chunk, "cum_tsn"), field<std::uint32_t>(chunk, "a_rwnd"),
                           static_cast<std::uint16_t>(gaps.size()), static_cast<std::uint16_t>(tsns.size())});
      for (const json& gap : gaps) w.put(wire::SctpGapBlock{gap.at(0), gap.at(1)});
      for (const json& tsn : tsns) w.put(tsn.get<std::uint32_t>());
      break;
    }
    case SctpChunkType::kHeartbeat:
    case SctpChunkType::kHeartbeatAck:
      w.item(static_cast<std::uint16_t>(wire::SctpParameterType::kHeartbeatInfo), hex_field(chunk, "info_hex"));
      break;
    case SctpChunkType::kAbort:
    case SctpChunkType::kError:
      put_items(w, chunk.at("causes"), "code");
      break;
    case SctpChunkType::kShutdown:
      w.put(field<std::uint32_t>(chunk, "cum_tsn"));
      break;
    case SctpChunkType::kCookieEcho:
      w.put(hex_field(chunk, "cookie_hex"));
      break;
    case SctpChunkType::kShutdownAck:
    case SctpChunkType::kCookieAck:
    case SctpChunkType::kShutdownComplete:
      break;
  }
}

std::vector<std::uint8_t> encoded(const json& vector) {
  std::vector<std::uint8_t> packet(std::size_t{64} << 10);
  wire::SctpWriter w(packet, {field<std::uint16_t>(vector, "sport"), field<std::uint16_t>(vector, "dport"),
                              field<std::uint32_t>(vector, "vtag")});
  for (const json& chunk : vector.at("chunks")) put_chunk(w, chunk);
  packet.resize(w.finish());
  if (!packet.empty()) store_crc32c(packet.data() + kSctpChecksumOffset, sctp_checksum(packet));
  return packet;
}

// Decoding.

json items_of(ByteSpan octets, const char* type, bool type_in_hex) {
  json items = json::array();
  wire::SctpItems list(octets);
  while (const auto item = list.next()) {
    items.push_back({{type, type_in_hex ? json(fmt::format("{:#06x}", item->type)) : json(item->type)},
                     {"value_hex", to_hex(item->value)}});
  }
  if (list.malformed()) items.push_back("malformed");
  return items;
}

// What DDP over SCTP makes of the user data. A piece of a message has no DDP-SSN of its own.
void add_session_fields(json& j, const SctpChunk& chunk, std::uint32_t ppid) {
  constexpr std::uint8_t kWhole = SctpData::kBegin | SctpData::kEnd;
  j.update({{"ddp_ssn", nullptr}, {"segment_hex", nullptr}, {"code", nullptr}, {"private_hex", nullptr}});
  const ByteSpan user = SctpData::user_data(chunk.value);
  if ((chunk.flags & kWhole) != kWhole || user.size() < wire::kDdpSsnBytes) return;
  j["ddp_ssn"] = load_be16(user.data());
  if (ppid == wire::kPpidDdpSegment) j["segment_hex"] = to_hex(user.subspan(wire::kDdpSsnBytes));
  if (ppid != wire::kPpidDdpSession) return;
  const auto decode = wire::decode_session_message(user, true);
  if (decode.error != wire::SessionError::kNone) throw std::invalid_argument(to_string(decode.error));
  j["code"] = static_cast<std::uint16_t>(decode.message.code);
  j["private_hex"] = to_hex(user.subspan(wire::SessionMessage::kHeaderBytes));
}

json data_fields(const SctpChunk& chunk) {
  const auto d = SctpData::parse(chunk.value);
  if (!d) return {{"error", "too short"}};
  const auto has = [&](std::uint8_t bit) { return int{(chunk.flags & bit) != 0}; };
  json j = {{"i", has(SctpData::kImmediate)},
            {"u", has(SctpData::kUnordered)},
            {"b", has(SctpData::kBegin)},
            {"e", has(SctpData::kEnd)},
            {"tsn", d->tsn},
            {"sid", d->stream},
            {"ssn", d->ssn},
            {"ppid", d->ppid},
            {"user_hex", to_hex(SctpData::user_data(chunk.value))}};
  add_session_fields(j, chunk, d->ppid);
  return j;
}

json init_fields(const SctpChunk& chunk) {
  const auto i = wire::SctpInit::parse(chunk.value);
  if (!i) return {{"error", "too short"}};
  return {{"tag", i->initiate_tag},    {"a_rwnd", i->a_rwnd},
          {"os", i->outbound_streams}, {"mis", i->max_inbound_streams},
          {"itsn", i->initial_tsn},    {"params", items_of(wire::SctpInit::parameters(chunk.value), "type", true)}};
}

json sack_fields(const SctpChunk& chunk) {
  const auto s = wire::SctpSackView::parse(chunk.value);
  if (!s) return {{"error", "too short"}};
  json gaps = json::array(), tsns = json::array();
  for (std::size_t i = 0; i < s->header.gap_blocks; ++i) gaps.push_back({s->gap(i).start, s->gap(i).end});
  for (std::size_t i = 0; i < s->header.duplicates; ++i) tsns.push_back(s->duplicate(i));
  return {{"cum_tsn", s->header.cumulative_tsn}, {"a_rwnd", s->header.a_rwnd}, {"gaps", gaps}, {"dups", tsns}};
}

json chunk_fields(const SctpChunk& chunk) {
  const int reflected = (chunk.flags & SctpChunk::kTagReflected) != 0;
  switch (chunk.type) {
    case SctpChunkType::kData:
      return data_fields(chunk);
    case SctpChunkType::kInit:
    case SctpChunkType::kInitAck:
      return init_fields(chunk);
    case SctpChunkType::kSack:
      return sack_fields(chunk);
    case SctpChunkType::kHeartbeat:
    case SctpChunkType::kHeartbeatAck:
      return {{"info_hex", items_of(chunk.value, "type", false).at(0).at("value_hex")}};
    case SctpChunkType::kAbort:
      return {{"t", reflected}, {"causes", items_of(chunk.value, "code", false)}};
    case SctpChunkType::kError:
      return {{"causes", items_of(chunk.value, "code", false)}};
    case SctpChunkType::kShutdown:
      return {{"cum_tsn", chunk.value.size() == 4 ? json(load_be32(chunk.value.data())) : json("malformed")}};
    case SctpChunkType::kCookieEcho:
      return {{"cookie_hex", to_hex(chunk.value)}};
    case SctpChunkType::kShutdownComplete:
      return {{"t", reflected}};
    case SctpChunkType::kShutdownAck:
    case SctpChunkType::kCookieAck:
      return json::object();
  }
  return {{"error", "unknown type"}};
}

json chunks_of(ByteSpan packet) {
  json chunks = json::array();
  wire::SctpChunks list(packet.subspan(wire::SctpHeader::kBytes));
  while (const auto chunk = list.next()) {
    json j = chunk_fields(*chunk);
    for (const auto& t : kTypes) {
      if (t.type == chunk->type) j["type"] = t.name;
    }
    chunks.push_back(std::move(j));
  }
  if (list.malformed()) chunks.push_back("malformed");
  return chunks;
}

}  // namespace

Outcome check_sctp_packet(const json& vector) {
  Outcome outcome;
  const std::vector<std::uint8_t> packet = encoded(vector);
  outcome.compare("packet_hex", vector.at("packet_hex"), to_hex(packet));
  if (packet.empty()) return outcome;
  const std::uint32_t checksum = sctp_checksum(packet);
  outcome.compare("checksum", integer_field(vector, "checksum"), checksum);
  outcome.compare("checksum_wire_hex", vector.at("checksum_wire_hex"),
                  to_hex(ByteSpan(packet).subspan(kSctpChecksumOffset, kSctpChecksumBytes)));

  const std::vector<std::uint8_t> received = hex_field(vector, "received_hex");
  const auto header = wire::SctpHeader::parse(received);
  if (!header) throw std::invalid_argument("received_hex is no packet");
  const bool good = load_crc32c(received.data() + kSctpChecksumOffset) == sctp_checksum(received);
  outcome.compare("expect", vector.at("expect"), good ? "ok" : "checksum_error");
  if (!good) return outcome;
  outcome.compare("sport", vector.at("sport"), header->src_port);
  outcome.compare("dport", vector.at("dport"), header->dst_port);
  outcome.compare("vtag", vector.at("vtag"), header->verification_tag);
  const json &expected = vector.at("chunks"), got = chunks_of(received);
  outcome.compare("chunks", expected.size(), got.size());
  for (std::size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
    outcome.compare(fmt::format("chunks[{}]", i), expected[i], got[i]);
  }
  return outcome;
}

}  // namespace rnic::conformance
