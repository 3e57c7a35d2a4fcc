// The worker's last words: a fatal signal inside a kernel is answered with a
// Response before the worker ends.
#ifndef KILN_SEARCH_MEASURE_FAULT_SIGNAL_H_
#define KILN_SEARCH_MEASURE_FAULT_SIGNAL_H_

namespace kiln {

// From now on a fatal signal (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP,
// SIGABRT) in any thread writes one frame of runner.proto to `fd` and ends
// the process with status 1. The verdict is out_of_bounds where the address
// lies in a guard zone, else crash; the reason names the signal, the buffer
// and the distance from its start. The calling thread's handlers run on a
// stack of their own, so an overflown stack is answered too.
void AnswerFatalSignals(int fd);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_FAULT_SIGNAL_H_
