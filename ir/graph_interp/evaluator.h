// The interpreter at work: one for each call from outside.
#ifndef KILN_IR_GRAPH_INTERP_EVALUATOR_H_
#define KILN_IR_GRAPH_INTERP_EVALUATOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/ops/memory_call.h"

namespace kiln::graph {

// What variables stand for while a function runs.
struct Scope {
  std::unordered_map<const VarNode*, Value> values;
  Substitution known;  // dimensions, as constants
};

// A function with what it sees, and its last arguments.
struct ClosureValue {
  const FunctionNode* function = nullptr;  // lives as long as the module
  Scope scope;
  Var self;  // what a local function calls itself
  std::vector<Value> captured;
};

class Evaluator {
 public:
  Evaluator(const Module& module, const GraphInterpOptions& options)
      : module_(module), options_(options) {}

  absl::StatusOr<Value> Call(const FunctionNode& f, std::vector<Value> args,
                             Scope scope = {});
  absl::StatusOr<Value> Call(const Value& closure, std::vector<Value> args);

 private:
  // evaluator.cc: expressions.
  absl::StatusOr<Value> Evaluate(const Expr& e, Scope& scope);
  absl::StatusOr<std::vector<Value>> EvaluateAll(const std::vector<Expr>& es,
                                                 Scope& scope);
  absl::StatusOr<Value> EvaluateSeq(const SeqNode& seq, Scope& scope);
  absl::StatusOr<Value> EvaluateIf(const IfNode& branch, Scope& scope);
  absl::StatusOr<Value> FunctionOf(const GlobalVarNode& global) const;
  absl::StatusOr<Value> Number(const Scalar& e, const Scope& scope);
  absl::StatusOr<Value> ExtentsOf(const std::vector<Scalar>& es,
                                  const Scope& scope);
  // Checks a value, and learns dimensions from it.
  absl::Status MatchValue(const Value& value, const StructInfo& info,
                          Scope& scope);

  // memory.cc: calls that manage memory.
  absl::StatusOr<Value> EvaluateMemory(const MemoryCall& call, Scope& scope);
  absl::StatusOr<Value> TakeFrom(const TensorValue& storage, int64_t begin,
                                 const StructInfo& info, const Scope& scope);

  // call.cc: calls.
  absl::StatusOr<Value> EvaluateCall(const CallNode& call, Scope& scope);
  absl::StatusOr<Value> CallOfOp(const std::string& name, const CallNode& call,
                                 Scope& scope);
  absl::StatusOr<Value> CallTensorFunction(const CallNode& call, Scope& scope,
                                           const Module& module);
  absl::StatusOr<Value> CallInPlace(const CallNode& call, Scope& scope);
  absl::StatusOr<Value> CallPacked(const Expr& callee, std::vector<Value> args,
                                   const std::vector<StructInfo>& infos,
                                   Scope& scope);
  absl::StatusOr<Value> CallDps(const CallNode& call, Scope& scope);
  absl::StatusOr<Value> CallDynamic(const CallNode& call, Scope& scope);
  // With the numbers that the call names behind `args`.
  // Of a tensor function that returns a number.
  absl::StatusOr<Value> ValueOf(const kiln::Function& f,
                                const std::vector<Value>& args);
  absl::Status RunTensorFunction(const CallNode& call, std::vector<Value> args,
                                 Scope& scope, const Module& module);
  absl::Status RunTensorFunction(const Expr& callee,
                                 const std::vector<Value>& args,
                                 const Module& module);
  absl::StatusOr<std::vector<Value>> Fields(const Expr& e, Scope& scope);
  absl::StatusOr<std::vector<Value>> NewTensors(
      const std::vector<StructInfo>& infos, const Scope& scope);
  // One that is known to the table of ops, computed for its arguments.
  absl::StatusOr<Value> ComputeOp(const CallNode& call, Scope& scope);
  // An expression that evaluates to the value: a variable that `scope` gets, or
  // a constant.
  Expr LeafFor(const Value& value, Scope& scope);

  const Module& module_;
  const GraphInterpOptions& options_;
  Analyzer analyzer_;
  // The tensors that took a part of a storage, in bytes.
  struct Taken {
    std::weak_ptr<::kiln::Tensor> tensor;
    int64_t begin, end;
  };
  std::map<std::weak_ptr<::kiln::Tensor>, std::vector<Taken>, std::owner_less<>>
      storages_;
  int depth_ = 0;
  int64_t bindings_ = 0;
};

}  // namespace kiln::graph

#endif  // KILN_IR_GRAPH_INTERP_EVALUATOR_H_
