#include "kiln/examples/models/onednn_program.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/examples/models/onednn_planner.h"

// Of the OpenMP runtime that oneDNN runs on.
extern "C" void omp_set_num_threads(int num_threads);

namespace kiln::models {

class OneDnnProgram::Impl {
 public:
  explicit Impl(int threads)
      : engine(dnnl::engine::kind::cpu, 0), stream(engine), threads(threads) {}

  // Runs the step, and waits for it.
  void Run(const OneDnnStep& step) {
    if (step.loop) return step.loop();
    step.primitive.execute(stream, step.args);
    stream.wait();
  }

  dnnl::engine engine;
  dnnl::stream stream;
  int threads;
  OneDnnPlan plan;
};

namespace {

// What `body` does, with the library's exceptions as errors.
absl::Status Guarded(const std::function<void()>& body) {
  try {
    body();
    return absl::OkStatus();
  } catch (const dnnl::error& error) {
    return absl::InternalError(absl::StrCat("oneDNN fails: ", error.what()));
  }
}

}  // namespace

OneDnnProgram::OneDnnProgram(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}

OneDnnProgram::~OneDnnProgram() = default;

absl::StatusOr<std::unique_ptr<OneDnnProgram>> OneDnnProgram::Create(
    const Network& net, Weights& weights, int threads) {
  std::string layer = "the network";
  try {
    omp_set_num_threads(threads);
    auto impl = std::make_unique<Impl>(threads);
    OneDnnPlanner planner(net, weights, impl->engine);
    KILN_ASSIGN_OR_RETURN(impl->plan, planner.Run(&layer));
    return std::unique_ptr<OneDnnProgram>(new OneDnnProgram(std::move(impl)));
  } catch (const dnnl::error& error) {
    return absl::InternalError(
        absl::StrCat("oneDNN refuses ", layer, ": ", error.what()));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there is no memory for ", layer, " of oneDNN"));
  }
}

// On a CPU a stream is done with a primitive before the next one.
absl::Status OneDnnProgram::Run() {
  return Guarded([&] {
    omp_set_num_threads(impl_->threads);
    for (const OneDnnStep& step : impl_->plan.steps) impl_->Run(step);
  });
}

absl::StatusOr<std::vector<double>> OneDnnProgram::StepTimes(int runs) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> best(impl_->plan.steps.size(),
                           std::numeric_limits<double>::infinity());
  KILN_RETURN_IF_ERROR(Guarded([&] {
    omp_set_num_threads(impl_->threads);
    for (int run = 0; run < runs; ++run) {
      for (size_t i = 0; i < best.size(); ++i) {
        const Clock::time_point start = Clock::now();
        impl_->Run(impl_->plan.steps[i]);
        const std::chrono::duration<double, std::milli> took =
            Clock::now() - start;
        best[i] = std::min(best[i], took.count());
      }
    }
  }));
  return best;
}

const std::vector<NDArray>& OneDnnProgram::inputs() const {
  return impl_->plan.inputs;
}

const std::vector<NDArray>& OneDnnProgram::outputs() const {
  return impl_->plan.outputs;
}

const std::vector<std::string>& OneDnnProgram::steps() const {
  return impl_->plan.names;
}

}  // namespace kiln::models
