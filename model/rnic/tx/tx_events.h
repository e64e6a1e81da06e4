// What happens to queue pairs, on its way to their rows of the transmit table.
#pragma once

#include <variant>

#include "model/abi/tx_internal_work.h"
#include "model/rnic/context/row_events.h"
#include "model/rnic/context/tx_table.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"
#include "model/rnic/messages/stag_work.h"
#include "model/rnic/messages/terminate.h"
#include "model/rnic/messages/work_requests.h"

namespace rnic {

using TxEvent = std::variant<TxUnblock, StagRequestDone, TerminateMessage, TxCredit, ReadWork, AtomicWork, FetchedWqe,
                             TxInternalWork>;
using TxEvents = RowEvents<TxRow, TxEvent>;

}  // namespace rnic
