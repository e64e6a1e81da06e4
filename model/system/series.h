// Figures over time, at equal intervals: what passed in each interval, and how much was taken or allowed. See
// series.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/system/accounting.h"

namespace rnic {

struct SeriesOptions {
  std::uint64_t interval_ps = 0;  // 0: none
  bool per_qp = false;
  std::uint64_t max_values = UINT64_MAX;  // sim.max_series_values
};

class Series final {
 public:
  // All must outlive this.
  Series(const SeriesOptions& options, const std::vector<Station>& stations, const Accounting& accounting,
         const UtilizationMeter& meter);

  // When the next row is due; the kernel stops then, and sample() is called. ConfigError if there would be too many
  // rows.
  std::uint64_t next_ps() const { return next_ps_; }
  void sample();
  // The last row, for the rest of the run.
  void end();

  std::string csv() const;
  nlohmann::ordered_json json(std::uint64_t warmup_ps) const;

 private:
  enum class Kind : std::uint8_t { kRate, kLevel };
  struct Column {
    std::string name, unit;
    Kind kind;
    double sum = 0;  // of a rate: its count until now
  };
  std::size_t column(const std::string& name, const std::string& unit, Kind kind);
  void put(std::size_t column, double value);
  void level(const std::string& name, const std::string& unit, double value);
  void rate(const std::string& name, const std::string& unit, double sum, double scale);
  void sample_counters();
  void sample_accounts();
  void sample_wires();
  void sample_flows(const Station& s);

  const SeriesOptions options_;
  const std::vector<Station>& stations_;
  const Accounting& accounting_;
  const UtilizationMeter& meter_;
  struct Counter {
    std::string name, unit;
    std::vector<const std::uint64_t*> counters;  // their sum
    bool when_used;
  };
  std::vector<Counter> counters_;
  std::uint64_t next_ps_, last_ps_ = 0, now_ps_ = 0;
  std::vector<Column> columns_;
  std::map<std::string, std::size_t> at_;  // columns by name
  std::size_t next_column_ = 0;            // most come in the order of the row before
  std::vector<Account::Totals> totals_;    // by Accounted
  struct Acknowledged {
    std::uint32_t una = 0;  // a sequence number, which wraps
    double octets = 0;
  };
  std::map<std::string, Acknowledged> acknowledged_;  // by QP
  std::vector<std::uint64_t> time_ps_;
  std::vector<std::vector<double>> rows_;  // of the present columns
  std::uint64_t values_ = 0;               // of all rows
};

}  // namespace rnic
