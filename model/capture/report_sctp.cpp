#include "model/capture/report_sctp.h"

#include <fmt/format.h>

#include "model/capture/report_ddp.h"

namespace rnic::capture {
namespace {

// Spelled as in RFC 9260 section 3.2.
std::string chunk_name(unsigned type) {
  constexpr const char* kNames[] = {"DATA",  "INIT",     "INIT ACK",     "SACK",  "HEARTBEAT",   "HEARTBEAT ACK",
                                    "ABORT", "SHUTDOWN", "SHUTDOWN ACK", "ERROR", "COOKIE ECHO", "COOKIE ACK"};
  if (type < std::size(kNames)) return kNames[type];
  if (type == static_cast<unsigned>(wire::SctpChunkType::kShutdownComplete)) return "SHUTDOWN COMPLETE";
  return fmt::format("unknown {:#04x}", type);
}

const char* end_name(AssociationEnd end) {
  switch (end) {
    case AssociationEnd::kShutdown:
      return "shutdown";
    case AssociationEnd::kAbort:
      return "abort";
    case AssociationEnd::kNone:
      break;
  }
  return nullptr;
}

Json chunks_json(const SctpCounts& counts) {
  Json chunks = Json::object();
  for (const auto& [type, count] : counts.by_chunk) chunks[chunk_name(type)] = count;
  return chunks;
}

Json causes_json(const SctpCounts& counts) {
  Json causes = Json::object();
  for (const auto& [cause, count] : counts.by_cause) causes[std::to_string(cause)] = count;
  return causes;
}

Json direction_json(const Association& association, Side from) {
  const SctpCounts& counts = association.counts(from);
  const SctpReassembly& data = association.data(from);
  const SctpOffer* const terms = association.terms(from);
  Json offered;
  if (terms != nullptr) {
    offered = {{"tag", terms->init.initiate_tag},
               {"tsn", terms->init.initial_tsn},
               {"a_rwnd", terms->init.a_rwnd},
               {"os", terms->init.outbound_streams},
               {"mis", terms->init.max_inbound_streams},
               {"adaptation", terms->adaptation ? Json(*terms->adaptation) : Json()}};
  }
  return {{"from", to_string(from)},
          {"init", offered},
          {"packets", counts.packets},
          {"chunks", chunks_json(counts)},
          {"causes", causes_json(counts)},
          {"tsns", {{"duplicates", data.tsns().duplicates()}, {"missing", data.tsns().missing()}}},
          {"fragmented", data.fragmented()}};
}

Json control_json(const std::optional<SessionControl>& control) {
  if (!control) return nullptr;
  return {{"message", wire::to_string(control->code)},
          {"ird", control->enhanced ? Json(control->enhanced->ird) : Json()},
          {"ord", control->enhanced ? Json(control->enhanced->ord) : Json()},
          {"pd_length", control->pd_length}};
}

Json session_json(const DdpSession& session) {
  Json directions = Json::array();
  for (const Side side : {Side::kInitiator, Side::kResponder}) {
    const SessionDirection& d = session.from(side);
    directions.push_back({{"from", to_string(side)},
                          {"set_up", control_json(d.set_up)},
                          {"segments", opcodes_json(d.segments)},
                          {"payload_bytes", d.segments.payload_bytes},
                          {"terminates", terminates_json(d.segments)},
                          {"ddp_ssns", {{"duplicates", d.ddp_ssns.duplicates()}, {"missing", d.ddp_ssns.missing()}}},
                          {"ordered", d.ordered},
                          {"terminated", d.terminated}});
  }
  return {{"stream", session.stream},
          {"active", session.active ? Json(to_string(*session.active)) : Json()},
          {"directions", directions}};
}

std::string list_of(const Json& counts) {
  std::string text;
  for (const auto& [name, count] : counts.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count.get<std::uint64_t>());
  }
  return text.empty() ? "none" : text;
}

void print_direction(const Association& association, Side from, std::ostream& out) {
  const SctpCounts& counts = association.counts(from);
  const SctpReassembly& data = association.data(from);
  out << fmt::format("  from {}: {} packets; chunks: {}\n", to_string(from), counts.packets,
                     list_of(chunks_json(counts)));
  if (!counts.by_cause.empty()) out << fmt::format("    error causes: {}\n", list_of(causes_json(counts)));
  if (data.tsns().duplicates() != 0 || data.tsns().missing() != 0 || data.fragmented() != 0) {
    out << fmt::format("    TSNs: {} duplicates, {} missing; {} messages in fragments\n", data.tsns().duplicates(),
                       data.tsns().missing(), data.fragmented());
  }
}

void print_session(const DdpSession& session, std::ostream& out) {
  out << fmt::format("  stream {}: session, {}\n", session.stream,
                     session.active ? fmt::format("opened by the {}", to_string(*session.active))
                                    : "its Initiate is not in the capture");
  for (const Side side : {Side::kInitiator, Side::kResponder}) {
    const SessionDirection& d = session.from(side);
    std::string said = d.set_up ? fmt::format("{}, PD_Length {}", wire::to_string(d.set_up->code), d.set_up->pd_length)
                                : "no set-up message";
    if (d.set_up && d.set_up->enhanced) {
      said += fmt::format(", IRD {}, ORD {}", d.set_up->enhanced->ird, d.set_up->enhanced->ord);
    }
    if (d.terminated) said += ", terminate";
    out << fmt::format("  from {}: {}; {} octets of payload\n", to_string(side), said, d.segments.payload_bytes);
    if (d.ddp_ssns.duplicates() != 0 || d.ddp_ssns.missing() != 0 || d.ordered != 0) {
      out << fmt::format("    DDP-SSNs: {} duplicates, {} missing; {} messages not unordered\n",
                         d.ddp_ssns.duplicates(), d.ddp_ssns.missing(), d.ordered);
    }
    print_ddp(d.segments, out);
  }
}

}  // namespace

Json association_json(const Association& association) {
  Json sessions = Json::array();
  for (const auto& session : association.sessions().sessions()) sessions.push_back(session_json(*session));
  const char* const end = end_name(association.end());
  return {{"initiator", to_string(association.initiator())},
          {"responder", to_string(association.responder())},
          {"ddp", association.ddp()},
          {"end", end == nullptr ? Json() : Json(end)},
          {"directions",
           Json::array({direction_json(association, Side::kInitiator), direction_json(association, Side::kResponder)})},
          {"sessions", sessions}};
}

void print_association(const Association& association, std::ostream& out) {
  const char* const end = end_name(association.end());
  out << fmt::format("{} > {}, SCTP{}\n", to_string(association.initiator()), to_string(association.responder()),
                     end == nullptr ? "" : fmt::format(", ended by {}", end));
  if (!association.ddp()) out << "  no DDP\n";
  for (const Side side : {Side::kInitiator, Side::kResponder}) print_direction(association, side, out);
  for (const auto& session : association.sessions().sessions()) print_session(*session, out);
}

}  // namespace rnic::capture
