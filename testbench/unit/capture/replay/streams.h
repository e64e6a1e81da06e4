// Both streams of a captured connection, written octet by octet.
#pragma once

#include "model/capture/replay/message_reader.h"
#include "model/capture/replay/recording.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::replay {

// One direction: each add() is a segment captured at `order`. CRC off.
class TestStream {
 public:
  explicit TestStream(wire::MpaFrameKind kind) : reader_(kind) {
    add(0, kind == wire::MpaFrameKind::kRequest ? hex("4D504120494420526571204672616D65 00 01 0000")
                                                : hex("4D504120494420526570204672616D65 00 01 0000"));
  }
  TestStream& add(Order order, const Bytes& octets) {
    stream_.octets = stream_.octets + octets;
    stream_.arrivals.push_back({stream_.octets.size(), order});
    reader_.push(octets);
    return *this;
  }
  // An FPDU around a ULPDU.
  TestStream& fpdu(Order order, const Bytes& ulpdu) {
    Bytes octets = {static_cast<std::uint8_t>(ulpdu.size() >> 8), static_cast<std::uint8_t>(ulpdu.size())};
    octets = octets + ulpdu;
    octets.resize((octets.size() + 3) / 4 * 4 + 4);
    return add(order, octets);
  }
  TestStream& write(Order order, const std::string& stag, const std::string& to, const std::string& payload) {
    return fpdu(order, hex("C140" + stag + to + payload));
  }
  TestStream& response(Order order, const std::string& stag, const std::string& to, const std::string& payload) {
    return fpdu(order, hex("C142" + stag + to + payload));
  }
  TestStream& read(Order order, const std::string& sink, const std::string& size, const std::string& source) {
    return fpdu(order, hex("4141 00000000 00000001 00000001 00000000" + sink + size + source));
  }
  TestStream& terminate(Order order, const std::string& header) {
    return fpdu(order, hex("4147 00000000 00000002 00000001 00000000" + header));
  }

  const MessageReader& reader() const { return reader_; }
  const RecordedStream& stream() const { return stream_; }

 private:
  MessageReader reader_;
  RecordedStream stream_;
};

}  // namespace rnic::replay
