// Lines inside of a block are of two kinds: those about the block (axes,
// T.where, T.reads, T.init) fill in the frame on top of context_.blocks; all
// others become its body. When the block ends, the regions that it did not
// state are inferred:
//
//   for i, k in T.grid(8, 4):
//     with T.block("C"):
//       vi, vk = T.axis.remap("SR", [i, k])   vi, spatial, of 8, bound to i;
//                                             vk, a reduction, of 4, bound to k
//       with T.init():
//         C[vi] = T.float32(0)                init
//       C[vi] = C[vi] + A[vi, vk]             body
//                                             T.reads(A[vi, vk]) and
//                                             T.writes(C[vi]) are inferred
//
// T.axis.remap takes domains from the loops that are in scope (context_.loops);
// T.axis.spatial(8, i) states its domain. A `with` of several items is read as
// nested ones, and one that defines a buffer or a variable limits its scope.
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/text/reader/access_region.h"
#include "kiln/ir/text/reader/stmt_reader.h"

namespace kiln::script {

absl::Status StmtReader::With(const py::Stmt& s, Items& out) {
  return WithOne(s, 0, out);
}

// with a, b: body is with a: with b: body.
absl::Status StmtReader::WithOne(const py::Stmt& s, size_t index, Items& out) {
  const py::Expr& e = s.values[index];
  const std::string name =
      e.kind == py::ExprKind::kCall ? TensorName(e.items[0]) : "";
  if (name == "block" || name == "sblock") return Block(s, index, out);
  if (name == "init") return Init(s, index);
  if (name == "launch_thread") return LaunchThread(s, index, out);
  const bool declares = name == "allocate" || name == "decl_buffer";
  const bool notes = name == "attr";
  if (declares || notes || name == "LetStmt") {
    ScopeLevel level(context_.scope);
    Items items;
    KILN_RETURN_IF_ERROR(declares ? WithBuffer(e, name, s.targets[index], items)
                         : notes  ? AddNotes(e, items)
                                  : WithLet(e, s.targets[index], items));
    KILN_ASSIGN_OR_RETURN(Stmt body, WithBody(s, index));
    items.push_back({std::move(body), nullptr});
    out.push_back({Fold(std::move(items)), nullptr});
    return absl::OkStatus();
  }
  return context_.Error(e.begin,
                        "`with` opens T.block(name), T.init(), "
                        "T.launch_thread, T.allocate, T.decl_buffer, "
                        "T.LetStmt or T.attr here");
}

absl::Status StmtReader::WithBuffer(const py::Expr& call,
                                    const std::string& name,
                                    const py::Expr& target, Items& out) {
  if (target.kind == py::ExprKind::kOmitted) {
    return context_.Error(call.begin,
                          absl::StrCat("T.", name, "(...) as NAME is needed"));
  }
  KILN_ASSIGN_OR_RETURN(const std::string bound, SimpleName(target));
  return DeclareBuffer(bound, call, name, out);
}

// with T.LetStmt(value) as x, or T.LetStmt(value, var=x) after x = T.int32().
absl::Status StmtReader::WithLet(const py::Expr& call, const py::Expr& target,
                                 Items& out) {
  KILN_ASSIGN_OR_RETURN(
      auto args,
      py::Arguments::Bind(context_.source, call, {"value", "type", "var"}));
  const py::Expr* var = args.GetUnlessNone("var");
  const bool named = target.kind != py::ExprKind::kOmitted;
  if (named == (var != nullptr)) {
    return context_.Error(call.begin,
                          "T.LetStmt(value) as NAME, or T.LetStmt(value, "
                          "var=NAME), names its variable once");
  }
  KILN_ASSIGN_OR_RETURN(const std::string bound,
                        SimpleName(named ? target : *var));
  KILN_ASSIGN_OR_RETURN(const py::Expr* value, args.Require("value"));
  KILN_ASSIGN_OR_RETURN(Value computed, exprs_.Read(*value));
  return BindLet(bound, computed, out);
}

absl::StatusOr<Stmt> StmtReader::WithBody(const py::Stmt& s, size_t index) {
  if (index + 1 == s.values.size()) return Body(s.body);
  Items items;
  KILN_RETURN_IF_ERROR(WithOne(s, index + 1, items));
  return Fold(std::move(items));
}

absl::Status StmtReader::Block(const py::Stmt& s, size_t index, Items& out) {
  const py::Expr& call = s.values[index];
  KILN_ASSIGN_OR_RETURN(auto args, py::Arguments::Bind(context_.source, call,
                                                       {"name", "no_realize"}));
  BlockFrame frame;
  frame.predicate = Bool(true);
  frame.is_sblock = TensorName(call.items[0]) == "sblock";
  frame.fields.id = context_.function.NewId();
  if (const py::Expr* name = args.GetUnlessNone("name")) {
    KILN_ASSIGN_OR_RETURN(frame.fields.name, exprs_.String(*name));
  }
  // A block called root that stands in no other block or loop is the root
  // itself, of which no regions are inferred.
  const bool outermost = context_.blocks.size() == 1 && context_.loops.empty();
  frame.is_root = outermost && frame.fields.name == "root";
  ScopeLevel level(context_.scope);
  context_.blocks.push_back(std::move(frame));
  absl::StatusOr<Stmt> body = WithBody(s, index);
  frame = std::move(context_.blocks.back());
  context_.blocks.pop_back();
  KILN_RETURN_IF_ERROR(body.status());
  KILN_ASSIGN_OR_RETURN(Stmt realize,
                        FinishBlock(std::move(frame), *std::move(body)));
  out.push_back({std::move(realize), nullptr});
  return absl::OkStatus();
}

absl::StatusOr<Stmt> StmtReader::FinishBlock(BlockFrame frame, Stmt body) {
  frame.fields.body = std::move(body);
  // Newest texts say nothing of blocks that call foreign code by T.reads() and
  // T.writes().
  const bool is_open = frame.is_sblock && frame.fields.iters.empty() &&
                       frame.fields.reads.empty() &&
                       frame.fields.writes.empty();
  if (is_open) frame.has_reads = frame.has_writes = false;
  if ((!frame.has_reads || !frame.has_writes) && !frame.is_root) {
    AccessRegions inferred = InferAccessRegions(frame.fields, context_.data_of);
    if (!frame.has_reads) frame.fields.reads = std::move(inferred.reads);
    if (!frame.has_writes) frame.fields.writes = std::move(inferred.writes);
  }
  if (frame.has_reads && frame.is_sblock) CompleteReads(frame.fields);
  return MakeRealize(std::move(frame.values), frame.predicate,
                     MakeBlock(std::move(frame.fields)));
}

absl::StatusOr<BlockFrame*> StmtReader::InBlock(const py::Expr& at,
                                                const std::string& what) {
  if (context_.blocks.size() > 1) return &context_.blocks.back();
  return context_.Error(at.begin, absl::StrCat(what,
                                               " stands only inside "
                                               "`with T.block(...)`"));
}

absl::Status StmtReader::Init(const py::Stmt& s, size_t index) {
  KILN_ASSIGN_OR_RETURN(BlockFrame * frame,
                        InBlock(s.values[index], "T.init()"));
  KILN_RETURN_IF_ERROR(
      py::Arguments::Bind(context_.source, s.values[index], {}).status());
  if (frame->fields.init) {
    return context_.Error(s.begin, "this block has an init already");
  }
  KILN_ASSIGN_OR_RETURN(Stmt init, WithBody(s, index));
  context_.blocks.back().fields.init = std::move(init);
  return absl::OkStatus();
}

// with T.launch_thread("threadIdx.x", 32) as tx: a loop bound to a thread.
absl::Status StmtReader::LaunchThread(const py::Stmt& s, size_t index,
                                      Items& out) {
  KILN_ASSIGN_OR_RETURN(auto args,
                        py::Arguments::Bind(context_.source, s.values[index],
                                            {"thread", "extent"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* thread, args.Require("thread"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* extent, args.Require("extent"));
  ForFields fields;
  fields.for_kind = ForKind::kThreadBinding;
  fields.id = context_.function.NewId();
  fields.min = Int(0);
  KILN_ASSIGN_OR_RETURN(fields.thread_tag, exprs_.String(*thread));
  KILN_ASSIGN_OR_RETURN(fields.extent, exprs_.Index(*extent));
  KILN_ASSIGN_OR_RETURN(std::string name, SimpleName(s.targets[index]));
  fields.var = Var(name);
  ScopeLevel level(context_.scope);
  context_.scope.Bind(name, Value{fields.var, false, true});
  context_.loops[fields.var.get()] = Range{fields.min, fields.extent};
  absl::StatusOr<Stmt> body = WithBody(s, index);
  context_.loops.erase(fields.var.get());
  KILN_RETURN_IF_ERROR(body.status());
  fields.body = *std::move(body);
  out.push_back({MakeFor(std::move(fields)), nullptr});
  return absl::OkStatus();
}

absl::StatusOr<IterType> StmtReader::AxisType(const py::Expr& at,
                                              const std::string& name) {
  if (name == "spatial" || name == "S") return IterType::kSpatial;
  if (name == "reduce" || name == "R") return IterType::kReduce;
  // A scan runs in order; an opaque iterator promises no more than that.
  if (name == "opaque" || name == "O" || name == "scan") {
    return IterType::kOpaque;
  }
  return context_.Error(
      at.begin, absl::StrCat("there is no axis `", name,
                             "`; write T.axis.spatial, reduce, opaque, scan "
                             "or remap"));
}

absl::StatusOr<Range> StmtReader::AxisDomain(const py::Expr& e) {
  const py::Expr& domain = exprs_.Resolve(e);
  const bool pair = (domain.kind == py::ExprKind::kTuple ||
                     domain.kind == py::ExprKind::kList) &&
                    domain.items.size() == 2;
  return pair ? Bounds(domain.items[0], &domain.items[1])
              : Bounds(domain, nullptr);
}

absl::Status StmtReader::AddIter(const py::Expr& name, Range domain,
                                 IterType type, Expr value) {
  KILN_ASSIGN_OR_RETURN(std::string text, SimpleName(name));
  Var var(text);
  BlockFrame& frame = context_.blocks.back();
  for (const IterVar& other : frame.fields.iters) {
    if (other.var.name() != text) continue;
    return context_.Error(name.begin,
                          absl::StrCat("this block has an iterator `", text,
                                       "` already; name each axis once"));
  }
  frame.fields.iters.push_back({var, std::move(domain), type});
  frame.values.push_back(std::move(value));
  context_.scope.Bind(text, Value{var, false, true});
  return absl::OkStatus();
}

absl::Status StmtReader::Axis(const std::vector<const py::Expr*>& names,
                              const py::Expr& call, const std::string& callee) {
  KILN_RETURN_IF_ERROR(InBlock(call, "an axis").status());
  if (callee == "remap") return Remap(names, call);
  KILN_ASSIGN_OR_RETURN(IterType type, AxisType(call, callee));
  KILN_ASSIGN_OR_RETURN(
      auto args,
      py::Arguments::Bind(context_.source, call, {"dom", "binding", "dtype"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* dom, args.Require("dom"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* binding, args.Require("binding"));
  KILN_ASSIGN_OR_RETURN(Range domain, AxisDomain(*dom));
  KILN_ASSIGN_OR_RETURN(Expr value, exprs_.Index(*binding));
  if (names.size() != 1) {
    return context_.Error(names.empty() ? call.begin : names[1]->begin,
                          "one axis has one name; see T.axis.remap for "
                          "several");
  }
  return AddIter(*names[0], std::move(domain), type, std::move(value));
}

absl::Status StmtReader::Remap(const std::vector<const py::Expr*>& names,
                               const py::Expr& call) {
  KILN_ASSIGN_OR_RETURN(auto args,
                        py::Arguments::Bind(context_.source, call,
                                            {"kinds", "bindings", "dtype"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* kinds_arg, args.Require("kinds"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* list, args.Require("bindings"));
  KILN_ASSIGN_OR_RETURN(std::string kinds, exprs_.String(*kinds_arg));
  const std::vector<py::Expr>& loops = list->items;
  const bool is_list =
      list->kind == py::ExprKind::kList || list->kind == py::ExprKind::kTuple;
  if (!is_list || kinds.size() != loops.size() ||
      names.size() != loops.size()) {
    return context_.Error(
        call.begin,
        absl::StrCat("there are ", names.size(), " names, ", kinds.size(),
                     " kinds and ", is_list ? loops.size() : 1,
                     " loops; each axis needs one of each"));
  }
  for (size_t i = 0; i < loops.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(IterType type,
                          AxisType(*kinds_arg, std::string(1, kinds[i])));
    KILN_ASSIGN_OR_RETURN(Expr value, exprs_.Index(loops[i]));
    auto loop = context_.loops.find(value.As<VarNode>());
    if (loop == context_.loops.end()) {
      return context_.Error(loops[i].begin,
                            "remap takes loop variables; write "
                            "T.axis.spatial(extent, value) for other values");
    }
    KILN_RETURN_IF_ERROR(AddIter(*names[i], loop->second, type, value));
  }
  return absl::OkStatus();
}

absl::Status StmtReader::Regions(const py::Expr& call,
                                 std::vector<BufferRegion>& out) {
  out.clear();
  for (size_t i = 1; i < call.items.size(); ++i) {
    const py::Expr& item = call.items[i];
    const bool list =
        item.kind == py::ExprKind::kList || item.kind == py::ExprKind::kTuple;
    if (!list) {
      KILN_ASSIGN_OR_RETURN(BufferRegion region, exprs_.Region(item));
      out.push_back(std::move(region));
      continue;
    }
    for (const py::Expr& inner : item.items) {
      KILN_ASSIGN_OR_RETURN(BufferRegion region, exprs_.Region(inner));
      out.push_back(std::move(region));
    }
  }
  return absl::OkStatus();
}

absl::Status StmtReader::BlockStatement(const py::Expr& call,
                                        const std::string& name, bool& known) {
  const bool attributes = name == "block_attr" || name == "sblock_attr";
  if (name == "func_attr" || attributes) {
    KILN_ASSIGN_OR_RETURN(
        auto args, py::Arguments::Bind(context_.source, call, {"attrs"}));
    KILN_ASSIGN_OR_RETURN(const py::Expr* attrs, args.Require("attrs"));
    KILN_ASSIGN_OR_RETURN(AttrMap map, exprs_.AttributeMap(*attrs));
    AttrMap* target = &context_.function.attrs;
    if (attributes) {
      KILN_ASSIGN_OR_RETURN(BlockFrame * frame, InBlock(call, "T." + name));
      target = &frame->fields.annotations;
    }
    for (auto& [key, value] : map) target->insert_or_assign(key, value);
    return absl::OkStatus();
  }
  if (name == "reads" || name == "writes") {
    KILN_ASSIGN_OR_RETURN(BlockFrame * frame, InBlock(call, "T." + name));
    const bool reads = name == "reads";
    if (reads ? frame->has_reads : frame->has_writes) {
      return context_.Error(call.begin,
                            absl::StrCat("this block has T.", name,
                                         " already; list all regions in one"));
    }
    (reads ? frame->has_reads : frame->has_writes) = true;
    return Regions(call, reads ? frame->fields.reads : frame->fields.writes);
  }
  if (name == "where") {
    KILN_ASSIGN_OR_RETURN(
        auto args, py::Arguments::Bind(context_.source, call, {"predicate"}));
    KILN_ASSIGN_OR_RETURN(const py::Expr* predicate, args.Require("predicate"));
    KILN_ASSIGN_OR_RETURN(Expr condition, exprs_.Condition(*predicate));
    KILN_ASSIGN_OR_RETURN(BlockFrame * frame, InBlock(call, "T.where"));
    const bool first = IsOne(frame->predicate);
    frame->predicate = first ? condition : And(frame->predicate, condition);
    return absl::OkStatus();
  }
  known = false;
  return absl::OkStatus();
}

}  // namespace kiln::script
