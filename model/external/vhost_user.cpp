#include "model/external/vhost_user.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

#include "model/external/external_peer.h"

namespace rnic::external {
namespace {

enum Request : std::uint32_t {
  kGetFeatures = 1,
  kSetMemTable = 5,
  kSetVringNum = 8,
  kSetVringAddr = 9,
  kSetVringBase = 10,
  kGetProtocolFeatures = 15,
  kSetVringEnable = 18,
  kSetBackendReqFd = 21,
  kGetConfig = 24,
  kVringKick = 35
};
constexpr std::uint32_t kBackendVringCall = 4;
constexpr std::uint32_t kVersion = 1, kIsReply = 4, kNeedReply = 8;              // of a message's flags
constexpr std::uint64_t kFeatures = std::uint64_t{1} << 32 | 1 << 30 | 1 << 5;   // VERSION_1, protocol features, MAC
constexpr std::uint64_t kProtocolFeatures = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;  // replies, backend, config, in-band
constexpr std::size_t kMaxPayload = 4096, kMaxFiles = 8;
constexpr std::size_t kRegionBytes = 32;
// Precedes each frame in a buffer; all zero but a received frame's number of buffers (Virtio 1.1 section 5.1.6).
constexpr std::size_t kNetHeaderBytes = 12, kNumBuffersOffset = 10;
// The card's configuration: a MAC address, which the guest's own script replaces, and a link that is up.
constexpr std::uint8_t kConfig[] = {0x02, 0x57, 0, 0, 0, 1, 1, 0};

std::uint32_t word(const std::vector<std::uint8_t>& payload, std::size_t offset) {
  if (payload.size() < offset + 4) throw PeerError("a message of the guest's network card is too short");
  return load_le32(payload.data() + offset);
}
std::uint64_t long_word(const std::vector<std::uint8_t>& payload, std::size_t offset) {
  return word(payload, offset) | std::uint64_t{word(payload, offset + 4)} << 32;
}
std::vector<std::uint8_t> of_long_word(std::uint64_t v) {
  std::vector<std::uint8_t> octets(8);
  store_le64(octets.data(), v);
  return octets;
}

}  // namespace

VhostUser::VhostUser(const std::string& path, std::chrono::milliseconds patience)
    : patience_(patience), listener_(bound_unix_socket(path, SOCK_STREAM)) {}

Virtqueue& VhostUser::queue(std::uint32_t number) {
  if (number >= kQueues) throw PeerError("the guest's network card has no queue " + std::to_string(number));
  return queues_[number];
}

bool VhostUser::take(Header& header, std::vector<std::uint8_t>& payload, std::vector<Descriptor>& files) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFiles * sizeof(int))];
  iovec data{&header, sizeof(header)};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  // Files arrive with the first octet.
  const ssize_t n = ::recvmsg(guest_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  for (cmsghdr* c = n > 0 ? CMSG_FIRSTHDR(&message) : nullptr; c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      files.emplace_back(fd);
    }
  }
  const MutableByteSpan octets{reinterpret_cast<std::uint8_t*>(&header), sizeof(header)};
  bool ok = n > 0 && receive_whole(guest_, octets.subspan(static_cast<std::size_t>(n)), patience_);
  if (ok && header.bytes > kMaxPayload) throw PeerError("a message of the guest's network card is too long");
  payload.resize(ok ? header.bytes : 0);
  ok = ok && receive_whole(guest_, payload, patience_);
  if (ok) return true;
  gone_ = true;
  guest_.close();
  return false;
}

void VhostUser::reply(const Header& to, const std::vector<std::uint8_t>& payload) {
  std::vector<std::uint8_t> octets(sizeof(Header));
  store_le32(octets.data(), to.request);
  store_le32(octets.data() + 4, kVersion | kIsReply);
  store_le32(octets.data() + 8, static_cast<std::uint32_t>(payload.size()));
  octets.insert(octets.end(), payload.begin(), payload.end());
  send_whole(guest_, octets, patience_);
}

void VhostUser::take_memory(const std::vector<std::uint8_t>& payload, std::vector<Descriptor>& files) {
  const std::uint32_t regions = word(payload, 0);
  if (regions > files.size()) throw PeerError("the guest's memory comes without its files");
  memory_.clear();
  for (std::uint32_t i = 0; i < regions; ++i) {
    const std::size_t at = 8 + kRegionBytes * i;
    memory_.add(long_word(payload, at), long_word(payload, at + 8), long_word(payload, at + 24), std::move(files[i]));
  }
}

void VhostUser::serve(const Transmit& to) {
  if (!guest_.open()) {
    guest_ = accept_waiting(listener_);
    return;
  }
  Header header{};
  std::vector<std::uint8_t> payload;
  std::vector<Descriptor> files;
  if (!take(header, payload, files)) return;
  switch (header.request) {
    case kGetFeatures:
      return reply(header, of_long_word(kFeatures));
    case kGetProtocolFeatures:
      return reply(header, of_long_word(kProtocolFeatures));
    case kGetConfig: {  // the answer has offset, bytes and flags, then the contents
      const std::size_t offset = word(payload, 0), bytes = std::min<std::size_t>(word(payload, 4), kMaxPayload);
      std::vector<std::uint8_t> answer(12);
      store_le32(answer.data(), word(payload, 0));
      store_le32(answer.data() + 4, word(payload, 4));
      store_le32(answer.data() + 8, word(payload, 8));
      for (std::size_t i = offset; i < offset + bytes; ++i) answer.push_back(i < sizeof(kConfig) ? kConfig[i] : 0);
      return reply(header, answer);
    }
    case kSetMemTable:
      take_memory(payload, files);
      break;
    case kSetVringNum: {
      const std::uint32_t entries = word(payload, 4);
      if (entries > Virtqueue::kMaxEntries) throw PeerError("a queue of the guest's network card is too long");
      queue(word(payload, 0)).entries = entries;
      break;
    }
    case kSetVringAddr: {
      Virtqueue& q = queue(word(payload, 0));
      q.descriptors = long_word(payload, 8);
      q.used = long_word(payload, 16);
      q.available = long_word(payload, 24);
      break;
    }
    case kSetVringBase:
      queue(word(payload, 0)).next = static_cast<std::uint16_t>(word(payload, 4));
      break;
    case kSetVringEnable:
      queue(word(payload, 0)).enabled = word(payload, 4) != 0;
      break;
    case kSetBackendReqFd:
      if (files.empty()) throw PeerError("the guest's network card does not say where it takes interrupts");
      interrupts_ = std::move(files.front());
      break;
    case kVringKick:
      if (word(payload, 0) == kTransmit) transmit(to);
      break;
    default:  // the others only need an answer
      break;
  }
  if ((header.flags & kNeedReply) != 0) reply(header, of_long_word(0));
}

void VhostUser::transmit(const Transmit& to) {
  Virtqueue& q = queues_[kTransmit];
  bool any = false;
  while (const auto chain = q.pop(memory_)) {
    frame_.clear();
    for (const Virtqueue::Piece& p : chain->pieces) {
      frame_.resize(frame_.size() + p.bytes);
      memory_.read(p.address, {frame_.data() + frame_.size() - p.bytes, p.bytes});
    }
    q.push(memory_, *chain, 0);
    any = true;
    if (frame_.size() > kNetHeaderBytes) to({frame_.data() + kNetHeaderBytes, frame_.size() - kNetHeaderBytes});
  }
  if (any && q.wants_interrupt(memory_)) pending_[kTransmit] = true;
}

bool VhostUser::receive(ByteSpan frame) {
  Virtqueue& q = queues_[kReceive];
  if (gone_ || !q.enabled) return false;
  const auto chain = q.pop(memory_);
  if (!chain) return false;
  frame_.assign(kNetHeaderBytes, 0);
  frame_[kNumBuffersOffset] = 1;
  frame_.insert(frame_.end(), frame.data(), frame.data() + frame.size());
  std::size_t written = 0;
  for (const Virtqueue::Piece& p : chain->pieces) {
    const std::size_t n = std::min<std::size_t>(p.bytes, frame_.size() - written);
    memory_.write(p.address, {frame_.data() + written, n});
    written += n;
  }
  q.push(memory_, *chain, static_cast<std::uint32_t>(written));
  if (q.wants_interrupt(memory_)) pending_[kReceive] = true;
  return written == frame_.size();
}

bool VhostUser::begin_interrupt() {
  for (std::uint32_t q = 0; q < kQueues; ++q) {
    if (!std::exchange(pending_[q], false)) continue;
    std::uint8_t message[20];
    const std::uint32_t words[] = {kBackendVringCall, kVersion | kNeedReply, 8, q, 0};
    for (unsigned i = 0; i < 5; ++i) store_le32(message + 4 * i, words[i]);
    send_whole(interrupts_, message, patience_);
    return true;
  }
  return false;
}

void VhostUser::end_interrupt() {
  std::uint8_t answer[20];
  if (!receive_whole(interrupts_, answer, patience_)) gone_ = true;
}

}  // namespace rnic::external
