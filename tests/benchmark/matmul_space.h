// A matmul of 512^3 and a space of schedules for it, of 32 steps: what the
// benchmarks of replay and compilation work on.
#ifndef KILN_TESTS_BENCHMARK_MATMUL_SPACE_H_
#define KILN_TESTS_BENCHMARK_MATMUL_SPACE_H_

#include <vector>

#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/trace/trace.h"

namespace kiln {

struct MatmulSpace {
  Module module;
  Trace trace;
  Decisions open;
  State start;
  std::vector<Decisions> points;  // some that no step refuses
};

MatmulSpace MakeMatmulSpace();
// The schedule function that describes it.
python::Source MatmulSpaceSource();

// The program at a point.
Function ProgramAt(const MatmulSpace& space, const Decisions& point);

}  // namespace kiln

#endif  // KILN_TESTS_BENCHMARK_MATMUL_SPACE_H_
