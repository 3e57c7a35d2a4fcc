// A program outside Kiln's workspace that stands on its libraries: states a
// matmul, describes a space of schedules for it, tunes it on this machine,
// saves the best kernel, and loads and runs what it saved.
//
//   bazel run //:main -- [FOLDER]        (kiln_downstream, if none is given)
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/base/file.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/ir/work/work.h"
#include "kiln/schedule/rewrite/index_map.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/trace.h"
#include "kiln/search/database/database.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/search/measure/local_runner.h"
#include "kiln/search/measure/reference_task.h"
#include "kiln/search/space/script_space.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/search/task/tuner.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/library/object_loader.h"
#include "kiln/vm/library/signature.h"
#include "kiln/vm/ndarray/ndarray.h"
#include "kiln/vm/ndarray/random_fill.h"
#include "kiln/vm/packed/loaded_kernel.h"
#include "kiln/vm/profile/machine_peak.h"
#include "kiln/vm/profile/time_evaluator.h"

namespace {

using kiln::Int;
using kiln::Rv;

constexpr int64_t kN = 256;  // C[n, n] = A[n, n] * B[n, n]
constexpr int64_t kTrials = 16;

// The program: a formula for each element of C.
absl::StatusOr<kiln::Module> Matmul() {
  const kiln::DType f32 = kiln::DType::Float(32);
  kiln::te::Tensor a = kiln::te::Placeholder({Int(kN), Int(kN)}, f32, "A");
  kiln::te::Tensor b = kiln::te::Placeholder({Int(kN), Int(kN)}, f32, "B");
  kiln::te::IterVar k = kiln::te::ReduceAxis(0, kN, "k");
  kiln::te::Tensor c =
      kiln::te::Compute({Int(kN), Int(kN)},
                        [&](const std::vector<kiln::Expr>& i) {
                          return kiln::te::Sum(a(i[0], k) * b(k, i[1]), {k});
                        },
                        "C", {.axes = {"i", "j"}});
  kiln::Module module;
  KILN_ASSIGN_OR_RETURN(kiln::Function f, kiln::te::CreatePrimFunc({a, b, c}));
  module.functions.push_back(std::move(f));
  return module;
}

// Packs B into panels of 16 columns, each contiguous.
absl::Status PackB(kiln::Schedule& sch, Rv c) {
  KILN_ASSIGN_OR_RETURN(Rv packed, sch.CacheRead(c, 1, "global"));
  const kiln::Var k("k"), j("j");
  const kiln::IndexMap panels{{k, j},
                              {FloorDiv(j, Int(16)), k, FloorMod(j, Int(16))}};
  KILN_RETURN_IF_ERROR(
      sch.TransformLayout(packed, kiln::Schedule::Side::kWrite, 0, panels));
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> kj, sch.GetLoops(packed));
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> panel,
                        sch.Split(kj[1], {kiln::Arg(), 16}));
  KILN_RETURN_IF_ERROR(sch.Reorder({panel[0], kj[0], panel[1]}));
  KILN_RETURN_IF_ERROR(sch.Parallel(panel[0]));
  return sch.Vectorize(panel[1]);
}

// A register tile of sampled size; what is done with it is fixed.
absl::Status ScheduleMatmul(kiln::Schedule& sch) {
  KILN_ASSIGN_OR_RETURN(Rv c, sch.GetBlock("C"));
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> ijk, sch.GetLoops(c));
  KILN_ASSIGN_OR_RETURN(
      Rv rows, sch.SampleCategorical({2, 4, 6, 8}, {0.25, 0.25, 0.25, 0.25}));
  KILN_ASSIGN_OR_RETURN(Rv vectors,
                        sch.SampleCategorical({1, 2, 4}, {0.33, 0.33, 0.34}));
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> i,
                        sch.Split(ijk[0], {kiln::Arg(), rows}));
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> j,
                        sch.Split(ijk[1], {kiln::Arg(), vectors, 16}));
  KILN_RETURN_IF_ERROR(sch.Reorder({i[0], j[0], ijk[2], i[1], j[1], j[2]}));
  KILN_RETURN_IF_ERROR(PackB(sch, c));
  KILN_ASSIGN_OR_RETURN(Rv store, sch.CacheWrite(c, 0, "local"));
  KILN_RETURN_IF_ERROR(sch.ReverseComputeAt(store, j[0]));
  KILN_RETURN_IF_ERROR(sch.Parallel(i[0]));
  KILN_RETURN_IF_ERROR(sch.Unroll(i[1]));
  KILN_RETURN_IF_ERROR(sch.Unroll(j[1]));
  KILN_RETURN_IF_ERROR(sch.Vectorize(j[2]));
  return sch.DecomposeReduction(c, ijk[2]).status();
}

// A trace whose samples are open again is a space, and its text is one too.
absl::StatusOr<std::string> MatmulSpace(const kiln::Module& module) {
  kiln::Schedule sch(module);
  KILN_RETURN_IF_ERROR(ScheduleMatmul(sch));
  return kiln::ToText(
      kiln::WithDecisions(sch.trace(), kiln::OpenDecisions(sch.trace())));
}

// What tuning stands on, in the order in which it has to be made: the runner
// forks its workers before there are threads.
struct Machine {
  kiln::Target target = kiln::HostTarget();
  std::unique_ptr<kiln::LocalRunner> runner;
  std::unique_ptr<kiln::ThreadPool> pool;
  std::unique_ptr<kiln::LlvmBuilder> builder;
};

absl::StatusOr<Machine> MakeMachine() {
  Machine machine;
  KILN_ASSIGN_OR_RETURN(machine.runner, kiln::LocalRunner::Create());
  machine.pool = std::make_unique<kiln::ThreadPool>();
  machine.builder = std::make_unique<kiln::LlvmBuilder>(machine.target);
  return machine;
}

absl::StatusOr<kiln::TuneState> Tune(const kiln::Module& module,
                                     const kiln::Space& space,
                                     const std::string& database_path,
                                     Machine& machine) {
  const kiln::Function& f = module.functions[0];
  kiln::TuneTask task;
  task.name = "matmul";
  task.workload.text = kiln::PrintModule(module);
  task.workload.func_name = f.name;
  task.workload.key = kiln::Sha256Hex(task.workload.text);
  task.num_threads = machine.target.num_cores;
  task.target = machine.target.ToString();
  task.space = &space;
  KILN_ASSIGN_OR_RETURN(const kiln::Work work, kiln::CountWork(f));
  task.flop = work.needed_flop.value;
  task.peak_gflops = kiln::MeasurePeakGflops(*machine.pool, task.num_threads,
                                             kiln::DType::Float(32));
  KILN_ASSIGN_OR_RETURN(
      task.data, kiln::MakeReferenceTask(f, *machine.builder, *machine.runner));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<kiln::Database> database,
                        kiln::Database::Open(database_path));
  kiln::Tuner tuner(machine.builder.get(), machine.runner.get(), database.get(),
                    machine.pool.get());
  return tuner.Run(task, {{.trials = kTrials}});
}

// The kernel as two files that need no compiler to be run, and its trace.
absl::Status Save(const kiln::Module& module, const std::string& trace,
                  const std::string& folder, Machine& machine) {
  KILN_ASSIGN_OR_RETURN(kiln::Function best,
                        kiln::ReplayTrace(module, 0, trace));
  KILN_ASSIGN_OR_RETURN(kiln::BuildResult kernel, machine.builder->Build(best));
  KILN_RETURN_IF_ERROR(
      kiln::WriteFileAtomically(folder + "/matmul.o", kernel.object));
  KILN_RETURN_IF_ERROR(kiln::WriteFileAtomically(
      folder + "/matmul.sig", kiln::Serialize(kernel.signature)));
  return kiln::WriteFileAtomically(folder + "/matmul_trace.py", trace);
}

absl::StatusOr<kiln::LoadedKernel> Load(const std::string& folder) {
  KILN_ASSIGN_OR_RETURN(std::string object,
                        kiln::ReadFile(folder + "/matmul.o"));
  KILN_ASSIGN_OR_RETURN(std::string bytes,
                        kiln::ReadFile(folder + "/matmul.sig"));
  KILN_ASSIGN_OR_RETURN(kiln::KernelSignature signature,
                        kiln::ParseKernelSignature(bytes));
  KILN_ASSIGN_OR_RETURN(std::shared_ptr<const kiln::LoadedObject> code,
                        kiln::LoadedObject::Load(object));
  KILN_ASSIGN_OR_RETURN(KilnKernel entry,
                        code->Kernel("kiln_" + signature.name));
  return kiln::LoadedKernel::Create(std::move(signature), entry,
                                    std::move(code));
}

// Whole numbers, whose products and sums floats hold exactly.
bool IsProduct(absl::Span<const float> a, absl::Span<const float> b,
               absl::Span<const float> c) {
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < kN; ++k) sum += a[i * kN + k] * b[k * kN + j];
      if (c[i * kN + j] != sum) return false;
    }
  }
  return true;
}

absl::Status RunSaved(const std::string& folder, Machine& machine) {
  KILN_ASSIGN_OR_RETURN(kiln::LoadedKernel kernel, Load(folder));
  const kiln::DType f32 = kiln::DType::Float(32);
  KILN_ASSIGN_OR_RETURN(auto a, kiln::NDArray::Empty({kN, kN}, f32));
  KILN_ASSIGN_OR_RETURN(auto b, kiln::NDArray::Empty({kN, kN}, f32));
  KILN_ASSIGN_OR_RETURN(auto c, kiln::NDArray::Empty({kN, kN}, f32));
  kiln::FillSmallInts(a, -4, 4, 1);
  kiln::FillSmallInts(b, -4, 4, 2);
  kiln::KernelHost host(machine.pool.get());
  KILN_ASSIGN_OR_RETURN(kiln::TimeResult time, kiln::MeasureTime([&] {
                          return kernel.Call(host.abi(), {a, b, c});
                        }));
  if (!IsProduct(a.elements<float>(), b.elements<float>(),
                 c.elements<float>())) {
    return absl::InternalError("the saved kernel computes something else");
  }
  std::printf("saved kernel, loaded and run: %.1f us, the right result\n",
              time.min_us);
  return absl::OkStatus();
}

absl::Status Run(const std::string& folder) {
  KILN_RETURN_IF_ERROR(kiln::MakeFolders(folder));
  KILN_ASSIGN_OR_RETURN(Machine machine, MakeMachine());
  KILN_ASSIGN_OR_RETURN(kiln::Module module, Matmul());
  KILN_ASSIGN_OR_RETURN(std::string text, MatmulSpace(module));
  KILN_ASSIGN_OR_RETURN(
      std::unique_ptr<kiln::TraceSpace> space,
      kiln::MakeScriptSpace(module, 0, kiln::python::Source("space", text)));
  KILN_ASSIGN_OR_RETURN(
      kiln::TuneState state,
      Tune(module, *space, folder + "/database.sqlite", machine));
  if (!state.best) return absl::InternalError("no trial succeeded");
  std::printf("%s\n%lld trials, best %.1f us, %.1f GFLOP/s, %.0f %% of peak\n",
              state.best->trace.c_str(),
              static_cast<long long>(state.trials_done), state.best_us(),
              state.best_gflops(), 100 * state.peak_share());
  KILN_RETURN_IF_ERROR(Save(module, state.best->trace, folder, machine));
  return RunSaved(folder, machine);
}

}  // namespace

int main(int argc, char** argv) {
  const char* folder = argc > 1 ? argv[1] : "kiln_downstream";
  const absl::Status status = Run(kiln::CallerPath(folder));
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
