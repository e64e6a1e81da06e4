// sctp_packet: packets of an SCTP association below its sessions, from user data to chunks and back.
#include <algorithm>
#include <string_view>
#include <utility>

#include "model/golden/kind_of.h"
#include "model/golden/sctp_end.h"
#include "model/rnic/llp/sctp/sctp_config.h"

namespace rnic::golden {
namespace {

// Of an association without time and without streams of its own.
constexpr std::string_view kChosen[] = {"receive_buffer", "send_chunks", "sack_every",     "max_burst",
                                        "initial_window", "max_retries", "reorder_chunks", "reassembly_messages"};

template <class V>
struct ChosenFields {
  V& v;
  template <class... Rest>
  void operator()(std::string_view name, Rest&&... rest) {
    if (std::find(std::begin(kChosen), std::end(kChosen), name) != std::end(kChosen))
      v(name.data(), std::forward<Rest>(rest)...);
  }
  template <class... Rest>
  void group(Rest&&...) {}
};

struct AssociationRow {
  std::uint16_t port = 0, peer_port = 0;
  sctp::Terms terms;

  static constexpr const char* kMessage = "sctp_association_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    auto& t = m.terms;
    v("port", 16, m.port);
    v("peer_port", 16, m.peer_port);
    v("tag", 32, t.own_tag);
    v("peer_tag", 32, t.peer_tag);
    v("tsn", 32, t.own_tsn);
    v("peer_tsn", 32, t.peer_tsn);
    v("peer_window", 32, t.peer_window);
    v("outbound", 16, t.outbound);
    v("inbound", 16, t.inbound);
  }
};

struct PacketCommand {
  enum class Op : std::uint8_t { kConsumed, kSackDelay, kT3Rtx };
  friend const ValueWords& value_words(Op) {
    static const ValueWords kWords{"consumed", "sack_delay", "t3_rtx"};
    return kWords;
  }
  Op op = Op::kConsumed;
  std::uint32_t consumed = 0;

  static constexpr const char* kMessage = "sctp_command";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("op", 4, m.op);
    v("consumed", 32, m.consumed);
  }
};

struct SctpPacketBench final : Bench {
  struct Config : SctpConfig {
    unsigned mtu = 1500;
    template <class V>
    static void fields(V& v) {
      v("mtu", &Config::mtu, "largest IPv4 packet", in_range(576, 9000), unit("octets"));
      ChosenFields<V> chosen{v};
      SctpConfig::fields(chosen);
    }
  };
  explicit SctpPacketBench(const Config& c) : Bench(DatapathConfig{}.beat_bytes), end(c, c.mtu, pool_) {
    in<UserMessage>("send", [this](const UserMessage& m) { end.send(m), give(); });
    in<PacketMessage>("peer", [this](const PacketMessage& m) { end.receive(m.octets), give(); });
    in<PacketCommand>("command", [this](const PacketCommand& m) { command(m), give(); });
    packets = &out<PacketMessage>("to_peer");
    data = &out<DataMessage>("data");
    acknowledged = &out<Acknowledged>("acknowledged");
    events = &out<AssociationEvent>("event");
    table<AssociationRow>("association", [this](std::uint32_t index, const AssociationRow& row) {
      if (index != 0) fail_index("association", index, 1);
      establish(row);
    });
    count(end.counters());
  }

 private:
  void establish(const AssociationRow& row) {
    const sctp::Terms& t = row.terms;
    require(row.port != 0 && row.peer_port != 0, "sctp_association_row: no port is 0 (RFC 9260 section 3.1)");
    require(t.own_tag != 0 && t.peer_tag != 0, "sctp_association_row: no tag is 0 (RFC 9260 section 3.3.2)");
    require(t.outbound != 0 && t.inbound != 0, "sctp_association_row: there is a stream in each direction at least");
    require(t.peer_window >= sctp::kLeastWindow,
            "sctp_association_row.peer_window: 1500 octets at least (RFC 9260 section 3.3.2)");
    end.establish(row.port, row.peer_port, t);
  }
  void command(const PacketCommand& m) {
    using Op = PacketCommand::Op;
    switch (m.op) {
      case Op::kConsumed:
        return end.consume(m.consumed);
      case Op::kSackDelay:
        return end.sack_delay_over();
      case Op::kT3Rtx:
        return end.t3_expired();
    }
  }
  template <class M>
  static void move_all(std::deque<M>& from, std::deque<M>& to) {
    for (M& m : std::exchange(from, {})) to.push_back(std::move(m));
  }
  void give() {
    move_all(end.packets, *packets);
    move_all(end.data, *data);
    move_all(end.acknowledged, *acknowledged);
    move_all(end.events, *events);
  }

  SctpEnd end;
  std::deque<PacketMessage>* packets;
  std::deque<DataMessage>* data;
  std::deque<Acknowledged>* acknowledged;
  std::deque<AssociationEvent>* events;
};

}  // namespace

void add_packet_kinds(std::vector<Kind>& to) {
  to.push_back(kind<SctpPacketBench>("sctp_packet", "packets of an association: DATA, SACK, and its end (RFC 9260)"));
}

}  // namespace rnic::golden
