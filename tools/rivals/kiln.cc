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
  KilnContender(KilnOptions options, bool layout_free)
      : options_(std::move(options)), layout_free_(layout_free) {}

  std::string name() const override {
    return layout_free_ ? "Kiln, packed ahead" : "Kiln";
  }
  Role role() const override { return Role::kKiln; }
  bool packs_ahead() const override { return layout_free_; }

  absl::StatusOr<std::function<void()>> Prepare(const OpCase& op) override {
    if (layout_free_ && !HasWeights(op.workload)) {
      return std::function<void()>();
    }
    const std::string spec =
        op.spec() + (layout_free_ ? kLayoutFreeSuffix : "");
    KILN_ASSIGN_OR_RETURN(Module module, MakeWorkload(spec));
    KILN_ASSIGN_OR_RETURN(
        const TunedKernel best,
        TuneKernel(options_,
                   {.name = absl::StrCat(spec, "-threads", op.threads),
                    .module = std::move(module),
                    .threads = op.threads}));
    return CallOf(best.function, op.args, op.threads, pool_);
  }

 private:
  const KilnOptions options_;
  const bool layout_free_;
  std::shared_ptr<ThreadPool> pool_ = std::make_shared<ThreadPool>();
};

}  // namespace

std::unique_ptr<Contender> Kiln(const KilnOptions& options) {
  return std::make_unique<KilnContender>(options, /*layout_free=*/false);
}

std::unique_ptr<Contender> KilnLaidOutAhead(const KilnOptions& options) {
  return std::make_unique<KilnContender>(options, /*layout_free=*/true);
}

}  // namespace kiln::bench
