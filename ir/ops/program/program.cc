// Ops of the program rather than of its tensors: calls of functions, which say
// what they give, and closures.
#include "kiln/ir/ops/program/program.h"

#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

using graph::StructInfo;

absl::StatusOr<StructInfo> InferStated(const OpCall& call) {
  const std::vector<StructInfo>& infos = call.node().infos;
  if (infos.empty()) return graph::Object();
  return infos.size() == 1 ? infos[0] : graph::Tuple(infos);
}

// Of a call of a function: by itself, or with a tuple of what it is given.
template <size_t least>
absl::Status CheckCallee(const OpCall& call) {
  if (call.node().args.size() >= least) return absl::OkStatus();
  return call.Error(least > 1 ? "a function and a tuple of its arguments are "
                                "what it takes"
                              : "a function is what it takes");
}

template <size_t least>
absl::StatusOr<StructInfo> InferCallOf(const OpCall& call) {
  KILN_RETURN_IF_ERROR(CheckCallee<least>(call));
  return InferStated(call);
}

absl::StatusOr<StructInfo> InferClosure(const OpCall& call) {
  KILN_RETURN_IF_ERROR(CheckCallee<2>(call));
  return graph::Object();
}

absl::StatusOr<StructInfo> InferDynamic(const OpCall& call) {
  KILN_RETURN_IF_ERROR(CheckCallee<2>(call));
  return graph::Tuple({});
}

absl::StatusOr<StructInfo> InferObject(const OpCall&) {
  return graph::Object();
}

absl::StatusOr<StructInfo> InferNothing(const OpCall&) {
  return graph::Tuple({});
}

// A condition is a bool: a number, or a tensor of no dimensions.
absl::StatusOr<StructInfo> InferAssert(const OpCall& call) {
  if (!call.Has(0)) return call.Error("`condition` is missing");
  const auto* number = call.info(0).As<graph::PrimInfo>();
  if (number && number->dtype.is_bool()) return graph::Tuple({});
  const auto* tensor = call.info(0).As<graph::TensorInfo>();
  const bool fits =
      tensor && (tensor->rank == 0 || tensor->rank == graph::kUnknownRank) &&
      (tensor->dtype.is_bool() || tensor->dtype.is_void());
  if (fits) return graph::Tuple({});
  return call.ErrorAt(0, "`condition` has to be one bool");
}

// A hint of automatic differentiation: the value itself.
absl::StatusOr<StructInfo> InferSame(const OpCall& call) {
  if (call.Has(0)) return call.info(0);
  return call.Error("`input` is missing");
}

absl::StatusOr<graph::Expr> ExpandSame(const OpCall& call) {
  if (call.Has(0)) return call.arg(0);
  return call.Error("`input` is missing");
}

// A call of a builtin function with the text that says what it is about.
template <const char* const& name>
absl::StatusOr<graph::Expr> ExpandToBuiltin(const OpCall& call) {
  std::vector<graph::Expr> args = call.node().args;
  KILN_ASSIGN_OR_RETURN(std::string format, call.String("format"));
  args.push_back(graph::Text(std::move(format)));
  return graph::Expr(new graph::CallNode(graph::Extern(name), std::move(args),
                                         {}, {graph::Tuple({})}));
}

constexpr const char* kAssert = "kiln.builtin.assert_op";
constexpr const char* kPrint = "kiln.builtin.print";

// A parameter of a model as a tensor of another type.
absl::StatusOr<StructInfo> InferWrapped(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  if (x->extents()) return graph::Tensor(*x->extents(), dtype, x->device);
  return graph::TensorOfRank(x->rank, dtype, x->device);
}

absl::StatusOr<graph::Expr> ExpandWrapped(const OpCall& call) {
  return graph::CallOp("astype", {call.arg(0)},
                       {{"dtype", call.attr("dtype")}});
}

// What is left out stands as an empty tuple.
absl::StatusOr<graph::Expr> ExpandNull(const OpCall&) {
  return graph::TupleOf({});
}

constexpr OpRow kRows[] = {
    {"assert_op", InferAssert, nullptr, ExpandToBuiltin<kAssert>, false},
    {"call_builtin_with_ctx", InferCallOf<2>, nullptr, nullptr, false},
    {"call_dps_packed", InferCallOf<2>},
    {"call_inplace_packed", InferCallOf<1>, nullptr, nullptr, false},
    {"call_pure_packed", InferCallOf<1>},
    {"call_py_func", InferCallOf<2>},
    {"call_tir", InferCallOf<2>},
    {"call_tir_inplace", InferCallOf<2>},
    {"call_tir_with_grad", InferCallOf<2>},
    {"grad.end_checkpoint", InferSame, nullptr, ExpandSame},
    {"grad.no_grad", InferSame, nullptr, ExpandSame},
    {"grad.start_checkpoint", InferSame, nullptr, ExpandSame},
    {"invoke_closure", InferCallOf<2>, nullptr, nullptr, false},
    {"invoke_pure_closure", InferCallOf<2>},
    {"make_closure", InferClosure},
    {"null_value", InferObject, nullptr, ExpandNull},
    {"print", InferNothing, nullptr, ExpandToBuiltin<kPrint>, false},
    {"vm.call_tir_dyn", InferDynamic, nullptr, nullptr, false},
    {"wrap_param", InferWrapped, nullptr, ExpandWrapped},
};

}  // namespace

absl::Span<const OpRow> CallOps() { return kRows; }

absl::Span<const OpRow> ProgramOps() {
  static const auto& rows = *new std::vector<OpRow>(JoinRows(
      {CallOps(), ShapeValueOps(), MemoryOps(), DeviceOps(), InspectOps()}));
  return rows;
}

}  // namespace kiln
