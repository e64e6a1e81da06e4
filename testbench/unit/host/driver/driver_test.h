// Programs for tests: a list of steps, each repeated until it returns true.
#pragma once

#include <functional>
#include <vector>

#include "testbench/support/stage_test.h"
#include "testbench/unit/host/driver/fake_device.h"

namespace rnic::test {

class Script final : public host::App {
 public:
  explicit Script(host::HostCpu& cpu) : core(cpu.add(*this)) {}
  Script& then(std::function<bool()> step) {
    steps_.push_back(std::move(step));
    core.wake();
    return *this;
  }
  Script& run(std::function<void()> step) {
    return then([=] { return step(), true; });
  }
  bool done() const { return next_ == steps_.size(); }
  void step() override {
    while (next_ < steps_.size() && steps_[next_]()) ++next_;
  }
  std::string waiting_for() const override { return done() ? "" : "step " + std::to_string(next_); }
  host::Core& core;

 private:
  std::vector<std::function<bool()>> steps_;
  std::size_t next_ = 0;
};

// Two hosts with joined devices; each has a program that connects its queue pair step by step.
class DriverTest : public StageTest {
 protected:
  struct Side {
    explicit Side(FakeHost& h) : host(h), script(h.cpu), channel(script.core) {}
    FakeHost& host;
    Script script;
    host::EventChannel channel;
    host::Pd pd;
    host::Cq* send_cq = nullptr;
    host::Cq* recv_cq = nullptr;
    host::Qp* qp = nullptr;
    host::Mr* mr = nullptr;
    std::uint64_t buffer = 0;
    host::CmEvent event;
    std::vector<host::Wc> completions;

    void wait_open() {
      host.context.when_open(script.core);
      script.then([this] { return host.context.is_open(); });
    }
    // Queues with the given numbers of entries, and a region of 64 KiB with all rights.
    void create(std::uint32_t sends, std::uint32_t recvs, host::CqMode mode = host::CqMode::kPolled) {
      wait_open();
      script.run([this, sends, recvs, mode] {
        pd = host.context.alloc_pd();
        buffer = host.memory.alloc(1 << 16);
        send_cq = host.context.create_cq(sends, mode);
        recv_cq = host.context.create_cq(recvs, mode);
        qp = host.context.create_qp({pd, send_cq, recv_cq, sends, recvs});
        mr = host.context.reg_mr(pd, buffer, 1 << 16, 7);
      });
      script.then([this] { return qp->ready() && mr->ready(); });
    }
    void wait_event() {
      script.then([this] {
        if (channel.empty()) return false;
        event = channel.get_cm_event();
        return true;
      });
    }
    void collect(host::Cq* Side::*cq, std::size_t n) {
      script.then([this, cq, n] {
        host::Wc wc[4];
        for (unsigned got; (got = (this->*cq)->poll_cq(wc, 4)) != 0;)
          completions.insert(completions.end(), wc, wc + got);
        return completions.size() >= n;
      });
    }
    host::SendWr send_wr(std::uint64_t wr_id, std::uint32_t offset, std::uint32_t bytes, std::uint8_t flags = 1) {
      host::SendWr wr;
      wr.wr_id = wr_id;
      wr.send_flags = flags;
      wr.num_sge = 1;
      wr.sg_list[0] = {buffer + offset, bytes, mr->lkey()};
      return wr;
    }
    host::RecvWr recv_wr(std::uint64_t wr_id, std::uint32_t offset, std::uint32_t bytes) {
      host::RecvWr wr;
      wr.wr_id = wr_id;
      wr.num_sge = 1;
      wr.sg_list[0] = {buffer + offset, bytes, mr->lkey()};
      return wr;
    }
  };

  DriverTest() { FakeDevice::join(host_a.device, host_b.device); }
  // `a` connects to `b`, which must have a listening program.
  void connect_both(std::uint32_t sends, std::uint32_t recvs, host::CqMode mode = host::CqMode::kPolled) {
    b.create(sends, recvs, mode);
    b.script.run([this] { b.host.context.listen(7000, 0, b.channel); });
    b.wait_event();
    b.script.run([this] { b.host.context.accept(b.event.connection, *b.qp, {}, b.channel); });
    b.wait_event();
    a.create(sends, recvs, mode);
    a.script.run([this] { a.script.core.wake_at(40'000'000); });
    a.script.then([this] { return clk.now_ps() >= 40'000'000; });
    a.script.run([this] { a.host.context.connect(*a.qp, 0x0a000002, 7000, {}, a.channel); });
    a.wait_event();
  }
  std::vector<std::uint64_t> ids(const Side& side) const {
    std::vector<std::uint64_t> list;
    for (const host::Wc& wc : side.completions) list.push_back(wc.wr_id);
    return list;
  }

  FakeHost host_a{clk, "a"}, host_b{clk, "b"};
  Side a{host_a}, b{host_b};
};

}  // namespace rnic::test
