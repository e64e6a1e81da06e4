// The atomic ALU before eight octets of host memory: what `rnicsim vectors` executes atomics on.
#pragma once

#include "model/ends/ends.h"
#include "model/rnic/context/context.h"
#include "model/rnic/responder/atomic_alu.h"
#include "model/rnic/twins.h"

namespace rnic::conformance {

// Answers one read and one write a cycle.
class HostWord final : public Stage {
 public:
  PopPort<DmaReadRequest> read{*this, "read"};
  PushPort<DmaReadDone> read_done{*this, "read_done"};
  PopPort<DmaWriteRequest> write{*this, "write"};
  PushPort<DmaWriteDone> written{*this, "written"};
  using Stage::Stage;
  Wake tick() override;

  std::uint64_t value = 0;  // in host byte order
};

class AtomicChain {
 public:
  // With the ALU's twin in its place, if there are twins.
  explicit AtomicChain(const TwinSource* twins = nullptr);

  struct Result {
    std::uint64_t value = 0;     // in memory afterwards
    std::uint64_t returned = 0;  // in the Atomic Response
  };
  // Executes the request's operation; its STag and TO are the chain's. InternalError if there is no single response.
  Result execute(wire::AtomicRequest request, std::uint64_t original);

 private:
  ClockDomain clk_;
  ContextStore contexts_;
  AtomicAlu alu_;
  HostWord memory_;
  Netlist net_;
  test::Source<QueuedAtomic> requests_ = test::drive(alu_.in);
  test::Sink<AtomicWork> responses_ = test::collect(alu_.out);
  test::Sink<QpEvent> events_ = test::collect(alu_.event);
  TwinSource::Handle twin_;
};

}  // namespace rnic::conformance
