// A call is a run of `tune` with one job (tune.h), whose best function is then
// compiled once more and loaded into this process:
//
//   Tune(mm)   →   RunTune in a folder   →   SplitKernel::Load(best)
//   fast.Call({a, b, c})   →   Prepare (constant layouts), then the kernel
//
// Measuring stays in workers: only the winner runs where the caller's data are.
// Without a folder the run takes a temporary one, which is removed at the end,
// with all its records. The code, its threads and its host are shared by copies
// of the result, and live as long as the last of them.
#include "kiln/tools/tuning/tune_function.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/tools/tuning/tune.h"
#include "kiln/tools/tuning/view.h"
#include "kiln/vm/library/kernel_host.h"

namespace kiln {

struct TunedFunction::Code {
  Code(SplitKernel the_kernel, int threads)
      : kernel(std::move(the_kernel)),
        pool(ThreadPool::Options{.num_threads = threads}),
        host(&pool) {}

  SplitKernel kernel;
  ThreadPool pool;
  KernelHost host;
};

namespace {

// Shows nothing.
class NoView : public TuneView {
 public:
  void Start(const TuneTask&, const std::string&, const std::string&,
             const TuneState&) override {}
  void Trial(const TuneState&, const TuningRecord&) override {}
  void Done(const TuneState&) override {}
};

// A folder that goes away with it, where none is given.
class WorkFolder {
 public:
  static absl::StatusOr<WorkFolder> Make(const std::string& wanted) {
    if (!wanted.empty()) return WorkFolder(wanted, false);
    std::error_code error;
    const auto base = std::filesystem::temp_directory_path(error);
    std::string path = (error ? "/tmp" : base.string()) + "/kiln_tune_XXXXXX";
    if (!mkdtemp(path.data())) {
      return absl::UnavailableError(
          absl::StrCat("no folder can be made in ", path,
                       "; set TuneFunctionOptions::folder or TMPDIR"));
    }
    return WorkFolder(path, true);
  }
  WorkFolder(WorkFolder&& other) noexcept
      : path_(std::move(other.path_)),
        temporary_(std::exchange(other.temporary_, false)) {}
  WorkFolder& operator=(WorkFolder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(temporary_, other.temporary_);
    return *this;
  }
  WorkFolder() = default;
  ~WorkFolder() {
    std::error_code ignored;
    if (temporary_) std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  WorkFolder(std::string path, bool temporary)
      : path_(std::move(path)), temporary_(temporary) {}

  std::string path_;
  bool temporary_ = false;
};

TuneRequest RequestFor(const Function& f, const TuneFunctionOptions& options,
                       const std::string& folder) {
  TuneRequest request;
  request.name = f.name;
  request.module.functions.push_back(f);
  request.function = f.name;
  if (options.space.empty()) {
    request.use_rules = true;
  } else {
    request.space.emplace("space", options.space);
  }
  request.target = options.target;
  request.trials = options.trials;
  request.guide.seed = options.seed;
  request.max_seconds = options.max_seconds;
  request.work_dir = folder;
  request.stop = options.stop;
  return request;
}

absl::Status CheckOptions(const TuneFunctionOptions& options) {
  if (options.trials < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "TuneFunctionOptions::trials is ", options.trials, "; at least 0"));
  }
  if (!(options.max_seconds > 0)) {
    return absl::InvalidArgumentError(
        "TuneFunctionOptions::max_seconds has to be more than 0");
  }
  return absl::OkStatus();
}

}  // namespace

const KernelSignature& TunedFunction::signature() const {
  return code_->kernel.signature();
}

absl::Status TunedFunction::Call(absl::Span<const PackedValue> args) const {
  KILN_ASSIGN_OR_RETURN(const std::vector<PackedValue> all,
                        code_->kernel.Prepare(code_->host.abi(), args));
  return code_->kernel.main().Call(code_->host.abi(), all);
}

absl::StatusOr<TunedFunction> Tune(const Function& f,
                                   const TuneFunctionOptions& options) {
  KILN_RETURN_IF_ERROR(CheckOptions(options));
  KILN_RETURN_IF_ERROR(VerifyFunction(f));
  WorkFolder folder;
  KILN_ASSIGN_OR_RETURN(folder, WorkFolder::Make(options.folder));
  const TuneRequest request = RequestFor(f, options, folder.path());
  const std::unique_ptr<TuneView> view =
      options.show_progress ? TextView(isatty(STDOUT_FILENO) == 1)
                            : std::make_unique<NoView>();
  KILN_ASSIGN_OR_RETURN(TuneOutcome outcome, RunTune(request, view.get()));
  if (!outcome.best.body) {
    return absl::NotFoundError(absl::StrCat(
        "no trial of ", f.name, " succeeded, of ", outcome.state.trials_done,
        options.folder.empty()
            ? "; name a folder and read tune.log there"
            : absl::StrCat("; ", outcome.task_dir, "/tune.log tells why")));
  }
  KILN_ASSIGN_OR_RETURN(SplitKernel kernel,
                        SplitKernel::Load(outcome.best, options.target));
  TunedFunction tuned;
  tuned.scheduled_ = std::move(outcome.best);
  tuned.trace_ = std::move(outcome.best_trace);
  if (!options.folder.empty()) tuned.folder_ = std::move(outcome.task_dir);
  tuned.us_ = outcome.state.best_us();
  tuned.trials_ = outcome.state.trials_done;
  tuned.code_ = std::make_shared<const TunedFunction::Code>(
      std::move(kernel), options.target.num_cores);
  return tuned;
}

}  // namespace kiln
