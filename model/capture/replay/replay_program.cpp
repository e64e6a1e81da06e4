#include "model/capture/replay/replay_program.h"

#include "model/capture/replay/replay_session.h"
#include "model/common/check.h"

namespace rnic::replay {

namespace {

constexpr std::uint64_t kPollPs = 1'000'000;

}  // namespace

ReplayProgram::ReplayProgram(host::Context& context, ReplayPeer& peer, std::uint32_t peer_ip,
                             const std::vector<std::unique_ptr<Script>>& scripts)
    : context_(context), peer_(peer), peer_ip_(peer_ip), scripts_(scripts), core_(context.cpu().add(*this)) {
  context_.when_open(core_);
}

ReplayProgram::~ReplayProgram() = default;

void ReplayProgram::step() {
  if (!context_.error().empty()) error_ = context_.error();
  if (!context_.is_open() || !error_.empty() || done()) return;
  const Script& script = *scripts_[sessions_.size() - (running_ ? 1 : 0)];
  try {
    if (!running_) {
      sessions_.push_back(std::make_unique<Session>(script, context_, peer_, peer_ip_, core_));
    }
    running_ = true;
    const bool over = sessions_.back()->advance();
    if (over || giving_up_) conclude();
  } catch (const ConfigError& error) {  // memory or the device's objects ran out
    error_ = script.name + ": " + error.what();
    return;
  }
  core_.wake_at(core_.time_ps() + kPollPs);
}

void ReplayProgram::conclude() {
  outcomes_.push_back(sessions_.back()->outcome());
  if (giving_up_) {
    outcomes_.back().stalled = sessions_.back()->waiting_for();
    peer_.abort();
  }
  running_ = false;
  giving_up_ = false;
}

void ReplayProgram::give_up() { giving_up_ = true; }

std::uint64_t ReplayProgram::progress() const {
  std::uint64_t sum = peer_.progress() + outcomes_.size();
  for (const auto& session : sessions_) sum += session->progress();
  return sum;
}

std::string ReplayProgram::waiting_for() const { return running_ ? sessions_.back()->waiting_for() : ""; }

}  // namespace rnic::replay
