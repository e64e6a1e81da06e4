// What a program with a connection needs from its device: protection domain, regions, completion queues, queue pair,
// listener, and the channel of its events. session.md.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/host/driver/context.h"

namespace rnic::host {

// Some octets of a region, and requests for them; a request that sends also requests a completion.
inline Sge part_of(const Mr& mr, std::uint64_t offset, std::uint32_t bytes) {
  return {mr.address() + offset, bytes, mr.lkey()};
}
SendWr send_request(std::uint64_t id, WrOpcode opcode, const Sge& sge);
RecvWr receive_request(std::uint64_t id, const Sge& sge);

class Session final {
 public:
  // The program is woken when the device is open, or has failed.
  Session(Context& context, Core& core);
  Context& context() const { return context_; }

  // The objects, in the order in which they are requested from the device. ConfigError if it has no more of the kind.
  // made() is for a region that was requested from the context.
  Mr& made(Mr* mr);
  Pd domain();
  Mr& region(std::uint64_t address, std::uint64_t bytes, std::uint8_t access);
  Mr& memory(std::uint64_t bytes, std::uint8_t access, std::uint64_t alignment = 4096);  // a region of its own octets
  Mr& entry() { return made(context_.alloc_mr(domain())); }  // without octets yet: for requests that register
  Mr& window(unsigned type) { return made(context_.alloc_mw(domain(), type)); }
  void make_cqs(std::uint32_t sends, std::uint32_t receives, CqMode mode = CqMode::kPolled);
  void make_cq(std::uint32_t entries);  // one for both
  Qp& make_qp(std::uint32_t sends = 128, std::uint32_t receives = 128);
  void destroy_qp();  // another one may be created at once
  void listen(std::uint16_t port, std::uint8_t cm_flags, Transport transport = Transport::kTcp);
  void stop_listening();
  // Whether all of them are there. ConfigError if the device has refused one.
  bool ready();

  Cq& send_cq() const { return *send_cq_; }
  Cq& recv_cq() const { return *recv_cq_; }
  bool has_qp() const { return qp_ != nullptr; }
  Qp& qp() const { return *qp_; }
  bool listens() const { return listener_ != nullptr; }

  // As in Context, for this queue pair.
  int connect(std::uint32_t peer_ip, std::uint16_t port, const ConnParam& param) {
    return context_.connect(*qp_, peer_ip, port, param, events_);
  }
  int accept(std::uint32_t connection, const ConnParam& param = {}) {
    return context_.accept(connection, *qp_, param, events_);
  }
  int disconnect() { return context_.disconnect(*qp_); }
  // The oldest event of the connection or of the listener; false if there is none.
  bool next(CmEvent& event);
  // A request at a port that this session shares with its listener.
  void give(CmEvent request) { events_.push(std::move(request)); }

 private:
  Context& context_;
  EventChannel events_;
  Pd domain_{Pdn{0}};
  Cq *send_cq_ = nullptr, *recv_cq_ = nullptr;
  Qp* qp_ = nullptr;
  Listener* listener_ = nullptr;
  std::vector<const Resource*> pending_;
};

}  // namespace rnic::host
