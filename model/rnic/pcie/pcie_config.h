// What both ends of a PCIe link agree on.
#pragma once

#include <cstdint>

#include "model/config/field.h"
#include "model/rnic/pcie/tlp.h"

namespace rnic::pcie {

// Receive buffer of one end as it advertises it (InitFC). 0 is infinite; data credits are 16 octets each.
struct CreditConfig {
  unsigned posted_headers = 128;
  unsigned posted_data = 2048;
  unsigned non_posted_headers = 128;
  unsigned completion_headers = 0;
  unsigned completion_data = 0;

  // No UpdateFC is sent for credits that never run out.
  bool infinite(FlowClass c) const {
    switch (c) {
      case FlowClass::kPosted:
        return posted_headers == 0 && posted_data == 0;
      case FlowClass::kNonPosted:
        return non_posted_headers == 0;
      case FlowClass::kCompletion:
        break;
    }
    return completion_headers == 0 && completion_data == 0;
  }

  template <class V>
  static void fields(V& v) {
    v("posted_headers", &CreditConfig::posted_headers, "posted requests (0: infinite)", in_range(0, 65535));
    v("posted_data", &CreditConfig::posted_data, "posted data in units of 16 octets (0: infinite)", in_range(0, 65535));
    v("non_posted_headers", &CreditConfig::non_posted_headers, "non-posted requests (0: infinite)", in_range(0, 65535));
    v("completion_headers", &CreditConfig::completion_headers, "completions (0: infinite)", in_range(0, 65535));
    v("completion_data", &CreditConfig::completion_data, "completion data in units of 16 octets (0: infinite)",
      in_range(0, 65535));
  }
};

struct PcieLinkConfig {
  unsigned generation = 4;
  unsigned width = 16;
  unsigned max_payload_bytes = 512;
  unsigned max_read_request_bytes = 4096;
  unsigned read_completion_boundary_bytes = 64;
  unsigned propagation_ns = 150;
  unsigned update_fc_ns = 20;
  unsigned dllp_bytes_per_tlp = 2;
  unsigned training_us = 1000;
  std::uint64_t bar0_address = 0xe0000000;
  CreditConfig host_credits;
  CreditConfig device_credits;

  template <class V>
  static void fields(V& v) {
    v("generation", &PcieLinkConfig::generation, "2.5, 5, 8, 16 or 32 GT/s per lane", in_range(1, 5));
    v("width", &PcieLinkConfig::width, "lanes", in_range(1, 16), power_of_two());
    v("max_payload_bytes", &PcieLinkConfig::max_payload_bytes, "largest payload of a TLP (MPS)", in_range(128, 4096),
      power_of_two(), unit("octets"));
    v("max_read_request_bytes", &PcieLinkConfig::max_read_request_bytes, "largest read request (MRRS)",
      in_range(128, 4096), power_of_two(), unit("octets"));
    v("read_completion_boundary_bytes", &PcieLinkConfig::read_completion_boundary_bytes,
      "completions are split at multiples of it (RCB)", in_range(64, 128), power_of_two(), unit("octets"));
    v("propagation_ns", &PcieLinkConfig::propagation_ns, "from the last octet sent to the TLP's arrival",
      in_range(1, 100000), unit("ns"));
    v("update_fc_ns", &PcieLinkConfig::update_fc_ns, "from a freed receive buffer to the UpdateFC on the wire",
      in_range(0, 100000), unit("ns"));
    v("dllp_bytes_per_tlp", &PcieLinkConfig::dllp_bytes_per_tlp,
      "share of Ack and UpdateFC (8 octets each) in the wire time of a TLP", in_range(0, 64), unit("octets"));
    v("training_us", &PcieLinkConfig::training_us, "from a reset of the link at the device to the first TLP after it",
      in_range(1, 1000000), unit("us"));
    v("bar0_address", &PcieLinkConfig::bar0_address, "bus address of BAR0 before a reset");
    v.group("host_credits", &PcieLinkConfig::host_credits);
    v.group("device_credits", &PcieLinkConfig::device_credits);
  }
};

}  // namespace rnic::pcie
