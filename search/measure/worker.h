// The measuring worker: answers the requests of runner.proto.
#ifndef KILN_SEARCH_MEASURE_WORKER_H_
#define KILN_SEARCH_MEASURE_WORKER_H_

namespace kiln {

// Serves requests that come over `fd` until its end. A request that is
// malformed is answered with run_error. Takes over the process: fatal signals
// are answered and end it, limits are set, threads are started. `fd` may be a
// socket; over anything else a task's memory must be inside its request.
void RunWorker(int fd);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_WORKER_H_
