// Where each spelling has its arguments is a row of kLayouts; what they say is
// read from there the same way for all. Of R.memory.view(x, shape, dtype, 8)
//
//   {"memory.view", kView, 0, 3, 1, 2}    source, offset, shape and type
//
// A packed function is spelled with its name as the callee, or as argument 0 of
// call_pure_packed.
#include "kiln/ir/ops/memory_call.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using graph::CallNode;
using graph::Expr;
using graph::Scalar;

// Where the arguments of an op stand; kNone: nowhere.
constexpr int kNone = -1;
struct Layout {
  std::string_view op;
  MemoryAction action;
  int source, offset, shape, dtype;
};
constexpr Layout kLayouts[] = {
    {"builtin.alloc_tensor", MemoryAction::kAllocate, kNone, kNone, 0, 1},
    {"builtin.stop_lift_params", MemoryAction::kSame, 0, kNone, kNone, kNone},
    {"memory.alloc_storage", MemoryAction::kAllocate, kNone, kNone, 0, kNone},
    {"memory.alloc_tensor", MemoryAction::kTake, 0, 1, 2, 3},
    {"memory.ensure_zero_offset", MemoryAction::kSame, 0, kNone, kNone, kNone},
    {"memory.kill_storage", MemoryAction::kEnd, 0, kNone, kNone, kNone},
    {"memory.kill_tensor", MemoryAction::kEnd, 0, kNone, kNone, kNone},
    {"memory.view", MemoryAction::kView, 0, 3, 1, 2},
    {"vm.alloc_storage", MemoryAction::kAllocate, kNone, kNone, 0, kNone},
    {"vm.alloc_tensor", MemoryAction::kTake, 0, 1, 2, 3},
    {"vm.kill_object", MemoryAction::kEnd, 0, kNone, kNone, kNone},
};
constexpr std::string_view kReshape = "vm.builtin.reshape";
constexpr Layout kReshapeLayout = {kReshape, MemoryAction::kView, 0, kNone, 1,
                                   kNone};

// What is called, and with what: a packed function may stand as an argument.
struct Called {
  const Layout* layout = nullptr;
  std::vector<Expr> args;
};

Called FindLayout(const CallNode& call) {
  const auto* op = call.callee.As<graph::OpNode>();
  for (const Layout& layout : kLayouts) {
    if (op && layout.op == op->name) return {&layout, call.args};
  }
  const bool names = op && op->name == "call_pure_packed" && !call.args.empty();
  const Expr& callee = names ? call.args[0] : call.callee;
  const auto* packed = callee.As<graph::ExternNode>();
  if (!packed || packed->name != kReshape) return {};
  return {&kReshapeLayout,
          {call.args.begin() + (names ? 1 : 0), call.args.end()}};
}

// A missing argument, or an empty tuple in its place, is null.
Expr Argument(const Called& called, int at) {
  if (at == kNone || static_cast<size_t>(at) >= called.args.size()) return {};
  const Expr& arg = called.args[at];
  const auto* tuple = arg.As<graph::TupleNode>();
  return tuple && tuple->fields.empty() ? Expr() : arg;
}

absl::Status Unclear(const CallNode& call, const char* what) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, "\n    ", PrintGraphExpr(Expr(&call))));
}

absl::StatusOr<DType> TypeOf(const CallNode& call, const Called& called,
                             const graph::TensorInfo* source) {
  if (const Expr arg = Argument(called, called.layout->dtype)) {
    if (const auto* type = arg.As<graph::DataTypeNode>()) return type->dtype;
    return Unclear(call, "the type of a tensor has to be given as such");
  }
  if (source && !source->dtype.is_void()) return source->dtype;
  return Unclear(call, "nothing tells the type of the tensor");
}

absl::StatusOr<std::vector<Scalar>> ExtentsOf(const CallNode& call,
                                              const Called& called,
                                              const graph::TensorInfo* source) {
  if (const Expr arg = Argument(called, called.layout->shape)) {
    const graph::StructInfo info = graph::InfoOf(arg);
    const auto* shape = info.As<graph::ShapeInfo>();
    if (shape && shape->values) return *shape->values;
  } else if (source && source->extents()) {
    return *source->extents();
  }
  return Unclear(call, "nothing tells the extents of the tensor");
}

absl::StatusOr<Scalar> OffsetOf(const CallNode& call, const Called& called) {
  const Expr arg = Argument(called, called.layout->offset);
  if (!arg) return Int(0);
  if (const auto* number = arg.As<graph::PrimNode>()) return number->value;
  return Unclear(call, "the offset has to be a number");
}

// A tensor of the type, or as many bytes as the extents say.
absl::Status SetInfo(const CallNode& call, const Called& called,
                     MemoryCall* out) {
  const graph::StructInfo known =
      out->source ? graph::InfoOf(out->source) : graph::StructInfo();
  const auto* source = known.As<graph::TensorInfo>();
  KILN_ASSIGN_OR_RETURN(std::vector<Scalar> extents,
                        ExtentsOf(call, called, source));
  const bool is_storage =
      out->action == MemoryAction::kAllocate && called.layout->dtype == kNone;
  if (!is_storage) {
    KILN_ASSIGN_OR_RETURN(const DType dtype, TypeOf(call, called, source));
    out->info = graph::Tensor(std::move(extents), dtype);
    return absl::OkStatus();
  }
  Scalar bytes = extents.empty() ? Scalar(Int(1)) : extents[0];
  for (size_t i = 1; i < extents.size(); ++i) bytes = Mul(bytes, extents[i]);
  out->info = graph::Tensor({bytes}, DType::UInt(8));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<MemoryCall>> AsMemoryCall(
    const graph::CallNode& call) {
  const Called called = FindLayout(call);
  if (!called.layout) return std::nullopt;
  MemoryCall out;
  out.action = called.layout->action;
  out.source = Argument(called, called.layout->source);
  if (called.layout->source != kNone && !out.source) {
    return Unclear(call, "an argument is missing");
  }
  if (called.layout->shape != kNone) {
    KILN_ASSIGN_OR_RETURN(out.offset, OffsetOf(call, called));
    KILN_RETURN_IF_ERROR(SetInfo(call, called, &out));
  }
  return out;
}

bool IsTensorAllocation(const graph::Expr& call) {
  const auto* node = call.As<graph::CallNode>();
  return node && node->IsOp("builtin.alloc_tensor");
}

}  // namespace kiln
