#include "model/conformance/mpa_vectors.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "model/conformance/json_fields.h"

namespace rnic::conformance {
namespace {

using nlohmann::json;

// Compares lists of objects, each field that is expected; "*_hex" as octets, all else as integers.
void compare_list(Outcome& outcome, const std::string& name, const json& expected, const json& got) {
  outcome.compare(name + " in number", expected.size(), got.size());
  for (std::size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
    for (const auto& [key, unused] : expected[i].items()) {
      const std::string field = fmt::format("{}[{}].{}", name, i, key);
      const bool hex = key.size() > 4 && key.compare(key.size() - 4, 4, "_hex") == 0;
      if (hex) outcome.compare(field, to_hex(hex_field(expected[i], key)), got[i].at(key));
      else outcome.compare(field, integer_field(expected[i], key), got[i].at(key));
    }
  }
}

std::string verdict(const std::vector<FoundFpdu>& fpdus) {
  if (fpdus.empty()) return "incomplete";
  if (!fpdus[0].crc_ok) return "crc_error";
  return fpdus[0].marker_ok ? "ok" : "marker_error";
}

}  // namespace

Outcome check_fpdu(MpaChain& chain, const json& vector) {
  const json& position = vector.at("marker_pos");
  MpaStream stream;
  stream.markers = !position.is_null();
  stream.crc = flag(vector, "crc");
  if (stream.markers) stream.position = field<wire::StreamPosition>(vector, "marker_pos");
  const Octets ulpdu = hex_field(vector, "ulpdu_hex");
  Octets expected = hex_field(vector, "fpdu_hex");

  Outcome outcome;
  Octets sent = chain.send(stream, {ulpdu}).at(0);
  json markers = json::array();
  for (const FoundFpdu& fpdu : chain.receive(stream, sent)) {
    outcome.compare("ulpdu_length", integer_field(vector, "ulpdu_length"), fpdu.ulpdu_length());
    outcome.compare("pad", integer_field(vector, "pad"), fpdu.pad());
    for (const FoundFpdu::Marker& m : fpdu.markers) markers.push_back({{"offset", m.offset}, {"fpduptr", m.pointer}});
  }
  compare_list(outcome, "markers", vector.at("markers"), markers);
  if (!stream.crc) {  // with CRC off a sender may put anything into the field
    for (Octets* octets : {&sent, &expected}) octets->resize(octets->size() - std::min<std::size_t>(octets->size(), 4));
  }
  outcome.compare("fpdu_hex", to_hex(expected), to_hex(sent));

  const std::vector<FoundFpdu> received = chain.receive(stream, hex_field(vector, "received_hex"));
  const std::string expect = vector.at("expect");
  outcome.compare("expect", expect, verdict(received));
  if (expect == "ok" && !received.empty()) {
    outcome.compare("received ULPDU", to_hex(ulpdu), to_hex(received[0].ulpdu()));
  }
  return outcome;
}

Outcome check_marker_stream(MpaChain& chain, const json& vector) {
  const MpaStream stream{true, flag(vector, "crc"), field<wire::StreamPosition>(vector, "pos")};
  const auto seq_start = field<std::uint32_t>(vector, "seq_start");
  const Octets expected = hex_field(vector, "stream_hex");
  std::vector<Octets> ulpdus;
  for (const json& ulpdu : vector.at("ulpdus_hex")) ulpdus.push_back(hex_field({{"ulpdu", ulpdu}}, "ulpdu"));

  Octets sent;
  for (const Octets& fpdu : chain.send(stream, ulpdus)) sent.insert(sent.end(), fpdu.begin(), fpdu.end());
  Outcome outcome;
  outcome.compare("stream_hex", to_hex(expected), to_hex(sent));

  json markers = json::array(), fpdus = json::array(), received = json::array(), sent_ulpdus = json::array();
  for (const Octets& ulpdu : ulpdus) sent_ulpdus.push_back(to_hex(ulpdu));
  for (const FoundFpdu& fpdu : chain.receive(stream, expected)) {
    for (const FoundFpdu::Marker& m : fpdu.markers) {
      const auto position = stream.position + static_cast<wire::StreamPosition>(m.offset);
      markers.push_back(
          {{"offset", m.offset}, {"pos", position}, {"seq", seq_start + position}, {"fpduptr", m.pointer}});
    }
    fpdus.push_back({{"offset", fpdu.offset},
                     {"header_offset", fpdu.header_offset()},
                     {"octets", fpdu.octets()},
                     {"ulpdu_len", fpdu.ulpdu_length()},
                     {"pad", fpdu.pad()},
                     {"crc_wire_hex", to_hex(fpdu.crc_field())}});
    received.push_back(to_hex(fpdu.ulpdu()));
    outcome.compare("received FPDU", "ok", verdict({fpdu}));
  }
  compare_list(outcome, "markers", vector.at("markers"), markers);
  compare_list(outcome, "fpdus", vector.at("fpdus"), fpdus);
  outcome.compare("received ULPDUs", sent_ulpdus, received);
  return outcome;
}

}  // namespace rnic::conformance
