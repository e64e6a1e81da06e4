/* The pins of crc_check in plain C: beats leave a cycle later, and of each it claims that its CRC is right. The tests plant faults by
   replacing text. */
#include <stdlib.h>

#include "rnic_rtl.h"

struct block {
  uint8_t clk_i, rst_ni, in_valid_i, in_ready_o, out_ready_i, out_launch_o, out_valid_o, clk_before;
  uint32_t in_i[4], in_data_i[16], out_o[4], out_data_o[16];
  unsigned beats;
};

static const rnic_rtl_port kPorts[] = {
    {"clk_i", 1, RNIC_RTL_INPUT},          {"rst_ni", 1, RNIC_RTL_INPUT},        {"in_valid_i", 1, RNIC_RTL_INPUT},
    {"in_ready_o", 1, RNIC_RTL_OUTPUT},    {"in_i", 124, RNIC_RTL_INPUT},        {"in_data_i", 512, RNIC_RTL_INPUT},
    {"out_ready_i", 1, RNIC_RTL_INPUT},    {"out_launch_o", 1, RNIC_RTL_OUTPUT}, {"out_valid_o", 1, RNIC_RTL_OUTPUT},
    {"out_o", 124, RNIC_RTL_OUTPUT},       {"out_data_o", 512, RNIC_RTL_OUTPUT},
};

static void* open_block(void) { return calloc(1, sizeof(struct block)); }

static void* port_address(void* instance, uint32_t port) {
  struct block* const b = instance;
  void* const ports[] = {&b->clk_i,       &b->rst_ni,       &b->in_valid_i,  &b->in_ready_o, b->in_i,      b->in_data_i,
                         &b->out_ready_i, &b->out_launch_o, &b->out_valid_o, b->out_o,       b->out_data_o};
  return ports[port];
}

static void eval(void* instance) {
  struct block* const b = instance;
  unsigned i;
  b->in_ready_o = b->out_ready_i;
  b->out_launch_o = b->in_valid_i && b->in_ready_o;
  if (b->clk_i && !b->clk_before) {
    b->out_valid_o = b->rst_ni && b->out_launch_o;
    b->beats += b->out_valid_o;
    for (i = 0; i < 4; ++i) b->out_o[i] = b->in_i[i];
    for (i = 0; i < 16; ++i) b->out_data_o[i] = b->in_data_i[i];
    b->out_o[0] |= 1; /* crc_ok, the last field */
  }
  b->clk_before = b->clk_i;
}

static const char* failed(void* instance) {
  struct block* const b = instance;
  return b->beats == 0xffffffff ? "claims_crc.c: too many beats" : NULL;
}

static void close_block(void* instance) { free(instance); }

const rnic_rtl rnic_rtl_1 = {
    sizeof(rnic_rtl), RNIC_RTL_ABI, "crc_check",  "{\"PipelineCycles\": 4}", kPorts, 11,
    open_block,       port_address, eval,         failed,                    NULL,   close_block,
};
