// Kiln's tuned products with a second matrix that is packed ahead.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/te/te.h"
#include "kiln/search/space/builtin.h"
#include "kiln/tools/rivals/contender.h"
#include "kiln/tools/rivals/kiln_kernel.h"
#include "kiln/tools/rivals/kiln_tuning.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::bench {
namespace {

// Columns of a panel, to be tried when the layout of B is ours to choose.
constexpr int64_t kPanelColumns[] = {48, 64, 32};

int64_t Panels(int64_t n, int64_t columns) {
  return (n + columns - 1) / columns;
}

// The product of dims N, M, K with Y[panel, k, lane] in place of Y[k, column].
absl::StatusOr<Module> PackedAheadModule(const std::vector<int64_t>& dims,
                                         int64_t columns) {
  const int64_t m = dims[0], n = dims[1], depth = dims[2];
  const DType f32 = DType::Float(32);
  te::Tensor x = te::Placeholder({Int(1), Int(m), Int(depth)}, f32, "X");
  te::Tensor y = te::Placeholder(
      {Int(Panels(n, columns)), Int(depth), Int(columns)}, f32, "Y");
  te::IterVar k = te::ReduceAxis(0, depth, "k");
  te::ComputeOptions options;
  options.axes = {"b", "i", "j"};
  te::Tensor z = te::Compute(
      {Int(1), Int(m), Int(n)},
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

absl::StatusOr<NDArray> PackPanels(const OpCase& op, int64_t columns) {
  const int64_t n = op.dims[1], depth = op.dims[2];
  KILN_ASSIGN_OR_RETURN(
      NDArray packed,
      NDArray::Zeros({Panels(n, columns), depth, columns}, DType::Float(32)));
  const float* b = op.input(1);
  float* out = packed.data_as<float>();
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t j = 0; j < n; ++j) {
      out[(j / columns * depth + k) * columns + j % columns] = b[k * n + j];
    }
  }
  return packed;
}

class AheadContender : public Contender {
 public:
  explicit AheadContender(KilnOptions options) : options_(std::move(options)) {}

  std::string name() const override { return "Kiln, packed ahead"; }
  Role role() const override { return Role::kKiln; }
  bool packs_ahead() const override { return true; }

  absl::StatusOr<std::function<void()>> Prepare(const OpCase& op) override {
    if (op.workload != "gmm" || op.dims.size() != 3) {
      return std::function<void()>();
    }
    KILN_ASSIGN_OR_RETURN(const Tuned best, TunePanels(op));
    std::vector<NDArray> args = op.args;
    KILN_ASSIGN_OR_RETURN(args[1], PackPanels(op, best.columns));
    return CallOf(best.kernel.function, std::move(args), op.threads, pool_);
  }

 private:
  // A kernel, and the columns of the panels that it reads.
  struct Tuned {
    TunedKernel kernel;
    int64_t columns = 0;
  };

  // The layout is part of what is tuned.
  absl::StatusOr<Tuned> TunePanels(const OpCase& op) const {
    Tuned best;
    for (int64_t columns : kPanelColumns) {
      KILN_ASSIGN_OR_RETURN(TuningCase what, CaseOf(op, columns));
      KILN_ASSIGN_OR_RETURN(TunedKernel kernel,
                            TuneKernel(options_, std::move(what)));
      if (best.columns == 0 || kernel.us < best.kernel.us) {
        best = {std::move(kernel), columns};
      }
    }
    return best;
  }

  static absl::StatusOr<TuningCase> CaseOf(const OpCase& op, int64_t columns) {
    TuningCase what;
    what.name = absl::StrCat("gmm_ahead_", columns, ":", op.shape(), "-threads",
                             op.threads);
    KILN_ASSIGN_OR_RETURN(what.module, PackedAheadModule(op.dims, columns));
    what.space =
        absl::StrCat(BuiltinSpace("gmm_ahead"), "\n\ndef ahead(sch):\n",
                     "    _ahead_", columns, "(sch)\n");
    what.use_rules = false;
    what.threads = op.threads;
    return what;
  }

  const KilnOptions options_;
  std::shared_ptr<ThreadPool> pool_ = std::make_shared<ThreadPool>();
};

}  // namespace

std::unique_ptr<Contender> KilnPackedAhead(const KilnOptions& options) {
  return std::make_unique<AheadContender>(options);
}

}  // namespace kiln::bench
