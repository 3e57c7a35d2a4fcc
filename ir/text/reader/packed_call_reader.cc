// Calls of packed functions, the tensors that are made for them, and notes.
//
//   T.call_packed("f", A, n)        A as TVM hands it over, an array made of
//                                   A.data, its extents, strides and offset
//   T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(4), 0, 1, 0, 0)
//                                   the plain 0 that stands for a type is int32
//   with T.attr(node, "key", 1):    LetStmt(_, attr(node, "key", 1), body)
//   T.attr({"key": 1})              the same of node 0, about all that follows
//
// A note has no statement of its own: a definition, whose variable nothing
// uses, has a body already, and whatever walks over programs knows it.
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/reader/expr_reader.h"
#include "kiln/ir/text/reader/stmt_reader.h"

namespace kiln::script {
namespace {

constexpr size_t kTypeOperand = 4;  // of tvm_stack_make_array

Expr MakeShape(std::vector<Expr> extents) {
  return Call(DType::Handle(), Intrinsic::kStackMakeShape, std::move(extents));
}

// The array that a packed function gets of a buffer.
Expr ArrayOf(const Buffer& buffer) {
  const Expr strides =
      buffer->strides.empty() ? Int(0) : MakeShape(buffer->strides);
  const Expr type = buffer->dtype.is_float() ? Float(0, buffer->dtype.Element())
                                             : Int(0, buffer->dtype.Element());
  const Expr offset = buffer->elem_offset ? buffer->elem_offset : Int(0);
  return Call(DType::Handle(), Intrinsic::kStackMakeArray,
              {buffer->data, MakeShape(buffer->shape), strides,
               Int(static_cast<int64_t>(buffer->shape.size())), type, offset});
}

}  // namespace

std::optional<Intrinsic> IntrinsicNamed(std::string_view name) {
  if (name == "tvm_call_packed") return Intrinsic::kCallPacked;
  if (name == "tvm_call_cpacked") return Intrinsic::kCallCPacked;
  return FindIntrinsic(name);
}

bool IsPackedCall(Intrinsic op) {
  return op == Intrinsic::kCallPacked || op == Intrinsic::kCallCPacked;
}

absl::StatusOr<Expr> ExprReader::PackedArgument(const py::Expr& e) {
  const Binding* binding =
      e.kind == py::ExprKind::kName ? context_.scope.Find(e.text) : nullptr;
  const Buffer* buffer = binding ? std::get_if<Buffer>(binding) : nullptr;
  if (buffer && (*buffer)->data) return ArrayOf(*buffer);
  return Argument(e);
}

absl::StatusOr<Expr> ExprReader::ArrayOperand(const py::Expr& e, size_t index) {
  if (index != kTypeOperand) return Argument(e);
  KILN_ASSIGN_OR_RETURN(Value value, Read(e));
  const bool plain = value.weak && value.expr.dtype().is_integral();
  if (!plain) return Settle(value);
  KILN_ASSIGN_OR_PLACE(Expr typed, context_, e.begin,
                       ConvertTo(value, DType::Int(32)));
  return typed;
}

absl::StatusOr<StmtReader::Note> StmtReader::NoteOf(const py::Expr& node,
                                                    const py::Expr& key,
                                                    const py::Expr& value) {
  KILN_ASSIGN_OR_RETURN(const std::string name, exprs_.String(key));
  if (name == "thread_extent" || name == "virtual_thread") {
    return context_.Error(
        key.begin, absl::StrCat("`", name,
                                "` binds a variable to a thread; "
                                "write T.launch_thread or T.thread_binding"));
  }
  KILN_ASSIGN_OR_RETURN(Expr about, exprs_.Settled(node));
  KILN_ASSIGN_OR_RETURN(Expr noted, exprs_.Settled(value));
  return Call(DType::Int(32), Intrinsic::kAttr,
              {std::move(about), Str(name), std::move(noted)});
}

// T.attr(node, key, value), or T.attr({key: value, ...}) of node 0.
absl::StatusOr<std::vector<StmtReader::Note>> StmtReader::Notes(
    const py::Expr& call) {
  std::vector<Note> notes;
  if (call.items.size() == 2 && call.items[1].kind == py::ExprKind::kDict) {
    const std::vector<py::Expr>& pairs = call.items[1].items;
    py::Expr zero;
    zero.kind = py::ExprKind::kInt;
    zero.text = "0";
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
      KILN_ASSIGN_OR_RETURN(Note note, NoteOf(zero, pairs[i], pairs[i + 1]));
      notes.push_back(std::move(note));
    }
    return notes;
  }
  KILN_ASSIGN_OR_RETURN(
      auto args, py::Arguments::Bind(context_.source, call,
                                     {"node_or_dict", "attr_key", "value"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* node, args.Require("node_or_dict"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* key, args.Require("attr_key"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* value, args.Require("value"));
  KILN_ASSIGN_OR_RETURN(Note note, NoteOf(*node, *key, *value));
  return std::vector<Note>{std::move(note)};
}

absl::Status StmtReader::AddNotes(const py::Expr& call, Items& out) {
  KILN_ASSIGN_OR_RETURN(std::vector<Note> notes, Notes(call));
  for (Note& note : notes) {
    Var unused("attr", DType::Int(32));
    out.push_back({nullptr, [unused, note](Stmt body) {
                     return MakeLet(unused, note, std::move(body));
                   }});
  }
  return absl::OkStatus();
}

}  // namespace kiln::script
