// Verbs programs that echo messages: they use one operation each way and compare every octet. consumer.md describes the
// protocol.
#pragma once

#include "model/programs/consumer/consumer.h"

namespace rnic::consumer {

// The 24 octets of every Send that is not itself a message, big-endian. The first note each way names the operation and
// the sender's memory. Each later note says where its message is, or where it is to go.
struct EchoNote {
  static constexpr std::uint32_t kBytes = 24;
  std::uint32_t operation = 0;
  std::uint32_t number = 0;  // of the message; in the first note, the number of messages
  std::uint32_t size = 0;
  std::uint32_t stag = 0;
  std::uint64_t address = 0;
  template <class Self, class F>
  static constexpr void fields(Self& n, F& f) {
    f(n.operation, n.number, n.size, n.stag, n.address);
  }
};

class Echo : public Consumer {
 protected:
  // Its memory: two buffers for received Sends, since the next receive is posted before the last one is processed; a
  // note to send; and two buffers for messages.
  Echo(host::Context& context, const ProgramSpec& spec);
  static constexpr std::uint64_t kNote = 0, kReceived = 4096;
  static std::uint64_t room(std::uint32_t size) { return (std::uint64_t{size} + 4095) / 4096 * 4096; }
  std::uint64_t room() const { return room(spec_.size); }
  std::uint64_t received(unsigned place) const { return kReceived + place * room(); }
  std::uint64_t source() const { return kReceived + 2 * room(); }
  std::uint64_t sink() const { return kReceived + 3 * room(); }

  void ready() override { post_receive(); }
  void completed(const host::Wc& wc) override;
  // A Send has arrived at this place; the next receive is posted.
  virtual void heard(std::uint64_t place, std::uint32_t bytes) = 0;
  virtual void read_done() {}

  void tell(const EchoNote& note, std::uint32_t invalidate = 0);
  void transfer(abi::WrOpcode opcode, std::uint64_t local, const EchoNote& remote);
  // The note at that place. If there is none, the program fails and an empty note is returned.
  EchoNote note_at(std::uint64_t place, std::uint32_t bytes);

  EchoOperation operation_;

 private:
  void post_receive() { receive(received(place_), static_cast<std::uint32_t>(room())); }
  unsigned place_ = 0;  // of the posted receive
};

class EchoClient final : public Echo {
 public:
  EchoClient(host::Context& context, const ProgramSpec& spec) : Echo(context, spec) {}

 private:
  void established() override;
  void heard(std::uint64_t place, std::uint32_t bytes) override;
  void read_done() override { compare(sink()); }
  bool may_end() const override { return record_.rounds == spec_.count; }
  void say_next();
  void compare(std::uint64_t place);

  bool greeted_ = false;
  EchoNote server_;  // where its memory is
};

class EchoServer final : public Echo {
 public:
  EchoServer(host::Context& context, const ProgramSpec& spec) : Echo(context, spec) {}

 private:
  void established() override {}
  void heard(std::uint64_t place, std::uint32_t bytes) override;
  void read_done() override;
  bool may_end() const override { return greeted_ && record_.rounds == count_; }
  void greet(std::uint64_t place, std::uint32_t bytes);
  void echo(const EchoNote& note);

  bool greeted_ = false;
  std::uint32_t count_ = 0, size_ = 0;  // announced by the client
};

}  // namespace rnic::consumer
