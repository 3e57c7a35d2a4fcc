// Calls as code states them, made as complete as those that are read from text,
// and held to what they call.
#ifndef KILN_FRONTENDS_BUILDER_CALLS_H_
#define KILN_FRONTENDS_BUILDER_CALLS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln::graph {

// The call with the defaults of the attributes that it leaves out
// (ir/graph/signature.h). InvalidArgument for an attribute that the op does not
// know or that it needs, for more arguments than it takes, and for a call of a
// tensor function (call_tir and its like) with another number of arguments than
// the function of the module has, or of one that the module lacks.
absl::StatusOr<Expr> CompleteCall(const CallNode& call, const Module& module);

// Whether evaluating `value` may do more than give a value.
bool IsImpure(const Expr& value, const Module& module);

}  // namespace kiln::graph

#endif  // KILN_FRONTENDS_BUILDER_CALLS_H_
