#include "model/trace/event.h"

#include "model/common/check.h"

namespace rnic {

const char* to_string(TraceKind kind) {
  switch (kind) {
    case TraceKind::kDoorbell:
      return "doorbell";
    case TraceKind::kWqeFetched:
      return "wqe_fetched";
    case TraceKind::kPayloadRead:
      return "payload_read";
    case TraceKind::kFpduSent:
      return "fpdu_sent";
    case TraceKind::kFrameSent:
      return "frame_sent";
    case TraceKind::kFrameReceived:
      return "frame_received";
    case TraceKind::kStreamDelivered:
      return "stream_delivered";
    case TraceKind::kFpduReceived:
      return "fpdu_received";
    case TraceKind::kCrcChecked:
      return "crc_checked";
    case TraceKind::kPlaced:
      return "placed";
    case TraceKind::kDelivered:
      return "delivered";
    case TraceKind::kResponse:
      return "response";
    case TraceKind::kCompleted:
      return "completed";
    case TraceKind::kInterrupt:
      return "interrupt";
    case TraceKind::kRetransmitted:
      return "retransmitted";
    case TraceKind::kDropped:
      return "dropped";
    case TraceKind::kTerminated:
      return "terminated";
    case TraceKind::kFirmwareLog:
      return "firmware_log";
    case TraceKind::kCommand:
      return "command";
    case TraceKind::kPosted:
      return "posted";
    case TraceKind::kDoorbellWritten:
      return "doorbell_written";
    case TraceKind::kSegmented:
      return "segmented";
    case TraceKind::kFramed:
      return "framed";
    case TraceKind::kCqeWritten:
      return "cqe_written";
    case TraceKind::kPolled:
      return "polled";
    case TraceKind::kTlpRead:
      return "tlp_read";
    case TraceKind::kTlpWrite:
      return "tlp_write";
    case TraceKind::kTlpCompletion:
      return "tlp_completion";
    case TraceKind::kMarked:
      return "marked";
    case TraceKind::kDue:
      return "due";
    case TraceKind::kTaken:
      return "taken";
    case TraceKind::kTlpConfig:
      return "tlp_config";
    case TraceKind::kLost:
      return "lost";
    case TraceKind::kQueueDropped:
      return "queue_dropped";
    case TraceKind::kCorrupted:
      return "corrupted";
    case TraceKind::kDuplicated:
      return "duplicated";
    case TraceKind::kReordered:
      return "reordered";
    case TraceKind::kCeMarked:
      return "ce_marked";
    case TraceKind::kInjected:
      return "injected";
    case TraceKind::kWaits:
      return "waits";
    case TraceKind::kWindow:
      return "window";
    case TraceKind::kReduced:
      return "reduced";
    case TraceKind::kWorked:
      return "worked";
    case TraceKind::kHandled:
      return "handled";
    case TraceKind::kAtPort:
      return "at_port";
    case TraceKind::kSeen:
      return "seen";
    case TraceKind::kCheckFailed:
      return "check_failed";
    case TraceKind::kStagEnded:
      return "stag_ended";
    case TraceKind::kRefused:
      return "refused";
    case TraceKind::kMissed:
      return "missed";
    case TraceKind::kEvicted:
      return "evicted";
  }
  RNIC_CHECK_MSG(false, "not a trace kind");
  return "";
}

}  // namespace rnic
