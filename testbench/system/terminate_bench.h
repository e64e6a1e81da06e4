// One chip with its host, and a peer that breaks rules on one of two streams.
#pragma once

#include <optional>

#include "model/host/session/session.h"
#include "testbench/system/peer_bench.h"

namespace rnic::test {

inline constexpr std::uint32_t kRegion = 4096, kReceiveBytes = 64;

// Accepts two connections, victim first; keeps the driver's reports.
class TwoStreamHost final : public host::App {
 public:
  struct Stream {
    host::Qp* qp = nullptr;
    std::vector<host::CmEvent> events;
    std::vector<host::Wc> completions;
    std::optional<abi::WcStatus> status(std::uint64_t wr_id) const {
      std::optional<abi::WcStatus> found;
      for (const host::Wc& wc : completions) {
        if (wc.wr_id != wr_id) continue;
        EXPECT_FALSE(found) << "work request " << wr_id << " completed twice";
        found = wc.status;
      }
      return found;
    }
  };
  // The victim's work requests: two receives, and a Read that the peer does not answer. The bystander has one receive.
  enum WrId : std::uint64_t { kFirstReceive = 1, kSecondReceive, kRead = 50, kBadSend };

  static constexpr std::uint64_t kNowhere = 1ull << 48;  // where the host has no memory

  explicit TwoStreamHost(Node& node) : node_(node), core_(node.cpu.add(*this)), channel_(core_) {
    node.context.when_open(core_);
    core_.wake_at(0);
  }
  std::uint16_t ird = 16;
  bool second_receive_is_bad = false;  // its lkey
  bool sends_with_a_bad_lkey = false, sends_from_nowhere = false;
  Stream victim, bystander;

  void step() override {
    if (!node_.context.is_open()) return;
    if (cq_ == nullptr) create_memory();
    if (!cq_->ready() || !foreign_->ready()) return;
    if (victim.qp == nullptr) create_queue_pairs();
    if (!victim.qp->ready() || !bystander.qp->ready()) return;
    if (listener_ == nullptr) open();
    while (!channel_.empty()) take(channel_.get_cm_event());
    host::Wc wc;
    while (cq_->poll_cq(&wc, 1) == 1) take(wc);
  }
  std::string waiting_for() const override { return "test"; }

  Bytes memory() {
    const MutableByteSpan octets = node_.memory.span(address_, 2 * kRegion);
    return {octets.data(), octets.data() + octets.size()};
  }
  // Names in the hex of a test: STags, tagged offsets, and a payload.
  std::string resolved(std::string hex) const {
    constexpr const char* kPayload = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";
    for (std::size_t at; (at = hex.find("{P}")) != std::string::npos;) hex.replace(at, 3, kPayload);
    for (std::size_t at; (at = hex.find("{8}")) != std::string::npos;) hex.replace(at, 3, "5555555555555555");
    const Names names = {{"{ALL}", {all_->rkey(), 8}},         {"{BAD}", {all_->rkey() ^ 0x80, 8}},
                         {"{FOREIGN}", {foreign_->rkey(), 8}}, {"{READ}", {read_->rkey(), 8}},
                         {"{WRITE}", {write_->rkey(), 8}},     {"{TO}", {address_, 16}},
                         {"{TO+8}", {address_ + 8, 16}},       {"{END}", {address_ + kRegion - 2, 16}},
                         {"{TO+100}", {address_ + 100, 16}},   {"{TO+2048}", {address_ + 2048, 16}}};
    return with_names(std::move(hex), names);
  }

 private:
  void create_memory() {
    const host::Pd pd = pd_ = node_.context.alloc_pd(), other = node_.context.alloc_pd();
    cq_ = node_.context.create_cq(512, host::CqMode::kPolled);
    address_ = node_.memory.alloc(2 * kRegion);
    MutableByteSpan octets = node_.memory.span(address_, 2 * kRegion);
    for (std::size_t i = 0; i < octets.size(); ++i) octets.data()[i] = static_cast<std::uint8_t>(7 * i + i / 256);
    const std::uint8_t every = abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic;
    all_ = node_.context.reg_mr(pd, address_, kRegion, every);
    read_ = node_.context.reg_mr(pd, address_, kRegion, abi::kRemoteRead);
    write_ = node_.context.reg_mr(pd, address_, kRegion, abi::kLocalWrite | abi::kRemoteWrite);
    receive_ = node_.context.reg_mr(pd, address_ + kRegion, kRegion, abi::kLocalWrite);
    nowhere_ = node_.context.reg_mr(pd, kNowhere, kRegion, every);
    foreign_ = node_.context.reg_mr(other, address_, kRegion, every);
  }
  void create_queue_pairs() {
    host::QpInitAttr attr;
    attr.pd = pd_;
    attr.send_cq = attr.recv_cq = cq_;
    victim.qp = node_.context.create_qp(attr);
    bystander.qp = node_.context.create_qp(attr);
  }
  void open() {
    post_receive(victim, kFirstReceive, 0, receive_->lkey());
    post_receive(victim, kSecondReceive, 1, receive_->lkey() ^ (second_receive_is_bad ? 0x80 : 0));
    post_receive(bystander, kFirstReceive, 2, receive_->lkey());
    listener_ = &node_.context.listen(kPort, abi::kCmCrc | abi::kCmMarkers | abi::kCmEnhanced, channel_);
  }
  void post_receive(Stream& s, std::uint64_t id, unsigned slot, std::uint32_t lkey) {
    const abi::Sge sge{address_ + kRegion + slot * kReceiveBytes, kReceiveBytes, lkey};
    EXPECT_EQ(s.qp->post_recv(host::receive_request(id, sge)), 0);
  }
  void take(host::CmEvent event) {
    if (event.type == host::CmEventType::kConnectRequest) {
      host::ConnParam param;
      param.responder_resources = ird;
      node_.context.accept(event.connection, requests_++ == 0 ? *victim.qp : *bystander.qp, param, channel_);
      return;
    }
    (event.qp == victim.qp ? victim : bystander).events.push_back(std::move(event));
  }
  void take(const host::Wc& wc) {
    Stream& s = wc.qp_num == victim.qp->number().v ? victim : bystander;
    s.completions.push_back(wc);
    if (&s != &victim || wc.wr_id != kFirstReceive || wc.status != abi::WcStatus::kSuccess) return;
    host::SendWr read;
    read.wr_id = kRead;
    read.opcode = abi::WrOpcode::kRdmaRead;
    read.send_flags = abi::kWqeSignaled;
    read.num_sge = 1;
    read.sg_list[0] = {address_ + 8, 8, all_->lkey()};
    read.rkey = 0x1234;
    EXPECT_EQ(victim.qp->post_send(read), 0);
    if (!sends_with_a_bad_lkey && !sends_from_nowhere) return;
    host::SendWr send;
    send.wr_id = kBadSend;
    send.num_sge = 1;
    send.sg_list[0] = {address_, 8, all_->lkey() ^ 0x80};
    if (sends_from_nowhere) send.sg_list[0] = {kNowhere, 8, nowhere_->lkey()};
    EXPECT_EQ(victim.qp->post_send(send), 0);
  }

  Node& node_;
  host::Core& core_;
  host::EventChannel channel_;
  host::Pd pd_;
  host::Cq* cq_ = nullptr;
  host::Mr *all_ = nullptr, *read_ = nullptr, *write_ = nullptr, *receive_ = nullptr, *foreign_ = nullptr,
           *nowhere_ = nullptr;
  host::Listener* listener_ = nullptr;
  std::uint64_t address_ = 0;
  unsigned requests_ = 0;
};

class TerminateBench : public PeerBench {
 protected:
  using PeerBench::PeerBench;
  Bytes octets(const std::string& hex) const { return from_hex(host.resolved(hex)); }

  // Both streams are up, the victim's first receive is used and its Read awaits a response.
  void establish() {
    victim = &connect();
    bystander = &connect();
    victim->send_ulpdu(octets("4143 00000000 00000000 00000001 00000000 {P}"));
    const Bytes request = victim->receive();
    EXPECT_EQ(Bytes(request.begin(), request.begin() + 18), from_hex("4141 00000000 00000001 00000001 00000000"));
    before = host.memory();
  }
  // A Write, a Send and a Read on the other stream work, and nothing else has changed in memory.
  void expect_bystander_is_well() {
    Bytes expected = before;
    const Bytes written = from_hex("0123456789ABCDEF"), sent = octets("{P}");
    std::copy(written.begin(), written.end(), expected.begin() + 2048);
    std::copy(sent.begin(), sent.end(), expected.begin() + kRegion + 2 * kReceiveBytes);
    bystander->send_ulpdu(octets("C140 {ALL} {TO+2048} 0123456789ABCDEF"));
    bystander->send_ulpdu(octets("4143 00000000 00000000 00000001 00000000 {P}"));
    bystander->send_ulpdu(
        octets("4141 00000000 00000001 00000001 00000000"
               "00005678 0000000000000040 00000008 {ALL} {TO+2048}"));
    EXPECT_EQ(bystander->receive(), from_hex("C142 00005678 0000000000000040 0123456789ABCDEF"));
    peer.wait_us(10);
    EXPECT_EQ(bystander->unread(), 0u);
    EXPECT_EQ(host.memory(), expected);
    EXPECT_EQ(host.bystander.status(TwoStreamHost::kFirstReceive), abi::WcStatus::kSuccess);
    ASSERT_EQ(host.bystander.events.size(), 1u);
    EXPECT_EQ(host.bystander.events[0].type, host::CmEventType::kEstablished);
    EXPECT_EQ(host.bystander.qp->state(), host::QpState::kRts);
  }
  // The victim's events at the host: established, the error, the end.
  void expect_victim_ended(abi::TerminateOrigin origin, const Bytes& header,
                           abi::WcStatus read = abi::WcStatus::kWrFlushErr) const {
    const auto& events = host.victim.events;
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0].type, host::CmEventType::kEstablished);
    EXPECT_EQ(events[1].type, host::CmEventType::kQpError);
    EXPECT_EQ(events[2].type, host::CmEventType::kDisconnected);
    const host::Terminate& t = events[1].terminate;
    EXPECT_EQ(t.origin, origin);
    EXPECT_EQ(static_cast<unsigned>(t.cause.layer) << 4 | t.cause.etype, header[0]);
    EXPECT_EQ(t.cause.code, header[1]);
    EXPECT_STRNE(wire::to_string(t.cause), "unknown");
    EXPECT_EQ(t.segment_length != 0, header.size() > 4);
    Bytes headers = t.ddp_header;
    headers.insert(headers.end(), t.read_request.begin(), t.read_request.end());
    if (t.segment_length != 0) {
      EXPECT_EQ(t.segment_length, header[4] << 8 | header[5]);
      EXPECT_EQ(headers, Bytes(header.begin() + 6, header.end()));
    } else {
      EXPECT_TRUE(headers.empty());
    }
    EXPECT_EQ(host.victim.qp->state(), host::QpState::kError);
    EXPECT_EQ(host.victim.status(TwoStreamHost::kFirstReceive), abi::WcStatus::kSuccess);
    EXPECT_EQ(host.victim.status(TwoStreamHost::kRead), read);
  }

  TwoStreamHost host{node};
  RawStream *victim = nullptr, *bystander = nullptr;
  Bytes before;
};

}  // namespace rnic::test
