// Messages between the firmware processor and its neighbours.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"
#include "model/abi/host_abi.h"
#include "model/abi/tx_internal_work.h"
#include "model/common/buffer.h"
#include "model/common/value_words.h"
#include "model/rnic/messages/parts.h"
#include "model/rnic/messages/qp_events.h"

namespace rnic {

// A command with its private data (command.private_bytes octets, 512 at most, at the buffer's start).
struct FetchedCommand {
  abi::Command command;
  BufferRef private_data;

  static constexpr const char* kMessage = "fetched_command";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("command", m.command);
  }
};

// An event for the host; the phase is filled in when it is written.
struct HostEvent {
  abi::Event event;
  BufferRef private_data;

  static constexpr const char* kMessage = "host_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("event", m.event);
  }
};

// For the unit that has the contexts' home.
struct HomeOp {
  enum class Kind : std::uint8_t {
    kHomePage,   // a page of the home: its number and bus address
    kWritePage,  // an entry of the page table: its number and bus address
    kWriteCq,    // the context of a CQ: its number and `cq`
    kWriteQp,    // the context of a QP: its number and `qp`
    kWriteFlow,  // the context of a flow: its number and `flow`
    kWriteSrq,   // the context of a shared receive queue: its number and `srq`
    kRelease     // no page of the home may be used any more; answered by a HomeEvent
  };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"home_page",  "write_page", "write_cq", "write_qp",
                                   "write_flow", "write_srq",  "release"};
    return kWords;
  }
  Kind kind = Kind::kHomePage;
  std::uint32_t index = 0;
  std::uint64_t bus_address = 0;
  CqContext cq = {};
  QpContext qp = {};
  FlowContext flow = {};
  SrqContext srq = {};

  static constexpr const char* kMessage = "home_op";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 3, m.kind);
    v("index", 32, m.index);
    v("bus_address", 64, m.bus_address);
    v("cq", m.cq);
    v("qp", m.qp);
    v("flow", m.flow);
    v("srq", m.srq);
  }
};
struct HomeEvent {
  enum class Kind : std::uint8_t { kReleased, kLost };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"released", "lost"};
    return kWords;
  }
  Kind kind = Kind::kReleased;
  abi::ContextKind context = abi::ContextKind::kPages;  // kLost: of what,
  std::uint32_t index = 0;                              // and which row

  static constexpr const char* kMessage = "home_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 1, m.kind);
    v("context", 3, m.context);
    v("index", 32, m.index);
  }
};

}  // namespace rnic
