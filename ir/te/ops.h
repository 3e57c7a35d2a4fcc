// The formulas of the named workloads. Dimensions are positive and checked for
// overflow by the caller. Internal to ir/te.
#ifndef KILN_IR_TE_OPS_H_
#define KILN_IR_TE_OPS_H_

#include <string>
#include <vector>

#include "kiln/ir/te/te.h"

namespace kiln::te {

using Dims = std::vector<int64_t>;

// `input` with before[d] and after[d] zeros around dimension d.
Tensor Pad(const Tensor& input, const Dims& before, const Dims& after,
           const std::string& name);

// (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1.
int64_t ConvExtent(int64_t size, int64_t kernel, int64_t stride, int64_t pad,
                   int64_t dilation = 1);

// Parameters of the function, outputs last. `d` as in workloads.h.
std::vector<Tensor> Gmm(const Dims& d);  // B, N, M, K
// `rank` spatial dimensions, then ci, co, k, s, p, groups, dilation.
std::vector<Tensor> Conv(const Dims& d, int rank);
std::vector<Tensor> Dep(const Dims& d);
std::vector<Tensor> T2d(const Dims& d);
std::vector<Tensor> Cap(const Dims& d);
std::vector<Tensor> Nrm(const Dims& d);
std::vector<Tensor> Sfm(const Dims& d);
std::vector<Tensor> Cbr(const Dims& d);
std::vector<Tensor> Tbg(const Dims& d);

}  // namespace kiln::te

#endif  // KILN_IR_TE_OPS_H_
