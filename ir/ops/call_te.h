// Calls of tensor functions that formulas make.
//
//   te::Tensor b = te::Compute(a.shape(), ..., "relu");
//   KILN_ASSIGN_OR_RETURN(graph::Expr call,
//                         CallTensors("relu", {x}, {a}, {b}, module));
//   // R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((128, 128), "float32"))
//
// Dimensions in shapes stay the variables of the graph function there; in the
// tensor function they are variables of its own. Those that no shape of a
// tensor tells are handed over as numbers behind the inputs.
#ifndef KILN_IR_OPS_CALL_TE_H_
#define KILN_IR_OPS_CALL_TE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/ops/op.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// A placeholder for a tensor whose extents are known. InvalidArgument else.
absl::StatusOr<te::Tensor> PlaceholderFor(const graph::StructInfo& info,
                                          std::string name);

// A name that no function of the module has: `hint`, or with a number behind.
std::string UniqueFunctionName(const Module& module, std::string_view hint);

// Adds the function to the module, under a name like its own; one that the
// module has already, equal up to names, is used again. Gives the name.
std::string AddTensorFunction(Function f, Module& module);

// Calls the computation of `outputs` from `inputs`, which are placeholders for
// the tensors `args`; the function, private, is added to the module. Of inputs
// in `layout_free`, the layout is free (ir/tensor/layout_free.h).
absl::StatusOr<graph::Expr> CallTensors(
    std::string name, const std::vector<graph::Expr>& args,
    const std::vector<te::Tensor>& inputs,
    const std::vector<te::Tensor>& outputs, Module& module,
    const std::vector<te::Tensor>& layout_free = {});

// The same for what an op is lowered to. `outputs` says what it writes.
absl::StatusOr<graph::Expr> CallLowered(
    std::string name, const std::vector<graph::Expr>& args,
    const std::vector<te::Tensor>& inputs, Lowered lowered,
    const std::vector<graph::StructInfo>& outputs, Module& module);

}  // namespace kiln

#endif  // KILN_IR_OPS_CALL_TE_H_
