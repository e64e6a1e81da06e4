// The messages and contexts that blocks see. include/rnic_messages_pkg.sv is made from them.
#pragma once

#include <tuple>

#include "model/abi/context_types.h"
#include "model/abi/srq_events.h"
#include "model/rnic/context/alive.h"
#include "model/rnic/context/irrq_table.h"
#include "model/rnic/context/orq_table.h"
#include "model/rnic/context/page_table.h"
#include "model/rnic/context/rx_table.h"
#include "model/rnic/context/stag_table.h"
#include "model/rnic/messages/completion.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/doorbells.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/parts.h"
#include "model/rnic/messages/placement.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"
#include "model/rnic/messages/terminate.h"
#include "model/rnic/messages/work_requests.h"
#include "rtl-stubs/verilated/bits.h"
#include "rtl-stubs/verilated/mpa_place.h"

namespace rnic::rtl {

// A message that is part of another one comes before it.
using Messages = std::tuple<Rqn, wire::TerminateCause, FailedSegment, QpEvent, TxUnblock, TerminateMessage,
                            DmaReadRequest, DmaReadDone, DmaWriteRequest, DmaWriteDone, wire::ReadRequest,
                            wire::AtomicRequest, wire::AtomicResponse, wire::ImmediateData, QueuedRead, QueuedAtomic,
                            QueuedRequest, AtomicWork, DeliveredAtomic, ReadResponseSent, AtomicDone, RqFlush, abi::Sge,
                            AtomicIssued, ReadIssued, abi::Wqe, RqDoorbell, FetchedRqe, RqeTaken, SrqArm, SrqEvent,
                            PlacedSegment, MpaPlace, RxConsumed, QpLife, StagContext, StagRow, PageRow, PooledQueue,
                            IrrqContext, QpIrrq, IrrqRow, OrqContext, QpOrq, OrqRow, RxContext, QpRx, RxRow>;

}  // namespace rnic::rtl
