#include "model/wire/tcp_options.h"

#include "model/wire/fields.h"

namespace rnic::wire {
namespace {

constexpr std::uint8_t kEnd = 0, kNop = 1, kMss = 2, kWindowScale = 3, kSackPermitted = 4, kSack = 5, kTimestamps = 8;
constexpr std::uint8_t kMssBytes = 4, kWindowScaleBytes = 3, kSackPermittedBytes = 2, kTimestampsBytes = 10;
constexpr std::uint8_t kSackHeaderBytes = 2, kSackBlockBytes = 8;

void parse_one(TcpOptions& options, std::uint8_t kind, ByteSpan body) {
  FieldReader read(body.data());
  if (kind == kMss && body.size() == kMssBytes - 2) {
    read(options.mss.emplace());
  } else if (kind == kWindowScale && body.size() == kWindowScaleBytes - 2) {
    read(options.window_scale.emplace());
  } else if (kind == kSackPermitted && body.empty()) {
    options.sack_permitted = true;
  } else if (kind == kTimestamps && body.size() == kTimestampsBytes - 2) {
    TcpTimestamps& t = options.timestamps.emplace();
    read(t.value, t.echo_reply);
  } else if (kind == kSack && body.size() % kSackBlockBytes == 0) {
    options.sack_blocks = body.size() / kSackBlockBytes;
    if (options.sack_blocks > TcpOptions::kMaxSackBlocks) options.sack_blocks = TcpOptions::kMaxSackBlocks;
    for (std::size_t i = 0; i < options.sack_blocks; ++i) read(options.sack[i].left, options.sack[i].right);
  }
}

}  // namespace

TcpOptions TcpOptions::parse(ByteSpan bytes) {
  TcpOptions options;
  while (!bytes.empty() && bytes[0] != kEnd) {
    if (bytes[0] == kNop) {
      bytes = bytes.subspan(1);
      continue;
    }
    if (bytes.size() < 2 || bytes[1] < 2 || bytes[1] > bytes.size()) break;
    parse_one(options, bytes[0], bytes.subspan(2, bytes[1] - std::size_t{2}));
    bytes = bytes.subspan(bytes[1]);
  }
  return options;
}

std::size_t TcpOptions::bytes() const {
  std::size_t n = 0;
  if (mss) n += kMssBytes;
  if (window_scale) n += kWindowScaleBytes + 1;
  if (sack_permitted) n += kSackPermittedBytes + 2;
  if (timestamps) n += kTimestampsBytes + 2;
  if (sack_blocks != 0) n += 2 + kSackHeaderBytes + sack_blocks * kSackBlockBytes;
  return n;
}

std::size_t TcpOptions::emit(MutableByteSpan out) const {
  const std::size_t size = bytes();
  if (size > kMaxBytes || out.size() < size || sack_blocks > kMaxSackBlocks) return 0;
  FieldWriter write(out.data());
  if (mss) write(kMss, kMssBytes, *mss);
  if (window_scale) write(kNop, kWindowScale, kWindowScaleBytes, *window_scale);
  if (sack_permitted) write(kNop, kNop, kSackPermitted, kSackPermittedBytes);
  if (timestamps) write(kNop, kNop, kTimestamps, kTimestampsBytes, timestamps->value, timestamps->echo_reply);
  if (sack_blocks != 0) {
    write(kNop, kNop, kSack, static_cast<std::uint8_t>(kSackHeaderBytes + sack_blocks * kSackBlockBytes));
    for (std::size_t i = 0; i < sack_blocks; ++i) write(sack[i].left, sack[i].right);
  }
  return size;
}

}  // namespace rnic::wire
