// The stages of MPA (RFC 5044), and those of SCTP's checksum, which are the same.
#include <optional>

#include "model/golden/kind_of.h"
#include "model/rnic/messages/early_placed.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/rx/crc_check.h"
#include "model/rnic/rx/mpa_deframer.h"
#include "model/rnic/tx/crc_insert.h"
#include "model/rnic/tx/marker_inserter.h"
#include "model/rnic/tx/mpa_framer.h"
#include "model/wire/fpdu.h"

namespace rnic::golden {
namespace {

struct FlowsConfig {
  unsigned flows = 1024;
  template <class V>
  static void fields(V& v) {
    v("flows", &FlowsConfig::flows, "TCP connections", in_range(1, 1 << 20), unit("flows"));
  }
};

struct MpaFramerBench final : Bench {
  using Config = WithDatapath<MpaFramerConfig>;
  explicit MpaFramerBench(const Config& c) : Bench(c.beat_bytes), stage("mpa_framer", clk_, c) {
    in(stage.in, "in");
    out(stage.out, "out", LinkConfig::pipeline(c));
    count(stage.counters());
  }
  MpaFramer stage;
};

// What is put into an FPDU's stream is counted from its length field.
void check_length(const FpduMessage& m) {
  if (!m.wants_markers || m.ends || m.placed || wire::fpdu_bytes(load_be16(m.octets.data())) == m.octets.size()) return;
  fail_value("fpdu: its length field does not agree with its octets, so markers have no place");
}

struct MarkerInserterBench final : Bench {
  using Config = WithDatapath<MarkerInserterConfig>;
  explicit MarkerInserterBench(const Config& c) : Bench(c.beat_bytes), stage("marker_inserter", clk_, c, pool_) {
    in(stage.in, "in", check_length);
    out(stage.out, "out", LinkConfig::pipeline(c));
    count(stage.counters());
  }
  MarkerInserter stage;
};

template <class Crc, class StageConfig>
struct CrcBench final : Bench {
  using Config = WithDatapath<StageConfig>;
  explicit CrcBench(const Config& c) : Bench(c.beat_bytes), stage("crc", clk_) {
    in(stage.in, "in");
    out(stage.out, "out", LinkConfig::pipeline(c));
    count(stage.counters());
  }
  Crc stage;
};

struct DeframerConfig : FlowsConfig, WithDatapath<MpaDeframerConfig> {
  template <class V>
  static void fields(V& v) {
    WithDatapath<MpaDeframerConfig>::fields(v);
    FlowsConfig::fields(v);
  }
};

// The streams of a deframer: it is offered each one's octets in order, with or without markers from the first one on.
class Streams {
 public:
  explicit Streams(MpaDeframer& deframer) : deframer_(deframer), streams_(deframer.flows()) {}
  // A stream that is taken over in its middle.
  void place(std::uint32_t flow, const StreamPlace& row) {
    if (flow >= streams_.size()) fail_index("stream", flow, streams_.size());
    if (row.position % 4 != 0) {
      fail_value("stream_place.position: an FPDU starts at a multiple of 4 octets (RFC 5044 section 4.1)");
    }
    deframer_.set_position(FlowId{flow}, row.position);
    streams_[flow] = {row.position, std::nullopt};
  }
  void check(const SegmentMessage& m) {
    if (m.flow.v >= streams_.size()) {
      fail_value(fmt::format("segment.flow: the stage has flows 0 to {}, and no {}", streams_.size() - 1, m.flow.v));
    }
    Stream stream = streams_[m.flow.v];
    if (m.offset == 0) stream = {};  // one that begins, if only to end
    if (m.offset != stream.next) {
      fail_value(fmt::format("segment.offset is {}, but the flow's next octet is {}", m.offset, stream.next));
    }
    if (stream.markers.value_or(m.markers) != m.markers) {
      fail_value("segment.markers: a stream has markers, or has none, from its first segment on");
    }
    if (m.placed && m.octets.size() != kPlacedHeaderBytes) {
      fail_value(
          fmt::format("segment.placed: such a one has {} octets, length field and DDP header", kPlacedHeaderBytes));
    }
    if (!m.ends) stream.markers = m.markers;
    if (!m.placed && !m.ends) stream.next += m.octets.size();
    if (m.placed) stream.next += octets_of_placed(m);
    streams_[m.flow.v] = stream;
  }

 private:
  struct Stream {
    std::uint64_t next = 0;  // octet
    std::optional<bool> markers;
  };
  static std::uint64_t octets_of_placed(const SegmentMessage& m) {
    const std::size_t length = load_be16(m.octets.data());
    return m.markers ? wire::marked_fpdu_bytes(static_cast<wire::StreamPosition>(m.offset), length)
                     : wire::fpdu_bytes(length);
  }

  MpaDeframer& deframer_;
  std::vector<Stream> streams_;  // by flow
};

struct MpaDeframerBench final : Bench {
  using Config = DeframerConfig;
  explicit MpaDeframerBench(const Config& c)
      : Bench(c.beat_bytes), stage("mpa_deframer", clk_, c, c, c.flows, pool_), streams(stage) {
    in(stage.in, "in", [this](const SegmentMessage& m) { streams.check(m); });
    out(stage.out, "out", LinkConfig::pipeline(static_cast<const MpaDeframerConfig&>(c)));
    out(stage.consumed, "consumed");
    table<StreamPlace>("stream", [this](std::uint32_t flow, const StreamPlace& row) { streams.place(flow, row); });
    count(stage.counters());
  }
  MpaDeframer stage;
  Streams streams;
};

// mpa_framer, marker_inserter and crc_insert: the FPDUs of consecutive ULPDUs as they are on the wire.
struct MpaTransmitBench final : Bench {
  struct Config : DatapathConfig {
    MpaFramerConfig mpa_framer;
    MarkerInserterConfig marker_inserter;
    CrcInsertConfig crc_insert;
    template <class V>
    static void fields(V& v) {
      DatapathConfig::fields(v);
      v.group("mpa_framer", &Config::mpa_framer);
      v.group("marker_inserter", &Config::marker_inserter);
      v.group("crc_insert", &Config::crc_insert);
    }
  };
  explicit MpaTransmitBench(const Config& c)
      : Bench(c.beat_bytes),
        framer("mpa_framer", clk_, c),
        inserter("marker_inserter", clk_, c, pool_),
        crc("crc_insert", clk_),
        net("mpa", clk_) {
    net.connect(framer.out, inserter.in, "framed", LinkConfig::pipeline(c.mpa_framer));
    net.connect(inserter.out, crc.in, "marked", LinkConfig::pipeline(c.marker_inserter));
    in(framer.in, "in");
    out(crc.out, "out", LinkConfig::pipeline(c.crc_insert));
    count(framer.counters(), "mpa_framer.");
    count(inserter.counters(), "marker_inserter.");
    count(crc.counters(), "crc_insert.");
  }
  MpaFramer framer;
  MarkerInserter inserter;
  CrcInsert crc;
  Netlist net;
};

// mpa_deframer and crc_check: the FPDUs of a stream, judged.
struct MpaReceiveBench final : Bench {
  struct Config : DatapathConfig, FlowsConfig {
    MpaDeframerConfig mpa_deframer;
    CrcCheckConfig crc_check;
    template <class V>
    static void fields(V& v) {
      DatapathConfig::fields(v);
      v.group("mpa_deframer", &Config::mpa_deframer);
      v.group("crc_check", &Config::crc_check);
      FlowsConfig::fields(v);
    }
  };
  explicit MpaReceiveBench(const Config& c)
      : Bench(c.beat_bytes),
        deframer("mpa_deframer", clk_, c.mpa_deframer, c, c.flows, pool_),
        crc("crc_check", clk_),
        net("mpa", clk_),
        streams(deframer) {
    net.connect(deframer.out, crc.in, "deframed", LinkConfig::pipeline(c.mpa_deframer));
    in(deframer.in, "in", [this](const SegmentMessage& m) { streams.check(m); });
    out(crc.out, "out", LinkConfig::pipeline(c.crc_check));
    out(deframer.consumed, "consumed");
    table<StreamPlace>("stream", [this](std::uint32_t flow, const StreamPlace& row) { streams.place(flow, row); });
    count(deframer.counters(), "mpa_deframer.");
    count(crc.counters(), "crc_check.");
  }
  MpaDeframer deframer;
  CrcCheck crc;
  Netlist net;
  Streams streams;
};

}  // namespace

void add_mpa_kinds(std::vector<Kind>& to) {
  to.push_back(kind<MpaFramerBench>("mpa_framer", "FPDUs of ULPDUs, without markers and CRC (RFC 5044 section 4.1)"));
  to.push_back(kind<MarkerInserterBench>("marker_inserter", "puts markers into FPDUs (RFC 5044 section 4.3)"));
  to.push_back(
      kind<CrcBench<CrcInsert, CrcInsertConfig>>("crc_insert", "the CRC field of FPDUs (RFC 5044 section 4.4)"));
  to.push_back(kind<MpaDeframerBench>("mpa_deframer",
                                      "finds FPDUs in streams and takes their markers out (RFC 5044 sections 4 to 6)"));
  to.push_back(kind<CrcBench<CrcCheck, CrcCheckConfig>>("crc_check", "judges the CRC of FPDUs (RFC 5044 section 4.4)"));
  to.push_back(kind<MpaTransmitBench>("mpa_transmit", "mpa_framer, marker_inserter and crc_insert"));
  to.push_back(kind<MpaReceiveBench>("mpa_receive", "mpa_deframer and crc_check"));
  to.push_back(kind<CrcBench<CrcInsert, CrcInsertConfig>>(
      "sctp_crc_insert", "the checksum of SCTP packets, as crc_insert's of an FPDU (RFC 9260 section 6.8)"));
  to.push_back(kind<CrcBench<CrcCheck, CrcCheckConfig>>("sctp_crc_check",
                                                        "judges the checksum of SCTP packets (RFC 9260 section 6.8)"));
}

}  // namespace rnic::golden
