// The functions of rnic_run.h: `rnicsim run` without its command line. Nothing passes their boundary but results.
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <systemc>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/cli/attached_twins.h"
#include "model/cli/judge_arguments.h"
#include "model/cli/one_run.h"
#include "model/cli/run_arguments.h"
#include "model/common/check.h"
#include "model/common/cited.h"
#include "model/common/kernel_time.h"
#include "model/config/json_file.h"
#include "model/config/nearest.h"
#pragma GCC visibility push(default)  // of these functions alone
#include "model/golden/abi/rnic_run.h"
#pragma GCC visibility pop
#include "model/golden/run/kept_events.h"
#include "model/golden/run/libraries_of_rtl.h"
#include "model/golden/run/option_words.h"
#include "model/golden/status.h"
#include "model/scoreboard/scoreboards.h"
#include "model/system/run.h"
#include "model/system/scenario_system.h"

using nlohmann::ordered_json;
using rnic::golden::Error;

namespace {

constexpr const char* kScenario = "scenario";  // in place of a file's name

// What the caller asks for.
struct Asked {
  rnic::cli::OneRun one;
  rnic::cli::ConfigOptions config;
  std::optional<std::size_t> point;

  Asked(const nlohmann::json& json, rnic::golden::KeptEvents& events) {
    nlohmann::json others = json;
    if (json.is_object() && json.contains("events")) {
      if (!json["events"].is_boolean()) throw Error(RNIC_E_SETTINGS, "the option \"events\" is true or false");
      if (json["events"].get<bool>()) one.options.events = &events;
      others.erase("events");
    }
    one.options.out_dir.clear();
    rnic::cli::RunArguments arguments(one.options, config);
    rnic::cli::JudgeArguments judges(one);
    namespace po = boost::program_options;
    po::options_description described;
    po::positional_options_description positional;
    arguments.add_outputs_to(described);
    judges.add_to(described);
    arguments.add_scenario_to(described, positional);
    const std::vector<std::string> words = rnic::golden::option_words(others, described);
    const auto given = rnic::cli::parse_options(rnic::cli::OutputOptions::with_values(words), described, positional);
    arguments.read(given);
    judges.read(given);
    one.twins.source = &rnic::golden::libraries_of_rtl();
    one.command = "rnicsim run SCENARIO";
    for (const std::string& word : words) one.command += ' ' + rnic::cli::quoted(word);
    point = arguments.point();
    if (one.options.wave_condition.any() || arguments.lists_scopes()) {
      throw Error(RNIC_E_SETTINGS,
                  "wave-on and wave-ring, and wave-scope without a scope, are the program's alone: rnicsim run");
    }
  }
};

rnic::Scenario chosen(const nlohmann::json& json, const Asked& asked, const rnic::Overlay& values) {
  const rnic::Scenario scenario = rnic::parse_scenario(json, kScenario, values);
  if (scenario.has_external_peer()) throw Error(RNIC_E_SETTINGS, "an external peer is for the program: rnicsim run");
  if (asked.point) {
    if (!scenario.sweep.empty()) return rnic::cli::point_of(scenario, *asked.point);
    throw Error(RNIC_E_SETTINGS, "the option \"point\" needs a scenario with a sweep");
  }
  if (scenario.sweep.empty()) return scenario;
  throw Error(RNIC_E_SETTINGS, fmt::format("the scenario has a sweep: the option \"point\" chooses one of 0 to {}",
                                           scenario.sweep.points() - 1));
}

}  // namespace

// All of it is made, used and destroyed on the handle's kernel.
struct rnic_run {
  struct Parts {
    Parts(const nlohmann::json& json, Asked of, rnic::golden::KeptEvents& events)
        : asked(std::move(of)),
          assigned(asked.config),
          scenario(chosen(json, asked, assigned.scenario)),
          system(rnic::make_system(scenario, assigned.settings)),
          run(*system, asked.one.options),
          twins(system->chips(), asked.one.twins),
          boards(system->chips(), asked.one.scoreboards) {
      events.name_nodes(rnic::node_names(system->stations()));
    }
    const Asked asked;
    const rnic::cli::Assignments assigned;
    const rnic::Scenario scenario;
    const std::unique_ptr<rnic::System> system;
    rnic::Run run;
    const rnic::cli::AttachedTwins twins;
    rnic::Scoreboards boards;
    std::string beyond;  // as in rnic::cli::Finished
  };

  sc_core::Kernel kernel;
  rnic::golden::KeptEvents events;
  std::unique_ptr<Parts> parts;
  ordered_json all;     // of a run that has ended: as stats.json
  ordered_json report;  // and as the program prints it
  std::string json;     // that was given last
  std::string text;
  bool busy = false;    // a call with this handle is under way
  bool broken = false;  // a check of ours has failed, or a call that drives has not come back

  bool ended() const { return !all.is_null(); }
};

namespace {

// What went wrong, as a result and the handle's text.
std::int32_t failed(rnic_run& run) {
  try {
    throw;
  } catch (const Error& error) {
    run.text = error.what();
    return error.status();
  } catch (const std::bad_alloc&) {
    run.text = "no memory";
    return RNIC_E_MEMORY;
  } catch (const rnic::InternalError& error) {
    run.broken = true;
    run.text = error.what();
    return RNIC_E_BROKEN;
  } catch (const std::runtime_error& error) {  // of the settings, the files or the options
    run.text = rnic::shortened(error.what());
    return RNIC_E_SETTINGS;
  } catch (const std::exception& error) {
    const bool is_option = dynamic_cast<const boost::program_options::error*>(&error) != nullptr;
    run.broken = !is_option;
    run.text = error.what();
    return is_option ? RNIC_E_SETTINGS : RNIC_E_BROKEN;
  }
}

// Runs `body` on the handle's kernel. An exception becomes a result and the handle's text.
template <class Body>
std::int32_t guarded(rnic_run* run, Body body) {
  if (run == nullptr) return RNIC_E_NULL;
  if (run->busy) return RNIC_E_REENTERED;
  if (run->broken) return RNIC_E_BROKEN;
  run->busy = true;
  std::int32_t status;
  try {
    const sc_core::Kernel::Scope entered(run->kernel);
    run->text.clear();
    status = body();
  } catch (...) {
    status = failed(*run);
  }
  run->busy = false;
  return status;
}

rnic_run::Parts& opened(rnic_run* run) {
  if (!run->parts) throw Error(RNIC_E_BROKEN, "the run was not opened");
  return *run->parts;
}

// Nothing if the run goes on.
std::optional<rnic::RunEnd> drive(rnic_run::Parts& parts, std::uint64_t until_ps) {
  try {
    return parts.run.drive_until(until_ps);
  } catch (const std::exception& e) {
    if (rnic::cli::explains(e, parts.twins, parts.boards, parts.asked.one, parts.beyond)) return rnic::RunEnd::kFailed;
    throw;
  }
}

void finish(rnic_run& handle, rnic::RunEnd end) {
  rnic_run::Parts& parts = *handle.parts;
  const rnic::cli::OneRun& one = parts.asked.one;
  if (parts.twins.faulty() == nullptr) parts.boards.finish(parts.run.waiting_for() + parts.twins.waiting_for());
  std::ostringstream out, err;
  const auto report = [&](const rnic::cli::RunResult& result) {
    return rnic::cli::report_run(*parts.system, result, one.options, out, err);
  };
  const int code =
      rnic::cli::conclude(*parts.system, {parts.run, end, parts.twins, parts.boards, parts.beyond}, one, report, err);
  handle.report = {{"out", out.str()}, {"err", err.str()}, {"exit_code", code}};
  handle.all = parts.run.statistics(end);
}

// Of a run that goes on.
ordered_json now(rnic_run::Parts& parts, const std::string& name) {
  if (name == "stats") return parts.run.counters();
  if (name == "sim_time_ps") return rnic::kernel_time_ps();
  throw Error(RNIC_NONE, fmt::format("the run has not ended, and \"{}\" is neither \"stats\" nor \"sim_time_ps\"",
                                     rnic::cited(name)));
}

ordered_json value_of(rnic_run& run, const std::string& name) {
  if (!run.ended()) return now(opened(&run), name);
  if (name == "all") return run.all;
  if (name == "report") return run.report;
  if (name == "series") {
    if (auto series = run.parts->run.series()) return *std::move(series);
    throw Error(RNIC_NONE, "there is no series: the option \"stats-every\" asks for one");
  }
  if (name == "scoreboard") {
    if (run.parts->asked.one.scoreboards.any()) return ordered_json::parse(run.parts->boards.summary().json);
    throw Error(RNIC_NONE, "there is no scoreboard: the option \"scoreboard\" asks for one");
  }
  if (run.all.contains(name)) return run.all[name];
  std::vector<std::string> names = {"all", "report", "scoreboard", "series"};
  for (const auto& member : run.all.items()) names.push_back(member.key());
  throw Error(RNIC_E_NAME,
              fmt::format("a run has no \"{}\"; the nearest is \"{}\"", rnic::cited(name), rnic::nearest(name, names)));
}

}  // namespace

extern "C" {

std::uint32_t rnic_run_abi(void) { return RNIC_RUN_ABI; }

const char* rnic_run_version(void) { return RNIC_VERSION; }

std::int32_t rnic_run_open(std::uint32_t abi, const char* scenario, const char* options, rnic_run** run) {
  if (run == nullptr) return RNIC_E_NULL;
  *run = new (std::nothrow) rnic_run;
  if (*run == nullptr) return RNIC_E_MEMORY;
  return guarded(*run, [&] {
    if (abi >> 16 != RNIC_RUN_ABI >> 16 || abi > RNIC_RUN_ABI) {
      throw Error(RNIC_E_ABI, fmt::format("the caller was compiled for ABI {:#010x}, and this library has {:#010x}",
                                          abi, RNIC_RUN_ABI));
    }
    if (scenario == nullptr) throw Error(RNIC_E_NULL, "the scenario is null");
    Asked asked(rnic::read_json_text(options == nullptr ? "{}" : options, "options"), (*run)->events);
    (*run)->parts =
        std::make_unique<rnic_run::Parts>(rnic::read_json_text(scenario, kScenario), std::move(asked), (*run)->events);
    return RNIC_OK;
  });
}

void rnic_run_close(rnic_run* run) {
  if (run == nullptr || run->busy) return;
  {
    const sc_core::Kernel::Scope entered(run->kernel);
    run->parts.reset();
  }
  delete run;
}

const char* rnic_run_text(const rnic_run* run) { return run == nullptr ? "the handle is null" : run->text.c_str(); }

std::int32_t rnic_run_drive(rnic_run* run, std::uint64_t until_ps) {
  return guarded(run, [&] {
    rnic_run::Parts& parts = opened(run);
    if (run->ended()) return RNIC_OK;
    run->broken = true;  // unless it comes back
    const std::optional<rnic::RunEnd> end = drive(parts, until_ps);
    if (end) finish(*run, *end);
    run->broken = false;
    return end ? RNIC_OK : RNIC_NONE;
  });
}

std::int32_t rnic_run_json(rnic_run* run, const char* name, const char** json) {
  return guarded(run, [&] {
    if (name == nullptr || json == nullptr) throw Error(RNIC_E_NULL, "the name or the place for the JSON is null");
    run->json = value_of(*run, name).dump();
    *json = run->json.c_str();
    return RNIC_OK;
  });
}

std::int32_t rnic_run_event(rnic_run* run, const char* kind, std::uint64_t i, rnic_event* event) {
  return guarded(run, [&] {
    if (event == nullptr) throw Error(RNIC_E_NULL, "the event is null");
    if (event->size < sizeof *event) {
      throw Error(RNIC_E_SIZE,
                  fmt::format("rnic_event: its size is {}, but it has {} octets", event->size, sizeof *event));
    }
    if (opened(run).asked.one.options.events == nullptr) {
      throw Error(RNIC_E_NAME, "no events are kept: the option \"events\" asks for them");
    }
    const rnic::TimedEvent* const found = run->events.find(kind, i);
    if (found == nullptr) return RNIC_NONE;
    run->events.show(*found, *event);
    return RNIC_OK;
  });
}

}  // extern "C"
