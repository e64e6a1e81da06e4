// A small configuration tree with one field of every kind.
#pragma once

#include "model/config/field.h"

namespace rnic::sample {

enum class Personality { kRdmac, kIetf };
inline constexpr std::array kPersonalityNames = {Named{Personality::kRdmac, "rdmac"},
                                                 Named{Personality::kIetf, "ietf"}};

struct CrcCheckConfig {
  bool enabled = true;
  unsigned pipeline_cycles = 4;
  template <class V>
  static void fields(V& v) {
    v("enabled", &CrcCheckConfig::enabled, "off only when both peers agreed on MPA C=0");
    v("pipeline_cycles", &CrcCheckConfig::pipeline_cycles, "CRC32c tree depth", in_range(1, 64), unit("cycles"));
  }
};

struct RnicConfig {
  CrcCheckConfig crc_check;
  std::uint16_t queue_depth = 64;
  Personality personality = Personality::kIetf;
  std::string scheduler = "round-robin";
  template <class V>
  static void fields(V& v) {
    v.group("crc_check", &RnicConfig::crc_check);
    v("queue_depth", &RnicConfig::queue_depth, "entries of each ring", in_range(16, 4096), power_of_two());
    v("personality", &RnicConfig::personality, "MPA start-up of the firmware", one_of(kPersonalityNames));
    v("scheduler", &RnicConfig::scheduler, "order of QPs", one_of({"round-robin", "strict"}));
  }
};

struct Config {
  std::uint64_t seed = 1;
  double loss = 0.0;
  std::string title;
  RnicConfig rnic;
  template <class V>
  static void fields(V& v) {
    v("seed", &Config::seed, "of all random streams");
    v("loss", &Config::loss, "share of frames lost", in_range(0.0, 1.0));
    v("title", &Config::title, "of the report");
    v.group("rnic", &Config::rnic);
  }
};

}  // namespace rnic::sample
