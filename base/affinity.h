// The CPUs that a thread may run on.
#ifndef KILN_BASE_AFFINITY_H_
#define KILN_BASE_AFFINITY_H_

#include <sched.h>

#include <vector>

namespace kiln {

// The numbers of the CPUs in an affinity mask, ascending.
std::vector<int> CpusOf(const cpu_set_t& mask);

// Those that the calling thread may run on; {0} where the system does not tell.
std::vector<int> AllowedCpus();

}  // namespace kiln

#endif  // KILN_BASE_AFFINITY_H_
