// Signals that ask a run to stop: SIGINT (Ctrl-C), SIGTERM and SIGHUP.
#pragma once

namespace rnic::cli {

// The first signal is kept until the run asks for it. The next one of any kind ends the process at once, as the
// system's default would. A native firmware handler that does not return prevents the run from asking; then the next
// signal, or some seconds, end the handler. A signal that was ignored when the program began stays ignored (nohup).
// From now on, a file that grows beyond the process's limit is a failed write, not a signal.
void catch_interruptions();

// The number of the first signal, or 0.
int interruption();

// "SIGINT"
const char* interruption_name();

}  // namespace rnic::cli
