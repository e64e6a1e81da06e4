// A program with one queue pair: sets it up, connects it and plays its roles, phase by phase.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/programs/workload/role.h"

namespace rnic::workload {

class Endpoint;

struct Ending {
  std::string text;
  std::optional<host::Terminate> terminate{};  // of the event that reported it
};

// Endpoints go through the same stages and wait for each other between them.
struct Barrier {
  // The endpoint was ready at `ready_ps`, and knows at `at_ps` that its device is, too.
  virtual void arrived(Endpoint& endpoint, std::uint64_t ready_ps, std::uint64_t at_ps) = 0;
  virtual void aborted(const std::string& reason) = 0;
  // The endpoint will not arrive: its connection has ended, as it may.
  virtual void left(Endpoint& endpoint, std::uint64_t at_ps) = 0;

 protected:
  ~Barrier() = default;
};

// Stages: 0 create and listen, 1 connect, then for each phase prepare and run, last disconnect.
class Endpoint final : public host::App {
 public:
  struct Settings {
    std::string name;  // "c0[1] at client"
    std::uint16_t port = 0;
    std::uint32_t peer_ip = 0;  // for the side that connects
    bool active = false;
    host::ConnParam param;
    host::CqMode mode = host::CqMode::kPolled;
    bool may_end = false;  // its connection may end before the work is done
    bool listens = true;   // for a side that does not connect: false if another endpoint has its port
    unsigned node = 0;     // the program's own
  };
  Endpoint(Barrier& barrier, host::Context& context, Settings settings, std::size_t phases);

  // A listener passes requests on: each begins with the number (numbered()) of the endpoint to which it belongs.
  void share_port(std::vector<Endpoint*> endpoints) { at_port_ = std::move(endpoints); }
  static std::vector<std::uint8_t> numbered(std::uint16_t number, const std::vector<std::uint8_t>& private_data);

  void add(std::size_t phase, std::unique_ptr<Role> role) { roles_[phase].push_back(std::move(role)); }
  const std::vector<std::unique_ptr<Role>>& roles(std::size_t phase) const { return roles_[phase]; }
  unsigned last_stage() const { return static_cast<unsigned>(2 + 2 * roles_.size()); }
  bool is_phase(unsigned stage) const { return stage >= 2 && stage < last_stage() && stage % 2 == 1; }
  // How its connection ended before the work was done, if it did.
  const std::optional<Ending>& ending() const { return ending_; }
  bool waiting() const { return waiting_; }
  // Begins a stage at a time that no clock has reached yet.
  void begin(unsigned stage, std::uint64_t at_ps);
  // In stage 1: it may connect from then on, and not before.
  void admit(std::uint64_t at_ps);
  bool connects() const { return settings_.active; }
  unsigned node() const { return settings_.node; }
  unsigned stage() const { return stage_; }

  void step() override;
  std::string waiting_for() const override;

 private:
  bool work();  // true when the stage is complete
  bool create();
  bool connect();
  bool greet();
  bool hand_on(host::CmEvent& request);
  bool settle();
  bool prepare();
  bool make_ready();
  bool run();
  bool disconnect();
  void take_completions();
  unsigned poll(host::Cq& cq);
  bool take_event(host::CmEvent& event);
  // Dissectors take shorter ones for a broken RPC-over-RDMA header.
  static constexpr std::uint32_t kGreetingBytes = 16;
  const std::vector<std::unique_ptr<Role>>& current() const { return roles_[(stage_ - 2) / 2]; }
  // Roles of the phase before this stage, which is not a phase itself.
  const std::vector<std::unique_ptr<Role>>& before() const { return roles_[(stage_ - 4) / 2]; }
  void fail(const std::string& reason);
  void end(const std::string& reason);
  void end(const host::CmEvent& event);

  Barrier& barrier_;
  const Settings settings_;
  host::Core& core_;
  host::Session session_;
  std::vector<std::vector<std::unique_ptr<Role>>> roles_;  // by phase
  std::vector<Endpoint*> at_port_;                         // all endpoints that share it; empty if it is not shared
  std::size_t handed_on_ = 0;

  unsigned stage_ = 0;
  std::uint64_t begin_ps_ = 0;
  std::uint64_t admitted_ps_ = UINT64_MAX;
  bool waiting_ = false;                // at the barrier
  bool started_ = false;                // the stage's first action is done
  std::uint64_t ready_ps_ = 0;          // when the stage's work was done; 0: not yet
  const host::Fence* fence_ = nullptr;  // after the receives; passed once the device knows them
  bool failed_ = false, left_ = false, connected_ = false, greeted_ = false;
  std::optional<Ending> ending_;
  const host::Mr* greeting_ = nullptr;  // memory of the first Send
};

}  // namespace rnic::workload
