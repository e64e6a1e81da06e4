// rdmap_segmenter: from work requests and responses to DDP segments.
#include <fmt/format.h>

#include "model/golden/contexts.h"
#include "model/golden/kind_of.h"
#include "model/golden/terminate_octets.h"
#include "model/rnic/llp/sctp/sctp_traits.h"
#include "model/rnic/llp/tcp/mpa_tcp_traits.h"
#include "model/rnic/tx/rdmap_segmenter.h"
#include "model/wire/fpdu.h"

namespace rnic::golden {

// The octets are the segment's headers and what is not in host memory: those of a message without payload, or inline
// data. The rest of its payload is in the pieces.
struct SegmentJob : Payload {
  UlpduJob job;

  static constexpr const char* kMessage = "ulpdu_job";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("ulpdu", m.job.ulpdu);
    v("qpn", m.job.qpn);
    v("epoch", 32, m.job.epoch);
    v("credit", 16, m.job.octets);
    v("pieces", 8, m.job.pieces);
    v.each("piece", m.job.piece);
  }
};
template <>
struct Beats<UlpduJob> {
  using Transaction = SegmentJob;
  Transaction transaction;
  bool join(UlpduJob& job) {
    const std::uint8_t* const octets = job.ulpdu.buf->bytes() + Ulpdu::kOffset;
    transaction.octets.assign(octets, octets + (job.pieces == 0 ? job.ulpdu.bytes : job.header_bytes));
    transaction.job = std::move(job);
    transaction.job.ulpdu.buf = {};
    return true;
  }
};

namespace {

struct RdmapSegmenterBench final : ContextBench {
  struct Config : ContextsConfig {
    unsigned turn_fpdus = RdmapSegmenterConfig{}.turn_fpdus;
    template <class V>
    static void fields(V& v) {
      v("turn_fpdus", &Config::turn_fpdus, "of a turn of a queue pair, if it can send so many", in_range(1, 255),
        unit("FPDUs"));
      ContextsConfig::fields(v);
    }
    RdmapSegmenterConfig of_stage() const {
      RdmapSegmenterConfig config;
      config.turn_fpdus = turn_fpdus;
      return config;
    }
  };
  explicit RdmapSegmenterBench(const Config& c)
      : ContextBench(kNoBeats, c),
        wqes(c.qps),
        stage("rdmap_segmenter", clk_, contexts_.store, pool_, {mpa_tcp_traits(), sctp_traits()}, c.of_stage()),
        copies(test::stub(stage.answered, stage.read_issued_early)) {
    inputs();
    out(stage.out, "out");
    out(stage.taken, "taken");
    out(stage.issued, "issued");
    out(stage.read_issued, "read_issued");
    out(stage.atomic_issued, "atomic_issued");
    out(stage.read_sent, "read_sent");
    out(stage.stag_request, "stag_request");
    out(stage.flush_rq, "flush_rq");
    out(stage.event, "event");
    table<QpRow>("qp", [this](std::uint32_t i, const QpRow& row) {
      check_mulpdu(row.qp);
      contexts_.write_qp(i, row);
    });
    stag_tables();
    count(stage.counters());
  }

 private:
  void inputs() {
    in_of_qp(stage.wqe, "wqe", [this](const FetchedWqe& f) { check_ring(f); });
    in_of_qp(stage.credit[LlpId::kMpaTcp], "credit");
    in_of_qp(stage.credit[LlpId::kSctp], "sctp_credit");
    in_of_qp(stage.unblock, "unblock");
    in_of_qp(stage.atomic_unblock, "atomic_unblock");
    in_of_qp(stage.sink_unblock, "sink_unblock");
    in_of_qp(stage.read_work, "read_work", [this](const ReadWork& r) {
      check_segment("read_work", r.segment);
      check_response("read_work", r.qpn);
    });
    in_of_qp(stage.atomic_work, "atomic_work", [this](const AtomicWork& a) { check_response("atomic_work", a.qpn); });
    in_of_qp(stage.terminate, "terminate");
    in_of_qp(stage.internal_work, "internal_work", [this](const TxInternalWork& w) { check_internal(w); });
    in_of_qp(stage.stag_request_done, "stag_request_done");
  }
  const QpTx& state(Qpn qpn) const { return contexts_.store.tx_table.peek(qpn.v)->state; }
  // Room for headers and some payload.
  static void check_mulpdu(const QpContext& qp) {
    constexpr unsigned kLeast = wire::kMinMulpdu;
    if (!qp.valid || qp.mulpdu >= kLeast) return;
    fail_value(fmt::format("qp_row.mulpdu is {}: it has at least {} octets (RFC 5044 section 4.5)", qp.mulpdu, kLeast));
  }
  void check_ring(const FetchedWqe& f) {
    const std::uint32_t room = 1u << contexts_.store.send_ring(f.qpn).log_entries;
    const auto held = [&] {
      run();
      return state(f.qpn).wqes.size;
    };
    if (!wqes.takes(f.qpn, room, held))
      fail_value(fmt::format("fetched_wqe: QP {} has {} that are not sent, as many as its ring", f.qpn.v, room));
  }
  // irrq hands on one request of a queue pair at a time.
  void check_response(const char* message, Qpn qpn) {
    run();
    if (state(qpn).response.active) {
      fail_value(fmt::format("{}: QP {} is still sending a response; the next one is due after its read_sent", message,
                             qpn.v));
    }
  }
  void check_internal(const TxInternalWork& w) {
    if (w.kind > TxInternalWork::Kind::kFlush) fail_value("tx_internal_work.kind: it is 0 to 5");
    run();
    constexpr unsigned kMost = 2;  // a ready-to-receive message and a Terminate
    if (state(w.qpn).internal.size >= kMost) {
      fail_value(
          fmt::format("tx_internal_work: QP {} has {} messages of the firmware that are not sent", w.qpn.v, kMost));
    }
  }

  Bounds wqes;
  RdmapSegmenter stage;
  test::Stubs copies;  // what other stages get beside these
};

}  // namespace

void add_segmenter_kinds(std::vector<Kind>& to) {
  to.push_back(kind<RdmapSegmenterBench>(
      "rdmap_segmenter", "cuts messages into DDP segments (RFC 5040 section 4, RFC 5041 section 5.2, RFC 7306)"));
}

}  // namespace rnic::golden
