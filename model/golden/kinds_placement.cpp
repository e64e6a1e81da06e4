// ddp_placement alone, and with what makes Terminates of its errors.
#include <map>

#include <fmt/format.h>

#include "model/golden/contexts.h"
#include "model/golden/dma.h"
#include "model/golden/kind_of.h"
#include "model/golden/terminate_octets.h"
#include "model/rnic/llp/sctp/sctp_traits.h"
#include "model/rnic/llp/tcp/mpa_tcp_traits.h"
#include "model/rnic/messages/early_placed.h"
#include "model/rnic/rx/ddp_placement.h"
#include "model/rnic/terminate/terminate_generator.h"
#include "model/wire/fpdu.h"

namespace rnic::golden {
namespace {

struct PlacementConfig : DatapathConfig, ContextsConfig {
  template <class V>
  static void fields(V& v) {
    DatapathConfig::fields(v);
    ContextsConfig::fields(v);
  }
};

// Receive requests come as doorbells have announced them: by queue, how many have been announced and have come.
class Announced {
 public:
  explicit Announced(const ContextStore& contexts) : contexts_(contexts) {}
  void check(const char* message, Rqn rqn) const {
    const std::size_t queues = rqn.shared ? contexts_.srqs() : contexts_.qps();
    if (rqn.v < queues) return;
    fail_value(fmt::format("{}.rqn_number: the stage has {} 0 to {}, and no {}", message,
                           rqn.shared ? "shared receive queues" : "QPs", queues - 1, rqn.v));
  }
  void announce(const RqDoorbell& d) {
    check("rq_doorbell", d.rqn);
    const ResidentRing ring = contexts_.receive_ring(d.rqn);
    Queue& q = queue(d.rqn, ring);
    if (ring.valid && ((d.producer - q.came) & kIndexMask) <= 1u << ring.log_entries) q.announced = d.producer;
  }
  void come(const FetchedRqe& r) {
    check("fetched_rqe", r.rqn);
    const ResidentRing ring = contexts_.receive_ring(r.rqn);
    if (r.epoch != ring.epoch) return;  // of an earlier use, which the stage ignores
    Queue& q = queue(r.rqn, ring);
    const bool is_announced = ((q.announced - q.came) & kIndexMask) != 0;
    // Of a queue that has ended some may be on their way, announced to those who have not heard of that.
    const bool is_late = !ring.valid && q.late < 1u << ring.log_entries;
    if (!is_announced && !is_late) fail_value("fetched_rqe: no doorbell has announced this request");
    ++(is_announced ? q.came : q.late);
  }

 private:
  static constexpr std::uint32_t kIndexMask = 0xfff;  // of a doorbell's producer index
  struct Queue {
    std::uint32_t epoch = 0, announced = 0, came = 0, late = 0;
  };
  Queue& queue(Rqn rqn, const ResidentRing& ring) {
    Queue& q = queues_[{rqn.shared, rqn.v}];
    if (q.epoch != ring.epoch) q = {ring.epoch, 0, 0, 0};
    return q;
  }

  const ContextStore& contexts_;
  std::map<std::pair<bool, std::uint32_t>, Queue> queues_;
};

class PlacementBase : public ContextBench {
 protected:
  explicit PlacementBase(const PlacementConfig& c)
      : ContextBench(c.beat_bytes, c),
        stage("ddp_placement", clk_, contexts_.store, {mpa_tcp_traits(), sctp_traits()}),
        announced(contexts_.store),
        most_reads(c.max_ord),
        reads(c.qps) {}
  void inputs() {
    in(stage.in[LlpId::kMpaTcp], "in", [this](const FpduMessage& m) { check_fpdu(m); });
    in(stage.in[LlpId::kSctp], "sctp_in", [this](const FpduMessage& m) { check_sctp(m); });
    in(stage.posted, "posted", [this](const RqDoorbell& d) { announced.announce(d); });
    in(stage.rqe, "rqe", [this](const FetchedRqe& r) { announced.come(r); });
    in(stage.srq_arm, "srq_arm", [this](const SrqArm& a) { announced.check("srq_arm", a.srqn); });
    in_of_qp(stage.read_issued, "read_issued", [this](const ReadIssued& r) { check_room(r); });
    in_of_qp(stage.flush, "flush");
    in_of_qp(stage.answered, "answered");
    qp_table();
    stag_tables();
    srq_table();
  }
  void outputs() {
    out(stage.dma, "dma", {8, 3, 1});
    out(stage.out, "out");
    out(stage.rqe_taken, "rqe_taken");
    out(stage.srq_event, "srq_event");
  }

  DdpPlacement stage;

 private:
  void check_fpdu(const FpduMessage& m) {
    contexts_.check_qp("fpdu", m.qpn);
    if (m.ends) return;
    const std::size_t length = load_be16(m.octets.data());
    if (m.placed && (m.octets.size() != kPlacedHeaderBytes || !wire::DdpControl::tagged(m.octets[2]))) {
      fail_value(
          fmt::format("fpdu.placed: such a one has {} octets, length field and tagged DDP header", kPlacedHeaderBytes));
    }
    if (!m.placed && wire::fpdu_bytes(length) != m.octets.size()) {
      fail_value(fmt::format("fpdu: its length field says {}, so it has {} octets, and not {}", length,
                             wire::fpdu_bytes(length), m.octets.size()));
    }
  }
  // SCTP hands up nothing that it knows to be wrong (RFC 5043 section 4).
  void check_sctp(const FpduMessage& m) {
    check_fpdu(m);
    if (!m.marker_ok || (!m.ends && !m.crc_ok)) fail_value("fpdu: over SCTP crc_ok and marker_ok are set");
    run();
    const RxRow& row = *contexts_.store.rx_table.peek(m.qpn.v);
    const bool of_the_stream = row.qp.flow == m.flow && life_of(row.qp.epoch) == m.life;
    if (of_the_stream && row.current().ended() && !m.ends) fail_value("fpdu: its session has ended, over SCTP");
  }
  void check_room(const ReadIssued& r) {
    const auto held = [&] {
      run();
      return contexts_.store.rx_table.peek(r.qpn.v)->current().reads.size;
    };
    if (!reads.takes(r.qpn, most_reads, held))
      fail_value(fmt::format("read_issued: QP {} has {} Reads outstanding, which is max_ord", r.qpn.v, most_reads));
  }

  Announced announced;
  const unsigned most_reads;
  Bounds reads;
};

struct DdpPlacementBench final : PlacementBase {
  using Config = PlacementConfig;
  explicit DdpPlacementBench(const Config& c) : PlacementBase(c) {
    inputs();
    outputs();
    out(stage.event, "event");
    count(stage.counters());
  }
};

// ddp_placement and terminate_generator: what is wrong with a segment becomes the octets that the peer gets to know.
struct PlacementBench final : PlacementBase {
  struct Config : PlacementConfig {
    TerminateConfig terminate;
    template <class V>
    static void fields(V& v) {
      PlacementConfig::fields(v);
      v.group("terminate", &Config::terminate);
    }
  };
  explicit PlacementBench(const Config& c)
      : PlacementBase(c), generator("terminate_generator", clk_, contexts_.store, pool_, c.terminate), net("rx", clk_) {
    net.connect(stage.event, generator.in, "errors");
    inputs();
    outputs();
    out(generator.out, "terminate");
    out(generator.event, "event");
    count(stage.counters(), "ddp_placement.");
    count(generator.counters(), "terminate_generator.");
  }
  TerminateGenerator generator;
  Netlist net;
};

}  // namespace

void add_placement_kinds(std::vector<Kind>& to) {
  to.push_back(kind<DdpPlacementBench>("ddp_placement",
                                       "validates DDP segments and places their payload (RFC 5041 sections 5 and 7)"));
  to.push_back(kind<PlacementBench>("placement", "ddp_placement and terminate_generator"));
}

}  // namespace rnic::golden
