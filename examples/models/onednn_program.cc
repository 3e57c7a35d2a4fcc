#include "kiln/examples/models/onednn_program.h"

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

  dnnl::engine engine;
  dnnl::stream stream;
  int threads;
  OneDnnPlan plan;
};

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

absl::Status OneDnnProgram::Run() {
  try {
    omp_set_num_threads(impl_->threads);
    for (const OneDnnStep& step : impl_->plan.steps) {
      if (step.loop) {
        step.loop();
      } else {
        step.primitive.execute(impl_->stream, step.args);
      }
    }
    impl_->stream.wait();
    return absl::OkStatus();
  } catch (const dnnl::error& error) {
    return absl::InternalError(absl::StrCat("oneDNN fails: ", error.what()));
  }
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
