// Kiln's own kernels, tuned first.
#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/search/space/builtin.h"
#include "kiln/tools/rivals/contender.h"
#include "kiln/tools/tuning/tune.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/library/object_loader.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::bench {
namespace {

constexpr int64_t kLanes = 48;  // columns of a panel

// Shows nothing.
class QuietView : public TuneView {
 public:
  void Start(const TuneTask&, const std::string&, const std::string&,
             const TuneState&) override {}
  void Trial(const TuneState&, const TuningRecord&) override {}
  void Done(const TuneState&) override {}
};

int64_t Panels(const GemmShape& s) { return (s.n + kLanes - 1) / kLanes; }

// The product with Y[panel, k, lane] in place of Y[k, column].
absl::StatusOr<Module> PackedAheadModule(const GemmShape& s) {
  const DType f32 = DType::Float(32);
  te::Tensor x = te::Placeholder({Int(1), Int(s.m), Int(s.k)}, f32, "X");
  te::Tensor y =
      te::Placeholder({Int(Panels(s)), Int(s.k), Int(kLanes)}, f32, "Y");
  te::IterVar k = te::ReduceAxis(0, s.k, "k");
  te::ComputeOptions options;
  options.axes = {"b", "i", "j"};
  te::Tensor z = te::Compute(
      {Int(1), Int(s.m), Int(s.n)},
      [&](const std::vector<Expr>& at) {
        const Expr panel = FloorDiv(at[2], Int(kLanes));
        const Expr lane = FloorMod(at[2], Int(kLanes));
        return te::Sum(Mul(x(at[0], at[1], k), y(panel, k, lane)), {k});
      },
      "Z", options);
  Module module;
  KILN_ASSIGN_OR_RETURN(Function f, te::CreatePrimFunc({x, y, z}));
  module.functions.push_back(std::move(f));
  return module;
}

absl::StatusOr<NDArray> PackPanels(const GemmCase& g) {
  const GemmShape& s = g.shape;
  KILN_ASSIGN_OR_RETURN(NDArray packed, NDArray::Zeros({Panels(s), s.k, kLanes},
                                                       DType::Float(32)));
  float* out = packed.data_as<float>();
  for (int64_t k = 0; k < s.k; ++k) {
    for (int64_t j = 0; j < s.n; ++j) {
      out[(j / kLanes * s.k + k) * kLanes + j % kLanes] = g.b[k * s.n + j];
    }
  }
  return packed;
}

// A kernel, what it runs on, and what has to stay alive.
struct Running {
  std::shared_ptr<const LoadedObject> object;
  KilnKernel entry = nullptr;
  std::shared_ptr<KernelHost> host;
  NDArray packed;
  std::vector<void*> data;
};

class KilnContender : public Contender {
 public:
  KilnContender(KilnOptions options, bool pack_ahead)
      : options_(std::move(options)),
        pack_ahead_(pack_ahead),
        pool_(std::make_shared<ThreadPool>()) {}

  std::string name() const override {
    return pack_ahead_ ? "Kiln, B packed ahead" : "Kiln";
  }
  bool is_library() const override { return false; }
  bool packs_ahead() const override { return pack_ahead_; }

  absl::StatusOr<std::function<void()>> Prepare(const GemmCase& g) override {
    KILN_ASSIGN_OR_RETURN(Function best, Tune(g));
    Target target = HostTarget();
    target.num_cores = g.threads;
    KILN_ASSIGN_OR_RETURN(CompiledKernel kernel, CompileKernel(best, target));
    auto run = std::make_shared<Running>();
    KILN_ASSIGN_OR_RETURN(run->object, LoadedObject::Load(kernel.object));
    KILN_ASSIGN_OR_RETURN(run->entry, run->object->Kernel(kernel.symbol));
    run->host = std::make_shared<KernelHost>(pool_.get(), g.threads);
    const float* b = g.b;
    if (pack_ahead_) {
      KILN_ASSIGN_OR_RETURN(run->packed, PackPanels(g));
      b = run->packed.data_as<float>();
    }
    run->data = {const_cast<float*>(g.a), const_cast<float*>(b), g.c};
    return [run, pool = pool_] {
      run->entry(run->host->abi(), run->data.data(), nullptr);
    };
  }

 private:
  absl::StatusOr<Module> MakeModule(const GemmShape& s) const {
    if (pack_ahead_) return PackedAheadModule(s);
    return MakeWorkload(absl::StrCat("gmm:", s.m, ",", s.n, ",", s.k));
  }

  absl::StatusOr<Function> Tune(const GemmCase& g) const {
    const char* space = pack_ahead_ ? "gmm_ahead" : "gmm";
    KILN_ASSIGN_OR_RETURN(Module module, MakeModule(g.shape));
    Target target = HostTarget();
    target.num_cores = g.threads;
    TuneRequest request{
        .name = absl::StrCat(space, "_", g.shape.ToString(), "_", g.threads),
        .module = std::move(module),
        .function = "main",
        .space = python::Source(space, BuiltinSpace(space)),
        .target = std::move(target),
        .trials = options_.trials,
        .work_dir = options_.work_dir,
        .stop = options_.stop};
    QuietView view;
    KILN_ASSIGN_OR_RETURN(TuneOutcome outcome, RunTune(request, &view));
    if (outcome.best_trace.empty()) {
      return absl::InternalError(absl::StrCat("no kernel for ", request.name,
                                              "; see ", outcome.task_dir,
                                              "/tune.log"));
    }
    return outcome.best;
  }

  const KilnOptions options_;
  const bool pack_ahead_;
  std::shared_ptr<ThreadPool> pool_;
};

}  // namespace

std::unique_ptr<Contender> Kiln(const KilnOptions& options, bool pack_ahead) {
  return std::make_unique<KilnContender>(options, pack_ahead);
}

}  // namespace kiln::bench
