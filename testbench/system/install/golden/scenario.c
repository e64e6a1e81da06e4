/* Runs a scenario's file and prints its digest and the last time at which a frame was sent. */
#include <rnic_run.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(rnic_run* run) {
  fprintf(stderr, "%s\n", rnic_run_text(run));
  rnic_run_close(run);
  return 1;
}

static char* contents(const char* name) {
  FILE* const file = fopen(name, "rb");
  char* text = calloc(1, 1 << 20);
  if (file == NULL || text == NULL || fread(text, 1, (1 << 20) - 1, file) == 0) exit(2);
  fclose(file);
  return text;
}

int main(int argc, char** argv) {
  rnic_run* run;
  rnic_event event = {sizeof event};
  const char* digest;
  uint64_t sent = 0, steps = 1;
  if (argc != 2) return 2;
  if (rnic_run_open(RNIC_RUN_ABI, contents(argv[1]), "{\"events\": true, \"trace-kind\": \"frame_sent\"}", &run) != RNIC_OK) return fail(run);
  for (;; ++steps) { /* in steps of 100 us */
    const int32_t status = rnic_run_drive(run, steps * 100000000u);
    if (status < 0) return fail(run);
    if (status == RNIC_OK) break;
  }
  while (rnic_run_event(run, "frame_sent", sent, &event) == RNIC_OK) ++sent;
  if (rnic_run_json(run, "digest", &digest) != RNIC_OK) return fail(run);
  printf("digest %s, %llu frames, the last at %llu ps, version %s\n", digest, (unsigned long long)sent, (unsigned long long)event.time_ps,
         rnic_run_version());
  rnic_run_close(run);
  return 0;
}
