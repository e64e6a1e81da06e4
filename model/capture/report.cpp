#include "model/capture/report.h"

#include <fmt/format.h>

#include "model/capture/report_ddp.h"
#include "model/capture/report_sctp.h"

namespace rnic::capture {
namespace {

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
  return {{"from", from},
          {"fpdus", opcodes_json(counts)},
          {"payload_bytes", counts.payload_bytes},
          {"crc", {{"good", counts.crc.good}, {"bad", counts.crc.bad}, {"absent", counts.crc.absent}}},
          {"cut", counts.cut},
          {"terminates", terminates_json(counts)}};
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
  out << fmt::format("  from {}: {} octets of payload; CRC good {}, bad {}, not negotiated {}{}\n", from,
                     counts.payload_bytes, counts.crc.good, counts.crc.bad, counts.crc.absent,
                     counts.cut == 0 ? "" : fmt::format(", not kept {}", counts.cut));
  print_ddp(counts, out);
}

ConnectionTable::Observe connections_of(SegmentList* list) {
  if (list == nullptr) return nullptr;
  return
      [list](const Endpoint& initiator, const Endpoint& responder) { return list->connection(initiator, responder); };
}
AssociationTable::Observe associations_of(SegmentList* list) {
  if (list == nullptr) return nullptr;
  return
      [list](const Endpoint& initiator, const Endpoint& responder) { return list->association(initiator, responder); };
}

}  // namespace

CaptureReport::CaptureReport(SegmentList* list)
    : table(undecoded, connections_of(list)), associations(undecoded, associations_of(list)) {}

nlohmann::ordered_json to_json(const CaptureReport& report) {
  Json connections = Json::array(), associations = Json::array(), undecoded = Json::array();
  for (const auto& connection : report.table.connections()) connections.push_back(connection_json(*connection));
  for (const auto& association : report.associations.associations()) {
    associations.push_back(association_json(*association));
  }
  for (const Undecoded& u : report.undecoded)
    undecoded.push_back({{"frame", u.at.frame}, {"offset", u.at.offset}, {"reason", u.reason}});
  return {{"connections", connections},
          {"associations", associations},
          {"undecoded", undecoded},
          {"skipped_packets", report.skipped},
          {"lost_packets", report.lost}};
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
  const auto& associations = report.associations.associations();
  for (const auto& association : associations) print_association(*association, out);
  for (const Undecoded& u : report.undecoded)
    out << fmt::format("not decoded, frame {}, offset {}: {}\n", u.at.frame, u.at.offset, u.reason);
  print_totals(report, out);
}

void print_totals(const CaptureReport& report, std::ostream& out) {
  if (report.skipped != 0) {
    out << fmt::format("{} packets of interfaces that are not Ethernet were skipped\n", report.skipped);
  }
  if (report.lost != 0) out << fmt::format("{} frames that the cable lost were skipped\n", report.lost);
  const auto& associations = report.associations.associations();
  out << fmt::format("{} frames, {} connections, {}{} dropped for a wrong checksum, {} not decoded\n", report.frames,
                     report.table.connections().size(),
                     associations.empty() ? "" : fmt::format("{} associations, ", associations.size()), report.dropped,
                     report.undecoded.size());
}

}  // namespace rnic::capture
