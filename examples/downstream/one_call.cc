// Tuning as one call: a function as text in, a kernel to call out.
//
//   bazel run //:one_call -- [FOLDER]
#include <cstdint>
#include <cstdio>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/tools/tuning/tune_function.h"
#include "kiln/vm/ndarray/ndarray.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace {

constexpr int64_t kRows = 64, kColumns = 96;

constexpr char kText[] = R"py(
@T.prim_func
def row_sums(A: T.Buffer((64, 96), "float32"), S: T.Buffer((64,), "float32")):
    for i, j in T.grid(64, 96):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + A[vi, vj]
)py";

absl::Status Run(kiln::TuneFunctionOptions options) {
  KILN_ASSIGN_OR_RETURN(const kiln::Function f,
                        kiln::ParseFunction("row_sums", kText));
  KILN_ASSIGN_OR_RETURN(const kiln::TunedFunction fast, kiln::Tune(f, options));
  const kiln::DType f32 = kiln::DType::Float(32);
  KILN_ASSIGN_OR_RETURN(auto a, kiln::NDArray::Empty({kRows, kColumns}, f32));
  KILN_ASSIGN_OR_RETURN(auto s, kiln::NDArray::Empty({kRows}, f32));
  kiln::FillSmallInts(a, -4, 4, 1);
  KILN_RETURN_IF_ERROR(fast.Call({a, s}));
  for (int64_t i = 0; i < kRows; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < kColumns; ++j) {
      sum += a.elements<float>()[i * kColumns + j];
    }
    if (s.elements<float>()[i] != sum) {
      return absl::InternalError("the kernel computes something else");
    }
  }
  std::printf("%s\n%lld trials, best %.2f us, the right result\n",
              fast.trace().c_str(), static_cast<long long>(fast.trials()),
              fast.us());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  kiln::TuneFunctionOptions options;
  options.trials = 8;
  if (argc > 1) options.folder = kiln::CallerPath(argv[1]);
  const absl::Status status = Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
