// A SACK as a test writes it: in literal numbers.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "model/wire/sctp.h"

namespace rnic::sctp {

struct SackOctets {
  using Blocks = std::vector<std::pair<std::uint16_t, std::uint16_t>>;

  SackOctets(std::uint32_t cumulative, std::uint32_t a_rwnd, const Blocks& gaps = {}) {
    for (const auto& [start, end] : gaps) {
      for (const std::uint16_t v : {start, end}) {
        octets.push_back(static_cast<std::uint8_t>(v >> 8));
        octets.push_back(static_cast<std::uint8_t>(v & 0xff));
      }
    }
    view.header.cumulative_tsn = cumulative;
    view.header.a_rwnd = a_rwnd;
    view.header.gap_blocks = static_cast<std::uint16_t>(gaps.size());
    view.blocks = ByteSpan(octets.data(), octets.size());
  }
  SackOctets(const SackOctets&) = delete;
  SackOctets& operator=(const SackOctets&) = delete;

  std::vector<std::uint8_t> octets;
  wire::SctpSackView view;
};

}  // namespace rnic::sctp
