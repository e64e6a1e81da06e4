// Signals that ask a run to stop: SIGINT (Ctrl-C), SIGTERM and SIGHUP.
#pragma once

namespace rnic::cli {

// The first signal is kept until the run asks for it; the next one of any kind ends the process at once, as the
// system's default would. A handler of native firmware that does not end prevents the run from asking: the next signal,
// or some seconds, end the handler. A signal that was ignored when the program began stays ignored (nohup). A file that
// grows beyond the process's limit is a failed write from now on, not a signal.
void catch_interruptions();

// Its number, or 0.
int interruption();

// "SIGINT"
const char* interruption_name();

}  // namespace rnic::cli
