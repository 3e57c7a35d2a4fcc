// Named workloads: the operators that tuners are compared on, as TE programs
// over float32, channels last, batch 1.
//
// | name | dimensions                          | what                        |
// |------|-------------------------------------|-----------------------------|
// | gmm  | N, M, K (or B, N, M, K)             | batched matmul              |
// | c1d  | L, ci, co, k, s, p                  | 1-D convolution             |
// | c2d  | H, W, ci, co, k, s, p               | 2-D convolution             |
// | c3d  | D, H, W, ci, co, k, s, p            | 3-D convolution             |
// | dep  | H, W, c, k, s, p                    | depthwise convolution       |
// | grp  | H, W, ci, co, k, s, p, groups       | grouped convolution         |
// | dil  | H, W, ci, co, k, s, p, dilation     | dilated convolution         |
// | t2d  | H, W, ci, co, k, s, p               | transposed 2-D convolution  |
// | cap  | H, W, ci, co, k, s, p (capsule 4)   | capsule convolution         |
// | nrm  | N, M                                | 2-norm of a matrix          |
// | sfm  | N, M                                | softmax of rows             |
// | cbr  | H, W, ci, co, k, s, p               | c2d, bias, batch norm, ReLU |
// | tbg  | seq, heads, dim                     | transposed batched matmul   |
//
// k is the kernel's extent, s the stride, p the padding on each side. Layers of
// models, of N rows of M elements or images:
//
// | name | dimensions                          | what                        |
// |------|-------------------------------------|-----------------------------|
// | den  | N, M, K                             | dense, a row for each output|
// | max  | H, W, c, k, s, p                    | max pooling                 |
// | avg  | H, W, c, k, s, p                    | average pooling             |
// | lnm  | N, M                                | layer norm, scale and shift |
// | rms  | N, M                                | RMS norm, scale             |
// | gel  | N, M                                | bias, GELU (by erf)         |
// | add  | N, M                                | sum of two, ReLU            |
// | scl  | N, M                                | a factor for each column    |
// | hsw  | N, M                                | hard swish                  |
// | swi  | N, M                                | swish (SiLU)                |
//
// gmm, den and the convolutions have constant weights, their second parameter.
// With
// ":layout_free" at the end, as in "gmm:512,512,512:layout_free" or
// "c2d:layout_free", these may be laid out ahead (ir/tensor/layout_free.h).
// With ":normwise" behind it all, errors may be so; with ":strict", there are
// none but those of the program itself (ir/tensor/numerics.h).
#ifndef KILN_IR_TE_WORKLOADS_H_
#define KILN_IR_TE_WORKLOADS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct WorkloadInfo {
  std::string name;        // "gmm"
  std::string dimensions;  // "N,M,K"
  // The first is the default. Of workloads, the four shapes of the usual
  // benchmark suite.
  std::vector<std::vector<int64_t>> shapes;
};

inline constexpr char kLayoutFreeSuffix[] = ":layout_free";
inline constexpr char kNormwiseSuffix[] = ":normwise";
inline constexpr char kStrictSuffix[] = ":strict";

// Whether the workload called `name` has constant weights.
bool HasWeights(std::string_view name);

// All workloads of the first table, in its order.
const std::vector<WorkloadInfo>& Workloads();
// Those of the second one, each with a default shape alone.
const std::vector<WorkloadInfo>& Layers();

// The module with one function "main" for a specification such as
// "gmm:1024,1024,1024", or "gmm" for the default shape, both with the suffixes
// or without. The error says what is known and what the dimensions are.
absl::StatusOr<Module> MakeWorkload(std::string_view spec);

}  // namespace kiln

#endif  // KILN_IR_TE_WORKLOADS_H_
