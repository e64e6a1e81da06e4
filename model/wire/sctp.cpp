#include "model/wire/sctp.h"

#include <utility>

#include "model/wire/fields.h"

namespace rnic::wire {
namespace {

constexpr std::size_t kLengthOffset = 2;  // of chunks, parameters and causes
constexpr std::size_t kMaxLength = 0xffff;

SctpChunk head(ByteSpan whole, const SctpChunk*) {
  return {static_cast<SctpChunkType>(whole[0]), whole[1], whole.subspan(SctpChunk::kHeaderBytes), whole};
}
SctpItem head(ByteSpan whole, const SctpItem*) {
  return {load_be16(whole.data()), whole.subspan(SctpItem::kHeaderBytes), whole};
}

template <class F>
void common_header(std::uint16_t& src_port, std::uint16_t& dst_port, std::uint32_t& tag, F& f) {
  f(src_port, dst_port, tag);
  f.reserved(sizeof(std::uint32_t));  // the checksum
}

}  // namespace

std::optional<SctpHeader> SctpHeader::parse(ByteSpan packet) {
  if (packet.size() < kBytes) return std::nullopt;
  SctpHeader header;
  FieldReader reader(packet.data());
  common_header(header.src_port, header.dst_port, header.verification_tag, reader);
  return header;
}

std::size_t SctpHeader::emit(MutableByteSpan out) const {
  if (out.size() < kBytes) return 0;
  SctpHeader header = *this;
  FieldWriter writer(out.data());
  common_header(header.src_port, header.dst_port, header.verification_tag, writer);
  return kBytes;
}

template <class T>
std::optional<T> SctpList<T>::next() {
  if (rest_.empty()) return std::nullopt;
  const std::size_t length = rest_.size() < T::kHeaderBytes ? 0 : load_be16(rest_.data() + kLengthOffset);
  if (length < T::kHeaderBytes || length > rest_.size()) {
    malformed_ = true;
    malformed_octets_ = std::exchange(rest_, {});
    return std::nullopt;
  }
  const ByteSpan whole = rest_.subspan(0, length);
  rest_ = rest_.subspan(sctp_padded(length));
  return head(whole, static_cast<const T*>(nullptr));
}
std::optional<SctpChunk> sctp_chunk_begun(ByteSpan octets) {
  if (octets.size() < SctpChunk::kHeaderBytes) return std::nullopt;
  return head(octets, static_cast<const SctpChunk*>(nullptr));
}

template class SctpList<SctpChunk>;
template class SctpList<SctpItem>;

std::optional<SctpData> SctpData::parse(ByteSpan value) { return parse_fields<SctpData>(value); }
std::optional<SctpInit> SctpInit::parse(ByteSpan value) { return parse_fields<SctpInit>(value); }

std::optional<SctpSackView> SctpSackView::parse(ByteSpan value) {
  const auto header = parse_fields<SctpSack>(value);
  if (!header) return std::nullopt;
  const std::size_t blocks = header->gap_blocks * SctpSack::kEntryBytes;
  const std::size_t tsns = header->duplicates * SctpSack::kEntryBytes;
  if (value.size() < SctpSack::kBytes + blocks + tsns) return std::nullopt;
  return SctpSackView{*header, value.subspan(SctpSack::kBytes, blocks), value.subspan(SctpSack::kBytes + blocks, tsns)};
}

SctpGapBlock SctpSackView::gap(std::size_t i) const {
  const std::uint8_t* at = blocks.data() + i * SctpSack::kEntryBytes;
  return {load_be16(at), load_be16(at + 2)};
}

std::uint32_t SctpSackView::duplicate(std::size_t i) const {
  return load_be32(tsns.data() + i * SctpSack::kEntryBytes);
}

SctpWriter::SctpWriter(MutableByteSpan out, const SctpHeader& header) : out_(out) {
  advance(header.emit(room()), SctpHeader::kBytes);
}

void SctpWriter::begin(SctpChunkType type, std::uint8_t flags) {
  end_chunk();
  chunk_ = at_;
  const std::uint8_t octets[SctpChunk::kHeaderBytes] = {static_cast<std::uint8_t>(type), flags, 0, 0};
  put(ByteSpan(octets));
}

void SctpWriter::put(const SctpData& data) { advance(emit_fields(data, room()), SctpData::kBytes); }
void SctpWriter::put(const SctpInit& init) { advance(emit_fields(init, room()), SctpInit::kBytes); }
void SctpWriter::put(const SctpSack& sack) { advance(emit_fields(sack, room()), SctpSack::kBytes); }
void SctpWriter::put(SctpGapBlock block) { put(std::uint32_t{block.start} << 16 | block.end); }

void SctpWriter::put(std::uint32_t value) {
  std::uint8_t octets[sizeof value];
  store_be32(octets, value);
  put(ByteSpan(octets));
}

void SctpWriter::put(ByteSpan octets) {
  if (!fits_ || octets.size() > room().size()) {
    fits_ = false;
    return;
  }
  for (const std::uint8_t octet : octets) out_[at_++] = octet;
}

void SctpWriter::item(std::uint16_t type, ByteSpan value) {
  pad();
  fits_ = fits_ && value.size() <= kMaxLength - SctpItem::kHeaderBytes;
  put(std::uint32_t{type} << 16 | static_cast<std::uint16_t>(value.size() + SctpItem::kHeaderBytes));
  put(value);
}

std::size_t SctpWriter::finish() {
  end_chunk();
  return fits_ ? at_ : 0;
}

void SctpWriter::advance(std::size_t octets, std::size_t wanted) {
  fits_ = fits_ && octets == wanted;
  at_ += octets;
}

void SctpWriter::pad() {
  constexpr std::uint8_t kZeros[kSctpAlign] = {};
  put({kZeros, sctp_padded(at_) - at_});
}

void SctpWriter::end_chunk() {
  if (chunk_ == 0) return;
  fits_ = fits_ && at_ - chunk_ <= kMaxLength;
  if (fits_) store_be16(out_.data() + chunk_ + kLengthOffset, static_cast<std::uint16_t>(at_ - chunk_));
  pad();
}

}  // namespace rnic::wire
