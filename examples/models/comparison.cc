#include "kiln/examples/models/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/clock.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/tools/support/model.h"
#include "kiln/tools/tuning/put_back.h"

namespace kiln::models {
namespace {

absl::StatusOr<Module> Prepared(const Module& module,
                                const CompileRequest& request) {
  KILN_ASSIGN_OR_RETURN(const Module passed,
                        RunGraphPasses(module, request.passes));
  return PrepareModel(passed, request.prepare);
}

absl::StatusOr<vm::Executable> CompiledWith(const Module& prepared,
                                            const CompileRequest& request,
                                            int* tuned) {
  const Scheduler schedule = DefaultSchedules(request.target);
  if (request.work_dir.empty()) {
    return CompileModel(prepared, request.target, schedule);
  }
  std::unique_ptr<Database> database;
  KILN_ASSIGN_OR_RETURN(database, OpenTuned(CallerPath(request.work_dir)));
  KILN_ASSIGN_OR_RETURN(const TunedModule best,
                        PutBackBest(prepared, *database, request.target));
  *tuned = static_cast<int>(best.tuned.size());
  return CompileModel(best.module, request.target,
                      KeepTuned(best.tuned, schedule));
}

std::vector<NDArray> TensorsOf(const vm::Value& value) {
  if (const auto* array = std::get_if<NDArray>(&value)) return {*array};
  std::vector<NDArray> tensors;
  if (const auto* tuple = std::get_if<vm::Tuple>(&value)) {
    for (const vm::Value& field : (*tuple)->fields) {
      for (const NDArray& array : TensorsOf(field)) tensors.push_back(array);
    }
  }
  return tensors;
}

Errors ErrorsOf(const NDArray& got, const NDArray& expected) {
  double largest = 0, squares = 0, scale = 0;
  bool all_finite = true;
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const double wanted = expected.elements<float>()[i];
    const double error = std::abs(got.elements<float>()[i] - wanted);
    all_finite = all_finite && std::isfinite(error);
    largest = std::max(largest, error);
    squares += error * error;
    scale += wanted * wanted;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!all_finite) return {kInfinity, kInfinity};
  if (largest == 0) return {};
  const double count = static_cast<double>(expected.num_elements());
  const double root = std::sqrt(scale / count);
  return {largest / root, std::sqrt(squares / count) / root};
}

}  // namespace

absl::StatusOr<CompiledModel> CompileForRun(const Module& module,
                                            const CompileRequest& request) {
  CompiledModel compiled;
  const double start = MonotonicSeconds();
  KILN_ASSIGN_OR_RETURN(const Module prepared, Prepared(module, request));
  compiled.prepare_s = MonotonicSeconds() - start;
  const double middle = MonotonicSeconds();
  KILN_ASSIGN_OR_RETURN(compiled.executable,
                        CompiledWith(prepared, request, &compiled.tuned));
  compiled.compile_s = MonotonicSeconds() - middle;
  return compiled;
}

absl::StatusOr<Errors> ErrorsOf(const vm::Value& result,
                                absl::Span<const NDArray> expected) {
  const std::vector<NDArray> got = TensorsOf(result);
  if (got.size() != expected.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        got.size(), " tensors came, and ", expected.size(), " are expected"));
  }
  Errors worst;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].TypeString() != expected[i].TypeString()) {
      return absl::InvalidArgumentError(
          absl::StrCat("result ", i, " is ", got[i].TypeString(), ", and ",
                       expected[i].TypeString(), " is expected"));
    }
    const Errors errors = ErrorsOf(got[i], expected[i]);
    worst.largest = std::max(worst.largest, errors.largest);
    worst.rms = std::max(worst.rms, errors.rms);
  }
  return worst;
}

}  // namespace kiln::models
