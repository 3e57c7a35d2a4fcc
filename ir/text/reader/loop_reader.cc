// A loop statement becomes one specification for each loop (range, kind,
// thread, annotations); T.grid gives several. The body is read once all
// variables are bound, and the loops are then made from the innermost outward:
//
//   for i, j in T.grid(4, (2, 6)):       for i in range(4):
//       body                        ->     for j in range(2, 6):    extent 4
//                                            body
//   for i in T.thread_binding(32, "threadIdx.x"):   a loop of that tag
//
// Ids are given before the body is read, so that outer loops have smaller ones.
// A step other than 1 is refused, as loops have none; the message says how to
// write it.
#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/reader/stmt_reader.h"

namespace kiln::script {
namespace {

struct LoopKindRow {
  std::string_view name;
  ForKind kind;
};
constexpr std::array<LoopKindRow, 8> kLoopKinds = {
    {{"range", ForKind::kSerial},
     {"serial", ForKind::kSerial},
     {"parallel", ForKind::kParallel},
     {"vectorized", ForKind::kVectorized},
     {"vectorize", ForKind::kVectorized},
     {"unroll", ForKind::kUnrolled},
     {"unrolled", ForKind::kUnrolled},
     {"thread_binding", ForKind::kThreadBinding}}};

}  // namespace

absl::StatusOr<Range> StmtReader::Bounds(const py::Expr& first,
                                         const py::Expr* second) {
  KILN_ASSIGN_OR_RETURN(Expr begin, exprs_.Index(first));
  Range range{Int(0), begin};
  if (second != nullptr) {
    KILN_ASSIGN_OR_RETURN(Expr end, exprs_.Index(*second));
    range = RangeBetween(begin, end);
  }
  if (!range.min.dtype().is_scalar() || !range.extent.dtype().is_scalar()) {
    return context_.Error(first.begin, "the bounds of a loop are scalars");
  }
  return range;
}

absl::StatusOr<std::vector<StmtReader::LoopSpec>> StmtReader::Grid(
    const py::Expr& call) {
  KILN_ASSIGN_OR_RETURN(auto args,
                        py::Arguments::Bind(context_.source, call, {"*"}));
  if (args.rest().empty()) {
    return context_.Error(call.begin, "T.grid needs at least one extent");
  }
  std::vector<LoopSpec> specs;
  for (const py::Expr* extent : args.rest()) {
    LoopSpec spec;
    const bool pair =
        extent->kind == py::ExprKind::kTuple && extent->items.size() == 2;
    const py::Expr* end = pair ? &extent->items[1] : nullptr;
    KILN_ASSIGN_OR_RETURN(spec.range,
                          Bounds(pair ? extent->items[0] : *extent, end));
    specs.push_back(std::move(spec));
  }
  return specs;
}

absl::StatusOr<py::Arguments> StmtReader::LoopArguments(const py::Expr& call,
                                                        bool plain,
                                                        bool binds) {
  const py::Source& source = context_.source;
  if (plain) {
    return py::Arguments::Bind(source, call, {"start", "stop", "step"});
  }
  if (binds) {
    return py::Arguments::Bind(source, call,
                               {"start", "stop", "thread", "annotations"});
  }
  return py::Arguments::Bind(source, call,
                             {"start", "stop", "annotations", "step"});
}

absl::Status StmtReader::CheckStep(const py::Arguments& args) {
  const py::Expr* step = args.GetUnlessNone("step");
  if (!step) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const Expr value, exprs_.Index(*step));
  if (IsOne(value)) return absl::OkStatus();
  return context_.Error(
      step->begin,
      "the loops of a program step by 1; write `for i in range(n)` for n "
      "rounds, and start + i * step where the variable stands");
}

absl::StatusOr<StmtReader::LoopSpec> StmtReader::OneLoop(
    const py::Expr& call, const std::string& name) {
  LoopSpec spec;
  const auto* row = std::find_if(
      kLoopKinds.begin(), kLoopKinds.end(),
      [&](const LoopKindRow& known) { return known.name == name; });
  if (row == kLoopKinds.end()) {
    return context_.Error(
        call.begin,
        "a loop runs over range(n), T.grid(...), T.serial, "
        "T.parallel, T.vectorized, T.unroll or T.thread_binding");
  }
  spec.kind = row->kind;
  const bool binds = spec.kind == ForKind::kThreadBinding;
  KILN_ASSIGN_OR_RETURN(auto args, LoopArguments(call, name == "range", binds));
  KILN_RETURN_IF_ERROR(CheckStep(args));
  KILN_ASSIGN_OR_RETURN(const py::Expr* first, args.Require("start"));
  const py::Expr* second = args.GetUnlessNone("stop");
  const py::Expr* thread = args.Get("thread");
  if (binds && !thread && second &&
      exprs_.Resolve(*second).kind == py::ExprKind::kString) {
    std::swap(thread, second);  // T.thread_binding(n, "threadIdx.x")
  }
  KILN_ASSIGN_OR_RETURN(spec.range, Bounds(*first, second));
  if (binds && thread == nullptr) {
    return context_.Error(call.begin,
                          "T.thread_binding needs thread=\"threadIdx.x\"");
  }
  if (thread != nullptr) {
    KILN_ASSIGN_OR_RETURN(spec.thread_tag, exprs_.String(*thread));
  }
  if (const py::Expr* notes = args.GetUnlessNone("annotations")) {
    KILN_ASSIGN_OR_RETURN(spec.annotations, exprs_.AttributeMap(*notes));
  }
  return spec;
}

absl::StatusOr<std::vector<StmtReader::LoopSpec>> StmtReader::Loops(
    const py::Expr& iterable) {
  if (iterable.kind != py::ExprKind::kCall) {
    return context_.Error(iterable.begin,
                          "a loop runs over range(n) or T.grid(...)");
  }
  std::string name = TensorName(iterable.items[0]);
  if (iterable.items[0].IsName("range")) name = "range";
  if (name == "grid") return Grid(iterable);
  KILN_ASSIGN_OR_RETURN(LoopSpec spec, OneLoop(iterable, name));
  std::vector<LoopSpec> specs;
  specs.push_back(std::move(spec));
  return specs;
}

absl::StatusOr<std::vector<const py::Expr*>> StmtReader::LoopNames(
    const py::Expr& target, size_t count) {
  std::vector<const py::Expr*> names;
  if (target.kind == py::ExprKind::kName) {
    names.push_back(&target);
  } else {
    for (const py::Expr& item : target.items) names.push_back(&item);
  }
  for (const py::Expr* name : names) {
    if (name->kind != py::ExprKind::kName) {
      return context_.Error(name->begin, "a loop variable is a name");
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (names[i]->text != names[j]->text) continue;
      return context_.Error(
          names[i]->begin,
          absl::StrCat("two of these loops are called `", names[i]->text, "`"));
    }
  }
  if (names.size() != count) {
    return context_.Error(
        target.begin,
        absl::StrCat("there are ", names.size(),
                     names.size() == 1 ? " name" : " names", " for ", count,
                     count == 1 ? " loop" : " loops"));
  }
  return names;
}

absl::Status StmtReader::For(const py::Stmt& s, Items& out) {
  if (!s.orelse.empty()) {
    return context_.Error(s.begin, "a loop has no `else` in a program");
  }
  KILN_ASSIGN_OR_RETURN(std::vector<LoopSpec> specs, Loops(*s.value));
  KILN_ASSIGN_OR_RETURN(auto names, LoopNames(s.targets[0], specs.size()));
  ScopeLevel level(context_.scope);
  std::vector<Var> vars;
  std::vector<int64_t> ids;
  for (size_t i = 0; i < specs.size(); ++i) {
    vars.emplace_back(names[i]->text);
    ids.push_back(context_.function.NewId());
    context_.scope.Bind(names[i]->text, Value{vars[i], false, true});
    context_.loops[vars[i].get()] = specs[i].range;
  }
  KILN_ASSIGN_OR_RETURN(Stmt body, Body(s.body));
  for (size_t i = specs.size(); i-- > 0;) {
    context_.loops.erase(vars[i].get());
    ForFields fields;
    fields.id = ids[i];
    fields.var = vars[i];
    fields.min = specs[i].range.min;
    fields.extent = specs[i].range.extent;
    fields.for_kind = specs[i].kind;
    fields.thread_tag = specs[i].thread_tag;
    fields.annotations = specs[i].annotations;
    fields.body = std::move(body);
    body = MakeFor(std::move(fields));
  }
  out.push_back({std::move(body), nullptr});
  return absl::OkStatus();
}

}  // namespace kiln::script
