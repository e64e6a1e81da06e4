#include "model/system/event_words.h"

#include <fmt/format.h>

#include "model/abi/host_abi_names.h"
#include "model/abi/log_text.h"
#include "model/wire/terminate.h"

namespace rnic {

namespace {

// "1/2/04 (untagged buffer: invalid MO)", as in checks and reports.
std::string cause_text(std::uint32_t word) {
  const wire::TerminateCause cause = wire::terminate_cause(word);
  return fmt::format("{}/{:x}/{:02x} ({})", static_cast<unsigned>(cause.layer), cause.etype, cause.code,
                     wire::to_string(cause));
}

}  // namespace

std::string trace_words(const TraceEvent& e) {
  switch (e.kind) {
    case TraceKind::kDoorbellWritten:
    case TraceKind::kDoorbell:
      return "producer index " + std::to_string(e.values[0]);
    case TraceKind::kDropped:
      return e.text;
    case TraceKind::kCrcChecked:
      return e.values[0] != 0 ? "CRC right" : "CRC wrong";
    case TraceKind::kCommand:
      return std::string(abi::name(static_cast<abi::CommandOp>(e.values[0]))) + ", " + std::to_string(e.values[1]) +
             " cycles";
    case TraceKind::kFirmwareLog: {
      LogEntry entry;
      entry.code = static_cast<fw::LogCode>(e.values[0]);
      entry.a = e.values[1];
      entry.b = e.values[2];
      return log_text(entry);
    }
    case TraceKind::kLost:
    case TraceKind::kQueueDropped:
    case TraceKind::kDuplicated:
    case TraceKind::kCeMarked:
      return fmt::format("frame {}, {}", e.values[0], e.text);
    case TraceKind::kInjected:  // into a frame, or into a work request
      if (e.values[0] != 0) return fmt::format("frame {}, {}", e.values[0], e.text);
      if (e.values[1] != 0) return fmt::format("{}: {} octets", e.text, e.values[1]);
      return e.values[2] == 0 ? e.text : fmt::format("{}: STag {:#x}", e.text, e.values[2]);
    case TraceKind::kWqeFetched:
      return e.values[0] > 255 ? "" : abi::name(static_cast<abi::WrOpcode>(e.values[0]));
    case TraceKind::kCorrupted:
      return fmt::format("frame {}, {}: bit {} of octet {}{}", e.values[0], e.text, e.values[2] & ~kChecksumRight,
                         e.values[1], (e.values[2] & kChecksumRight) != 0 ? ", checksum right" : "");
    case TraceKind::kReordered:
      return fmt::format("frame {}, {}: {} ns later", e.values[0], e.text, e.values[1]);
    case TraceKind::kWaits:
      return e.text;
    case TraceKind::kWindow:
      return fmt::format("{}: {} octets in flight, congestion window {}, peer's window {}", e.text, e.values[0],
                         e.values[1], e.values[2]);
    case TraceKind::kReduced:
      return fmt::format("{}: congestion window {} to {}", e.text, e.values[0], e.values[1]);
    case TraceKind::kWorked:
      return fmt::format("{} ps", std::uint64_t{e.values[1]} << 32 | e.values[0]);
    case TraceKind::kHandled:
      return e.values[1] == TraceEvent::kNone
                 ? fmt::format("{}, {} cycles", e.text, e.values[0])
                 : fmt::format("{} {}, {} cycles", e.text, abi::name(static_cast<abi::CommandOp>(e.values[1])),
                               e.values[0]);
    case TraceKind::kSeen:
      return fmt::format("message {}", e.values[0]);
    case TraceKind::kCheckFailed:
      return fmt::format("message {}, octet {}: expected {:#04x}, found {:#04x}", e.values[0], e.values[1],
                         e.values[2] >> 16, e.values[2] & 0xff);
    case TraceKind::kStagEnded:
      return fmt::format("STag {:#x}, by {}", e.values[0], e.text);
    case TraceKind::kRetransmitted: {
      constexpr const char* kWhy[] = {"", "fast", "timeout", "path MTU", "window opened"};
      return kWhy[e.facts[0]];
    }
    case TraceKind::kRefused:
      return *e.text == 0 ? cause_text(e.facts[0]) : fmt::format("{}: {}", cause_text(e.facts[0]), e.text);
    case TraceKind::kMissed:
      return fmt::format("row {}, by {}", e.values[0], *e.text == 0 ? "a prefetch" : e.text);
    case TraceKind::kEvicted:
      return fmt::format("row {}{}, for row {}", e.values[0], e.values[2] != 0 ? ", changed here" : "", e.values[1]);
    case TraceKind::kTerminated: {
      constexpr const char* kWhat[] = {"sent", "received", "received malformed", "ordered"};
      return fmt::format("{} {}", kWhat[e.facts[1]], cause_text(e.facts[0]));
    }
    default:
      return {};
  }
}

}  // namespace rnic
