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

// Columns of a panel, to be tried when the layout of B is ours to choose.
constexpr int64_t kPanelColumns[] = {48, 64, 32};

// Shows nothing.
class QuietView : public TuneView {
 public:
  void Start(const TuneTask&, const std::string&, const std::string&,
             const TuneState&) override {}
  void Trial(const TuneState&, const TuningRecord&) override {}
  void Done(const TuneState&) override {}
};

int64_t Panels(const GemmShape& s, int64_t columns) {
  return (s.n + columns - 1) / columns;
}

// The product with Y[panel, k, lane] in place of Y[k, column].
absl::StatusOr<Module> PackedAheadModule(const GemmShape& s, int64_t columns) {
  const DType f32 = DType::Float(32);
  te::Tensor x = te::Placeholder({Int(1), Int(s.m), Int(s.k)}, f32, "X");
  te::Tensor y = te::Placeholder(
      {Int(Panels(s, columns)), Int(s.k), Int(columns)}, f32, "Y");
  te::IterVar k = te::ReduceAxis(0, s.k, "k");
  te::ComputeOptions options;
  options.axes = {"b", "i", "j"};
  te::Tensor z = te::Compute(
      {Int(1), Int(s.m), Int(s.n)},
      [&](const std::vector<Expr>& at) {
        const Expr panel = FloorDiv(at[2], Int(columns));
        const Expr lane = FloorMod(at[2], Int(columns));
        return te::Sum(Mul(x(at[0], at[1], k), y(panel, k, lane)), {k});
      },
      "Z", options);
  Module module;
  KILN_ASSIGN_OR_RETURN(Function f, te::CreatePrimFunc({x, y, z}));
  module.functions.push_back(std::move(f));
  return module;
}

absl::StatusOr<NDArray> PackPanels(const GemmCase& g, int64_t columns) {
  const GemmShape& s = g.shape;
  KILN_ASSIGN_OR_RETURN(
      NDArray packed,
      NDArray::Zeros({Panels(s, columns), s.k, columns}, DType::Float(32)));
  float* out = packed.data_as<float>();
  for (int64_t k = 0; k < s.k; ++k) {
    for (int64_t j = 0; j < s.n; ++j) {
      out[(j / columns * s.k + k) * columns + j % columns] = g.b[k * s.n + j];
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
    KILN_ASSIGN_OR_RETURN(Tuned best,
                          pack_ahead_ ? TunePanels(g) : TuneRows(g));
    Target target = HostTarget();
    target.num_cores = g.threads;
    KILN_ASSIGN_OR_RETURN(CompiledKernel kernel,
                          CompileKernel(best.function, target));
    auto run = std::make_shared<Running>();
    KILN_ASSIGN_OR_RETURN(run->object, LoadedObject::Load(kernel.object));
    KILN_ASSIGN_OR_RETURN(run->entry, run->object->Kernel(kernel.symbol));
    run->host = std::make_shared<KernelHost>(pool_.get(), g.threads);
    const float* b = g.b;
    if (pack_ahead_) {
      KILN_ASSIGN_OR_RETURN(run->packed, PackPanels(g, best.columns));
      b = run->packed.data_as<float>();
    }
    run->data = {const_cast<float*>(g.a), const_cast<float*>(b), g.c};
    return [run, pool = pool_] {
      run->entry(run->host->abi(), run->data.data(), nullptr);
    };
  }

 private:
  // A kernel, and the columns of the panels that it reads.
  struct Tuned {
    Function function;
    int64_t columns = 0;
    double us = 0;
  };

  absl::StatusOr<Tuned> TuneRows(const GemmCase& g) const {
    const GemmShape& s = g.shape;
    KILN_ASSIGN_OR_RETURN(Module module, MakeWorkload(absl::StrCat(
                                             "gmm:", s.m, ",", s.n, ",", s.k)));
    return Tune(g, "gmm", std::move(module), BuiltinSpace("gmm"));
  }

  // The layout is part of what is tuned.
  absl::StatusOr<Tuned> TunePanels(const GemmCase& g) const {
    Tuned best;
    for (int64_t columns : kPanelColumns) {
      KILN_ASSIGN_OR_RETURN(Module module, PackedAheadModule(g.shape, columns));
      const std::string space =
          absl::StrCat(BuiltinSpace("gmm_ahead"), "\n\ndef ahead(sch):\n",
                       "    _ahead_", columns, "(sch)\n");
      KILN_ASSIGN_OR_RETURN(Tuned tuned,
                            Tune(g, absl::StrCat("gmm_ahead_", columns),
                                 std::move(module), space));
      tuned.columns = columns;
      if (best.us == 0 || tuned.us < best.us) best = std::move(tuned);
    }
    return best;
  }

  absl::StatusOr<Tuned> Tune(const GemmCase& g, const std::string& name,
                             Module module, const std::string& space) const {
    Target target = HostTarget();
    target.num_cores = g.threads;
    TuneRequest request{
        .name = absl::StrCat(name, "_", g.shape.ToString(), "_", g.threads),
        .module = std::move(module),
        .function = "main",
        .space = python::Source(name, space),
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
    return Tuned{std::move(outcome.best), 0, outcome.state.best_us()};
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
