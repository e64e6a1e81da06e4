#include "model/rnic/fwcpu/fwcpu.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "model/abi/firmware_log.h"
#include "model/abi/host_abi_names.h"
#include "model/common/description.h"
#include "model/common/overloaded.h"
#include "model/rnic/fwcpu/chip_bus.h"
#include "model/rnic/fwcpu/event_names.h"
#include "model/rnic/fwcpu/firmware_target.h"

namespace rnic {
namespace {

fw::Settings settings_of(const FwCpuConfig& config, const ContextStore& contexts) {
  fw::Settings settings;
  settings.qps = static_cast<std::uint32_t>(contexts.qps());
  settings.flows = static_cast<std::uint32_t>(contexts.flows());
  settings.cqs = static_cast<std::uint32_t>(contexts.cqs());
  settings.stags = static_cast<std::uint32_t>(contexts.stags());
  settings.pages = static_cast<std::uint32_t>(contexts.pages());
  settings.home_pages = contexts.home_pages();
  settings.homed_kinds = contexts.home_layout().kinds();
  settings.srqs = static_cast<std::uint32_t>(contexts.srqs());
  settings.max_ird = config.max_ird;
  settings.max_ord = config.max_ord;
  settings.request_timeout_us = config.request_timeout_us;
  settings.reply_timeout_us = config.reply_timeout_us;
  settings.first_fpdu_timeout_us = config.first_fpdu_timeout_us;
  settings.close_timeout_us = config.close_timeout_us;
  settings.connections = config.max_connections;
  settings.setups = config.max_setups;
  settings.extensions = config.rdmap_extensions;
  settings.personality = config.personality;
  settings.receive_markers = config.receive_markers;
  settings.crc = config.crc;
  return settings;
}

// What the target's firmware is built for. Native firmware comes in two sizes, as memory of the large one costs time
// at each start. ConfigError if the chip has more.
fw::Room room_for(const fw::Settings& settings, FirmwareTargetKind target, const std::string& name) {
  const bool native = target == FirmwareTargetKind::kNative;
  if (native ? fw::fits_small(settings) : fw::fits<fw::DefaultCapacity>(settings)) {
    return fw::room_of<fw::DefaultCapacity>();
  }
  const fw::Room most = native ? fw::room_of<fw::LargeCapacity>() : fw::room_of<fw::DefaultCapacity>();
  if (native && fw::fits<fw::LargeCapacity>(settings)) return most;
  throw ConfigError(fmt::format(
      "{}: the {}firmware is built for {} QPs, {} flows, {} CQs, {} SRQs, {} STags and {} connections at most", name,
      native ? "" : "RV32 ", most.qps, most.flows, most.cqs, most.srqs, most.stags, most.connections));
}

}  // namespace

FwCpu::FwCpu(sc_core::sc_module_name nm, ClockDomain& clk, const FwCpuConfig& config, ContextStore& contexts,
             BufferPool& pool)
    : FwCpu(nm, clk, config, contexts, pool, settings_of(config, contexts)) {}

FwCpu::FwCpu(sc_core::sc_module_name nm, ClockDomain& clk, const FwCpuConfig& config, ContextStore& contexts,
             BufferPool& pool, const fw::Settings& settings)
    : Stage(nm, clk),
      config_(config),
      room_(room_for(settings, config.target, name())),
      contexts_(contexts),
      bus_(std::make_unique<ChipBus>(config, pool, contexts, room_.setups, room_.connections)),
      timers_(room_.connections),
      way_(std::make_unique<std::vector<CodePlace>>()),
      profile_(room_.connections, clk.period_ps()) {
  firmware_ = config.target == FirmwareTargetKind::kNative ? make_native_target(*bus_, settings, name())
                                                           : make_rv32_target(*bus_, settings, config);
  functions_ = firmware_->functions();
}

FwCpu::~FwCpu() = default;

Iss* FwCpu::processor() const { return firmware_->processor(); }

std::vector<std::string> FwCpu::log() const {
  std::vector<std::string> lines;
  if (log_ == nullptr) return lines;
  for (const LogEntry& entry : log_->entries()) lines.push_back(log_line(entry));
  return lines;
}

bool FwCpu::busy(Cycle at) const { return !bus_->operations().empty() || at < busy_until(); }
Cycle FwCpu::busy_until() const { return bus_->end() + slip_; }

void FwCpu::reset() {
  bus_->reset();
  firmware_->reset();
  slip_ = 0;
  stalled_ = false;
  writes_stag_ = kNever;
  timers_.clear();
  fault_.reset();
  profile_.reset();
  handler_ = command_ = 0;
  taken_commands_ = 0;
  way_->clear();
  account_.set(now(), 0, false);
}

Wake FwCpu::tick() {
  issue_due();
  auto& operations = bus_->operations();
  if (operations.empty() && now() >= busy_until()) {
    if (profile_.in_handler()) profile_.ended(now());
    dispatch_next();
  }
  const bool writes_stag = writes_stag_ != kNever;
  account_.set(now(), busy(now()) ? 1 : 0, stalled_ || writes_stag);

  if (stalled_ || (writes_stag && !operations.empty())) return Wake::on_traffic();
  if (!operations.empty()) return Wake::at_cycle(operations.front().due + slip_);
  if (now() < busy_until()) return Wake::at_cycle(busy_until());
  return fault_ ? Wake::on_traffic() : Wake::at_cycle(timers_.next());
}

// A register write that its block cannot take yet stalls the processor, and so everything that follows. So does a
// context on its way to its home: nobody may read the one before.
void FwCpu::issue_due() {
  auto& operations = bus_->operations();
  stalled_ = false;
  if (writes_stag_ != kNever && stag_written->can_pop()) {
    stag_written->pop();
    counters_.stall_cycles += now() - writes_stag_;
    slip_ += now() - writes_stag_;
    writes_stag_ = kNever;
  }
  while (writes_stag_ == kNever && !operations.empty() && operations.front().due + slip_ <= now()) {
    if (!home_ops->can_push() || !issue(operations.front())) {
      stalled_ = true;
      return;
    }
    const Cycle late = now() - operations.front().due;
    counters_.stall_cycles += late - slip_;
    slip_ = late;
    operations.pop_front();
    ++counters_.operations;
  }
}

bool FwCpu::issue(TimedOperation& operation) {
  const auto push = [](auto& port, auto& message) {
    if (!port->can_push()) return false;
    port->push(std::move(message));
    return true;
  };
  return std::visit(
      Overloaded{[&](LlpOp& op) { return push(llp_ops[op.llp()], op); },
                 [&](TxInternalWork& op) {
                   op.epoch = contexts_.epoch(op.qpn);
                   return push(tx_work, op);
                 },
                 [&](SrqArm& op) { return push(srq_arms, op); }, [&](HomeOp& op) { return push(home_ops, op); },
                 [&](HostEvent& op) {
                   if (!events->can_push()) return false;
                   profile_.posted(op.event, now());
                   return push(events, op);
                 },
                 [&](fw::Log& op) {
                   if (log_ != nullptr) log_->write(op.code, op.a, op.b);
                   return true;
                 },
                 [&](fw::WriteQp& op) { return contexts_.write(op.qpn, op.context), true; },
                 [&](fw::WriteFlow& op) { return contexts_.write(op.flow, op.context), true; },
                 [&](fw::WriteCq& op) { return contexts_.write(op.cqn, op.context), true; },
                 [&](fw::WriteSrq& op) { return contexts_.write(op.srqn, op.context), true; },
                 [&](fw::WritePage& op) { return contexts_.write_page(op.index, op.bus_address), true; },
                 // The register is ready for the next access when the entry is written, and, if the firmware takes it
                 // away, when all writes that its STag allowed are out (RFC 5040 section 8.1.1).
                 [&](fw::WriteStag& op) {
                   if (!stag_writes->can_push()) return false;
                   stag_writes->push({op.stag, op.context});
                   writes_stag_ = now();
                   return true;
                 },
                 [&](fw::SetTimer& op) {
                   const std::uint64_t ps = std::uint64_t{op.microseconds} * 1'000'000;
                   return timers_.start(op.id, now() + clock().cycle_at_or_after(ps)), true;
                 },
                 [&](fw::CancelTimer& op) { return timers_.cancel(op.id), true; }},
      operation.action);
}

// One event at a time. The end of a stream comes before TCP's later events about its flow, and the host comes last.
bool FwCpu::dispatch_next() {
  if (fault_) return false;
  const bool timer = timers_.due(now());
  if (!timer && !qp_events->can_pop() && !cq_overflows->can_pop() && !srq_events->can_pop() &&
      !home_events->can_pop() && next_of_llp() == nullptr && !commands->can_pop()) {
    return false;
  }
  bus_->start(now());
  slip_ = 0;
  handler_at_ = now();
  way_->clear();
  if (log_ != nullptr) bus_->set_log_level(log_->level());
  ++counters_.events;
  works_for_ = {};
  flow_ = kNoFlow;
  const std::uint64_t refused = bus_->log_count(fw::LogCode::kBadFrame);
  try {
    handle(timer);
  } catch (const FirmwareFault& fault) {
    die(fault);
  }
  counters_.busy_cycles += bus_->end() - now();
  if (handlers_.on()) {
    record_handled();
    if (bus_->log_count(fw::LogCode::kBadFrame) != refused) record_refused();
  }
  return true;
}

void FwCpu::record_handled() const {
  TraceEvent e;
  e.kind = TraceKind::kHandled;
  e.text = handler_ == 0 ? "" : kEventNames[handler_ - 1];
  e.values = {static_cast<std::uint32_t>(bus_->end() - now()), handles_command() ? command_ : TraceEvent::kNone, 0};
  e.flow = flow_;
  e.request = works_for_;
  handlers_(e);
}

// A start-up frame, by this handler. The log has it only if its level is wanted.
void FwCpu::record_refused() const {
  const auto& entries = bus_->last_entries();
  const auto entry = std::find_if(entries.rbegin(), entries.rend(),
                                  [](const LoggedLine& line) { return line.line.code == fw::LogCode::kBadFrame; });
  TraceEvent e;
  e.kind = TraceKind::kRefused;
  e.flow = flow_;
  e.request = works_for_;
  e.facts[0] = terminate_word(wire::mpa::kInvalidStartupFrame);
  e.text = wire::to_string(static_cast<wire::MpaFrameError>(entry->line.b));
  handlers_(e);
}

PopPort<LlpEvent>* FwCpu::next_of_llp() {
  const auto next = std::find_if(llp_events.begin(), llp_events.end(), [](auto& port) { return port->can_pop(); });
  return next == llp_events.end() ? nullptr : &*next;
}

template <class Event>
void FwCpu::run(const Event& event) {
  handler_ = fw::Events::number_of<Event>() + 1;
  if (config_.fault != PlantedFault::kNone && counters_.events == config_.fault_event) {
    return firmware_->fail(config_.fault, event);
  }
  firmware_->on(event);
}

void FwCpu::handle(bool timer) {
  if (timer) {
    run(fw::TimerExpired{timers_.take()});
  } else if (qp_events->can_pop()) {
    const QpEvent& event = qp_events->front();
    works_for_ = event.failed.owner ? event.failed.owner : contexts_.queue_pair(event.qpn);
    if (event.kind == QpEvent::Kind::kFirstFpdu) {
      profile_.began_first_fpdu(contexts_.flow_of(event.qpn), qp_events->front_at());
    }
    dispatch(qp_events->pop());
  } else if (cq_overflows->can_pop()) {
    const Cqn cqn = cq_overflows->pop().cqn;
    works_for_ = contexts_.completion_queue(cqn);
    run(fw::CqOverflow{cqn});
  } else if (srq_events->can_pop()) {
    dispatch(srq_events->pop());
  } else if (home_events->can_pop()) {
    dispatch(home_events->pop());
  } else if (PopPort<LlpEvent>* const llp = next_of_llp(); llp != nullptr) {
    profile_.began((*llp)->front(), (*llp)->front_at());
    flow_ = (*llp)->front().flow();
    if (flow_ != kNoFlow) works_for_ = {contexts_.node(), RequestId::Kind::kFlow, flow_.v, (*llp)->front().life(), 0};
    dispatch((*llp)->pop());
  } else {
    profile_.began(commands->front().command, commands->front_at());
    const FetchedCommand fetched = commands->pop();
    command_ = static_cast<unsigned>(fetched.command.op);
    works_for_ = {contexts_.node(), RequestId::Kind::kCommand, 0, 0, taken_commands_++};
    bus_->put_private_data(fetched);
    run(fw::HostCommand{fetched.command});
  }
  if (bus_->end() - now() > config_.watchdog_cycles * config_.clock_divider) {
    throw FirmwareFault(abi::FaultCause::kWatchdog, "a handler takes too long");
  }
}

// Everything that the handler did until then takes effect; then the processor notifies the host, and stops.
void FwCpu::die(const FirmwareFault& fault) {
  const std::string advice = fault.advice.empty() ? "" : "; " + fault.advice;
  fault_ = {
      std::string(fault.what()) + ", in event " + std::to_string(counters_.events) + " (" + handled() + ')' + advice,
      text_of(fault)};
  timers_.clear();
  abi::Event event;
  event.type = abi::EventType::kDeviceFatal;
  event.status = static_cast<std::uint8_t>(fault.cause);
  bus_->raise(event);
  if (on_fault_) on_fault_();
}

// "host_command connect"
std::string FwCpu::handled() const {
  const std::string event = handler_ == 0 ? "none" : kEventNames[handler_ - 1];
  return handles_command() ? event + ' ' + abi::kCommandNames[command_] : event;
}

bool FwCpu::handles_command() const {
  return handler_ == fw::Events::number_of<fw::HostCommand>() + 1 && command_ < abi::kCommandOps;
}

std::string FwCpu::text_of(const FirmwareFault& fault) const {
  std::string text = std::string("The firmware of ") + name() + " stopped: " + fault.what() + "\n";
  for (const auto& cause : kFaultCauses) {
    if (cause.value == fault.cause) text += "cause " + std::string(cause.name) + '\n';
  }
  text += "cycle " + std::to_string(bus_->end()) + ", in event " + std::to_string(counters_.events) + '\n';
  text += "handling " + handled() + '\n' + firmware_->dump();
  if (!fault.advice.empty()) text += fault.advice + '\n';
  text += "last log entries, of all levels:\n";
  for (const LoggedLine& e : bus_->last_entries()) {
    text += "  cycle " + std::to_string(e.at) + "  " + log_text({0, 0, e.line.code, e.line.a, e.line.b}) + '\n';
  }
  return text;
}

void FwCpu::dispatch(const LlpEvent& e) {
  bus_->put_octets(e);
  e.visit([this](const auto& event) { run(event); });
}

void FwCpu::dispatch(const QpEvent& e) {
  switch (e.kind) {
    case QpEvent::Kind::kFirstFpdu:
      return run(fw::QpFirstFpdu{e.qpn});
    case QpEvent::Kind::kTerminateReceived:
      return run(fw::QpTerminateReceived{e.qpn, e.cause, bus_->put_terminate(e), e.malformed});
    case QpEvent::Kind::kStreamError:
    case QpEvent::Kind::kLocalError:
      return run(fw::QpStreamError{e.qpn, e.cause, bus_->put_terminate(e)});
    case QpEvent::Kind::kSendDrained:
      return run(fw::QpSendDrained{e.qpn});
    case QpEvent::Kind::kPeerClosed:
      return run(fw::QpPeerClosed{e.qpn});
  }
}

void FwCpu::dispatch(const SrqEvent& e) {
  switch (e.kind) {
    case SrqEvent::Kind::kLimit:
      return run(fw::SrqLimitReached{e.srqn, e.serial});
    case SrqEvent::Kind::kOverrun:
      return run(fw::SrqOverrun{e.srqn});
  }
}

void FwCpu::dispatch(const HomeEvent& e) {
  if (e.kind == HomeEvent::Kind::kLost) works_for_ = contexts_.context(e.context, e.index);
  switch (e.kind) {
    case HomeEvent::Kind::kReleased:
      return run(fw::HomeReleased{});
    case HomeEvent::Kind::kLost:
      return run(fw::ContextLost{e.context, e.index});
  }
}

std::string FwCpu::waiting_for() const {
  if (fault_) return "nothing: its firmware stopped (" + fault_->reason + ")";
  return stalled_ ? "room in a link for the firmware's operation" : "";
}

void FwCpu::describe(const Description& d) {
  describe_figures(d.stats());
  if (d.shows_probes()) describe_state(d.probes());
  d.series("fwcpu.events", 170, counters_, &FwCpuCounters::events);
  d.account({"fwcpu", "firmware", Reach::kProcessor, "firmware", 240}, account_);
  d.firmware(*this);
  d.point(handlers_);
  d.limit(bus_->log_count(fw::LogCode::kNoResources),
          fmt::format("connections found no room: rnic.fwcpu.max_connections is {}, rnic.fwcpu.max_setups {}",
                      config_.max_connections, config_.max_setups));
  d.events([this](Described::EventSink sink) {
    profile_.on_command([sink = std::move(sink)](abi::CommandOp op, Cycle at, Cycle latency) {
      TraceEvent e;
      e.cycle = at;
      e.where = "firmware";
      e.kind = TraceKind::kCommand;
      e.values = {static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(latency), 0};
      sink(e);
    });
  });
}

void FwCpu::describe_figures(const StatsGroup& group) const {
  firmware_->register_stats(group);
  group.counters(counters_);
  group.ratio(
      "utilization", [this] { return static_cast<double>(counters_.busy_cycles); },
      [this] { return static_cast<double>(now()); }, "share of time that the processor spent in handlers");
  profile_.register_stats(group);
  group.derived(
      "timers", [this] { return static_cast<double>(timers_.running()); }, "timers", "timers running at present");
  group.counter("unexpected_events", bus_->log_count(fw::LogCode::kUnexpectedEvent), "events",
                "events that were invalid in the state of their connection");
  group.counter("no_listener", bus_->log_count(fw::LogCode::kNoListener), "connections",
                "connections to a port whose listener was closed");
  group.counter("no_resources", bus_->log_count(fw::LogCode::kNoResources), "connections",
                "connections refused for lack of firmware memory");
  group.counter("silent_peers", bus_->log_count(fw::LogCode::kSilentPeer), "connections",
                "connections without an MPA request that were reset to make room for others");
  group.counter("stale_events", bus_->log_count(fw::LogCode::kStaleEvent), "events",
                "events of an earlier life of their flow, which were dropped");
  group.counter("mulpdu_changes", bus_->log_count(fw::LogCode::kMulpdu), "changes",
                "changes of a stream's MULPDU after a smaller path MTU");
  group.counter("bad_frames", bus_->log_count(fw::LogCode::kBadFrame), "frames",
                "MPA startup frames that were refused");
  group.counter("session_violations", bus_->log_count(fw::LogCode::kSessionViolation), "events",
                "messages over SCTP that fitted no DDP stream session");
}

// The handler's own time: it stops while a register write waits.
Cycle FwCpu::code_cycle(Cycle at) const {
  if (stalled_) at = std::min(at, bus_->operations().front().due + slip_);
  at = std::min(at, writes_stag_);
  return at - std::min(at, slip_ + handler_at_);
}

// Nothing before the first watched handler.
const CodePlace* FwCpu::code_place(Cycle at) const {
  const Cycle cycle = code_cycle(at) / config_.clock_divider;
  const auto behind = std::upper_bound(way_->begin(), way_->end(), cycle,
                                       [](Cycle c, const CodePlace& place) { return c < place.cycle; });
  return behind == way_->begin() ? nullptr : &*std::prev(behind);
}

Cycle FwCpu::next_place(Cycle at) const {
  if (stalled_ || writes_stag_ != kNever) return kNever;
  const Cycle cycle = code_cycle(at) / config_.clock_divider;
  const auto next = std::upper_bound(way_->begin(), way_->end(), cycle,
                                     [](Cycle c, const CodePlace& place) { return c < place.cycle; });
  return next == way_->end() ? kNever : handler_at_ + slip_ + next->cycle * config_.clock_divider;
}

// A handler's activity shows from its first cycle on.
void FwCpu::describe_state(const ProbeGroup& group) const {
  static const ValueWords kActivity{"idle", "busy", "waits_for_block"};
  static const ValueWords kHandlers = [] {
    ValueWords words{"none"};
    words.insert(words.end(), kEventNames.begin(), kEventNames.end());
    return words;
  }();
  const ProbeGroup firmware = group.group("firmware");
  const auto probe_of = [](const char* name, const ValueWords* words, unsigned width, auto read) -> Probe {
    Probe probe;
    probe.name = name;
    probe.width = words != nullptr ? ProbeGroup::width_of(*words) : width;
    probe.words = words;
    probe.in_cycle = true;
    probe.read = [read](Cycle at) { return static_cast<std::uint64_t>(read(at)); };
    return probe;
  };
  firmware.add(probe_of("activity", &kActivity, 0, [this](Cycle at) {
    return stalled_ || writes_stag_ != kNever ? 2u : busy(at) ? 1u : 0u;
  }));
  firmware.add(probe_of("handler", &kHandlers, 0, [this](Cycle at) { return busy(at) ? handler_ : 0; }));
  firmware.add(probe_of("command", words_of<abi::CommandOp>(), 0, [this](Cycle at) {
    return busy(at) && handler_ == fw::Events::number_of<fw::HostCommand>() + 1 ? command_ : 0;
  }));
  if (functions_.empty()) return;
  const auto follows = [this, &firmware](Probe probe) {
    probe.changes_after = [this](Cycle at) { return next_place(at); };
    probe.watched = [this](bool on) {
      firmware_->follow(on ? way_.get() : nullptr);
      if (!on) way_->clear();
    };
    firmware.add(std::move(probe));
  };
  follows(probe_of("pc", nullptr, 32, [this](Cycle at) {
    const CodePlace* const place = code_place(at);
    return place == nullptr ? 0 : place->pc;
  }));
  follows(probe_of("function", &functions_, 0, [this](Cycle at) {
    const CodePlace* const place = code_place(at);
    return place == nullptr ? 0 : firmware_->function_at(place->pc);
  }));
}

}  // namespace rnic
