// A bent stream equals one whose sender has put the changed message into its FPDU. The reference builds that stream,
// not the bender.
#include "model/cable/inject/stream_bender.h"

#include <gtest/gtest.h>

#include "model/wire/ddp.h"
#include "testbench/support/mpa_reference.h"

namespace rnic::test {
namespace {

using inject::Injection;
using inject::MessageKind;
using inject::StreamBender;
using wire::Opcode;

constexpr std::uint64_t kStartupBytes = 24;

Bytes startup_frame(wire::MpaFrameKind kind, bool markers) {
  wire::MpaFrame frame;
  frame.kind = kind;
  frame.markers = markers;
  frame.rev = wire::kMpaRev2;
  frame.enhanced = wire::MpaEnhanced{};
  Bytes octets(kStartupBytes);
  EXPECT_EQ(frame.emit(octets), kStartupBytes);
  return octets;
}

template <class... Headers>
Bytes octets_of(const Bytes& payload, const Headers&... headers) {
  Bytes octets;
  const auto append = [&](const auto& header) {
    std::uint8_t out[64];
    octets.insert(octets.end(), out, out + header.emit(out));
  };
  (append(headers), ...);
  octets.insert(octets.end(), payload.begin(), payload.end());
  return octets;
}

wire::DdpUntaggedHeader untagged(Opcode op, std::uint32_t msn, bool last = true) {
  wire::DdpUntaggedHeader h;
  h.control = wire::DdpControl::pack(false, last, wire::kDdpVersion);
  h.rdmap = wire::RdmapControl::pack(op);
  h.qn = wire::queue_number(op);
  h.msn = msn;
  return h;
}

wire::DdpTaggedHeader tagged(Opcode op, std::uint64_t to) {
  wire::DdpTaggedHeader h;
  h.rdmap = wire::RdmapControl::pack(op);
  h.stag = 0x12345678;
  h.to = to;
  return h;
}

Injection injection(MessageKind message, const std::string& field, std::uint64_t value, std::uint64_t number = 0) {
  Injection i;
  i.name = "inject0";
  i.message = message;
  i.number = number;
  i.change.value = value;
  for (const inject::Field& f : inject::fields_of(message)) {
    if (f.name == field) i.change.field = f;
  }
  EXPECT_TRUE(i.change.field) << field;
  return i;
}

class StreamBenderTest : public testing::TestWithParam<bool> {
 protected:
  bool markers() const { return GetParam(); }

  // Startup frame and FPDUs, as their sender emits them; each FPDU is a segment.
  std::vector<Bytes> segments(const std::vector<Bytes>& ulpdus) const {
    std::vector<Bytes> list{startup_frame(wire::MpaFrameKind::kRequest, true)};
    MpaReference reference{markers()};
    for (const Bytes& u : ulpdus) list.push_back(reference.fpdu(u));
    return list;
  }

  StreamBender& bender(const Injection& i) {
    injection_ = i;
    order_ = {&injection_};
    bender_.emplace(wire::MpaFrameKind::kRequest, std::vector<StreamBender::Order*>{&order_});
    bender_->use_markers(markers());
    return *bender_;
  }

  // Passes all segments through the bender, each once.
  static std::vector<Bytes> pass(StreamBender& b, std::vector<Bytes> list) {
    std::uint64_t at = 0;
    for (Bytes& segment : list) {
      b.pass(at, segment);
      at += segment.size();
    }
    return list;
  }

  void expect_bent(const Injection& i, const std::vector<Bytes>& sent, const std::vector<Bytes>& meant) {
    EXPECT_EQ(pass(bender(i), segments(sent)), segments(meant));
    EXPECT_TRUE(order_.done);
  }

  Injection injection_;
  StreamBender::Order order_{nullptr};
  std::optional<StreamBender> bender_;
};

INSTANTIATE_TEST_SUITE_P(Markers, StreamBenderTest, testing::Bool(),
                         [](const auto& chosen) { return chosen.param ? "with" : "without"; });

TEST_P(StreamBenderTest, OneFieldOfOneMessageAndTheCrc) {
  std::vector<Bytes> sent, meant;
  for (unsigned n = 0; n < 6; ++n) {
    sent.push_back(octets_of(counting(1000), tagged(Opcode::kWrite, n)));
    sent.push_back(octets_of(counting(300), untagged(Opcode::kSend, n + 1)));
  }
  meant = sent;
  auto changed = tagged(Opcode::kWrite, 4);
  changed.stag = 0xdeadbeef;
  meant[8] = octets_of(counting(1000), changed);
  expect_bent(injection(Opcode::kWrite, "stag", 0xdeadbeef, 4), sent, meant);
  meant = sent;
  meant[9] = octets_of(counting(300), untagged(Opcode::kSend, 6));
  Injection i = injection(Opcode::kSend, "msn", 1, 4);
  i.change.relative = true;
  expect_bent(i, sent, meant);
}

TEST_P(StreamBenderTest, AllFieldsLieWhereTheirHeadersHaveThem) {
  const auto expect = [&](MessageKind kind, const char* field, std::uint64_t value, const Bytes& from,
                          const Bytes& to) {
    SCOPED_TRACE(field);
    expect_bent(injection(kind, field, value), {from}, {to});
  };
  const auto send = untagged(Opcode::kSend, 1);
  const auto change = [&](const char* field, std::uint64_t value, auto change_header) {
    auto h = send;
    change_header(h);
    expect(Opcode::kSend, field, value, octets_of({}, send), octets_of({}, h));
  };
  change("tagged", 1, [](auto& h) { h.control |= 0x80; });
  change("last", 0, [](auto& h) { h.control &= 0xbf; });
  change("ddp_reserved", 15, [](auto& h) { h.control |= 0x3c; });
  change("ddp_version", 2, [](auto& h) { h.control = (h.control & 0xfc) | 2; });
  change("rdmap_version", 2, [](auto& h) { h.rdmap = (h.rdmap & 0x3f) | 0x80; });
  change("rdmap_reserved", 3, [](auto& h) { h.rdmap |= 0x30; });
  change("opcode", 15, [](auto& h) { h.rdmap |= 0x0f; });
  change("invalidate_stag", 0x01020304, [](auto& h) { h.invalidate_stag = 0x01020304; });
  change("qn", 9, [](auto& h) { h.qn = 9; });
  change("msn", 0xffffffff, [](auto& h) { h.msn = 0xffffffff; });
  change("mo", 17, [](auto& h) { h.mo = 17; });
  const auto write = tagged(Opcode::kWrite, 5);
  auto wrapped = write;
  wrapped.to = ~std::uint64_t{0};
  expect(Opcode::kWrite, "to", ~std::uint64_t{0}, octets_of({}, write), octets_of({}, wrapped));

  const auto request = untagged(Opcode::kReadRequest, 1);
  const wire::ReadRequest read{1, 2, 3, 4, 5};
  const wire::ReadRequest other{11, 12, 13, 14, 15};
  const auto change_read = [&](const char* field, std::uint64_t value, auto member) {
    wire::ReadRequest changed = read;
    changed.*member = other.*member;
    expect(Opcode::kReadRequest, field, value, octets_of({}, request, read), octets_of({}, request, changed));
  };
  change_read("sink_stag", 11, &wire::ReadRequest::sink_stag);
  change_read("sink_to", 12, &wire::ReadRequest::sink_to);
  change_read("size", 13, &wire::ReadRequest::size);
  change_read("source_stag", 14, &wire::ReadRequest::src_stag);
  change_read("source_to", 15, &wire::ReadRequest::src_to);

  const auto atomic = untagged(Opcode::kAtomicRequest, 1);
  wire::AtomicRequest add = wire::AtomicRequest::fetch_add(1, 0);
  wire::AtomicRequest moved = add;
  moved.to = 4;
  expect(Opcode::kAtomicRequest, "remote_to", 4, octets_of({}, atomic, add), octets_of({}, atomic, moved));
  const auto response = untagged(Opcode::kAtomicResponse, 1);
  expect(Opcode::kAtomicResponse, "original", 8, octets_of({}, response, wire::AtomicResponse{7, 3}),
         octets_of({}, response, wire::AtomicResponse{7, 8}));
  const auto immediate = untagged(Opcode::kImmediate, 1);
  expect(Opcode::kImmediate, "data", 8, octets_of({}, immediate, wire::ImmediateData{7}),
         octets_of({}, immediate, wire::ImmediateData{8}));
}

TEST_P(StreamBenderTest, AnOctetCountsFromTheFirstOneOfTheUlpdu) {
  const Bytes sent = octets_of(counting(1400), tagged(Opcode::kWrite, 0));
  for (const unsigned octet : {0u, 13u, 14u, 505u, 510u, 1018u, 1413u}) {
    SCOPED_TRACE(octet);
    Bytes meant = sent;
    meant[octet] = 0xa5;
    Injection i;
    i.message = Opcode::kWrite;
    i.change.octet = static_cast<std::uint16_t>(octet);
    i.change.value = 0xa5;
    expect_bent(i, {sent}, {meant});
  }
}

TEST_P(StreamBenderTest, ASegmentOfAMessage) {
  auto first = untagged(Opcode::kSend, 1, false), second = untagged(Opcode::kSend, 1);
  second.mo = 500;
  const std::vector<Bytes> sent{octets_of(counting(500), first), octets_of(counting(40), tagged(Opcode::kWrite, 0)),
                                octets_of(counting(20), second)};
  std::vector<Bytes> meant = sent;
  second.mo = 504;
  meant[2] = octets_of(counting(20), second);
  Injection i = injection(Opcode::kSend, "mo", 504);
  i.segment = 1;
  expect_bent(i, sent, meant);
}

TEST_P(StreamBenderTest, TheCrcAloneIsWrong) {
  const std::vector<Bytes> sent{octets_of(counting(700), tagged(Opcode::kWrite, 0))};
  std::vector<Bytes> expected = segments(sent);
  for (std::size_t octet = 1; octet <= 4; ++octet) expected[1][expected[1].size() - octet] = 0;
  EXPECT_EQ(pass(bender(injection(Opcode::kWrite, "crc", 0)), segments(sent)), expected);
}

TEST_P(StreamBenderTest, TheLengthIsChangedWhereItStands) {
  const std::vector<Bytes> sent{octets_of(counting(100), tagged(Opcode::kWrite, 0))};
  std::vector<Bytes> expected = segments(sent);
  Bytes& fpdu = expected[1];
  const std::size_t at = markers() ? 4 : 0;
  fpdu[at] = 1, fpdu[at + 1] = 2;
  const Bytes covered(fpdu.begin(), fpdu.end() - 4);
  for (int i = 0; i < 4; ++i) fpdu[covered.size() + i] = static_cast<std::uint8_t>(crc32c_by_bits(covered) >> 8 * i);
  EXPECT_EQ(pass(bender(injection(Opcode::kWrite, "ulpdu_length", 258)), segments(sent)), expected);
}

TEST_P(StreamBenderTest, WhatIsSentAgainIsChangedAgain) {
  const std::vector<Bytes> sent{octets_of(counting(900), tagged(Opcode::kWrite, 0)),
                                octets_of(counting(900), tagged(Opcode::kWrite, 1))};
  auto changed = tagged(Opcode::kWrite, 0);
  changed.stag = 1;
  const Bytes original = joined(segments(sent));
  const Bytes expected = joined(segments({octets_of(counting(900), changed), sent[1]}));
  StreamBender& b = bender(injection(Opcode::kWrite, "stag", 1));
  pass(b, segments(sent));
  for (std::size_t from = 0; from < original.size(); from += 37) {
    for (const std::size_t size : {1, 4, 100, 1000}) {
      Bytes again(original.begin() + from, original.begin() + std::min(from + size, original.size()));
      b.pass(from, again);
      EXPECT_EQ(again, Bytes(expected.begin() + from, expected.begin() + from + again.size()));
    }
  }
}

TEST_P(StreamBenderTest, FpdusMayLieAcrossSegmentsUnlessTheyAreChanged) {
  std::vector<Bytes> sent;
  for (unsigned n = 0; n < 20; ++n) sent.push_back(octets_of(counting(60 * n), tagged(Opcode::kWrite, n)));
  const Bytes stream = joined(segments(sent));
  const auto in_pieces = [&](StreamBender& b, std::size_t size) {
    Bytes out;
    for (std::size_t at = 0; at < stream.size(); at += size) {
      Bytes piece(stream.begin() + at, stream.begin() + std::min(at + size, stream.size()));
      b.pass(at, piece);
      out.insert(out.end(), piece.begin(), piece.end());
    }
    return out;
  };
  EXPECT_EQ(in_pieces(bender(injection(Opcode::kSend, "msn", 1)), 7), stream);
  EXPECT_FALSE(order_.done);
  EXPECT_TRUE(bender_->asks_for_markers().value_or(false));
  EXPECT_EQ(in_pieces(bender(injection(Opcode::kWrite, "stag", 1, 19)), 700), stream);
  EXPECT_EQ(order_.failure, "the FPDU lies in several TCP segments, and the first one was already forwarded");
  EXPECT_FALSE(order_.done);
}

TEST_P(StreamBenderTest, WhatTheMessageDoesNotHave) {
  const std::vector<Bytes> sent{octets_of(counting(8), tagged(Opcode::kWrite, 0)),
                                octets_of(counting(8), tagged(Opcode::kWrite, 1))};
  const auto why = [&](const Injection& i) {
    const bool unchanged = pass(bender(i), segments(sent)) == segments(sent);
    EXPECT_EQ(unchanged, !order_.failure.empty());
    EXPECT_EQ(order_.done, order_.failure.empty());
    return order_.failure;
  };
  Injection i;
  i.name = "inject0";
  i.message = Opcode::kWrite;
  i.change.octet = 22;
  EXPECT_EQ(why(i), "the message has fewer octets");
  i.change.octet = 21;
  EXPECT_EQ(why(i), "");
  i.change.octet.reset();
  i.change.close_after = 22;
  EXPECT_EQ(why(i), "the ULPDU has fewer octets");
  EXPECT_EQ(why(injection(Opcode::kWrite, "marker", 4, 1)), "the FPDU has no marker");
}

TEST_P(StreamBenderTest, TheEndIsAnOctetOfTheStream) {
  const std::vector<Bytes> sent{octets_of(counting(8), tagged(Opcode::kWrite, 0)),
                                octets_of(counting(600), tagged(Opcode::kWrite, 1))};
  const std::uint64_t first = kStartupBytes + segments(sent)[1].size();
  Injection i;
  i.message = Opcode::kWrite;
  i.number = 1;
  i.change.close_after = 0;
  pass(bender(i), segments(sent));
  EXPECT_EQ(bender_->end(), first + 2);
  i.change.close_after = 600;
  pass(bender(i), segments(sent));
  // A marker is at octet 512 of the FPDUs; the first FPDU has 32 octets, including its leading marker.
  EXPECT_EQ(bender_->end(), first + 2 + 600 + (markers() ? 4 : 0));
}

TEST(StreamBenderMarker, PointsElsewhere) {
  MpaReference reference{true};
  Bytes fpdu = reference.fpdu(octets_of(counting(700), tagged(Opcode::kWrite, 0)));
  Bytes stream = startup_frame(wire::MpaFrameKind::kReply, true);
  stream.insert(stream.end(), fpdu.begin(), fpdu.end());
  const Injection i = injection(Opcode::kWrite, "marker", 0x1234);
  StreamBender::Order order{&i};
  StreamBender b(wire::MpaFrameKind::kReply, {&order});
  b.use_markers(true);
  // Startup frame and FPDU in one segment.
  b.pass(0, stream);
  fpdu[2] = 0x12, fpdu[3] = 0x34;
  const Bytes covered(fpdu.begin(), fpdu.end() - 4);
  for (int n = 0; n < 4; ++n) fpdu[covered.size() + n] = static_cast<std::uint8_t>(crc32c_by_bits(covered) >> 8 * n);
  EXPECT_EQ(Bytes(stream.begin() + kStartupBytes, stream.end()), fpdu);
}

TEST(StreamBenderStartup, AllFieldsOfTheFrame) {
  const auto bent = [](const char* field, std::uint64_t value) {
    Bytes octets = startup_frame(wire::MpaFrameKind::kReply, false);
    const Injection i = injection(wire::MpaFrameKind::kReply, field, value);
    StreamBender::Order order{&i};
    StreamBender b(wire::MpaFrameKind::kReply, {&order});
    b.pass(0, octets);
    EXPECT_TRUE(order.done);
    EXPECT_EQ(b.asks_for_markers(), octets[16] >> 7 != 0);
    return octets;
  };
  const auto frame = [&](const char* field, std::uint64_t value) {
    const Bytes octets = bent(field, value);
    return wire::decode_mpa_frame(octets, wire::MpaFrameKind::kReply, wire::kMpaRev2).frame;
  };
  EXPECT_TRUE(frame("markers", 1).markers);
  EXPECT_TRUE(frame("crc", 1).crc);
  EXPECT_TRUE(frame("rejected", 1).rejected);
  EXPECT_FALSE(frame("enhanced", 0).s);
  EXPECT_EQ(frame("revision", 1).rev, 1);
  EXPECT_TRUE(frame("peer_to_peer", 1).enhanced->peer_to_peer);
  EXPECT_TRUE(frame("rtr_send", 1).enhanced->rtr_send);
  EXPECT_TRUE(frame("rtr_write", 1).enhanced->rtr_write);
  EXPECT_TRUE(frame("rtr_read", 1).enhanced->rtr_read);
  EXPECT_EQ(frame("ird", 5).enhanced->ird, 5);
  EXPECT_EQ(frame("ord", 6).enhanced->ord, 6);
  EXPECT_EQ(bent("reserved", 15)[16] & 15, 15);
  EXPECT_EQ(bent("private_data_length", 0x0203)[18], 2);
  EXPECT_EQ(bent("private_data_length", 0x0203)[19], 3);
  EXPECT_EQ(bent("key", 0)[7], 0);
}

}  // namespace
}  // namespace rnic::test
