// Loops that are serial, start at 0, carry no annotations and do not depend on
// each other are printed as one T.grid. A definition holds for all statements
// behind it in its body, as the reader has it: the last statement of a body
// defines its name in a line, one that others follow opens a block of lines, so
// that its scope ends where it does in the program:
//
//   Let x = A[0]: store                     Let x = A[0]: store; another store
//     x: T.float32 = A[0]                     with T.LetStmt(A[0]) as x:
//     B[0] = x                                    B[0] = x
//                                             B[1] = T.float32(0)
//
// Names are unique in the scopes around them only (names.h): two loops side by
// side can both be i.
#include "kiln/ir/text/printer/stmt_printer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/literals.h"

namespace kiln::script {

void StmtPrinter::Line(std::string_view text) {
  if (!text.empty()) text_.append(4 * depth_, ' ');
  text_.append(text);
  text_.push_back('\n');
}

void StmtPrinter::Print(const Stmt& s) {
  switch (s.kind()) {
    case StmtKind::kFor:
      return PrintFor(*s.As<ForNode>());
    case StmtKind::kBlockRealize:
      return PrintBlock(*s.As<BlockRealizeNode>());
    case StmtKind::kSeq:
      return PrintSequence(s.As<SeqNode>()->stmts);
    case StmtKind::kStore:
      return PrintStore(*s.As<StoreNode>());
    case StmtKind::kIf:
      return PrintIf(*s.As<IfNode>());
    case StmtKind::kLet:
      return PrintLet(*s.As<LetStmtNode>(), true);
    case StmtKind::kAllocate:
      return PrintAllocate(*s.As<AllocateNode>(), true);
    case StmtKind::kEvaluate:
      return PrintEvaluate(*s.As<EvaluateNode>());
  }
}

// A definition opens a block of lines unless it is the last statement.
void StmtPrinter::PrintSequence(const std::vector<Stmt>& stmts) {
  for (size_t i = 0; i < stmts.size(); ++i) {
    const bool last = i + 1 == stmts.size();
    if (const auto* let = stmts[i].As<LetStmtNode>()) {
      PrintLet(*let, last);
    } else if (const auto* allocate = stmts[i].As<AllocateNode>()) {
      PrintAllocate(*allocate, last);
    } else {
      Print(stmts[i]);
    }
  }
}

// The statements of an indented body, with names of their own.
void StmtPrinter::PrintBody(const Stmt& s) {
  NamesScope scope(names_);
  Indent();
  Print(s);
  Dedent();
}

// A loop that may stand in a T.grid: serial, from 0, with nothing to say.
static bool IsPlain(const ForNode& loop) {
  return loop.for_kind == ForKind::kSerial && IsZero(loop.min) &&
         loop.annotations.empty();
}

void StmtPrinter::PrintFor(const ForNode& loop) {
  std::vector<const ForNode*> nest = {&loop};
  auto depends = [&](const Expr& e) {
    return UsesVar(e, [&](const VarNode* var) {
      return std::any_of(nest.begin(), nest.end(), [&](const ForNode* outer) {
        return outer->var.get() == var;
      });
    });
  };
  while (IsPlain(*nest.back())) {
    const auto* inner = nest.back()->body.As<ForNode>();
    if (!inner || !IsPlain(*inner) || depends(inner->extent)) break;
    nest.push_back(inner);
  }
  std::vector<std::string> names, extents;
  const std::string call = nest.size() > 1 ? std::string() : LoopCall(loop);
  NamesScope scope(names_);
  for (const ForNode* part : nest)
    extents.push_back(exprs_.Print(part->extent));
  for (const ForNode* part : nest) {
    names.push_back(names_.Define(part->var));
    loops_[part->var.get()] = Range{part->min, part->extent};
  }
  const std::string iterable =
      nest.size() > 1
          ? absl::StrCat("T.grid(", absl::StrJoin(extents, ", "), ")")
          : call;
  Line(absl::StrCat("for ", absl::StrJoin(names, ", "), " in ", iterable, ":"));
  PrintBody(nest.back()->body);
  for (const ForNode* part : nest) loops_.erase(part->var.get());
}

std::string StmtPrinter::LoopCall(const ForNode& loop) {
  std::string_view callee;
  switch (loop.for_kind) {
    case ForKind::kSerial:
      callee = loop.annotations.empty() ? "range" : "T.serial";
      break;
    case ForKind::kParallel:
      callee = "T.parallel";
      break;
    case ForKind::kVectorized:
      callee = "T.vectorized";
      break;
    case ForKind::kUnrolled:
      callee = "T.unroll";
      break;
    case ForKind::kThreadBinding:
      callee = "T.thread_binding";
      break;
  }
  std::string text(callee);
  text += "(";
  if (!IsZero(loop.min)) {
    absl::StrAppend(&text, exprs_.Print(loop.min), ", ",
                    exprs_.Print(Add(loop.min, loop.extent)));
  } else {
    absl::StrAppend(&text, exprs_.Print(loop.extent));
  }
  if (loop.for_kind == ForKind::kThreadBinding) {
    absl::StrAppend(&text, ", thread=", Quoted(loop.thread_tag));
  }
  if (!loop.annotations.empty()) {
    absl::StrAppend(&text,
                    ", annotations=", exprs_.AttributeMap(loop.annotations));
  }
  return text + ")";
}

void StmtPrinter::PrintStore(const StoreNode& store) {
  const std::string target = exprs_.Element(store.buffer, store.indices);
  Line(absl::StrCat(target, " = ", exprs_.Print(store.value, true)));
}

void StmtPrinter::PrintIf(const IfNode& branch) {
  Line(absl::StrCat("if ", exprs_.Print(branch.condition), ":"));
  PrintBody(branch.then_case);
  if (!branch.else_case) return;
  Line("else:");
  PrintBody(branch.else_case);
}

// Of node 0 a note is a dict, as recent printers have it.
void StmtPrinter::PrintNote(const CallNode& note, const Stmt& body,
                            bool is_last) {
  const std::string key = exprs_.Print(note.args[1]);
  const std::string value = exprs_.Print(note.args[2]);
  const std::string call =
      IsZero(note.args[0]) && note.args[0].dtype() == DType::Index()
          ? absl::StrCat("T.attr({", key, ": ", value, "})")
          : absl::StrCat("T.attr(", exprs_.Print(note.args[0]), ", ", key, ", ",
                         value, ")");
  Line(is_last ? call : absl::StrCat("with ", call, ":"));
  return is_last ? Print(body) : PrintBody(body);
}

void StmtPrinter::PrintLet(const LetStmtNode& let, bool is_last) {
  const auto* note = let.value.As<CallNode>();
  if (note && note->op == Intrinsic::kAttr) {
    return PrintNote(*note, let.body, is_last);
  }
  const std::string value = exprs_.Print(let.value);
  const std::string dtype = absl::StrCat("T.", let.var.dtype().ToString());
  if (is_last) {
    const std::string name = names_.Define(let.var);
    const std::string type =
        newest_ ? absl::StrCat("T.let[", dtype, "]") : dtype;
    Line(absl::StrCat(name, ": ", type, " = ", value));
    return Print(let.body);
  }
  NamesScope scope(names_);
  const std::string name = names_.Define(let.var);
  Line(absl::StrCat("with T.LetStmt(", value, ") as ", name, ":"));
  PrintBody(let.body);
}

void StmtPrinter::PrintEvaluate(const EvaluateNode& evaluate) {
  const std::string value = exprs_.Print(evaluate.value);
  const auto* call = evaluate.value.As<CallNode>();
  if (call && call->op == Intrinsic::kRet) {
    Line(absl::StrCat("return ", exprs_.Print(call->args[0])));
    return;
  }
  const bool spelled = call && value.compare(0, 2, "T.") == 0;
  Line(spelled ? value : absl::StrCat("T.evaluate(", value, ")"));
}

}  // namespace kiln::script
