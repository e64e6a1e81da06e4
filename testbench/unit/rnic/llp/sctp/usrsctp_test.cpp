// Associations with libusrsctp in both roles: set-up, shutdown, abort, restart, loss. The library chooses its own tags
// and times, so two runs differ in octets, but not in their outcome.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include <usrsctp.h>

#include "model/common/prng.h"
#include "testbench/unit/rnic/llp/sctp/setup_bench.h"

namespace rnic::sctp {
namespace {

constexpr std::uint16_t kOurs = 41000, kTheirs = 41001;
constexpr Ends kEnds{kAddress, kOurs, kTheirs};

// The library's callbacks identify a wire by one of our addresses.
class Wire {
 public:
  std::deque<Bytes> to_us;
  static int output(void* wire, void* packet, std::size_t bytes, std::uint8_t, std::uint8_t) {
    const auto* octets = static_cast<const std::uint8_t*>(packet);
    static_cast<Wire*>(wire)->to_us.emplace_back(octets, octets + bytes);
    return 0;
  }
};

class Usrsctp : public testing::Test {
 protected:
  Usrsctp() {
    config.rto_initial_us = 100'000;
    config.rto_max_us = 1'000'000;
    boot(1);
    usrsctp_init_nothreads(0, &Wire::output, nullptr);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_asconf_enable(0);
    usrsctp_sysctl_set_sctp_auth_enable(0);
    usrsctp_register_address(&wire);
  }

  void boot(std::uint64_t seed) {
    endpoint = std::make_unique<Endpoint>(config, kPeriodPs, kPacketBytes, seed);
    ours = std::make_unique<sctp::Setup>(*endpoint);
    timers.clear();
  }

  struct sockaddr_conn address(std::uint16_t port) {
    struct sockaddr_conn a = {};
    a.sconn_family = AF_CONN;
    a.sconn_port = htons(port);
    a.sconn_addr = &wire;
    return a;
  }
  struct socket* make(std::uint32_t indication) {
    struct socket* s = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, nullptr, nullptr, 0, nullptr);
    EXPECT_NE(s, nullptr);
    for (const std::uint16_t type : {SCTP_ASSOC_CHANGE, SCTP_ADAPTATION_INDICATION}) {
      struct sctp_event e = {};
      e.se_assoc_id = SCTP_FUTURE_ASSOC;
      e.se_type = type;
      e.se_on = 1;
      EXPECT_EQ(usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_EVENT, &e, sizeof e), 0);
    }
    struct sctp_initmsg streams = {};
    streams.sinit_num_ostreams = 16;
    streams.sinit_max_instreams = 16;
    EXPECT_EQ(usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_INITMSG, &streams, sizeof streams), 0);
    indicate(s, indication);
    struct linger at_once = {1, 0};  // makes close() an ABORT
    EXPECT_EQ(usrsctp_setsockopt(s, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    usrsctp_set_non_blocking(s, 1);
    struct sockaddr_conn me = address(kTheirs);
    EXPECT_EQ(usrsctp_bind(s, reinterpret_cast<struct sockaddr*>(&me), sizeof me), 0);
    return s;
  }
  static void indicate(struct socket* s, std::uint32_t indication) {
    if (indication == 0) return;
    struct sctp_setadaptation a = {indication};
    EXPECT_EQ(usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_ADAPTATION_LAYER, &a, sizeof a), 0);
  }
  void they_listen(std::uint32_t indication = kDdpAdaptation) {
    listener = make(indication);
    ASSERT_EQ(usrsctp_listen(listener, 1), 0);
  }
  void they_connect(std::uint32_t indication = kDdpAdaptation) {
    theirs = make(indication);
    struct sockaddr_conn peer = address(kOurs);
    EXPECT_LT(usrsctp_connect(theirs, reinterpret_cast<struct sockaddr*>(&peer), sizeof peer), 0);
    EXPECT_EQ(errno, EINPROGRESS);
  }
  void we_connect() {
    ours->connect(kEnds, now, out);
    take();
  }

  // Runs in virtual time, with all packets in between.
  void run(unsigned ms) {
    for (unsigned t = 0; t < ms; t += 10) {
      while (!wire.to_us.empty()) {
        const Bytes packet = wire.to_us.front();
        wire.to_us.pop_front();
        if (!lost()) arrive(packet);
      }
      now += 10'000 * kMicrosecond;
      usrsctp_handle_timers(10);
      std::map<SetupTimer, Cycle> due = timers;
      for (const auto& [timer, at] : due) {
        if (at > now) continue;
        timers.erase(timer);
        ours->expired(timer, now, out);
        take();
      }
      if (listener != nullptr && theirs == nullptr) {
        theirs = usrsctp_accept(listener, nullptr, nullptr);
        if (theirs != nullptr) usrsctp_set_non_blocking(theirs, 1);
      }
      if (theirs != nullptr) read_events();
    }
  }
  bool lost() { return random.below(100) < lose; }
  void arrive(const Bytes& packet) {
    EXPECT_EQ(with_checksum(packet), packet);
    const auto received = Received::parse(packet, kAddress);
    ASSERT_TRUE(received);
    if (ours->state() != State::kClosed) {
      ours->receive(*received, now, out);
    } else if (const auto cookie = endpoint->receive(*received, true, now, out)) {
      ours->accept(*cookie, *received, now, out);
    }
    take();
  }
  void take() {
    for (std::size_t t = 0; t < kSetupTimers; ++t) {
      const auto timer = static_cast<SetupTimer>(t);
      if (const auto& set = out.timer(timer)) timers[timer] = *set;
    }
    for (std::size_t i = 0; i < out.events(); ++i) told.push_back(out.event(i).kind);
    if (!out.packet().empty()) {
      const Bytes packet = with_checksum(out.packet());
      if (!lost()) usrsctp_conninput(&wire, packet.data(), packet.size(), 0);
    }
    if (ours->state() == State::kShutdownPending || ours->state() == State::kShutdownReceived) {
      ours->proceed({ours->terms().peer_tsn - 1, true}, now, out);
      take();
    }
  }
  void read_events() {
    for (;;) {
      std::vector<std::uint8_t> buffer(65536);
      struct sctp_rcvinfo info = {};
      socklen_t bytes = sizeof info;
      unsigned type = 0;
      int flags = 0;
      const ssize_t n =
          usrsctp_recvv(theirs, buffer.data(), buffer.size(), nullptr, nullptr, &info, &bytes, &type, &flags);
      if (n <= 0) return;
      if ((flags & MSG_NOTIFICATION) == 0) continue;
      union sctp_notification event;
      std::memcpy(&event, buffer.data(), std::min(sizeof event, static_cast<std::size_t>(n)));
      if (event.sn_header.sn_type == SCTP_ADAPTATION_INDICATION) {
        adaptation = event.sn_adaptation_event.sai_adaptation_ind;
      } else if (event.sn_header.sn_type == SCTP_ASSOC_CHANGE) {
        changes.push_back(event.sn_assoc_change.sac_state);
        streams_out = event.sn_assoc_change.sac_outbound_streams;
      }
    }
  }
  bool heard(Kind kind) const { return std::find(told.begin(), told.end(), kind) != told.end(); }
  bool they_heard(std::uint16_t change) const {
    return std::find(changes.begin(), changes.end(), change) != changes.end();
  }
  void expect_up() {
    EXPECT_EQ(ours->state(), State::kEstablished);
    EXPECT_TRUE(heard(Kind::kUp));
    EXPECT_EQ(ours->terms().adaptation, kDdpAdaptation);
    EXPECT_EQ(ours->terms().ddp_streams(), 16);
    EXPECT_TRUE(they_heard(SCTP_COMM_UP));
    EXPECT_EQ(adaptation, kDdpAdaptation);
    EXPECT_EQ(streams_out, 16);
  }

  SctpConfig config;
  Wire wire;
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<sctp::Setup> ours;
  Outcome out;
  Cycle now = 0;
  std::map<SetupTimer, Cycle> timers;
  std::vector<Kind> told;
  struct socket* listener = nullptr;
  struct socket* theirs = nullptr;
  std::vector<std::uint16_t> changes;
  std::uint32_t adaptation = 0;
  unsigned streams_out = 0;
  unsigned lose = 0;  // out of 100 packets
  Prng random{1};
};

TEST_F(Usrsctp, WeOpenAndShutDown) {
  they_listen();
  we_connect();
  run(100);
  expect_up();
  ours->shutdown({ours->terms().peer_tsn - 1, true}, now, out);
  take();
  run(100);
  EXPECT_EQ(ours->state(), State::kClosed);
  EXPECT_TRUE(heard(Kind::kShutDown));
  EXPECT_TRUE(they_heard(SCTP_SHUTDOWN_COMP));
}

TEST_F(Usrsctp, TheyOpenAndShutDown) {
  they_connect();
  run(100);
  expect_up();
  EXPECT_EQ(usrsctp_shutdown(theirs, SHUT_WR), 0);
  run(100);
  EXPECT_EQ(ours->state(), State::kClosed);
  EXPECT_TRUE(heard(Kind::kShutDown));
  EXPECT_TRUE(they_heard(SCTP_SHUTDOWN_COMP));
}

TEST_F(Usrsctp, BothRolesWithLoss) {
  for (const bool we : {true, false}) {
    for (const unsigned percent : {10, 20, 30, 40}) {
      told.clear();
      changes.clear();
      lose = percent;
      if (we) they_listen();
      if (we) we_connect();
      else they_connect();
      run(200'000);
      EXPECT_TRUE(heard(Kind::kUp)) << we << percent;
      EXPECT_TRUE(they_heard(SCTP_COMM_UP)) << we << percent;
      EXPECT_EQ(ours->state(), State::kEstablished) << we << percent;
      ASSERT_NE(theirs, nullptr);
      usrsctp_shutdown(theirs, SHUT_WR);
      run(200'000);
      EXPECT_EQ(ours->state(), State::kClosed) << we << percent;
      EXPECT_TRUE(heard(Kind::kShutDown)) << we << percent;
      usrsctp_close(theirs);
      theirs = nullptr;
      lose = 0;
      if (listener != nullptr) usrsctp_close(listener);
      listener = nullptr;
      run(100);
    }
  }
}

TEST_F(Usrsctp, WeAbort) {
  they_listen();
  we_connect();
  run(100);
  expect_up();
  ours->abort(wire::SctpCause::kUserInitiatedAbort, {}, out);
  take();
  run(100);
  EXPECT_TRUE(they_heard(SCTP_COMM_LOST));
}

TEST_F(Usrsctp, TheyAbort) {
  they_connect();
  run(100);
  expect_up();
  usrsctp_close(theirs);
  theirs = nullptr;
  run(100);
  EXPECT_EQ(ours->state(), State::kClosed);
  EXPECT_TRUE(heard(Kind::kAborted));
}

// Both at the same time.
TEST_F(Usrsctp, BothOpen) {
  they_connect();
  we_connect();
  run(10'000);
  expect_up();
}

// Our end loses its state. The accepted socket answers, but has not inherited the indication.
TEST_F(Usrsctp, WeRestart) {
  they_listen();
  we_connect();
  run(100);
  expect_up();
  indicate(theirs, kDdpAdaptation);
  boot(2);
  told.clear();
  we_connect();
  run(100);
  EXPECT_EQ(ours->state(), State::kEstablished);
  EXPECT_TRUE(heard(Kind::kUp));
  EXPECT_TRUE(they_heard(SCTP_RESTART));
}

// Our end loses its state, and theirs goes on: out of the blue.
TEST_F(Usrsctp, TheyShutDownWhatWeHaveForgotten) {
  they_listen();
  we_connect();
  run(100);
  expect_up();
  boot(2);
  usrsctp_shutdown(theirs, SHUT_WR);
  run(100);
  EXPECT_TRUE(they_heard(SCTP_COMM_LOST));
  EXPECT_EQ(endpoint->counters().out_of_the_blue, 1u);
}

// Choice 10, in both roles: with a different indication and without one.
TEST_F(Usrsctp, APeerThatIsNotDdpIsRefused) {
  for (const std::uint32_t other : {7u, 0u}) {
    they_listen(other);
    we_connect();
    run(100);
    EXPECT_EQ(ours->state(), State::kClosed);
    EXPECT_TRUE(heard(Kind::kFailed));
    EXPECT_EQ(theirs, nullptr);
    usrsctp_close(listener);
    listener = nullptr;
    told.clear();
    changes.clear();
    they_connect(other);
    run(100);
    EXPECT_EQ(ours->state(), State::kClosed);
    EXPECT_TRUE(they_heard(SCTP_CANT_STR_ASSOC) || they_heard(SCTP_COMM_LOST));
    usrsctp_close(theirs);
    theirs = nullptr;
  }
  EXPECT_EQ(endpoint->counters().refused, 4u);
}

}  // namespace
}  // namespace rnic::sctp
