// Kiln's tuned kernels.
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/tools/rivals/contender.h"
#include "kiln/tools/rivals/kiln_kernel.h"
#include "kiln/tools/rivals/kiln_tuning.h"

namespace kiln::bench {
namespace {

class KilnContender : public Contender {
 public:
  KilnContender(KilnOptions options, KilnForm form)
      : options_(std::move(options)), form_(form) {}

  std::string name() const override {
    return absl::StrCat("Kiln", form_.packs_ahead ? ", packed ahead" : "",
                        form_.normwise ? ", normwise" : "");
  }
  Role role() const override {
    return form_.normwise ? Role::kNormwise : Role::kKiln;
  }
  bool packs_ahead() const override { return form_.packs_ahead; }

  absl::StatusOr<std::function<void()>> Prepare(const OpCase& op) override {
    if ((form_.packs_ahead && !HasWeights(op.workload)) ||
        (form_.normwise && op.workload != "gmm")) {
      return std::function<void()>();
    }
    const std::string spec =
        absl::StrCat(op.spec(), form_.packs_ahead ? kLayoutFreeSuffix : "",
                     form_.normwise ? kNormwiseSuffix : "");
    KILN_ASSIGN_OR_RETURN(Module module, MakeWorkload(spec));
    KILN_ASSIGN_OR_RETURN(
        const TunedKernel best,
        TuneKernel(options_,
                   {.name = absl::StrCat(spec, "-threads", op.threads),
                    .module = std::move(module),
                    .threads = op.threads}));
    return CallOf(best.function, op.args,
                  WithThreads(options_.target, op.threads), pool_);
  }

 private:
  const KilnOptions options_;
  const KilnForm form_;
  std::shared_ptr<ThreadPool> pool_ = std::make_shared<ThreadPool>();
};

}  // namespace

std::unique_ptr<Contender> Kiln(const KilnOptions& options, KilnForm form) {
  return std::make_unique<KilnContender>(options, form);
}

}  // namespace kiln::bench
