// What a call costs beyond its kernel: a chain of calls of tiny kernels by the
// machine, beside the same kernel called as often through its entry point. The
// counter per_call is the time of one of them; on two threads each has a
// machine of its own over one executable, and calls of both count.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/check.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/tools/support/model.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/library/object_loader.h"
#include "kiln/vm/machine/loaded_executable.h"
#include "kiln/vm/machine/machine.h"

namespace kiln {
namespace {

constexpr int kCalls = 100;
constexpr int64_t kElements = 4;

// y = x + x, as often as there are calls, each a kernel.
std::string Chain() {
  std::string text = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        x0 = R.add(x, x)
)";
  for (int i = 1; i < kCalls; ++i) {
    absl::StrAppend(&text, "        x", i, " = R.add(x", i - 1, ", x", i - 1,
                    ")\n");
  }
  absl::StrAppend(&text, "        return x", kCalls - 1, "\n");
  return text;
}

absl::StatusOr<Module> Prepared() {
  KILN_ASSIGN_OR_RETURN(const Module module, ParseModule("chain.py", Chain()));
  return PrepareModel(module, {.fusion = Fusion::kNone});
}

NDArray Input() { return *NDArray::Zeros({kElements}, DType::Float(32)); }

void ReportCalls(benchmark::State& state) {
  using benchmark::Counter;
  state.counters["per_call"] =
      Counter(kCalls, Counter::kIsIterationInvariantRate |
                          Counter::kAvgThreads | Counter::kInvert);
}

using SharedExecutable = std::shared_ptr<const vm::LoadedExecutable>;

absl::StatusOr<SharedExecutable> Loaded() {
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget("llvm"));
  KILN_ASSIGN_OR_RETURN(const Module module, Prepared());
  KILN_ASSIGN_OR_RETURN(vm::Executable executable,
                        CompileModel(module, target, KeepSchedules()));
  return vm::LoadedExecutable::Load(std::move(executable));
}

// A machine for each thread, over one executable.
absl::Status RunMachine(benchmark::State& state) {
  static const absl::StatusOr<SharedExecutable> loaded = Loaded();
  KILN_RETURN_IF_ERROR(loaded.status());
  ThreadPool pool({.num_threads = 1});
  KernelHost host(&pool);
  KILN_ASSIGN_OR_RETURN(const auto machine,
                        vm::Machine::Create(*loaded, {}, &host));
  const vm::Value x = Input();
  for (auto _ : state) {
    KILN_RETURN_IF_ERROR(machine->Call("main", {x}).status());
  }
  ReportCalls(state);
  return absl::OkStatus();
}

absl::Status RunKernel(benchmark::State& state) {
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget("llvm"));
  KILN_ASSIGN_OR_RETURN(const Module module, Prepared());
  KILN_ASSIGN_OR_RETURN(const CompiledKernel compiled,
                        CompileKernel(module.functions[0], target));
  KILN_ASSIGN_OR_RETURN(const auto object, LoadedObject::Load(compiled.object));
  KILN_ASSIGN_OR_RETURN(const KilnKernel entry,
                        object->Kernel(compiled.symbol));
  ThreadPool pool;
  KernelHost host(&pool);
  const NDArray x = Input(), y = Input();
  void* const data[] = {x.data(), x.data(), y.data()};
  for (auto _ : state) {
    for (int i = 0; i < kCalls; ++i) entry(host.abi(), data, nullptr);
  }
  ReportCalls(state);
  return absl::OkStatus();
}

void Machine(benchmark::State& state) {
  const absl::Status status = RunMachine(state);
  KILN_CHECK(status.ok()) << status.message();
}
void Kernel(benchmark::State& state) {
  const absl::Status status = RunKernel(state);
  KILN_CHECK(status.ok()) << status.message();
}
BENCHMARK(Machine)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(Kernel);

}  // namespace
}  // namespace kiln
