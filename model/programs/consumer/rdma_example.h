// rdma_client and rdma_server of librdmacm's utilities: one Send of 16 octets each way, then the connection ends.
#pragma once

#include "model/programs/consumer/consumer.h"

namespace rnic::consumer {

class RdmaExample : public Consumer {
 protected:
  static constexpr std::uint32_t kBytes = 16;  // all zero
  RdmaExample(host::Context& context, const ProgramSpec& spec);

  void ready() override { receive(kReceived, kBytes); }
  void completed(const host::Wc& wc) override;
  bool may_end() const override { return received_ && sent_; }
  virtual void received() {}
  void send() { post({}, kSent, kBytes); }

 private:
  static constexpr std::uint64_t kReceived = 0, kSent = 64;  // offsets in its memory
  bool received_ = false, sent_ = false;
};

class RdmaClient final : public RdmaExample {
 public:
  RdmaClient(host::Context& context, const ProgramSpec& spec) : RdmaExample(context, spec) {}

 private:
  void established() override { send(); }
};

class RdmaServer final : public RdmaExample {
 public:
  RdmaServer(host::Context& context, const ProgramSpec& spec) : RdmaExample(context, spec) {}

 private:
  void established() override {}
  void received() override { send(); }
};

}  // namespace rnic::consumer
