// The messages and contexts that blocks see, of which include/rnic_messages_pkg.sv is made.
#pragma once

#include <tuple>

#include "model/abi/context_types.h"
#include "model/abi/srq_events.h"
#include "model/rnic/completion/cqe.h"
#include "model/rnic/context/qp_events.h"
#include "model/rnic/context/wqe_fetch.h"
#include "model/rnic/dma.h"
#include "model/rnic/llp/tcp_types.h"
#include "model/rnic/messages/parts.h"
#include "model/rnic/pcie/doorbells.h"
#include "model/rnic/responder/read_request.h"
#include "model/rnic/rx/placed.h"
#include "model/rnic/terminate/terminate_message.h"
#include "rtl-stubs/verilated/bits.h"
#include "rtl-stubs/verilated/mpa_place.h"

namespace rnic::rtl {

// In an order in which what is inside stands before what it is in.
using Messages = std::tuple<Rqn, wire::TerminateCause, FailedSegment, QpEvent, TxUnblock, TerminateMessage,
                            DmaReadRequest, DmaReadDone, DmaWriteRequest, DmaWriteDone, wire::ReadRequest,
                            wire::AtomicRequest, wire::AtomicResponse, wire::ImmediateData, QueuedRead, QueuedAtomic,
                            QueuedRequest, AtomicWork, DeliveredAtomic, ReadResponseSent, AtomicDone, RqFlush, abi::Sge,
                            AtomicIssued, ReadIssued, abi::Wqe, RqDoorbell, FetchedRqe, RqeTaken, SrqArm, SrqEvent,
                            PlacedSegment, MpaPlace, RxConsumed, QpContext, FlowContext, StagContext>;

}  // namespace rnic::rtl
