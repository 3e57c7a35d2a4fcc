// How long one matmul kernel with a register tile takes to compile, all in all
// and step by step.
#include <benchmark/benchmark.h>

#include "kiln/base/check.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/llvm/compile.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/codegen/target/target.h"
#include "kiln/tests/benchmark/matmul_space.h"

namespace kiln {
namespace {

const std::vector<Function>& Programs() {
  static const std::vector<Function>& programs = *[] {
    const MatmulSpace space = MakeMatmulSpace();
    auto* made = new std::vector<Function>;
    for (const Decisions& point : space.points) {
      made->push_back(ProgramAt(space, point));
    }
    return made;
  }();
  return programs;
}

const Function& NextProgram() {
  static size_t next = 0;
  return Programs()[next++ % Programs().size()];
}

void BM_CompileKernel(benchmark::State& state) {
  const Target target = HostTarget();
  for (auto _ : state) {
    KILN_CHECK(CompileKernel(NextProgram(), target).ok());
  }
}
BENCHMARK(BM_CompileKernel)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->Repetitions(128)
    ->ReportAggregatesOnly();

void BM_Lower(benchmark::State& state) {
  for (auto _ : state) {
    KILN_CHECK(Lower(NextProgram()).ok());
  }
}
BENCHMARK(BM_Lower)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->Repetitions(128)
    ->ReportAggregatesOnly();

// Lowered before; the rest is the code generator's.
void BM_ToOptimizedIr(benchmark::State& state) {
  const Target target = HostTarget();
  for (auto _ : state) {
    state.PauseTiming();
    const auto lowered = Lower(NextProgram());
    state.ResumeTiming();
    KILN_CHECK(CompileToLlvmIr(*lowered, "kernel", target).ok());
  }
}
BENCHMARK(BM_ToOptimizedIr)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->Repetitions(128)
    ->ReportAggregatesOnly();

void BM_ToObject(benchmark::State& state) {
  const Target target = HostTarget();
  for (auto _ : state) {
    state.PauseTiming();
    const auto lowered = Lower(NextProgram());
    state.ResumeTiming();
    KILN_CHECK(CompileToObject(*lowered, "kernel", target).ok());
  }
}
BENCHMARK(BM_ToObject)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->Repetitions(128)
    ->ReportAggregatesOnly();

}  // namespace
}  // namespace kiln
