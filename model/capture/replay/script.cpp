#include "model/capture/replay/script.h"

#include <algorithm>
#include <iterator>

#include "model/capture/replay/terminate_reader.h"
#include "model/common/check.h"

namespace rnic::replay {

using wire::Opcode;

namespace {

wire::MpaFrameKind startup_of(Side side) {
  return side == Side::kInitiator ? wire::MpaFrameKind::kRequest : wire::MpaFrameKind::kReply;
}

class ScriptWriter {
 public:
  ScriptWriter(const Recording& recording, Script& script)
      : script_(script), fed_(recording.from(other(script.model))), real_(recording.from(script.model)) {}

  void write() {
    negotiate();
    check();
    script_.memory = MemoryPlanner(script_.fed, script_.real, fed_, real_).plan();
    for (const Message& m : script_.real.messages()) {
      if (m.header.last) ends_.push_back(real_.order_of(m.end));
    }
    if (script_.real.started()) ends_.push_back(real_.order_of(script_.real.startup_bytes()));
    std::sort(ends_.begin(), ends_.end());
    write_steps();
    write_posts();
    script_.model_closes_first = real_.closed < fed_.closed;
    script_.model_closes_after = fed_before(real_.closed);
    script_.close_after = script_.real_messages();
  }

 private:
  void negotiate() {
    if (!script_.fed.started() || !script_.real.started()) return;
    const wire::MpaFrame fed = script_.fed.startup(), real = script_.real.startup();
    if (fed.markers || real.markers) throw ConfigError("its streams have markers, which a replay cannot regenerate");
    script_.crc = fed.crc || real.crc;
    const bool peer_to_peer =
        fed.enhanced && fed.enhanced->peer_to_peer && real.enhanced && real.enhanced->peer_to_peer;
    script_.rtr = peer_to_peer && script_.model == Side::kInitiator;
  }

  // Refuses messages that a program cannot post or memory cannot be planned for.
  void check() const {
    for (const MessageReader* stream : {&script_.fed, &script_.real}) {
      for (const Message& m : stream->messages()) {
        const SegmentHeader& h = m.header;
        const bool request = h.opcode == Opcode::kReadRequest;
        const bool known =
            wire::is_tagged(h.opcode) || wire::is_send(h.opcode) || request || h.opcode == Opcode::kTerminate;
        const bool whole = !request || (h.last && m.payload.size() == wire::ReadRequest::kBytes);
        if (known && whole && h.tagged == wire::is_tagged(h.opcode)) continue;
        throw ConfigError("its streams have a message that is not replayed: " + describe(m));
      }
    }
  }

  std::size_t model_messages_before(Order order) const {
    return static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), order) - ends_.begin());
  }

  // Octets of the fed stream that were captured before `order`; complete segments.
  std::size_t fed_before(Order order) const {
    const auto at = std::partition_point(fed_.arrivals.begin(), fed_.arrivals.end(),
                                         [order](const RecordedStream::Arrival& a) { return a.order < order; });
    return at == fed_.arrivals.begin() ? 0 : std::prev(at)->end;
  }

  // The peer's Terminate waits for all captured messages of the real side, so that none is cut short.
  void write_steps() {
    const std::size_t terminate = fed_terminate();
    const auto add = [&](std::size_t end, std::size_t messages) {
      script_.steps.push_back({end, end > terminate ? std::max(messages, script_.real_messages()) : messages});
    };
    auto change = script_.memory.changes.begin();
    for (const RecordedStream::Arrival& a : fed_.arrivals) {
      const std::size_t begin = script_.steps.empty() ? 0 : script_.steps.back().end;
      const std::size_t messages = model_messages_before(a.order);
      for (; change != script_.memory.changes.end() && change->before < a.end; ++change) {
        if (change->before > begin) add(change->before, messages);
      }
      if (terminate > begin && terminate < a.end) add(terminate, messages);
      add(a.end, messages);
    }
  }

  // The octet at which the peer's Terminate begins.
  std::size_t fed_terminate() const {
    for (const Message& m : script_.fed.messages()) {
      if (m.header.opcode == Opcode::kTerminate) return m.begin;
    }
    return SIZE_MAX;
  }

  // If the real side sent a Terminate for a local error, its program had posted a request that cannot be executed.
  // Messages that left after the peer's Terminate arrived had been posted before.
  void write_posts() {
    const std::vector<Message>& messages = script_.real.messages();
    const std::size_t terminate = fed_terminate();
    for (std::size_t i = script_.rtr ? 1 : 0; i < messages.size(); ++i) {
      const Opcode op = messages[i].header.opcode;
      const bool posted = op == Opcode::kTerminate ? is_local_error(messages[i]) : op != Opcode::kReadResponse;
      if (posted) {
        script_.posts.push_back({i, std::min(fed_before(real_.order_of(messages[i].begin + 1)), terminate)});
      }
    }
  }

  static bool is_local_error(const Message& message) {
    const auto terminate = read_terminate(message.payload);
    return terminate && terminate->cause.layer == wire::Layer::kRdma &&
           terminate->cause.etype == wire::rdma::kLocalCatastrophicType;
  }

  Script& script_;
  const RecordedStream& fed_;
  const RecordedStream& real_;
  std::vector<Order> ends_;  // of the real side's messages and its startup frame
};

bool is_mpa(const Recording& recording) {
  const std::vector<std::uint8_t>& octets = recording.from(Side::kInitiator).octets;
  return recording.refused ||
         (octets.size() >= wire::kMpaHeaderBytes && wire::starts_like_mpa_key(octets, wire::MpaFrameKind::kRequest));
}

std::unique_ptr<Script> make_script(const Recording& recording, Side model) {
  const Side peer = other(model);
  auto script = std::make_unique<Script>(startup_of(peer), startup_of(model));
  script->name = recording.name;
  script->transport = recording.transport;
  script->model = model;
  script->model_port = recording.port(model);
  script->peer_port = recording.port(peer);
  script->model_mss = recording.from(peer).emss;
  script->peer_mss = recording.from(model).emss;
  script->refused = recording.refused;
  script->partial = recording.partial;
  script->fed.push(recording.from(peer).octets);
  script->real.push(recording.from(model).octets);
  for (const MessageReader* stream : {&script->fed, &script->real}) {
    if (!stream->error().empty()) throw ConfigError(stream->error());
  }
  ScriptWriter(recording, *script).write();
  return script;
}

}  // namespace

std::vector<std::unique_ptr<Script>> make_scripts(const std::vector<Recording>& recordings, Side model) {
  std::vector<std::unique_ptr<Script>> scripts;
  for (const Recording& r : recordings) {
    if (!is_mpa(r)) continue;
    try {
      scripts.push_back(make_script(r, model));
    } catch (const ConfigError& error) {
      throw ConfigError(r.name + ": " + error.what());
    }
  }
  if (scripts.empty()) throw ConfigError("none of its connections speaks MPA");
  return scripts;
}

}  // namespace rnic::replay
