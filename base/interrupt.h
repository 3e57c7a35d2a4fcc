// Ctrl-C as a flag: a long run stops cleanly, with what it has found.
#ifndef KILN_BASE_INTERRUPT_H_
#define KILN_BASE_INTERRUPT_H_

#include <string_view>

namespace kiln {

// From now on the first SIGINT or SIGTERM only sets the flag, writes
// `acknowledgement` (up to 255 bytes) to standard error at once, and makes
// system calls that wait return EINTR; a second one ends the process as usual.
void InstallInterruptHandler(std::string_view acknowledgement = "");

// Whether a signal has asked for the end. Safe in any thread.
bool Interrupted();

// The signal that asked for the end; 0: none did.
int InterruptSignal();

// Sets the flag as a signal would: for a test, or for a limit of one's own.
void Interrupt();

// Gives SIGINT and SIGTERM their usual meaning again and clears the flag: for a
// child process after fork, and for tests.
void ResetInterruptHandler();

}  // namespace kiln

#endif  // KILN_BASE_INTERRUPT_H_
