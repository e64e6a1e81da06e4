// A host program with one session; the test decides what it makes and does.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/host/session/session.h"
#include "model/system/node.h"

namespace rnic::test {

class SessionHost : public host::App {
 public:
  explicit SessionHost(Node& node) : node_(node), core_(node.cpu.add(*this)), session_(node.context, core_) {
    core_.wake_at(0);
  }
  void step() override {
    if (!node_.context.is_open()) return;
    if (!std::exchange(made_, true)) make();
    if (!ready()) return;
    if (!session_.has_qp()) qp = &session_.make_qp();
    if (!session_.ready()) return;
    begin();
    for (host::CmEvent event; session_.next(event);) take(std::move(event));
    host::Wc wc;
    while (session_.recv_cq().poll_cq(&wc, 1) == 1) take(wc);
    run();
  }
  std::string waiting_for() const override { return "test"; }

  host::Qp* qp = nullptr;
  std::vector<host::CmEvent> events;
  std::vector<host::Wc> completions;

 protected:
  virtual void make() = 0;  // regions, and a completion queue for both
  virtual bool ready() { return session_.ready(); }
  // In each step: once there is a queue pair, for each event and completion, and after those.
  virtual void begin() {}
  virtual void take(host::CmEvent event) { events.push_back(std::move(event)); }
  virtual void take(const host::Wc& wc) { completions.push_back(wc); }
  virtual void run() {}

  Node& node_;
  host::Core& core_;
  host::Session session_;

 private:
  bool made_ = false;
};

}  // namespace rnic::test
