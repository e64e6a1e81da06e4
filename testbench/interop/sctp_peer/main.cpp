// A far end for DDP over SCTP without any of the simulator's code: libusrsctp or Linux's SCTP, and above it a second
// implementation of sessions, DDP and RDMAP, from RFC 5043, 6581, 5041 and 5040.
//
// Exit status: 0 all went as expected, 1 it did not, 2 the command line is wrong.
#include <cstdio>
#include <exception>
#include <stdexcept>

#include <fmt/format.h>

#include "testbench/interop/sctp_peer/exchange.h"

namespace far_end {
namespace {

constexpr std::uint32_t kDdp = 1;  // the adaptation indication of RFC 5043

void say(const std::string& line) {
  fmt::print("sctp_peer: {}\n", line);
  std::fflush(stdout);
}

Bytes octets_of(const std::string& text) { return {text.begin(), text.end()}; }
std::string text_of(const Bytes& octets) { return {octets.begin(), octets.end()}; }

// Thrown in the middle of an exchange, as the command line requested.
struct Abort {};
struct Restart {};

class Program {
 public:
  explicit Program(const Options& options)
      : options_(options), sctp_(options.linux_sctp ? open_linux_sctp(options) : open_usrsctp(options)) {}

  bool run() {
    for (;;) {
      try {
        set_up();
        const bool good = one_session();
        end_association();
        return good;
      } catch (const Restart&) {
        say("we restart the association");
        options_.restart_after = 0;
        sctp_->restart();
      } catch (const Restarted& e) {
        say(e.what());
      } catch (const Abort&) {
        say("we abort the association");
        sctp_->abort();
        return true;
      }
    }
  }

 private:
  void set_up() {
    using State = Sctp::State;
    sctp_->wait("association", [this] { return sctp_->state() != State::kSettingUp; });
    // The indication comes after the association's event.
    if (options_.adaptation != 0) sctp_->wait("adaptation indication", [this] { return sctp_->adaptation() != 0; });
    if (options_.adaptation == kDdp && sctp_->adaptation() != kDdp) {
      sctp_->abort();
      throw Ended(fmt::format("the peer speaks no DDP: its adaptation is {}", sctp_->adaptation()));
    }
    say(fmt::format("association up, adaptation {}, {} streams out, {} in", sctp_->adaptation(), sctp_->streams_out(),
                    sctp_->streams_in()));
  }

  // Whatever the result, the association continues.
  bool one_session() {
    try {
      return try_session();
    } catch (const Ended& e) {
      if (sctp_->state() == Sctp::State::kLost) throw;
      say(e.what());
      return false;
    }
  }

  bool try_session() {
    if (options_.connect) {
      Session session(*sctp_, options_.stream);
      return open(session) && exchange(session, options_.rtr != 0);
    }
    auto& received = sctp_->received();
    sctp_->wait("Initiate", [&] { return !received.empty() || sctp_->state() == Sctp::State::kShutDown; });
    if (received.empty()) throw Ended("the association was shut down before a session");
    Session session(*sctp_, received.front().stream);
    session.await_initiate();
    say(fmt::format("{} Initiate, private data '{}'", session.terms().enhanced ? "enhanced" : "plain",
                    text_of(session.private_data())));
    if (!options_.reject.empty()) {
      session.reject(octets_of(options_.reject));
      say("rejected");
      sctp_->wait("acknowledgement of the Reject", [this] { return sctp_->idle(); });
      return true;
    }
    session.accept(terms(), octets_of(options_.private_data));
    return exchange(session, false);
  }

  Terms terms() const {
    Terms t;
    t.enhanced = !options_.plain;
    t.ird = options_.ird;
    t.ord = options_.ord;
    t.peer_to_peer = options_.rtr != 0;
    t.rtr = options_.rtr;
    return t;
  }

  bool open(Session& session) {
    if (session.initiate(terms(), octets_of(options_.private_data))) {
      say(fmt::format("accepted, private data '{}'", text_of(session.private_data())));
      return true;
    }
    say(session.refused() ? "refused" : fmt::format("rejected, private data '{}'", text_of(session.private_data())));
    return false;
  }

  bool exchange(Session& session, bool rtr) {
    const Terms& agreed = session.terms();
    Rdma rdma(session, options_.mtu);
    if (agreed.enhanced) say(fmt::format("IRD {}, ORD {}, RTR {:#x}", agreed.ird, agreed.ord, agreed.rtr));
    if (rtr) {
      if ((agreed.rtr & options_.rtr) == 0) rdma.fail_setup(7);
      if (agreed.ord != Terms::kNotNegotiated && agreed.ord > options_.ird) rdma.fail_setup(6);
      rdma.send_rtr(options_.rtr);
    } else if (agreed.peer_to_peer) {
      rdma.absorb_rtr(agreed.rtr);
    }
    Exchange work(rdma, options_, [this](std::uint32_t rounds) {
      if (rounds == options_.abort_after) throw Abort();
      if (rounds == options_.restart_after) throw Restart();
    });
    try {
      work.run();
    } catch (const Ended& e) {
      throw Ended(e.what() + rdma.peer_terminate());
    }
    say(fmt::format("{} rounds{}", work.rounds(), rdma.peer_terminate()));
    if (options_.leave) throw Abort();
    session.terminate();
    say("session ended");
    return true;
  }

  // The end that opened the association shuts it down; the other end waits for that a while.
  void end_association() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.linger_ms);
    if (options_.connect) sctp_->shut_down();
    sctp_->wait("SHUTDOWN", [&] {
      if (!options_.connect && std::chrono::steady_clock::now() > until) sctp_->shut_down();
      return sctp_->state() == Sctp::State::kShutDown;
    });
    say("association shut down");
  }

  Options options_;
  std::unique_ptr<Sctp> sctp_;
};

}  // namespace
}  // namespace far_end

int main(int argc, char** argv) {
  using namespace far_end;
  Options options;
  try {
    options = parse_options(argc, argv);
  } catch (const std::invalid_argument& e) {
    fmt::print(stderr, "sctp_peer: {}\n{}", e.what(), kUsage);
    return 2;
  }
  try {
    return Program(options).run() ? 0 : 1;
  } catch (const std::exception& e) {
    say(e.what());
    return 1;
  }
}
