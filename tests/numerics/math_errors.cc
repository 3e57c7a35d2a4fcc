// Prints the largest error of each elementary function:
//
//   bazel run -c opt //tests/numerics:math_errors -- --types float32 --stride 1
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "kiln/tests/numerics/math_inputs.h"

ABSL_FLAG(std::vector<std::string>, types,
          std::vector<std::string>({"float16", "bfloat16", "float32",
                                    "float64"}),
          "Element types.");
ABSL_FLAG(std::vector<std::string>, functions, {}, "All when empty.");
ABSL_FLAG(uint64_t, stride, 1, "Of float32: every so manieth number.");
ABSL_FLAG(std::string, numerics, "strict", "The mode: ir/tensor/numerics.h.");
ABSL_FLAG(std::string, target, "llvm", "As //tools:tune takes it.");

namespace kiln {
namespace {

bool IsWanted(const std::string& name) {
  const std::vector<std::string> wanted = absl::GetFlag(FLAGS_functions);
  for (const std::string& one : wanted) {
    if (one == name) return true;
  }
  return wanted.empty();
}

absl::Status Print(const MathFunction& function, const std::string& type,
                   const Target& target) {
  const std::optional<DType> dtype = DType::FromString(type);
  if (!dtype || !dtype->is_float()) {
    return absl::InvalidArgumentError("no type of floats: " + type);
  }
  const int threads = std::max(1u, std::thread::hardware_concurrency());
  const absl::StatusOr<MathError> error =
      MeasureMath(function, *dtype, absl::GetFlag(FLAGS_numerics), target,
                  absl::GetFlag(FLAGS_stride), threads);
  if (!error.ok()) return error.status();
  std::printf("%-10s %-9s %12.6g ulp at (%.17g, %.17g)  %lld wrong",
              function.name.c_str(), type.c_str(), error->ulps, error->worst[0],
              error->worst[1], static_cast<long long>(error->wrong));
  if (error->wrong > 0) {
    std::printf(", one at (%.17g, %.17g)", error->wrong_at[0],
                error->wrong_at[1]);
  }
  std::printf("  of %lld\n", static_cast<long long>(error->count));
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status PrintAll() {
  const absl::StatusOr<Target> target =
      ParseTarget(absl::GetFlag(FLAGS_target));
  if (!target.ok()) return target.status();
  if (absl::GetFlag(FLAGS_stride) == 0) {
    return absl::InvalidArgumentError("--stride has to be positive");
  }
  for (const std::string& type : absl::GetFlag(FLAGS_types)) {
    for (const MathFunction& function : MathFunctions()) {
      if (!IsWanted(function.name)) continue;
      const absl::Status status = Print(function, type, *target);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = kiln::PrintAll();
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
