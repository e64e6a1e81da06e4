// How a kind is made of a bench: `B::Config`, and a constructor that takes one.
#pragma once

#include <string>
#include <string_view>

#include "model/common/check.h"
#include "model/config/resolve.h"
#include "model/golden/abi/rnic_golden.h"
#include "model/golden/kinds.h"
#include "model/golden/settings.h"
#include "model/rnic/messages/datapath.h"

namespace rnic::golden {

// A stage's settings with the width of the datapath beside them.
template <class Config>
struct WithDatapath : DatapathConfig, Config {
  template <class V>
  static void fields(V& v) {
    DatapathConfig::fields(v);
    Config::fields(v);
  }
};

template <class B>
BenchPtr make(std::string_view settings) {
  try {
    return BenchPtr(new B(resolve<typename B::Config>(Overlay::from_json(parse_settings(settings), "settings"))));
  } catch (const ConfigError& error) {
    throw Error(RNIC_E_SETTINGS, error.what());
  }
}

template <class B>
Kind kind(const char* name, const char* text) {
  return {name, text, make<B>, [] { return list_fields<typename B::Config>(); }};
}

}  // namespace rnic::golden
