// Messages of peers outside the simulation on their sockets: a guest's network card and clock, and frames in a stream.
#include <chrono>
#include <filesystem>

#include <fcntl.h>

#include "model/external/external_peer.h"
#include "model/external/frame_port.h"
#include "model/external/guest_clock.h"
#include "model/external/vhost_user.h"
#include "testbench/fuzz/input.h"
#include "testbench/fuzz/parsers.h"
#include "testbench/unit/external/guest.h"

namespace rnic::fuzz {
namespace {

using namespace external;
using external::test::connected;
using external::test::GuestCard;

constexpr std::chrono::milliseconds kPatience{20};

const std::string& socket_path() {
  static std::string folder = std::filesystem::temp_directory_path() / "rnic_sockets.XXXXXX";
  static const bool made = ::mkdtemp(folder.data()) != nullptr;
  require(made, "no folder for sockets");
  static const std::string path = folder + "/s";
  return path;
}

// A peer that breaks its protocol ends the run with a reason.
template <class F>
void may_break(const F& serve) {
  try {
    serve();
  } catch (const PeerError& error) {
    require(*error.what() != 0, "refused without a reason");
  }
}

// The rest of the input is the guest's memory, shorter than announced if `cut`.
void fill(GuestCard& guest, Input& in, bool cut) {
  const ByteSpan octets = in.rest();
  std::copy_n(octets.begin(), std::min<std::size_t>(octets.size(), GuestCard::kSize - 0x1000), guest.memory + 0x1000);
  if (cut) require(::ftruncate(guest.file.get(), 0x2000) == 0, "cannot cut off the guest's memory");
}

}  // namespace

// A guest's messages: their number; for each a request, flags, an octet for its irregularities, its length and its
// payload. Then the memory. Frames go both ways.
void vhost(ByteSpan octets) {
  Input in(octets);
  may_break([&] {
    VhostUser card(socket_path(), kPatience);
    GuestCard guest(socket_path());
    const auto drain = [&] {
      char answers[8192];
      while (::recv(guest.socket.get(), answers, sizeof answers, MSG_DONTWAIT) > 0) {
      }
    };
    std::size_t bytes = 0;
    const auto take = [&](ByteSpan frame) { bytes += frame.size(); };
    card.serve({});
    const std::uint8_t how = in.octet();
    const auto tell = [&](std::uint32_t request, const external::test::Bytes& payload, int fd) {
      guest.send(request, payload, fd);
      card.serve(take);
      drain();
    };
    if (how & 1) guest.set_up(tell);
    std::vector<std::pair<std::uint32_t, external::test::Bytes>> messages(in.octet() % 16);
    std::vector<std::uint8_t> oddities;
    for (auto& [request, payload] : messages) {
      request = in.octet();
      oddities.push_back(in.octet());
      const ByteSpan p = in.take(in.octet());
      payload.assign(p.begin(), p.end());
    }
    fill(guest, in, how & 2);
    for (std::size_t i = 0; i < messages.size() && !card.gone(); ++i) {
      const bool with_file = oddities[i] & 1;
      guest.send(messages[i].first, messages[i].second, with_file ? guest.file.get() : -1, 1u | (oddities[i] & 8));
      card.serve(take);
      drain();
      const std::uint8_t frame[60] = {};
      if (oddities[i] & 2) card.receive(frame);
      if (oddities[i] & 4 && card.begin_interrupt()) {
        char call[20];
        const ssize_t n = ::recv(guest.interrupts.get(), call, sizeof call, MSG_DONTWAIT);
        if (n > 0) ::send(guest.interrupts.get(), call, static_cast<std::size_t>(n), MSG_NOSIGNAL);
        card.end_interrupt();
      }
    }
  });
}

// Messages of 16 octets.
void guest_clock(ByteSpan octets) {
  may_break([&] {
    GuestClock clock(socket_path(), kPatience);
    const Descriptor guest = connected(socket_path());
    clock.serve(0);
    ::send(guest.get(), octets.data(), octets.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::shutdown(guest.get(), SHUT_WR);
    for (std::uint64_t ns = 0; ns < 64 && !clock.gone(); ++ns) {
      clock.serve(ns);
      if (clock.waiting()) clock.run(std::min(clock.wake_ns(), ns + 1));
    }
  });
}

// Frames, each after its length.
void frame_port(ByteSpan octets) {
  ExternalConfig config;
  config.wire = WireKind::kStream;
  config.path = socket_path();
  const auto port = open_frame_port(config);
  const Descriptor peer = connected(socket_path());
  std::vector<std::uint8_t> frame;
  port->receive(frame);
  ::send(peer.get(), octets.data(), octets.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(peer.get(), SHUT_WR);
  std::size_t bytes = 0;
  while (!port->peer_gone()) {
    if (port->receive(frame)) bytes += frame.size();
  }
  require(bytes <= octets.size(), "more frames came than were sent");
}

}  // namespace rnic::fuzz
