// Tensor functions learn how they go through their tensors.
//
//   C[i, j] = A[i, j] + B[j]   T.func_attr({"op_pattern": 0})   element-wise
#ifndef KILN_IR_TRANSFORM_GRAPH_ANNOTATE_PATTERNS_H_
#define KILN_IR_TRANSFORM_GRAPH_ANNOTATE_PATTERNS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// How what a function writes depends on what it reads. The numbers are those of
// the attribute op_pattern, and a higher one allows less.
enum class OpPattern : uint8_t {
  kElementwise = 0,       // one element of each input, at the same place
  kBroadcast = 1,         // at the same place, in fewer dimensions
  kInjective = 2,         // one element of each input, anywhere
  kReduction = 3,         // many elements, each once
  kFusableReduction = 4,  // many elements, over and over; others may follow
  kTuple = 7,             // no function, but several values
  kOpaque = 8,            // anything
};

inline constexpr char kOpPatternAttr[] = "op_pattern";

OpPattern PatternOf(const Function& f);

// Every tensor function without the attribute op_pattern gets it.
absl::StatusOr<Module> AnnotatePatterns(const Module& module);

// No function has the attribute any more: functions are the same again as ones
// that nobody looked at.
Module WithoutPatterns(Module module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_ANNOTATE_PATTERNS_H_
