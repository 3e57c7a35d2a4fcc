// Kiln's tuned kernels.
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/search/space/builtin.h"
#include "kiln/tools/rivals/contender.h"
#include "kiln/tools/rivals/kiln_kernel.h"
#include "kiln/tools/rivals/kiln_tuning.h"

namespace kiln::bench {
namespace {

class KilnContender : public Contender {
 public:
  explicit KilnContender(KilnOptions options) : options_(std::move(options)) {}

  std::string name() const override { return "Kiln"; }
  Role role() const override { return Role::kKiln; }

  absl::StatusOr<std::function<void()>> Prepare(const OpCase& op) override {
    KILN_ASSIGN_OR_RETURN(Module module, MakeWorkload(op.spec()));
    const char* space = BuiltinSpace(op.workload);
    KILN_ASSIGN_OR_RETURN(
        const TunedKernel best,
        TuneKernel(options_,
                   {.name = absl::StrCat(op.spec(), "-threads", op.threads),
                    .module = std::move(module),
                    .space = space ? space : "",
                    .threads = op.threads}));
    return CallOf(best.function, op.args, op.threads, pool_);
  }

 private:
  const KilnOptions options_;
  std::shared_ptr<ThreadPool> pool_ = std::make_shared<ThreadPool>();
};

}  // namespace

std::unique_ptr<Contender> Kiln(const KilnOptions& options) {
  return std::make_unique<KilnContender>(options);
}

}  // namespace kiln::bench
