#include "model/system/series.h"

#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/check.h"
#include "model/common/kernel_time.h"
#include "model/common/rounded.h"

namespace rnic {
namespace {

constexpr double kGigabits = 8e-9;  // of an octet
constexpr int kDigits = 6;

}  // namespace

Series::Series(const SeriesOptions& options, const std::vector<Station>& stations, const Accounting& accounting,
               const UtilizationMeter& meter)
    : options_(options), stations_(stations), accounting_(accounting), meter_(meter), next_ps_(options.interval_ps) {
  for (const Station& station : stations) {
    for (const Described::ColumnOf& c : station.parts.columns) {
      counters_.push_back({station.name + '.' + c.name, c.unit, c.counters, c.when_used});
    }
  }
}

// A column begins with its first value: a QP that is created later has none before.
std::size_t Series::column(const std::string& name, const std::string& unit, Kind kind) {
  if (next_column_ >= columns_.size() || columns_[next_column_].name != name) {
    const auto [found, fresh] = at_.try_emplace(name, columns_.size());
    if (fresh) columns_.push_back({name, unit, kind});
    next_column_ = found->second;
  }
  return next_column_++;
}

void Series::put(std::size_t column, double value) {
  std::vector<double>& row = rows_.back();
  if (row.size() <= column) row.resize(column + 1, std::nan(""));
  row[column] = value;
}

void Series::level(const std::string& name, const std::string& unit, double value) {
  put(column(name, unit, Kind::kLevel), value);
}

// `scale` applies to the sum; the rest is per second.
void Series::rate(const std::string& name, const std::string& unit, double sum, double scale) {
  const std::size_t c = column(name, unit, Kind::kRate);
  const double before = std::exchange(columns_[c].sum, sum);
  const double seconds = static_cast<double>(now_ps_ - last_ps_) * 1e-12;
  put(c, seconds == 0 ? 0 : (sum - before) * scale / seconds);
}

void Series::sample() {
  now_ps_ = kernel_time_ps();
  time_ps_.push_back(now_ps_);
  rows_.emplace_back();
  rows_.back().reserve(columns_.size());
  next_column_ = 0;
  sample_wires();
  sample_counters();
  sample_accounts();
  for (const Station& s : stations_) sample_flows(s);
  last_ps_ = now_ps_;
  next_ps_ = (now_ps_ / options_.interval_ps + 1) * options_.interval_ps;
  values_ += rows_.back().size();
  if (values_ <= options_.max_values) return;
  throw ConfigError(
      fmt::format("--stats-every: the series has more than sim.max_series_values = {} values after {} rows and "
                  "{:.3f} us; a longer interval has less",
                  options_.max_values, rows_.size(), static_cast<double>(now_ps_) * 1e-6));
}

void Series::end() {
  if (kernel_time_ps() > last_ps_) sample();
}

// As a share of the interval.
void Series::sample_wires() {
  for (const auto& [resource, ps] : meter_.busy().ps) rate(resource, "ratio", ps, 1e-12);
}

// Octets are shown in Gb/s, waits as the mean number of those that wait at a time, others per second.
void Series::sample_counters() {
  for (const Counter& c : counters_) {
    double sum = 0;
    for (const std::uint64_t* counter : c.counters) sum += static_cast<double>(*counter);
    if (c.when_used && sum == 0) continue;
    if (c.unit == "octets") rate(c.name, "Gb/s", sum, kGigabits);
    else if (c.unit == "ps") rate(c.name, "waiting", sum, 1e-12);
    else rate(c.name, c.unit + "/s", sum, 1);
  }
}

// The mean of the interval, and the shares of it with a wait or, for a processor, with work.
void Series::sample_accounts() {
  const std::vector<Account::Totals> now = accounting_.all();
  if (totals_.empty()) totals_.resize(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Accounted& t = accounting_.things()[i];
    const Account::Totals passed = now[i] - totals_[i];
    const double cycles = passed.cycles == 0 ? 1 : static_cast<double>(passed.cycles);
    const std::string name = t.node + '.' + t.spec.name;
    level(name, t.spec.kind, static_cast<double>(passed.taken) / cycles);
    if (t.spec.reach <= Reach::kElse) continue;
    level(name + ".blocked", "ratio", static_cast<double>(passed.blocked) / cycles);
  }
  totals_ = now;
}

// Values of this moment.
void Series::sample_flows(const Station& s) {
  if (s.parts.flows == nullptr) return;
  double window = 0, congestion = 0, open = 0;
  for (std::uint32_t n = 0; n < s.parts.flows->flows(); ++n) {
    const FlowState flow = s.parts.flows->flow_state(FlowId{n});
    if (!flow.open) continue;
    ++open;
    window += flow.peer_window;
    congestion += flow.congestion_window;
    const std::optional<Qpn> qpn = s.parts.owners->qp_of(FlowId{n});
    if (!options_.per_qp || !qpn) continue;
    const std::string qp = fmt::format("{}.qp{}", s.name, qpn->v);
    // Less than one turn of the sequence numbers passes in 0.3 s at 100 Gb/s.
    Acknowledged& sum = acknowledged_.try_emplace(qp, Acknowledged{flow.snd_una, 0}).first->second;
    sum.octets += flow.snd_una - std::exchange(sum.una, flow.snd_una);
    rate(qp + ".acknowledged", "Gb/s", sum.octets, kGigabits);
    level(qp + ".unacknowledged", "octets", flow.unacknowledged);
    level(qp + ".cwnd", "octets", flow.congestion_window);
    level(qp + ".window", "octets", flow.peer_window);
    const QueuePairState state = s.parts.queue_pairs->queue_pair_state(*qpn);
    level(qp + ".wqes", "WQEs", state.wqes);
    level(qp + ".reads", "requests", state.reads);
  }
  level(s.name + ".flows", "flows", open);
  level(s.name + ".cwnd", "octets", congestion);
  level(s.name + ".window", "octets", window);
}

std::string Series::csv() const {
  std::string text = "time_ps";
  for (const Column& c : columns_) text += fmt::format(",\"{} ({})\"", c.name, c.unit);  // names have commas
  text += '\n';
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    text += std::to_string(time_ps_[i]);
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      text += ',';
      if (k < rows_[i].size() && !std::isnan(rows_[i][k])) text += fmt::format("{:.{}g}", rows_[i][k], kDigits);
    }
    text += '\n';
  }
  return text;
}

nlohmann::ordered_json Series::json(std::uint64_t warmup_ps) const {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array(), rows = nlohmann::ordered_json::array();
  for (const Column& c : columns_) {
    columns.push_back({{"name", c.name}, {"unit", c.unit}, {"kind", c.kind == Kind::kRate ? "rate" : "level"}});
  }
  for (const std::vector<double>& values : rows_) {
    nlohmann::ordered_json row = nlohmann::ordered_json::array();
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (k < values.size() && !std::isnan(values[k])) row.push_back(rounded(values[k], kDigits));
      else row.push_back(nullptr);
    }
    rows.push_back(std::move(row));
  }
  return {{"interval_ps", options_.interval_ps},
          {"warmup_ps", warmup_ps},
          {"columns", std::move(columns)},
          {"time_ps", time_ps_},
          {"rows", std::move(rows)}};
}

}  // namespace rnic
