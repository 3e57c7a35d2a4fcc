// What patterns match moves into functions that say which pattern it was.
//
//   lv = R.nn.conv2d(x, w)      gv = cls.fused_relax_nn_conv2d_relax_nn_relu(x,
//   w) gv = R.nn.relu(lv)
//
// with that function private and "Composite": "dnnl.conv2d_relu". A library's
// code generator takes such functions.
#ifndef KILN_IR_TRANSFORM_GRAPH_FUSE_OPS_BY_PATTERN_H_
#define KILN_IR_TRANSFORM_GRAPH_FUSE_OPS_BY_PATTERN_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/pattern/pattern.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct FusionPattern {
  std::string name;  // "dnnl.conv2d_relu"
  Pattern pattern;
  // Whether a match is wanted; null: each is.
  std::function<bool(const Match&)> accepts;
};

struct PatternFusionOptions {
  // Constants stay in the functions; otherwise they are handed over.
  bool keeps_constants = true;
  // Each function becomes one that is called by others: "Codegen": "dnnl", what
  // stands ahead of the dot, around the composite one.
  bool annotates_codegen = false;
};

// Takes a module with struct info. Patterns are tried one after the other over
// dataflow blocks, from the first value to the last; functions that are
// composite or primitive already are left alone. Of a match, nothing but the
// last value may be needed elsewhere. A match that takes in earlier ones of the
// same pattern whole replaces them; one that overlaps is none.
absl::StatusOr<Module> FuseOpsByPattern(
    const Module& module, const std::vector<FusionPattern>& patterns,
    const PatternFusionOptions& options = {});

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_FUSE_OPS_BY_PATTERN_H_
