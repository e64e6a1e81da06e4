// A program with one connection to an external peer. It creates its objects, connects or listens, and leaves the rest
// to the tool that it plays.
#pragma once

#include <cstdint>
#include <string>

#include "model/host/session/session.h"
#include "model/programs/consumer/program_spec.h"

namespace rnic::consumer {

class Consumer : public host::App {
 public:
  // `memory_bytes` octets of host memory are registered with `access` (abi::Access); `depth` is IRD and ORD. `window`
  // adds one more region, for open_window().
  struct Needs {
    std::uint64_t memory_bytes;
    std::uint8_t access;
    std::uint16_t depth;
    bool window = false;
  };
  Consumer(host::Context& context, const ProgramSpec& spec, const Needs& needs);

  bool done() const { return state_ == State::kDone; }
  // Empty unless something went wrong.
  const std::string& error() const { return error_; }
  std::uint64_t progress() const { return progress_; }
  // For the report: complete rounds, payload octets, and when the first round began and the last one ended.
  struct Record {
    std::uint64_t rounds = 0, bytes = 0, first_ps = 0, last_ps = 0;
    std::uint64_t refused = 0;  // of a server: connections other than the one it serves
    std::string last_refusal;   // the reason for the last one
  };
  const Record& record() const { return record_; }
  const ProgramSpec& spec() const { return spec_; }

  // The peer has sent an ICMP echo request.
  void pinged();

  void step() override;
  std::string waiting_for() const override;

 protected:
  // In call order. ready() posts the receives.
  virtual void ready() = 0;
  virtual void established() = 0;
  virtual void completed(const host::Wc& wc) = 0;
  // After an orderly close by the peer: true if the work is complete.
  virtual bool may_end() const = 0;

  void fail(const std::string& reason);
  void count_round(std::uint64_t bytes);
  void disconnect() { session_.disconnect(); }
  void receive(std::uint64_t offset, std::uint32_t bytes);
  void post(host::SendWr wr, std::uint64_t offset, std::uint32_t bytes);
  // Registers part of the memory as a region with a new key until a peer invalidates it. The request goes through the
  // send queue in order.
  void open_window(std::uint64_t offset, std::uint32_t bytes);
  std::uint32_t window_key() const { return window_->rkey(); }
  std::uint8_t* octets(std::uint64_t offset, std::uint64_t bytes) {
    return session_.context().memory().span(address(offset), bytes).data();
  }
  std::uint64_t address(std::uint64_t offset) const { return memory_->address() + offset; }
  std::uint32_t key() const { return memory_->rkey(); }
  std::uint64_t time_ps() const { return core_.time_ps(); }

  const ProgramSpec spec_;
  Record record_;

 private:
  enum class State : std::uint8_t { kOpening, kCreating, kWaiting, kSetup, kConnected, kDone };
  void advance();
  void create();
  bool created();
  void begin();
  void take_events();
  void take(const host::CmEvent& event);
  void answer(const host::CmEvent& request);
  void refuse(std::string why);
  void take_stray(const host::CmEvent& event);
  host::ConnParam parameters() const;
  void poll(host::Cq& cq);

  host::Core& core_;
  host::Session session_;
  const Needs needs_;
  State state_ = State::kOpening;
  host::Mr *memory_ = nullptr, *window_ = nullptr;
  std::string error_;
  std::uint64_t progress_ = 0;
  bool pinged_ = false;
};

}  // namespace rnic::consumer
