// The definitions of the firmware's templates. One source file of each target instantiates them for its bus. If other
// files of the target use them, that file does so explicitly:
//   template class ConnectionManager<Bus>;
//   template class Firmware<Bus>;
// The RV32 image does not: that would also keep each function out of line, cost 3 KiB of text and change the cycles.
#pragma once

#include <optional>

#include "firmware/app/firmware.h"
#include "firmware/conn/connection_close.h"
#include "firmware/conn/connection_commands.h"
#include "firmware/conn/connection_lookup.h"
#include "firmware/conn/connection_setup.h"
#include "firmware/conn/connection_table.h"
#include "firmware/conn/session_events.h"
#include "firmware/conn/session_setup.h"
#include "firmware/conn/transport.h"

namespace rnic::fw {

// kCommandDone means that a command is done. For commands that wait for the network, it means that they have begun.
template <class Bus, class Capacity>
void Firmware<Bus, Capacity>::on(const HostCommand& event) {
  const abi::Command& command = event.command;
  switch (command.op) {
    case abi::CommandOp::kConnect:
    case abi::CommandOp::kAccept:
    case abi::CommandOp::kReject:
    case abi::CommandOp::kDisconnect: {
      const Status status = connections_.check(command);
      done(command, status);
      if (status == Status::kOk) connections_.perform(command);
      return;
    }
    case abi::CommandOp::kModifyQp:
      return modify_qp(command);
    case abi::CommandOp::kQueryQp:
      return query_qp(command);
    case abi::CommandOp::kQuerySrq:
      return query_srq(command);
    case abi::CommandOp::kReleaseHome:
      return release_home(command);
    default:
      return done(command, execute(command));
  }
}

// Streams that do not use the queue go on (RFC 5040 section 8.1.1).
template <class Bus, class Capacity>
void Firmware<Bus, Capacity>::on(const CqOverflow& event) {
  if (!resources_.fail_cq(event.cqn)) return;  // destroyed meanwhile, or told already
  bus_.write(PostEvent{cq_error(event.cqn)});
  resources_.for_each_qp_on(event.cqn, [this](Qpn qpn) { connections_.fail(qpn); });
}

template <class Bus, class Capacity>
void Firmware<Bus, Capacity>::on(const SrqLimitReached& event) {
  if (resources_.limit_reached(event.srqn, event.serial)) {
    bus_.write(PostEvent{srq_event(abi::EventType::kSrqLimit, event.srqn)});
  }
}

template <class Bus, class Capacity>
void Firmware<Bus, Capacity>::on(const SrqOverrun& event) {
  fail_srq(event.srqn);
}

// Streams that do not use the queue go on.
template <class Bus, class Capacity>
void Firmware<Bus, Capacity>::fail_srq(Srqn srqn) {
  if (!resources_.fail_srq(srqn)) return;  // destroyed meanwhile, or told already
  bus_.write(PostEvent{srq_event(abi::EventType::kSrqError, srqn)});
  resources_.for_each_qp_sharing(srqn, [this](Qpn qpn) { connections_.fail(qpn); });
}

template <class Bus, class Capacity>
void Firmware<Bus, Capacity>::on(const HomeReleased&) {
  resources_.home_released();
  done(releases_, Status::kOk);
}

// A stream that needs the context finds the same, and ends. A shared queue is of no use to any of its streams.
template <class Bus, class Capacity>
void Firmware<Bus, Capacity>::on(const ContextLost& event) {
  bus_.write(PostEvent{context_lost(event)});
  if (event.kind == abi::ContextKind::kSrq) fail_srq(Srqn{event.index});
}

template <class Bus, class Capacity>
void Firmware<Bus, Capacity>::release_home(const abi::Command& command) {
  const bool listens = resources_.is_homed(abi::ContextKind::kFlow) && connections_.listens_on_tcp();
  const Status status = listens ? Status::kBusy : resources_.release_home();
  if (status != Status::kOk) return done(command, status);
  releases_ = command;
  bus_.write(ReleaseHome{});
}

// The answer names the state that the QP will reach.
template <class Bus, class Capacity>
void Firmware<Bus, Capacity>::modify_qp(const abi::Command& command) {
  const Status status = resources_.modify_qp(command);
  abi::Event event = command_done(command, status);
  event.qp_state = command.u.modify_qp.to;
  bus_.write(PostEvent{event});
  if (status == Status::kOk && command.u.modify_qp.to == QpState::kError) connections_.fail(Qpn{command.id});
}

template <class Bus, class Capacity>
void Firmware<Bus, Capacity>::query_qp(const abi::Command& command) {
  const QpEntry* qp = resources_.qp(Qpn{command.id});
  abi::Event event = command_done(command, qp != nullptr ? Status::kOk : Status::kBadIndex);
  if (qp != nullptr) {
    event.qp_state = qp->context.state;
    event.ddp_version = qp->context.version;
    event.stream = qp->selection();
  }
  bus_.write(PostEvent{event});
}

template <class Bus, class Capacity>
void Firmware<Bus, Capacity>::query_srq(const abi::Command& command) {
  const std::optional<std::uint32_t> limit = resources_.srq_limit(Srqn{command.id});
  abi::Event event = command_done(command, limit ? Status::kOk : Status::kBadIndex);
  event.srq_limit = limit.value_or(0);
  bus_.write(PostEvent{event});
}

template <class Bus, class Capacity>
abi::CommandStatus Firmware<Bus, Capacity>::execute(const abi::Command& command) {
  switch (command.op) {
    case abi::CommandOp::kNop:
      return Status::kOk;
    case abi::CommandOp::kCreateCq:
      return resources_.create_cq(command);
    case abi::CommandOp::kModifyCq:
      return resources_.modify_cq(command);
    case abi::CommandOp::kDestroyCq:
      return resources_.destroy_cq(command);
    case abi::CommandOp::kCreateQp:
      return resources_.create_qp(command);
    case abi::CommandOp::kDestroyQp:
      return resources_.destroy_qp(command);
    case abi::CommandOp::kRegisterMr:
      return resources_.register_mr(command);
    case abi::CommandOp::kWritePages:
      return resources_.write_pages(command);
    case abi::CommandOp::kSetHome:
      return resources_.set_home(command);
    case abi::CommandOp::kRegisterMrPages:
      return resources_.register_mr_pages(command);
    case abi::CommandOp::kDeregisterMr:
      return resources_.deregister_mr(command);
    case abi::CommandOp::kAllocMr:
      return resources_.alloc_mr(command);
    case abi::CommandOp::kAllocMw:
      return resources_.alloc_mw(command);
    case abi::CommandOp::kCreateSrq:
      return resources_.create_srq(command);
    case abi::CommandOp::kModifySrq:
      return resources_.modify_srq(command);
    case abi::CommandOp::kDestroySrq:
      return resources_.destroy_srq(command);
    case abi::CommandOp::kListen:
      return connections_.listen(command);
    case abi::CommandOp::kUnlisten:
      return connections_.unlisten(command);
    default:
      return Status::kBadOp;
  }
}

}  // namespace rnic::fw
