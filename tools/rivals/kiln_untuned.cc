// Kiln without a measurement: by default schedules, and as written.
#include <utility>

#include "absl/strings/str_split.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/search/task/default_schedule.h"
#include "kiln/tools/rivals/contender.h"
#include "kiln/tools/rivals/kiln_kernel.h"
#include "kiln/tools/support/default_schedule.h"

namespace kiln::bench {
namespace {

class DefaultContender : public Contender {
 public:
  DefaultContender(const Target& target, const Machine& machine)
      : target_(target), machine_(machine) {}

  std::string name() const override { return "Kiln, not tuned"; }
  Role role() const override { return Role::kUntuned; }

  absl::StatusOr<std::function<void()>> Prepare(const OpCase& op) override {
    KILN_ASSIGN_OR_RETURN(const Module module, MakeWorkload(op.spec()));
    KILN_ASSIGN_OR_RETURN(
        const DefaultSchedule best,
        ScheduleByDefault(module, 0, machine_, op.threads, pool_.get(),
                          DefaultOptions(machine_, op.threads)));
    return CallOf(best.scheduled, op.args, WithThreads(target_, op.threads),
                  pool_);
  }

 private:
  const Target target_;
  const Machine machine_;
  std::shared_ptr<ThreadPool> pool_ = std::make_shared<ThreadPool>();
};

class NaiveContender : public Contender {
 public:
  NaiveContender(const std::string& workloads, const Target& target)
      : workloads_(absl::StrSplit(workloads, ',')), target_(target) {}

  std::string name() const override { return "naive"; }
  Role role() const override { return Role::kUntuned; }

  absl::StatusOr<std::function<void()>> Prepare(const OpCase& op) override {
    if (std::find(workloads_.begin(), workloads_.end(), op.workload) ==
        workloads_.end()) {
      return std::function<void()>();
    }
    KILN_ASSIGN_OR_RETURN(const Module module, MakeWorkload(op.spec()));
    return CallOf(module.functions[0], op.args,
                  WithThreads(target_, op.threads), pool_);
  }

 private:
  const std::vector<std::string> workloads_;
  const Target target_;
  std::shared_ptr<ThreadPool> pool_ = std::make_shared<ThreadPool>();
};

}  // namespace

std::unique_ptr<Contender> KilnByDefault(const Target& target,
                                         const Machine& machine) {
  return std::make_unique<DefaultContender>(target, machine);
}

std::unique_ptr<Contender> Naive(const std::string& workloads,
                                 const Target& target) {
  return std::make_unique<NaiveContender>(workloads, target);
}

}  // namespace kiln::bench
