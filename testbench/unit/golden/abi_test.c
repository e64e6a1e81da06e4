/* The C interface from C99: what a caller may do wrong has a result and a sentence, and costs nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rnic_golden_messages.h"

static int failures = 0;

#define EXPECT(condition) expect((condition) != 0, #condition, __LINE__, "")
#define EXPECT_STATUS(call, status, stage, words) expect_status((call), (status), (stage), (words), #call, __LINE__)

static void expect(int good, const char* text, int line, const char* said) {
  if (good) return;
  fprintf(stderr, "abi_test.c:%d: not so: %s; %s\n", line, text, said);
  ++failures;
}

/* The text of an error has these words; that of a success is empty. */
static void expect_status(int32_t got, int32_t wanted, const rnic_stage* stage, const char* words, const char* text, int line) {
  const char* const said = rnic_stage_text(stage);
  if (got != wanted) fprintf(stderr, "%s instead of %s\n", rnic_status_name(got), rnic_status_name(wanted));
  expect(got == wanted, text, line, said);
  expect(strstr(said, words) != NULL && (wanted < 0 || *said == '\0'), text, line, said);
}

static rnic_stage* open_stage(const char* kind, const char* settings) {
  rnic_stage* stage = NULL;
  const int32_t got = rnic_stage_open(RNIC_GOLDEN_ABI, kind, settings, &stage);
  EXPECT_STATUS(got, RNIC_OK, stage, "");
  return stage;
}

/* Opening fails, and the handle says why. */
static void refused(uint32_t abi, const char* kind, const char* settings, int32_t status, const char* words) {
  rnic_stage* stage = NULL;
  const int32_t got = rnic_stage_open(abi, kind, settings, &stage);
  EXPECT_STATUS(got, status, stage, words);
  EXPECT_STATUS(rnic_stage_reset(stage), RNIC_E_BROKEN, stage, "not opened");
  rnic_stage_close(stage);
}

static void opening(void) {
  EXPECT(rnic_abi() == RNIC_GOLDEN_ABI);
  EXPECT(strlen(rnic_version()) > 0);
  EXPECT(strstr(rnic_description(), "\"mpa_receive\"") != NULL);
  EXPECT(strcmp(rnic_status_name(-1000), "no result of this library") == 0);
  EXPECT(rnic_stage_open(RNIC_GOLDEN_ABI, "crc_check", NULL, NULL) == RNIC_E_NULL);
  rnic_stage_close(NULL);
  EXPECT(strlen(rnic_stage_text(NULL)) > 0);

  refused(RNIC_GOLDEN_ABI + 0x10000, "crc_check", NULL, RNIC_E_ABI, "0x00020000");
  refused(RNIC_GOLDEN_ABI + 1, "crc_check", NULL, RNIC_E_ABI, "0x00010001");
  refused(RNIC_GOLDEN_ABI, "crc_chec", NULL, RNIC_E_NAME, "the nearest is \"crc_check\"");
  refused(RNIC_GOLDEN_ABI, NULL, NULL, RNIC_E_NULL, "name is null");
  refused(RNIC_GOLDEN_ABI, "crc_check", "{\"beat_byte\": 64}", RNIC_E_SETTINGS, "beat_bytes");
  refused(RNIC_GOLDEN_ABI, "crc_check", "{\"beat_bytes\": 48}", RNIC_E_SETTINGS, "power of two");
  refused(RNIC_GOLDEN_ABI, "crc_check", "{\"beat_bytes\"", RNIC_E_SETTINGS, "settings: parse error");
  refused(RNIC_GOLDEN_ABI, "crc_check", "[1]", RNIC_E_SETTINGS, "no JSON object");
  {
    static char deep[200001]; /* a walk through it would take the stack */
    memset(deep, '[', sizeof deep - 1);
    refused(RNIC_GOLDEN_ABI, "crc_check", deep, RNIC_E_SETTINGS, "nested more than 64 deep");
    for (size_t i = 0; i + 5 < sizeof deep; i += 5) memcpy(deep + i, "{\"a\":", 5);
    refused(RNIC_GOLDEN_ABI, "crc_check", deep, RNIC_E_SETTINGS, "nested more than 64 deep");
  }
}

static void structures(void) {
  uint8_t octets[64] = {0};
  rnic_mark mark = {0, {0}};
  uint8_t room[sizeof(rnic_fpdu) + 8] = {0};
  rnic_ulpdu ulpdu;
  rnic_fpdu fpdu;
  rnic_stage* const framer = open_stage("mpa_framer", NULL);
  memset(&ulpdu, 0, sizeof ulpdu);
  memset(&fpdu, 0, sizeof fpdu);

  EXPECT_STATUS(rnic_stage_push(framer, RNIC_MPA_FRAMER_IN, NULL), RNIC_E_NULL, framer, "ulpdu");
  EXPECT_STATUS(rnic_mpa_framer_push_in(framer, &ulpdu), RNIC_E_SIZE, framer, "its size is 0");
  ulpdu.size = UINT32_MAX;
  EXPECT_STATUS(rnic_mpa_framer_push_in(framer, &ulpdu), RNIC_E_SIZE, framer, "more than any");
  ulpdu.size = sizeof ulpdu;
  EXPECT_STATUS(rnic_mpa_framer_push_in(framer, &ulpdu), RNIC_OK, framer, "");
  fpdu.size = sizeof fpdu;
  fpdu.octets = octets;
  fpdu.octets_room = 8;
  EXPECT_STATUS(rnic_mpa_framer_take_out(framer, &fpdu), RNIC_OK, framer, "");
  EXPECT(fpdu.octets_n == 8 && octets[1] == 0); /* of an empty ULPDU: length, pad and CRC field */
  memset(&fpdu, 0, sizeof fpdu);
  ulpdu.octets_n = 5;
  EXPECT_STATUS(rnic_mpa_framer_push_in(framer, &ulpdu), RNIC_E_NULL, framer, "octets is null");
  ulpdu.octets = octets;
  ulpdu.position = 512;
  EXPECT_STATUS(rnic_mpa_framer_push_in(framer, &ulpdu), RNIC_E_VALUE, framer, "does not fit its 9 bits");
  ulpdu.position = 2;
  EXPECT_STATUS(rnic_mpa_framer_push_in(framer, &ulpdu), RNIC_E_VALUE, framer, "multiple of 4");
  ulpdu.position = 0;
  EXPECT_STATUS(rnic_stage_push(framer, RNIC_MPA_FRAMER_OUT, &ulpdu), RNIC_E_NAME, framer, "is an output");
  EXPECT_STATUS(rnic_stage_push(framer, 2, &ulpdu), RNIC_E_NAME, framer, "ports 0 to 1");
  EXPECT_STATUS(rnic_stage_take(framer, RNIC_MPA_FRAMER_IN, &ulpdu), RNIC_E_NAME, framer, "is an input");
  EXPECT_STATUS(rnic_stage_row(framer, "stream", 0, octets), RNIC_E_NAME, framer, "there is none");

  /* Too little room says how much is needed, and takes nothing. */
  EXPECT_STATUS(rnic_mpa_framer_push_in(framer, &ulpdu), RNIC_OK, framer, "");
  fpdu.size = sizeof fpdu;
  fpdu.octets = octets;
  fpdu.octets_room = 11;
  EXPECT_STATUS(rnic_mpa_framer_take_out(framer, &fpdu), RNIC_E_SIZE, framer, "more room");
  EXPECT(fpdu.octets_n == 12);
  fpdu.octets_room = 12;
  fpdu.octets = NULL;
  EXPECT_STATUS(rnic_mpa_framer_take_out(framer, &fpdu), RNIC_E_NULL, framer, "octets");
  fpdu.octets = octets;
  EXPECT_STATUS(rnic_mpa_framer_take_out(framer, &fpdu), RNIC_OK, framer, "");
  EXPECT(octets[0] == 0 && octets[1] == 5);
  EXPECT_STATUS(rnic_mpa_framer_take_out(framer, &fpdu), RNIC_NONE, framer, "");
  rnic_stage_close(framer);

  {
    rnic_stage* const check = open_stage("crc_check", "{\"beat_bytes\": 16}");
    memset(&fpdu, 0, sizeof fpdu);
    fpdu.size = sizeof fpdu;
    fpdu.octets = octets;
    fpdu.octets_n = 12;
    fpdu.marks = &mark;
    fpdu.marks_n = 1;
    mark.word = 3;
    EXPECT_STATUS(rnic_crc_check_push_in(check, &fpdu), RNIC_E_VALUE, check, "beyond the words");
    fpdu.octets_n = 10;
    EXPECT_STATUS(rnic_crc_check_push_in(check, &fpdu), RNIC_E_VALUE, check, "multiple of 4");
    fpdu.octets_n = 64;
    fpdu.marks_n = 0;
    fpdu.ends = 1;
    EXPECT_STATUS(rnic_crc_check_push_in(check, &fpdu), RNIC_E_VALUE, check, "one word");
    fpdu.ends = 0;
    fpdu.placed = 2;
    EXPECT_STATUS(rnic_crc_check_push_in(check, &fpdu), RNIC_E_VALUE, check, "fpdu.placed is 2");
    fpdu.placed = 0;
    fpdu.octets_n = 0;
    EXPECT_STATUS(rnic_crc_check_push_in(check, &fpdu), RNIC_E_VALUE, check, "multiple of 4");
    fpdu.octets_n = 64;

    /* A longer structure is taken if its tail is zero. */
    fpdu.size = sizeof room;
    memcpy(room, &fpdu, sizeof fpdu);
    room[sizeof room - 1] = 1;
    EXPECT_STATUS(rnic_stage_push(check, RNIC_CRC_CHECK_IN, room), RNIC_E_SIZE, check, "does not have");
    room[sizeof room - 1] = 0;
    EXPECT_STATUS(rnic_stage_push(check, RNIC_CRC_CHECK_IN, room), RNIC_OK, check, "");
    rnic_stage_close(check);
  }
}

/* Markers are counted from the length field, which has to be there and right. */
static void markers(void) {
  uint8_t octets[12] = {0, 5};
  rnic_fpdu fpdu;
  rnic_stage* const inserter = open_stage("marker_inserter", NULL);
  memset(&fpdu, 0, sizeof fpdu);
  fpdu.size = sizeof fpdu;
  fpdu.wants_markers = 1;
  EXPECT_STATUS(rnic_marker_inserter_push_in(inserter, &fpdu), RNIC_E_VALUE, inserter, "multiple of 4");
  fpdu.octets = octets;
  fpdu.octets_n = 8;
  EXPECT_STATUS(rnic_marker_inserter_push_in(inserter, &fpdu), RNIC_E_VALUE, inserter, "length field");
  fpdu.octets_n = 12;
  EXPECT_STATUS(rnic_marker_inserter_push_in(inserter, &fpdu), RNIC_OK, inserter, "");
  rnic_stage_close(inserter);
}

/* What is refused changes nothing, and a row is for what is pushed after it. */
static void streams(void) {
  static uint8_t octets[100000] = {0, 5};
  uint8_t taken[64];
  rnic_stream_place row = {sizeof row, {0}, 1000};
  rnic_segment segment;
  rnic_fpdu out;
  rnic_stage* const stage = open_stage("mpa_receive", NULL);
  memset(&segment, 0, sizeof segment);
  segment.size = sizeof segment;
  segment.octets = octets;
  segment.octets_n = sizeof octets;
  EXPECT_STATUS(rnic_mpa_receive_push_in(stage, &segment), RNIC_E_VALUE, stage, "more octets than");
  segment.octets_n = 12;
  segment.offset = sizeof octets;
  EXPECT_STATUS(rnic_mpa_receive_push_in(stage, &segment), RNIC_E_VALUE, stage, "next octet is 0");
  segment.offset = 0;
  segment.placed = 1;
  EXPECT_STATUS(rnic_mpa_receive_push_in(stage, &segment), RNIC_E_VALUE, stage, "such a one has 16 octets");
  segment.placed = 0;
  segment.octets_n = 6;
  EXPECT_STATUS(rnic_mpa_receive_push_in(stage, &segment), RNIC_OK, stage, "");
  segment.octets_n = 6;
  segment.offset = 6;
  segment.markers = 1;
  EXPECT_STATUS(rnic_mpa_receive_push_in(stage, &segment), RNIC_E_VALUE, stage, "from its first segment on");
  segment.markers = 0;
  EXPECT_STATUS(rnic_mpa_receive_push_in(stage, &segment), RNIC_OK, stage, "");
  EXPECT_STATUS(rnic_stage_row(stage, "stream", 0, &row), RNIC_OK, stage, "");
  segment.offset = 1000;
  segment.octets_n = 12;
  segment.markers = 1;
  EXPECT_STATUS(rnic_mpa_receive_push_in(stage, &segment), RNIC_OK, stage, "");
  memset(&out, 0, sizeof out);
  out.size = sizeof out;
  out.octets = taken;
  out.octets_room = sizeof taken;
  EXPECT_STATUS(rnic_mpa_receive_take_out(stage, &out), RNIC_OK, stage, "");
  EXPECT_STATUS(rnic_mpa_receive_take_out(stage, &out), RNIC_OK, stage, "");
  EXPECT_STATUS(rnic_mpa_receive_take_out(stage, &out), RNIC_NONE, stage, "");
  rnic_stage_close(stage);
}

static void counters_and_reset(void) {
  uint8_t octets[12] = {0}, taken[12];
  uint64_t count = 77;
  rnic_fpdu fpdu, out;
  rnic_stage* const check = open_stage("crc_check", NULL);
  memset(&fpdu, 0, sizeof fpdu);
  fpdu.size = sizeof fpdu;
  fpdu.octets = octets;
  fpdu.octets_n = sizeof octets;
  fpdu.crc_on = 1;
  out = fpdu;
  out.octets = taken;
  out.octets_n = 0;
  out.octets_room = sizeof taken;
  EXPECT_STATUS(rnic_stage_counter(check, "bat", &count), RNIC_E_NAME, check, "the nearest is \"bad\"");
  EXPECT_STATUS(rnic_stage_counter(check, "bad", NULL), RNIC_E_NULL, check, "null");
  EXPECT_STATUS(rnic_crc_check_push_in(check, &fpdu), RNIC_OK, check, "");
  EXPECT_STATUS(rnic_stage_counter(check, "bad", &count), RNIC_OK, check, "");
  EXPECT(count == 1);
  EXPECT_STATUS(rnic_stage_reset(check), RNIC_OK, check, "");
  EXPECT_STATUS(rnic_crc_check_take_out(check, &out), RNIC_NONE, check, "");
  EXPECT_STATUS(rnic_stage_counter(check, "bad", &count), RNIC_OK, check, "");
  EXPECT(count == 0);
  EXPECT_STATUS(rnic_crc_check_push_in(check, &fpdu), RNIC_OK, check, "");
  EXPECT_STATUS(rnic_crc_check_take_out(check, &out), RNIC_OK, check, "");
  EXPECT(out.crc_ok == 0);
  rnic_stage_close(check); /* with nothing under way */

  {
    rnic_stage* const full = open_stage("mpa_receive", "{\"flows\": 2, \"mpa_deframer\": {\"queue_fpdus\": 2}}");
    rnic_stream_place row = {sizeof row, {0}, 2};
    rnic_segment segment;
    memset(&segment, 0, sizeof segment);
    segment.size = sizeof segment;
    segment.octets = octets;
    segment.octets_n = sizeof octets;
    EXPECT_STATUS(rnic_stage_row(full, "streams", 0, &row), RNIC_E_NAME, full, "the nearest is \"stream\"");
    EXPECT_STATUS(rnic_stage_row(full, "stream", 2, &row), RNIC_E_VALUE, full, "rows 0 to 1");
    EXPECT_STATUS(rnic_stage_row(full, "stream", 1, &row), RNIC_E_VALUE, full, "multiple of 4");
    EXPECT_STATUS(rnic_stage_row(full, "stream", 1, NULL), RNIC_E_NULL, full, "stream_place");
    EXPECT_STATUS(rnic_mpa_receive_push_in(full, &segment), RNIC_OK, full, "");
    segment.flow = 2;
    EXPECT_STATUS(rnic_mpa_receive_push_in(full, &segment), RNIC_E_VALUE, full, "flow");
    rnic_stage_close(full); /* with a segment under way */
  }
}

static void checksums(void) {
  /* RFC 3720, appendix B.4: 32 octets of zeros, in two pieces. */
  uint8_t zeros[32] = {0};
  uint32_t crc = 0;
  EXPECT(rnic_crc32c(&crc, zeros, 20) == RNIC_OK);
  EXPECT(rnic_crc32c(&crc, zeros + 20, 12) == RNIC_OK);
  EXPECT(crc == 0x8a9136aau);
  EXPECT(rnic_crc32c(NULL, zeros, 1) == RNIC_E_NULL);
  EXPECT(rnic_crc32c(&crc, NULL, 1) == RNIC_E_NULL);
  EXPECT(rnic_crc32c(&crc, NULL, 0) == RNIC_OK);
}

int main(void) {
  opening();
  structures();
  markers();
  streams();
  counters_and_reset();
  checksums();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
