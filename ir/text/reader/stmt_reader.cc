// Statements but for loops and `with`, which have files of their own. In the
// text, a definition holds for all lines below it in its body; in the program,
// it has these statements as its body. A body is therefore read into a list of
// items, statements and definitions, and the list is folded from its end:
//
//   x: T.float32 = A[0]       items: define x, store, store
//   B[0] = x                  Let(x, A[0], Seq(store, store))
//   C[0] = x
//
// Lines that give a name to a number, a string or a tuple, or that fill in the
// block, leave no item. Each definition nests the program one level deeper,
// which is why a body may hold only kMaxScopes of them.
#include "kiln/ir/text/reader/stmt_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/returned_value.h"
#include "kiln/ir/text/python/literal.h"

namespace kiln::script {
namespace {

bool IsLiteral(const py::Expr& e) {
  using Kind = py::ExprKind;
  return e.kind == Kind::kString || e.kind == Kind::kTuple ||
         e.kind == Kind::kList || e.kind == Kind::kDict ||
         e.kind == Kind::kNone;
}

// Why a statement of this kind stands in no program, and what to write.
std::string_view WhyNot(py::StmtKind kind) {
  if (kind == py::StmtKind::kAssert) {
    return "a program cannot fail at run time; leave the assertion out, or "
           "state it as T.assume(...)";
  }
  if (kind == py::StmtKind::kWhile) {
    return "a loop here has a known number of rounds; write `for i in "
           "range(n)` with an `if` inside";
  }
  if (kind == py::StmtKind::kReturn) {
    return "a tensor function returns no value but a number that it is given: "
           "return n + 1; it writes its result into a buffer that is a "
           "parameter";
  }
  return "this statement means nothing in a program";
}

}  // namespace

// The items behind a definition become its body.
Stmt StmtReader::Fold(Items items) {
  std::vector<Stmt> reversed;
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (item->stmt) {
      reversed.push_back(std::move(item->stmt));
      continue;
    }
    Stmt rest = MakeSeq({reversed.rbegin(), reversed.rend()});
    reversed.clear();
    reversed.push_back(item->around(std::move(rest)));
  }
  return MakeSeq({reversed.rbegin(), reversed.rend()});
}

absl::StatusOr<Stmt> StmtReader::Body(const std::vector<py::Stmt>& stmts) {
  constexpr size_t kMaxScopes = 1000;
  ScopeLevel level(context_.scope);
  Items items;
  size_t scopes = 0;
  for (const py::Stmt& s : stmts) {
    const size_t before = items.size();
    KILN_RETURN_IF_ERROR(Read(s, items));
    for (size_t i = before; i < items.size(); ++i) scopes += !items[i].stmt;
    if (scopes > kMaxScopes) {
      return context_.Error(s.begin,
                            absl::StrCat("more than ", kMaxScopes,
                                         " names are defined in one body"));
    }
  }
  return Fold(std::move(items));
}

absl::Status StmtReader::Read(const py::Stmt& s, Items& out) {
  switch (s.kind) {
    case py::StmtKind::kAssign:
      for (const py::Expr& target : s.targets) {
        KILN_RETURN_IF_ERROR(Assign(s, target, *s.value, out));
      }
      return absl::OkStatus();
    case py::StmtKind::kAnnotate:
      return Annotate(s, out);
    case py::StmtKind::kAugment:
      return Augment(s, out);
    case py::StmtKind::kExpr:
      return Expression(s, out);
    case py::StmtKind::kFor:
      return For(s, out);
    case py::StmtKind::kIf:
      return If(s, out);
    case py::StmtKind::kWith:
      return With(s, out);
    case py::StmtKind::kReturn:
      return Return(s, out);
    case py::StmtKind::kPass:
    case py::StmtKind::kImport:
      return absl::OkStatus();
    case py::StmtKind::kAssert:
    case py::StmtKind::kWhile:
    case py::StmtKind::kClass:
    case py::StmtKind::kFunction:
    case py::StmtKind::kBreak:
    case py::StmtKind::kContinue:
    case py::StmtKind::kOther:
    case py::StmtKind::kTry:
      break;
  }
  return context_.Error(s.begin, WhyNot(s.kind));
}

absl::StatusOr<std::string> StmtReader::SimpleName(const py::Expr& target) {
  if (target.kind == py::ExprKind::kName) return target.text;
  return context_.Error(target.begin, "one name is needed on the left here");
}

// A variable may be defined again from here on, and T.match_buffer may give a
// view the name of its source; the names of loops, iterators and tensors keep
// their meaning.
absl::Status StmtReader::CheckFree(const py::Expr& target,
                                   const py::Expr& value) {
  if (target.kind != py::ExprKind::kName) return absl::OkStatus();
  const bool call = value.kind == py::ExprKind::kCall;
  if (call && TensorName(value.items[0]) == "match_buffer") {
    return absl::OkStatus();
  }
  const Binding* binding = context_.scope.Find(target.text);
  const Value* bound = binding ? std::get_if<Value>(binding) : nullptr;
  const auto* var = bound ? bound->expr.As<VarNode>() : nullptr;
  const auto is_iterator = [&](const BlockFrame& frame) {
    return std::any_of(
        frame.fields.iters.begin(), frame.fields.iters.end(),
        [&](const IterVar& iter) { return iter.var.get() == var; });
  };
  const bool iterator = var && std::any_of(context_.blocks.begin(),
                                           context_.blocks.end(), is_iterator);
  const bool loop = var && context_.loops.count(var);
  const bool buffer = binding && std::holds_alternative<Buffer>(*binding);
  if (!iterator && !loop && !buffer && target.text != "T") {
    return absl::OkStatus();
  }
  return context_.Error(
      target.begin,
      absl::StrCat("`", target.text, "` is ",
                   iterator ? "an iterator of a block"
                   : loop   ? "the variable of a loop"
                   : buffer ? "a tensor"
                            : "the dialect",
                   " here and cannot be something else; use another name"));
}

absl::Status StmtReader::Assign(const py::Stmt& s, const py::Expr& target,
                                const py::Expr& value, Items& out) {
  const bool call = value.kind == py::ExprKind::kCall;
  const std::string callee = call ? TensorName(value.items[0]) : "";
  if (callee.compare(0, 5, "axis.") == 0) {
    std::vector<const py::Expr*> names = {&target};
    if (target.kind != py::ExprKind::kName) {
      names.clear();
      for (const py::Expr& item : target.items) names.push_back(&item);
    }
    return Axis(names, value, callee.substr(5));
  }
  KILN_RETURN_IF_ERROR(CheckFree(target, value));
  if (target.kind == py::ExprKind::kSubscript) {
    const Binding* binding = context_.scope.Find(target.items[0].text);
    const Buffer* buffer = binding ? std::get_if<Buffer>(binding) : nullptr;
    KILN_ASSIGN_OR_RETURN(
        Value stored,
        buffer ? exprs_.ReadFor(value, (*buffer)->dtype) : exprs_.Read(value));
    return Store(target, stored, out);
  }
  if (target.kind != py::ExprKind::kName) {
    return AssignTuple(s, target, value, out);
  }
  if (!callee.empty()) {
    bool known = true;
    KILN_RETURN_IF_ERROR(AssignCall(target.text, value, out, known));
    if (known) return absl::OkStatus();
  }
  return LetOrConstant(target.text, value, out);
}

absl::Status StmtReader::AssignTuple(const py::Stmt& s, const py::Expr& targets,
                                     const py::Expr& value, Items& out) {
  const py::Expr& values = exprs_.Resolve(value);
  const bool list =
      values.kind == py::ExprKind::kTuple || values.kind == py::ExprKind::kList;
  const bool names = targets.kind == py::ExprKind::kTuple ||
                     targets.kind == py::ExprKind::kList;
  if (!names || !list || values.items.size() != targets.items.size()) {
    return context_.Error(
        targets.begin,
        absl::StrCat("there are ", targets.items.size(),
                     " names here, and not as many values on the right"));
  }
  for (size_t i = 0; i < values.items.size(); ++i) {
    KILN_RETURN_IF_ERROR(Assign(s, targets.items[i], values.items[i], out));
  }
  return absl::OkStatus();
}

absl::Status StmtReader::AssignCall(const std::string& name,
                                    const py::Expr& call, Items& out,
                                    bool& known) {
  const std::string callee = TensorName(call.items[0]);
  if (callee == "alloc_buffer" || callee == "sblock_alloc_buffer") {
    KILN_ASSIGN_OR_RETURN(Buffer buffer,
                          buffers_.Declare(name, call, BufferRole::kAllocated));
    context_.scope.Bind(name, buffer);
    context_.blocks.back().fields.alloc_buffers.push_back(buffer);
    return absl::OkStatus();
  }
  if (callee == "match_buffer") return MatchBuffer(name, call);
  if (callee == "allocate" || callee == "Buffer" || callee == "buffer_decl" ||
      callee == "decl_buffer" || callee == "alloc_local" ||
      callee == "alloc_shared") {
    return DeclareBuffer(name, call, callee, out);
  }
  std::optional<DType> dtype = DType::FromString(callee);
  if (callee == "var" && call.items.size() == 2) {
    KILN_ASSIGN_OR_RETURN(dtype, exprs_.Type(call.items[1]));
  } else if (call.items.size() != 1) {
    dtype.reset();
  }
  known = dtype.has_value();
  if (!known) return absl::OkStatus();
  const Binding* binding = context_.scope.Find(name);
  const Value* bound = binding ? std::get_if<Value>(binding) : nullptr;
  const bool open = bound && bound->expr.As<VarNode>() &&
                    !context_.loops.count(bound->expr.As<VarNode>());
  if (open) return absl::OkStatus();  // named in the parameters already
  const bool index = dtype->is_int();
  Var var(name, index ? DType::Index() : *dtype);
  context_.scope.Bind(name, Value{var, false, index});
  return absl::OkStatus();
}

absl::Status StmtReader::DeclareBuffer(const std::string& name,
                                       const py::Expr& call,
                                       const std::string& callee, Items& out) {
  Annotations notes;
  Buffer buffer;
  bool view = false;
  if (callee == "allocate") {
    KILN_ASSIGN_OR_RETURN(buffer, buffers_.Allocated(name, call, notes));
    context_.scope.Bind(name, Value{buffer->data});
  } else {
    for (const py::Expr& argument : call.items) {
      if (argument.kind != py::ExprKind::kKeyword) continue;
      view = view || argument.text == "data";
      if (argument.text == "annotations") {
        KILN_ASSIGN_OR_RETURN(notes, exprs_.AttributeMap(argument.items[0]));
      }
    }
    KILN_ASSIGN_OR_RETURN(
        buffer,
        buffers_.Declare(name, call,
                         view ? BufferRole::kView : BufferRole::kAllocated));
    context_.scope.Bind(name, buffer);
  }
  out.push_back({nullptr, [buffer, view, notes](Stmt body) {
                   return MakeAllocate(buffer, std::move(body), view, notes);
                 }});
  return absl::OkStatus();
}

absl::Status StmtReader::MatchBuffer(const std::string& name,
                                     const py::Expr& call) {
  const py::Expr* matched =
      call.items.size() > 1 ? &call.items[1] : &call.items[0];
  if (matched->kind == py::ExprKind::kKeyword) matched = &matched->items[0];
  const bool region = matched->kind == py::ExprKind::kSubscript;
  KILN_ASSIGN_OR_RETURN(
      Buffer buffer,
      buffers_.Declare(name, call,
                       region ? BufferRole::kMatch : BufferRole::kParameter));
  if (region) {
    KILN_ASSIGN_OR_RETURN(BufferRegion source, exprs_.Region(*matched));
    if (source.buffer->dtype != buffer->dtype) {
      return context_.Error(
          call.begin, absl::StrCat("`", name, "` is ", buffer->dtype.ToString(),
                                   ", but what it matches is ",
                                   source.buffer->dtype.ToString()));
    }
    context_.blocks.back().fields.match_buffers.push_back({buffer, source});
    context_.scope.Bind(name, buffer);
    return absl::OkStatus();
  }
  KILN_ASSIGN_OR_RETURN(Value handle, exprs_.Read(*matched));
  for (Param& param : context_.function.params) {
    if (param.var != handle.expr) continue;
    if (param.buffer) break;
    param.buffer = buffer;
    context_.scope.Bind(name, buffer);
    return absl::OkStatus();
  }
  return context_.Error(matched->begin,
                        "a parameter of type T.handle that is not matched "
                        "yet, or a region A[lo:hi], is needed here");
}

// x: T.int32 = value, x: T.let[T.int32] = value, A: T.Buffer(...) = ...
absl::Status StmtReader::Annotate(const py::Stmt& s, Items& out) {
  KILN_ASSIGN_OR_RETURN(std::string name, SimpleName(s.targets[0]));
  if (!s.value) {
    return context_.Error(s.begin,
                          absl::StrCat("`", name, "` gets no value here"));
  }
  const py::Expr* annotation = &*s.annotation;
  if (annotation->kind == py::ExprKind::kSubscript &&
      TensorName(annotation->items[0]) == "let" &&
      annotation->items.size() == 2) {
    annotation = &annotation->items[1];
  }
  std::optional<DType> dtype = DType::FromString(TensorName(*annotation));
  if (annotation->kind == py::ExprKind::kString) {
    dtype = DType::FromString(annotation->text);
  }
  if (!dtype) return Assign(s, s.targets[0], *s.value, out);
  KILN_ASSIGN_OR_RETURN(Value value, exprs_.Read(*s.value));
  // An index stays an index, whatever width the text gives it.
  const bool index =
      dtype->is_int() && !value.weak && value.expr.dtype() == DType::Index();
  if (index) return BindLet(name, value, out);
  KILN_ASSIGN_OR_PLACE(Expr typed, context_, s.value->begin,
                       ConvertTo(value, *dtype));
  return BindLet(name, Value{typed}, out);
}

absl::Status StmtReader::BindLet(const std::string& name, const Value& value,
                                 Items& out) {
  const Expr settled = Settle(value);
  Var var(name, settled.dtype());
  context_.scope.Bind(name, Value{var, false, value.index});
  out.push_back({nullptr, [var, settled](Stmt body) {
                   return MakeLet(var, settled, std::move(body));
                 }});
  return absl::OkStatus();
}

// `name` becomes another name for a number, a string, a tuple or a buffer, and
// a variable for any other value.
absl::Status StmtReader::LetOrConstant(const std::string& name,
                                       const py::Expr& value, Items& out) {
  const py::Expr& resolved = exprs_.Resolve(value);
  if (IsLiteral(resolved)) {
    context_.scope.Bind(name, py::Expr(resolved));
    return absl::OkStatus();
  }
  if (resolved.kind == py::ExprKind::kName) {
    const Binding* binding = context_.scope.Find(resolved.text);
    if (binding && std::holds_alternative<Buffer>(*binding)) {
      context_.scope.Bind(name, Binding(*binding));
      return absl::OkStatus();
    }
  }
  KILN_ASSIGN_OR_RETURN(Value computed, exprs_.Read(resolved));
  if (computed.weak || computed.expr.As<StringImmNode>()) {
    context_.scope.Bind(name, computed);
    return absl::OkStatus();
  }
  return BindLet(name, computed, out);
}

absl::Status StmtReader::Augment(const py::Stmt& s, Items& out) {
  const py::Expr& target = s.targets[0];
  if (target.kind != py::ExprKind::kSubscript) {
    return context_.Error(target.begin,
                          "only an element of a buffer can be updated");
  }
  KILN_ASSIGN_OR_RETURN(Value old, exprs_.Read(target));
  KILN_ASSIGN_OR_RETURN(Value operand, exprs_.Read(*s.value));
  KILN_ASSIGN_OR_PLACE(Value updated, context_, s.begin,
                       ApplyBinary(s.name, old, operand, Mixing::kNarrow));
  return Store(target, updated, out);
}

absl::Status StmtReader::Store(const py::Expr& target, const Value& value,
                               Items& out) {
  if (target.items[0].kind != py::ExprKind::kName) {
    return context_.Error(target.begin, "only a buffer can be stored to");
  }
  KILN_ASSIGN_OR_RETURN(Buffer buffer, exprs_.BufferNamed(target.items[0]));
  KILN_ASSIGN_OR_RETURN(std::vector<Expr> indices,
                        exprs_.Indices(buffer, target));
  const int lanes = buffer->dtype.lanes() *
                    (indices.empty() ? 1 : indices.back().dtype().lanes());
  absl::StatusOr<Expr> stored =
      ConvertTo(value, buffer->dtype.WithLanes(lanes));
  if (!stored.ok()) {
    return context_.Error(
        target.begin, absl::StrCat("in this store to `", buffer->name, "`: ",
                                   std::string(stored.status().message())));
  }
  out.push_back({MakeStore(buffer, *stored, std::move(indices)), nullptr});
  return absl::OkStatus();
}

// Whether there is more to the function than this is checked at its end.
absl::Status StmtReader::Return(const py::Stmt& s, Items& out) {
  if (!s.value) return context_.Error(s.begin, WhyNot(s.kind));
  KILN_ASSIGN_OR_RETURN(const Expr value, exprs_.Settled(*s.value));
  out.push_back({ReturnOf(value), nullptr});
  return absl::OkStatus();
}

absl::Status StmtReader::Expression(const py::Stmt& s, Items& out) {
  const py::Expr& e = *s.value;
  if (e.kind == py::ExprKind::kString || e.kind == py::ExprKind::kEllipsis) {
    return absl::OkStatus();  // a docstring, or nothing
  }
  const std::string name =
      e.kind == py::ExprKind::kCall ? TensorName(e.items[0]) : "";
  bool known = true;
  if (!name.empty()) {
    KILN_RETURN_IF_ERROR(BlockStatement(e, name, known));
    if (known) return absl::OkStatus();
  }
  if (name == "attr") return AddNotes(e, out);
  const py::Expr* value = &e;
  if (name == "evaluate") {
    KILN_ASSIGN_OR_RETURN(auto args,
                          py::Arguments::Bind(context_.source, e, {"value"}));
    KILN_ASSIGN_OR_RETURN(value, args.Require("value"));
  } else if (name == "buffer_store") {
    KILN_ASSIGN_OR_RETURN(auto args,
                          py::Arguments::Bind(context_.source, e,
                                              {"buffer", "value", "indices"}));
    KILN_ASSIGN_OR_RETURN(const py::Expr* buffer, args.Require("buffer"));
    KILN_ASSIGN_OR_RETURN(const py::Expr* stored, args.Require("value"));
    KILN_ASSIGN_OR_RETURN(const py::Expr* indices, args.Require("indices"));
    py::Expr target;
    target.kind = py::ExprKind::kSubscript;
    target.begin = e.begin;
    target.items = {*buffer};
    for (const py::Expr& i : indices->items) target.items.push_back(i);
    KILN_ASSIGN_OR_RETURN(Value read, exprs_.Read(*stored));
    return Store(target, read, out);
  } else if (name.empty()) {
    return context_.Error(e.begin,
                          "this computes a value and drops it; a "
                          "statement stores, loops or calls `T.`");
  }
  KILN_ASSIGN_OR_RETURN(Expr evaluated, exprs_.Settled(*value));
  out.push_back({MakeEvaluate(evaluated), nullptr});
  return absl::OkStatus();
}

absl::Status StmtReader::If(const py::Stmt& s, Items& out) {
  KILN_ASSIGN_OR_RETURN(Expr condition, exprs_.Condition(*s.value));
  if (!condition.dtype().is_scalar()) {
    return context_.Error(s.value->begin,
                          "an `if` asks one condition, not a "
                          "vector of them; see T.Select");
  }
  KILN_ASSIGN_OR_RETURN(Stmt then_case, Body(s.body));
  Stmt else_case;
  if (!s.orelse.empty()) {
    KILN_ASSIGN_OR_RETURN(else_case, Body(s.orelse));
  }
  out.push_back({MakeIf(condition, then_case, else_case), nullptr});
  return absl::OkStatus();
}

}  // namespace kiln::script
