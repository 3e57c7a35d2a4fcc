// A-normal form, with as much struct info as inference finds.
//
//   return R.multiply(R.add(x, x), x)     lv = R.add(x, x)
//                                         lv1 = R.multiply(lv, x)
//                                         return lv1
#ifndef KILN_IR_TRANSFORM_GRAPH_NORMALIZE_H_
#define KILN_IR_TRANSFORM_GRAPH_NORMALIZE_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// As InferModule (ir/ops/infer.h); besides, results of functions say what their
// bodies give, blocks of one kind that follow each other are one, and where
// nothing is the value of an effect, nothing is handed on.
absl::StatusOr<Module> NormalizeGraph(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_NORMALIZE_H_
