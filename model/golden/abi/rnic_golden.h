/* The golden model of rnicsim's RNIC, stage by stage, for C and for all that speaks C. See golden.md.
 *
 * A stage is a predictor: what is pushed at its inputs gives what is taken from its outputs, whole FPDUs, segments and
 * messages at a time. It has no time that a caller sees. A process may have any number of stages; each is used by one
 * thread at a time. Nothing is printed, nothing ends the process, and no pointer of a caller is kept.
 *
 * A board compares a device with a stage, transaction by transaction, whatever cycles the device takes: see board.md.
 */
#ifndef RNIC_GOLDEN_H
#define RNIC_GOLDEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* major << 16 | minor: what this header describes. A library takes callers of its major number and of no later minor
 * one. */
#define RNIC_GOLDEN_ABI 0x00010000u

/* The result of each function that has one. */
enum {
  RNIC_OK = 0,
  RNIC_NONE = 1,    /* nothing is there to be taken */
  RNIC_E_ABI = -1,  /* the caller was compiled for another library */
  RNIC_E_NULL = -2, /* a pointer that must not be null is */
  RNIC_E_SIZE = -3, /* a structure that is too short or too new, or too little room: octets_n says how much is needed */
  RNIC_E_NAME = -4, /* no such kind, port, table or counter */
  RNIC_E_VALUE =
      -5, /* a field's value does not fit its width, or the message is not one that the stage can be offered */
  RNIC_E_SETTINGS = -6,  /* settings that are no JSON, an unknown key, a value out of range */
  RNIC_E_TIME = -7,      /* a cycle that is earlier than that of the call before */
  RNIC_E_HUNG = -8,      /* the stage does not become idle */
  RNIC_E_REENTERED = -9, /* a call with the handle from inside of one */
  RNIC_E_MEMORY = -10,   /* no memory */
  RNIC_E_MISMATCH = -11, /* a device under a scoreboard is not right: the text says in five lines where */
  RNIC_E_BROKEN =
      -12 /* a check of the library itself has failed, or the handle was not opened: only text and close work */
};

/* ABI of the library, its version as text, the name of a result ("RNIC_E_NAME"), and all that there is as JSON: `kinds`
 * with settings, ports, tables and counters, and `messages` with their members. */
uint32_t rnic_abi(void);
const char* rnic_version(void);
const char* rnic_status_name(int32_t status);
const char* rnic_description(void);

/* CRC32c (RFC 3385, RFC 5044 section 4.4) of n octets, continued from *crc: 0 for the first ones. */
int32_t rnic_crc32c(uint32_t* crc, const uint8_t* octets, size_t n);

typedef struct rnic_stage rnic_stage;

/* Makes a stage of a kind, with settings as a JSON object by the names of `rnicsim config --list` below the stage's
 * own; null: the defaults. `abi` is RNIC_GOLDEN_ABI. *stage is a handle even where it fails, so that its text can be
 * read; null only for RNIC_E_NULL and RNIC_E_MEMORY. */
int32_t rnic_stage_open(uint32_t abi, const char* kind, const char* settings, rnic_stage** stage);
void rnic_stage_close(rnic_stage* stage); /* null is allowed */

/* What the last error was, in a sentence; "" without one. Valid until the next call with this handle. */
const char* rnic_stage_text(const rnic_stage* stage);

/* As if it had just been opened: what was pushed and not taken is gone, rows and counters are as at first. */
int32_t rnic_stage_reset(rnic_stage* stage);

/* Offers a message at an input; takes one from an output, the oldest first. The structure of a port is the one with its
 * message's name in rnic_golden_messages.h, where the ports' numbers are, too; its `size` is set by the caller, of
 * both. */
int32_t rnic_stage_push(rnic_stage* stage, uint32_t port, const void* message);
int32_t rnic_stage_take(rnic_stage* stage, uint32_t port, void* message);

/* Sets a row of a table, before what depends on it is pushed. */
int32_t rnic_stage_row(rnic_stage* stage, const char* table, uint32_t index, const void* row);

/* The same for simulators, as on the pins of RTL: `bits` has 64 words, a packed structure of rnic_stream_pkg or
 * rnic_messages_pkg with its least significant bit in bit 0 of the first word; `octets` has 32, a beat's octets, or
 * those of the message, octet i in bits 8*i+7 to 8*i (little-endian: as in memory). An FPDU or a segment is pushed and
 * taken beat by beat; a ulpdu of more octets than a beat in pieces of a beat, with the same bits. `octets` may be null
 * if the message has none. A row's bits are its structure's members, the first one the most significant
 * (rnic_golden_pkg.sv). */
int32_t rnic_stage_push_beat(rnic_stage* stage, uint32_t port, const uint32_t* bits, const uint32_t* octets);
int32_t rnic_stage_take_beat(rnic_stage* stage, uint32_t port, uint32_t* bits, uint32_t* octets);
int32_t rnic_stage_row_bits(rnic_stage* stage, const char* table, uint32_t index, const uint32_t* bits);

/* A counter by its name in stats.json, without the stage's: "markers". */
int32_t rnic_stage_counter(rnic_stage* stage, const char* name, uint64_t* value);

typedef struct rnic_board rnic_board;

/* Makes a board for a device of a kind; "sctp_crc_insert" and "sctp_crc_check" are kinds, too. Its settings are those
 * of the stage, `max_latency` and `race_window` (cycles). Otherwise as rnic_stage_open(). */
int32_t rnic_board_open(uint32_t abi, const char* kind, const char* settings, rnic_board** board);
void rnic_board_close(rnic_board* board); /* null is allowed */

/* What the device has done, in the order of time; the cycles are those of its clock, and an earlier one than before is
 * RNIC_E_TIME. Ports and tables are those of the stage. Accepted: in the cycle in which the device took the last beat
 * of a message. A segment may be handed over in pieces; its octets count from the cycle in which they are offered, as
 * an FPDU that is complete may leave before the beat that it ends in is taken. Given: in the cycle in which the last
 * beat was taken from the device. Both of one cycle may come in any order. RNIC_E_MISMATCH is the device's: the first
 * one stays, and each later call has it again. */
int32_t rnic_board_accepted(rnic_board* board, uint32_t port, const void* message, uint64_t cycle);
int32_t rnic_board_given(rnic_board* board, uint32_t port, const void* message, uint64_t cycle);

/* By beat, as rnic_stage_push_beat(); of a message of several beats the last one's cycle counts. */
int32_t rnic_board_accepted_beat(rnic_board* board, uint32_t port, const uint32_t* bits, const uint32_t* octets,
                                 uint64_t cycle);
int32_t rnic_board_given_beat(rnic_board* board, uint32_t port, const uint32_t* bits, const uint32_t* octets,
                              uint64_t cycle);

/* A row of a table is another one from that cycle on. */
int32_t rnic_board_row(rnic_board* board, const char* table, uint32_t index, const void* row, uint64_t cycle);

/* An output had no room in the cycles from..to - 1, which do not count for `max_latency`; to be said at least every
 * `max_latency` cycles. With from = to it says no more than that time has passed. */
int32_t rnic_board_stalled(rnic_board* board, uint32_t port, uint64_t from, uint64_t to);

/* The device was reset: what it had accepted before gives nothing any more. */
int32_t rnic_board_reset(rnic_board* board, uint64_t cycle);

/* The device is at rest: all that it accepted has given what it gives. A board that compared nothing fails here. */
int32_t rnic_board_end(rnic_board* board, uint64_t cycle);

/* As rnic_stage_text(); the five lines of a mismatch. The report is JSON: per port what was accepted, or compared, with
 * the latency in cycles from an acceptance to its outcome. Valid until the next call of it with this handle. */
const char* rnic_board_text(const rnic_board* board);
const char* rnic_board_report(rnic_board* board);

#ifdef __cplusplus
}
#endif
#endif
