/* Whole runs of rnicsim for C and for all that speaks C: a scenario with the outputs of `rnicsim run`. See golden.md.
 *
 * A run is what the program does: the same cycles, the same files, the same digest. A process may have any number of
 * runs; each is used by one thread at a time. Nothing is printed, nothing ends the process, no signal is caught, and no
 * pointer of a caller is kept.
 */
#ifndef RNIC_RUN_H
#define RNIC_RUN_H

#include "rnic_golden.h" /* results */

#ifdef __cplusplus
extern "C" {
#endif

/* major << 16 | minor, as RNIC_GOLDEN_ABI, of this header and librnicsim_run. */
#define RNIC_RUN_ABI 0x00010000u

uint32_t rnic_run_abi(void);
const char* rnic_run_version(void);

typedef struct rnic_run rnic_run;

/* Makes the system of a scenario, a JSON object as in a scenario's file. `options` is a JSON object of those of
 * `rnicsim run` by their names without dashes; null: none. true is an option without a value, a list one that is given
 * several times:
 *   {"set": {"link.delay_ns": 500}, "trace-kind": ["retransmitted"], "events": true, "out": "folder"}
 * Without "out" there is no folder, and no file but those that are named. "events" is the library's own: events are
 * kept for rnic_run_event(). "rtl" and "lockstep" take RTL from files, as "crc_check=./libmine.so". What needs another
 * process or a terminal is the program's alone. *run is a handle even where it fails, so that its text can be read;
 * null only for RNIC_E_NULL and RNIC_E_MEMORY. Errors: RNIC_E_NAME for an unknown option, RNIC_E_SETTINGS for a
 * scenario or a value that is refused. */
int32_t rnic_run_open(uint32_t abi, const char* scenario, const char* options, rnic_run** run);
void rnic_run_close(
    rnic_run* run); /* null is allowed; files of a run that has not ended keep the names that end with .part */

/* Simulates until that time in ps, or to the end with UINT64_MAX: RNIC_OK if the run has ended, well or not ("end" says
 * how), RNIC_NONE if it goes on. It stops less than a microsecond after that time, and no figure depends on where it
 * stopped. At the end its files are written. */
int32_t rnic_run_drive(rnic_run* run, uint64_t until_ps);

/* JSON of a run, valid until the next call with this handle. Once it has ended: "all" as in stats.json, or one of its
 * members such as "results", "bottleneck", "digest" or "config"; "series" as in series.json, of the option
 * "stats-every"; "scoreboard" as in scoreboard.json, of the option of that name; "report": what the program prints on
 * both streams, and its exit code. At any time: "stats", the counters, and "sim_time_ps". RNIC_NONE with a text: not
 * yet, or not asked for. */
int32_t rnic_run_json(rnic_run* run, const char* name, const char** json);

/* An event, as a line of the log of --trace. Numbers that it does not have are RNIC_NO_NUMBER; texts are never null,
 * and valid until the next call with the run. */
#define RNIC_NO_NUMBER 0xffffffffu
typedef struct rnic_event {
  uint32_t size; /* set by the caller */
  uint32_t flow;
  uint64_t time_ps;
  uint32_t qpn;
  uint32_t bytes;
  uint32_t offset;
  uint32_t reserved0;
  const char* node;
  const char* where;   /* the stage */
  const char* kind;    /* "frame_sent" */
  const char* request; /* the owner: "a.0.17" */
  const char* receive; /* of a completion: the receive request that the message used */
  const char* words;   /* what the event's numbers mean */
} rnic_event;
typedef char rnic_event_has_80_octets[sizeof(rnic_event) == 80 ? 1 : -1];

/* Event number i of those so far, in order of time: of one kind, or of all if `kind` is null. RNIC_NONE: there are
 * fewer. Which are kept is narrowed down by the options trace-kind, trace-node, trace-request, trace-from and trace-to.
 */
int32_t rnic_run_event(rnic_run* run, const char* kind, uint64_t i, rnic_event* event);

/* What the last error was, in a sentence; "" without one. Valid until the next call with this handle. */
const char* rnic_run_text(const rnic_run* run);

#ifdef __cplusplus
}
#endif
#endif
