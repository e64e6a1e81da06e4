// What a TLP is for: the traffic of the link is counted by it. No hardware carries it.
#pragma once

#include <cstdint>
#include <iterator>

#include "model/abi/host_abi.h"
#include "model/common/request_id.h"

namespace rnic::pcie {

enum class Purpose : std::uint8_t {
  kDoorbell,     // what the host tells of its rings
  kRegister,     // any other register, and configuration space
  kWqe,          // work requests of send queues
  kReceiveWqe,   // of receive queues and shared receive queues
  kPayload,      // octets of messages
  kAtomic,       // the word of an atomic operation, and its original value at the requester
  kContext,      // rows of contexts that are not on the chip
  kTranslation,  // those of the page table
  kCqe,          // completions, and how far the host has taken them: the queue's record
  kEvent,
  kInterrupt,
  kCommand
};
inline constexpr const char* kPurposeNames[] = {"doorbell", "register", "wqe",       "receive_wqe",
                                                "payload",  "atomic",   "context",   "translation",
                                                "cqe",      "event",    "interrupt", "command"};
inline constexpr unsigned kPurposes = std::size(kPurposeNames);
static_assert(static_cast<unsigned>(Purpose::kCommand) + 1 == kPurposes);

// Of a TLP of a client that has this purpose. One client fetches rows of all kinds.
inline Purpose purpose_of(Purpose client, RequestId owner) {
  const bool pages = client == Purpose::kContext && owner.kind() == RequestId::Kind::kContext &&
                     owner.queue() == static_cast<std::uint32_t>(abi::ContextKind::kPages);
  return pages ? Purpose::kTranslation : client;
}

}  // namespace rnic::pcie
