// rping of librdmacm's utilities, both roles. In a round the client advertises its data and the server reads it; then
// the client advertises a sink and the server writes the data there. A Send answers each step.
#pragma once

#include "model/programs/consumer/consumer.h"

namespace rnic::consumer {

// Payload of rping's Sends: address, STag and length of a buffer, big-endian.
struct RpingInfo {
  static constexpr std::uint32_t kBytes = 16;
  std::uint64_t address = 0;
  std::uint32_t stag = 0, size = 0;
  template <class Self, class F>
  static constexpr void fields(Self& i, F& f) {
    f(i.address, i.stag, i.size);
  }
};

class Rping : public Consumer {
 protected:
  Rping(host::Context& context, const ProgramSpec& spec, std::uint8_t access);
  // Offsets in its memory.
  static constexpr std::uint64_t kReceived = 0, kSent = 64, kSource = 4096;
  std::uint64_t sink() const { return kSource + (spec_.size + 4095) / 4096 * 4096; }

  void ready() override { receive(kReceived, RpingInfo::kBytes); }
  void completed(const host::Wc& wc) override;
  // The peer's Send has arrived; the next receive is posted.
  virtual void told(const RpingInfo& info) = 0;
  virtual void read_done() {}
  void tell(const RpingInfo& info);
};

class RpingClient final : public Rping {
 public:
  RpingClient(host::Context& context, const ProgramSpec& spec);

 private:
  void established() override { ping(); }
  void told(const RpingInfo& info) override;
  bool may_end() const override { return record_.rounds == spec_.count; }
  void ping();
  bool read_ = false;  // the server has read this round's data
};

class RpingServer final : public Rping {
 public:
  RpingServer(host::Context& context, const ProgramSpec& spec);

 private:
  void established() override {}
  void told(const RpingInfo& info) override;
  void read_done() override;
  bool may_end() const override { return spec_.count == 0 ? record_.rounds != 0 : record_.rounds == spec_.count; }
  bool has_data_ = false;  // of this round
  std::uint32_t size_ = 0;
};

}  // namespace rnic::consumer
