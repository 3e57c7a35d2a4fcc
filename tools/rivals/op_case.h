// What rivals are measured on: a named workload with data.
#ifndef KILN_TOOLS_RIVALS_OP_CASE_H_
#define KILN_TOOLS_RIVALS_OP_CASE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/work/work.h"
#include "kiln/vm/ndarray/ndarray.h"
#include "kiln/vm/profile/roofline.h"

namespace kiln::bench {

// One call of a workload of ir/te/workloads.h, on given data.
struct OpCase {
  std::string workload;       // "c2d"
  std::vector<int64_t> dims;  // as the table of workloads names them
  int threads = 1;
  // One for each parameter of the function: random inputs, then the output.
  std::vector<NDArray> args;
  // Of the workload as it is written, whatever a kernel really does.
  Work work;

  std::string shape() const;  // "56,56,64,64,1,1,0"
  std::string spec() const;   // "c2d:56,56,64,64,1,1,0"
  const NDArray& output() const { return args.back(); }
  const float* input(int i) const { return args[i].data_as<float>(); }
  float* out() const { return args.back().data_as<float>(); }
};

// Makes the data of a workload such as "c2d:56,56,64,64,1,1,0". Errors are
// those of MakeWorkload, and of memory.
absl::StatusOr<OpCase> MakeOpCase(const std::string& workload,
                                  const std::vector<int64_t>& dims,
                                  int threads);

// The convolution that a workload is; nullopt for others. Elements of the
// window beyond the border count as zeros.
struct ConvShape {
  std::vector<int64_t> in, out;  // spatial extents
  int64_t ci = 1, co = 1;
  int64_t kernel = 1, stride = 1, pad = 0;  // the same in all directions
  int64_t groups = 1, dilation = 1;
  bool transposed = false;

  int rank() const { return static_cast<int>(in.size()); }
  // A product of two matrices: pixels by channels, channels by channels.
  bool is_product() const;
};
std::optional<ConvShape> ConvShapeOf(const OpCase& op);

// The least time that the machine allows for a case; `gflops` is the peak of
// the threads in use.
Roofline RooflineOf(const OpCase& op, const Machine& machine, double gflops);

// Terms of the longest sum behind one element of the output.
int64_t ReductionLength(const OpCase& op);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_OP_CASE_H_
