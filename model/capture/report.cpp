#include "model/capture/report.h"

#include <fmt/format.h>

#include "model/wire/rdmap.h"

namespace rnic::capture {
namespace {

using Json = nlohmann::ordered_json;

Json startup_json(const std::optional<wire::MpaFrame>& frame) {
  if (!frame) return nullptr;
  return {{"rev", frame->rev},
          {"m", int{frame->markers}},
          {"c", int{frame->crc}},
          {"r", int{frame->rejected}},
          {"s", int{frame->s}},
          {"ird", frame->enhanced ? Json(frame->enhanced->ird) : Json()},
          {"ord", frame->enhanced ? Json(frame->enhanced->ord) : Json()},
          {"pd_length", frame->pd_length()}};
}

Json direction_json(const char* from, const FpduCounts& counts) {
  Json fpdus = Json::object(), terminates = Json::array();
  for (const auto& [opcode, count] : counts.by_opcode) fpdus[std::to_string(opcode)] = count;
  for (const wire::TerminateCause& t : counts.terminates) {
    terminates.push_back({{"layer", static_cast<unsigned>(t.layer)}, {"etype", t.etype}, {"code", t.code}});
  }
  return {{"from", from},
          {"fpdus", fpdus},
          {"payload_bytes", counts.payload_bytes},
          {"crc", {{"good", counts.crc.good}, {"bad", counts.crc.bad}, {"absent", counts.crc.absent}}},
          {"terminates", terminates}};
}

Json connection_json(const Connection& connection) {
  const IwarpStream& request = connection.stream(Side::kInitiator);
  const IwarpStream& reply = connection.stream(Side::kResponder);
  return {{"initiator", to_string(connection.initiator())},
          {"responder", to_string(connection.responder())},
          {"mpa", {{"req", startup_json(request.startup())}, {"rep", startup_json(reply.startup())}}},
          {"directions",
           Json::array({direction_json("initiator", request.counts()), direction_json("responder", reply.counts())})}};
}

void print_startup(const char* name, const std::optional<wire::MpaFrame>& frame, std::ostream& out) {
  if (!frame) {
    out << fmt::format("  {:<9} none\n", name);
    return;
  }
  out << fmt::format("  {:<9} Rev {}, M={} C={} R={} S={}, PD_Length {}", name, frame->rev, int{frame->markers},
                     int{frame->crc}, int{frame->rejected}, int{frame->s}, frame->pd_length());
  if (frame->enhanced) out << fmt::format(", IRD {}, ORD {}", frame->enhanced->ird, frame->enhanced->ord);
  out << "\n";
}

void print_direction(const char* from, const FpduCounts& counts, std::ostream& out) {
  out << fmt::format("  from {}: {} octets of payload; CRC good {}, bad {}, not negotiated {}\n", from,
                     counts.payload_bytes, counts.crc.good, counts.crc.bad, counts.crc.absent);
  for (const auto& [opcode, count] : counts.by_opcode) {
    out << fmt::format("    {:>8}  {}\n", count,
                       wire::is_assigned(static_cast<wire::Opcode>(opcode))
                           ? to_string(static_cast<wire::Opcode>(opcode))
                           : fmt::format("opcode {}, unassigned", opcode));
  }
  for (const wire::TerminateCause& t : counts.terminates) {
    out << fmt::format("    Terminate: layer {}, type {}, code {:#04x}\n", static_cast<unsigned>(t.layer), t.etype,
                       t.code);
  }
}

}  // namespace

nlohmann::ordered_json to_json(const CaptureReport& report) {
  Json connections = Json::array(), undecoded = Json::array();
  for (const auto& connection : report.table.connections()) connections.push_back(connection_json(*connection));
  for (const Undecoded& u : report.undecoded) undecoded.push_back({{"offset", u.offset}, {"reason", u.reason}});
  return {{"connections", connections}, {"undecoded", undecoded}, {"skipped_packets", report.skipped}};
}

void print(const CaptureReport& report, std::ostream& out) {
  for (const auto& connection : report.table.connections()) {
    const IwarpStream& request = connection->stream(Side::kInitiator);
    const IwarpStream& reply = connection->stream(Side::kResponder);
    out << fmt::format("{} > {}\n", to_string(connection->initiator()), to_string(connection->responder()));
    if (!request.startup() && !reply.startup()) {
      out << "  no MPA\n";
      continue;
    }
    print_startup("request", request.startup(), out);
    print_startup("reply", reply.startup(), out);
    print_direction("initiator", request.counts(), out);
    print_direction("responder", reply.counts(), out);
  }
  for (const Undecoded& u : report.undecoded) out << fmt::format("not decoded, offset {}: {}\n", u.offset, u.reason);
  if (report.skipped != 0) {
    out << fmt::format("{} packets of interfaces that are not Ethernet were skipped\n", report.skipped);
  }
  out << fmt::format("{} frames, {} connections, {} dropped for a wrong checksum, {} not decoded\n", report.frames,
                     report.table.connections().size(), report.dropped, report.undecoded.size());
}

}  // namespace rnic::capture
