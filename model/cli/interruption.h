// Signals that ask a run to stop: SIGINT (Ctrl-C), SIGTERM and SIGHUP.
#pragma once

namespace rnic::cli {

// The first one is kept for whoever asks; the next one of any kind ends the process at once, as does what the system
// would do. A handler of native firmware that does not end keeps the first one from being asked for: the next one, or
// some seconds, end the handler. One that was ignored when the program began stays so (nohup). A file that grows beyond
// the process's limit is a failed write from now on, not a signal.
void catch_interruptions();

// Its number, or 0.
int interruption();

// "SIGINT"
const char* interruption_name();

}  // namespace rnic::cli
