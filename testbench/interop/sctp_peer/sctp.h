// One association of a foreign SCTP, as the layer above sees it: messages on streams.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>

#include "testbench/interop/sctp_peer/octets.h"
#include "testbench/interop/sctp_peer/options.h"

namespace far_end {

// The exchange ends here; the text gives the reason.
struct Ended : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The peer has restarted the association, and every session on it is gone (choices.md 21).
struct Restarted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Sctp {
 public:
  struct Message {
    std::uint16_t stream = 0;
    std::uint32_t ppid = 0;
    bool unordered = false;
    Bytes octets;
  };
  enum class State : std::uint8_t { kSettingUp, kUp, kShutDown, kLost };

  explicit Sctp(const Options& options) : deadline_(std::chrono::steady_clock::now() + options.patience) {}
  virtual ~Sctp() = default;
  Sctp(const Sctp&) = delete;
  Sctp& operator=(const Sctp&) = delete;

  State state() const { return state_; }
  std::uint32_t adaptation() const { return adaptation_; }
  unsigned streams_out() const { return streams_out_; }
  unsigned streams_in() const { return streams_in_; }
  std::deque<Message>& received() { return received_; }

  // Unordered. False if there is no room for it yet.
  virtual bool send(std::uint16_t stream, std::uint32_t ppid, const Bytes& octets) = 0;
  // Whether the peer has acknowledged everything sent.
  virtual bool idle() = 0;
  virtual void shut_down() = 0;
  virtual void abort() = 0;
  // Forgets the association without informing the peer, and opens it again from the same port.
  virtual void restart() = 0;

  // Lets time and packets pass until `reached()`. Throws Ended when the association is lost or the time limit has
  // passed, Restarted when the peer restarts it.
  template <class Reached>
  void wait(const std::string& what, Reached reached) {
    for (;;) {
      if (restarted_) {  // first: later messages belong to the new association
        restarted_ = false;
        throw Restarted("the peer has restarted the association");
      }
      if (reached()) return;  // anything before the end counts
      if (state_ == State::kLost) throw Ended("the association is lost");
      if (std::chrono::steady_clock::now() > deadline_) throw Ended("no " + what + " came in time");
      pass();
    }
  }

 protected:
  virtual void pass() = 0;

  State state_ = State::kSettingUp;
  std::uint32_t adaptation_ = 0;  // 0: the peer has not given one
  unsigned streams_out_ = 0, streams_in_ = 0;
  bool restarted_ = false;
  std::deque<Message> received_;

 private:
  const std::chrono::steady_clock::time_point deadline_;
};

std::unique_ptr<Sctp> open_usrsctp(const Options& options);
std::unique_ptr<Sctp> open_linux_sctp(const Options& options);

}  // namespace far_end
