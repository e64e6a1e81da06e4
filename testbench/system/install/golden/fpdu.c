/* Prints the FPDU of a ULPDU as it is on the wire: RFC 5044 section 4.1, with its CRC. */
#include <rnic_golden_messages.h>
#include <stdio.h>

int main(void) {
  uint8_t octets[] = {'r', 'n', 'i', 'c', '!'}, wire[64];
  rnic_stage* stage;
  rnic_ulpdu ulpdu = {sizeof ulpdu};
  rnic_fpdu fpdu = {sizeof fpdu};
  if (rnic_stage_open(RNIC_GOLDEN_ABI, "mpa_transmit", NULL, &stage) != RNIC_OK) {
    fprintf(stderr, "%s\n", rnic_stage_text(stage));
    return 1;
  }
  ulpdu.octets = octets;
  ulpdu.octets_n = sizeof octets;
  ulpdu.crc = 1;
  fpdu.octets = wire;
  fpdu.octets_room = sizeof wire;
  if (rnic_mpa_transmit_push_in(stage, &ulpdu) != RNIC_OK || rnic_mpa_transmit_take_out(stage, &fpdu) != RNIC_OK) {
    fprintf(stderr, "%s\n", rnic_stage_text(stage));
    return 1;
  }
  for (uint32_t i = 0; i < fpdu.octets_n; ++i) printf("%02x", wire[i]);
  printf(" of version %s\n", rnic_version());
  rnic_stage_close(stage);
  return 0;
}
