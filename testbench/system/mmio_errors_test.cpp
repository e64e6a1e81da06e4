// The host's answers to register accesses that the map does not allow; the device survives them.
#include <map>
#include <utility>

#include "model/cable/ethernet_link.h"
#include "model/rnic/llp/link_address.h"
#include "model/system/node.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

LinkAddress station(std::uint8_t last, std::uint8_t peer_last) {
  const auto mac = [](std::uint8_t n) { return wire::MacAddress{{2, 0, 0, 0, 0, n}}; };
  const auto ip = [](std::uint8_t n) { return wire::Ipv4Address{0x0a000000u + n}; };
  return {mac(last), ip(last), {{ip(peer_last), mac(peer_last)}}};
}

// Stands between the root complex and the driver, and keeps the answers to the test's own reads.
class Answers final : public host::HostEvents {
 public:
  static constexpr std::uint32_t kFirstCookie = 0x10000;
  explicit Answers(host::HostEvents& driver) : driver_(driver) {}
  void memory_written(std::uint64_t address, std::uint32_t bytes, std::uint64_t at_ps) override {
    driver_.memory_written(address, bytes, at_ps);
  }
  void msix(unsigned vector, std::uint64_t at_ps) override { driver_.msix(vector, at_ps); }
  void mmio_read_done(std::uint32_t cookie, std::uint32_t value, bool ok, std::uint64_t at_ps) override {
    if (cookie < kFirstCookie) driver_.mmio_read_done(cookie, value, ok, at_ps);
    else answers[cookie] = {ok, value};
  }
  std::map<std::uint32_t, std::pair<bool, std::uint32_t>> answers;  // by cookie

 private:
  host::HostEvents& driver_;
};

// Makes one object of each kind on demand; each needs a doorbell, DMA, an event and an interrupt.
class ObjectMaker final : public host::App {
 public:
  explicit ObjectMaker(Node& node) : node_(node), core_(node.cpu.add(*this)) { node.context.when_open(core_); }
  void start() {
    started_ = true;
    core_.wake_at(static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()));
  }
  void step() override {
    if (!started_ || !node_.context.is_open()) return;
    if (cq_ == nullptr) {
      pd_ = node_.context.alloc_pd();
      cq_ = node_.context.create_cq(512, host::CqMode::kPolled);
      mr_ = node_.context.reg_mr(pd_, node_.memory.alloc(4096), 4096, abi::kLocalWrite);
    }
    if (!cq_->ready() || !mr_->ready() || qp_ != nullptr) return;
    host::QpInitAttr attr;
    attr.pd = pd_;
    attr.send_cq = attr.recv_cq = cq_;
    qp_ = node_.context.create_qp(attr);
  }
  std::string waiting_for() const override { return "its objects"; }
  bool done() const { return qp_ != nullptr && qp_->ready(); }

 private:
  Node& node_;
  host::Core& core_;
  bool started_ = false;
  host::Pd pd_;
  host::Cq* cq_ = nullptr;
  host::Mr* mr_ = nullptr;
  host::Qp* qp_ = nullptr;
};

class MmioErrorsTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kHole = 0x0200, kBehindTheBar = 0x8000;
  Node a;
  Node b{"b", {}, station(2, 1)};
  EthernetLink cable{"cable", {}};
  Answers host{a.context};
  ObjectMaker program{a};

  explicit MmioErrorsTest(const NodeConfig& config = {}) : a("a", config, station(1, 2)) {
    cable.attach(0, a.chip.mac_tx.ethernet, a.chip.mac_rx);
    cable.attach(1, b.chip.mac_tx.ethernet, b.chip.mac_rx);
    a.root_complex.attach(host);
    run();  // until the driver has opened the device
    refused_before_ = a.chip.pcie.mmio.counters().refused;
  }
  void run() { sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_US), sc_core::SC_EXIT_ON_STARVATION); }
  static std::uint64_t now_ps() { return static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()); }

  std::pair<bool, std::uint32_t> read(std::uint32_t offset) {
    const std::uint32_t cookie = next_cookie_++;
    a.root_complex.mmio_read(offset, cookie, now_ps());
    run();
    EXPECT_EQ(host.answers.count(cookie), 1u) << "no completion for a read at " << offset;
    return host.answers[cookie];
  }
  void write(std::uint32_t offset, std::uint32_t value) {
    a.root_complex.mmio_write(offset, value, now_ps());
    run();
  }
  std::uint64_t refused() const { return a.chip.pcie.mmio.counters().refused - refused_before_; }
  template <class Register>
  std::uint32_t error_count() {
    const auto [ok, value] = read(Register::kOffset);
    EXPECT_TRUE(ok);
    return value;
  }
  void expect_working() {
    EXPECT_TRUE(a.context.is_open()) << a.context.error();
    write(regs::Scratch::kOffset, 0xc0ffee);
    EXPECT_EQ(read(regs::Scratch::kOffset), std::make_pair(true, 0xc0ffeeu));
    program.start();
    run();
    EXPECT_TRUE(program.done());
  }

 private:
  std::uint32_t next_cookie_ = Answers::kFirstCookie;
  std::uint64_t refused_before_ = 0;
};

constexpr std::uint32_t kAllOnes = 0xffffffff;

TEST_F(MmioErrorsTest, AccessWhereThereIsNoRegister) {
  EXPECT_EQ(read(kHole), std::make_pair(false, kAllOnes));
  EXPECT_EQ(read(kBehindTheBar), std::make_pair(false, kAllOnes));
  write(kHole, 1);
  EXPECT_EQ(refused(), 3u);
  EXPECT_EQ(error_count<regs::UnsupportedRequests>(), 3u);
  EXPECT_EQ(error_count<regs::UnsupportedRequests>(), 0u) << "reading clears it";
  expect_working();
}

TEST_F(MmioErrorsTest, AccessThatIsNotOneAlignedWord) {
  EXPECT_EQ(read(regs::Scratch::kOffset + 1), std::make_pair(false, kAllOnes));
  write(regs::Scratch::kOffset + 2, 0xdead);
  EXPECT_EQ(read(regs::Scratch::kOffset), std::make_pair(true, 0u));
  EXPECT_EQ(refused(), 2u);
  EXPECT_EQ(error_count<regs::BadSizeAccesses>(), 2u);
  expect_working();
}

TEST_F(MmioErrorsTest, WriteOfAReadOnlyRegister) {
  write(regs::Id::kOffset, 0);
  EXPECT_EQ(read(regs::Id::kOffset), std::make_pair(true, 0x50574952u));
  EXPECT_EQ(refused(), 1u);
  EXPECT_EQ(error_count<regs::ReadOnlyWrites>(), 1u);
  expect_working();
}

TEST_F(MmioErrorsTest, ReadOfAWriteOnlyRegister) {
  EXPECT_EQ(read(regs::SqDoorbell::kOffset), std::make_pair(false, kAllOnes));
  EXPECT_EQ(error_count<regs::UnsupportedRequests>(), 1u);
  expect_working();
}

class FatalErrorTest : public MmioErrorsTest {
 protected:
  static NodeConfig config() {
    NodeConfig c;
    c.rnic.fwcpu.fault = PlantedFault::kPanic;
    return c;
  }
  FatalErrorTest() : MmioErrorsTest(config()) {}
};

TEST_F(FatalErrorTest, StatusSaysThatTheFirmwareStopped) {
  EXPECT_EQ(read(regs::Status::kOffset), std::make_pair(true, regs::Status{true, false}.pack()));
  program.start();
  run();
  EXPECT_FALSE(program.done());
  EXPECT_EQ(a.context.error(), "the device's firmware stopped: panic");
  EXPECT_EQ(read(regs::Status::kOffset), std::make_pair(true, regs::Status{false, true}.pack()));
  const std::uint32_t firmware = regs::FatalError{false, false, true}.pack();
  EXPECT_EQ(read(regs::FatalError::kOffset), std::make_pair(true, firmware));
  write(regs::FatalError::kOffset, firmware);
  EXPECT_EQ(read(regs::FatalError::kOffset), std::make_pair(true, 0u));
}

}  // namespace
}  // namespace rnic::test
