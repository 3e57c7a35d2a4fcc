// Three steps, each of which relies on the one before. The walk in this file
// checks the structure: definitions, types, ids. CheckBounds, which reasons
// about indices, and CheckRegions, which compares accesses with what blocks
// state, then meet no null reference and no wrong type. The walk keeps what is
// in scope and stops at the first fault, which tells its path:
//
//   for i in range(8):
//     with T.block("B"):
//       vi = T.axis.spatial(8, i)
//       B[i] = A[vi]
//
//   main / block "root" / for i / block "B": the loop variable i of a loop
//   around the block is used inside; ...
//
// The loops around a block with iterators are hidden from it, since a block
// that knows only its iterators can be moved to other loops. Loops bound to
// threads are not hidden, and a block without iterators hides nothing.
#include "kiln/ir/verify/verify.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/automatic.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/verify/bounds.h"
#include "kiln/ir/verify/place.h"
#include "kiln/ir/verify/regions.h"

namespace kiln {
namespace {

using verify_internal::CheckAccess;
using verify_internal::CheckBuffer;
using verify_internal::CheckExpr;
using verify_internal::CheckIndex;
using verify_internal::Place;

class Verifier {
 public:
  Verifier(const Function& f, VerifyOptions options)
      : function_(f), options_(options), place_(f.name) {}

  absl::Status Run();

 private:
  bool is_blocks() const { return options_.level == VerifyLevel::kBlocks; }

  void AddParams();
  void CheckNumerics();
  void CheckAuto();
  void CheckLayoutFree();
  void CheckLayoutFree(const Attr& item, std::set<int64_t>* listed);
  void CheckOnlyRead(const Buffer& buffer);
  void Check(const Stmt& s);
  void CheckFor(const ForNode& loop);
  void CheckThreadTag(const ForNode& loop);
  void CheckRealize(const BlockRealizeNode& realize);
  void CheckBlock(const BlockNode& block);
  // The buffers, regions, init and body of a block, with its iterators defined.
  void CheckInside(const BlockNode& block);
  void CheckRegion(const BufferRegion& region, const char* what);
  void CheckMatch(const MatchBufferRegion& match);
  void CheckStore(const StoreNode& store);
  void CheckIf(const IfNode& node);
  void CheckLet(const LetStmtNode& let);
  void CheckAllocate(const AllocateNode& node);

  void CheckId(int64_t id, const std::string& what);
  void Define(const Var& var);
  void Forget(const Var& var) { place_.vars.erase(var.get()); }
  void Define(const Buffer& buffer);
  void Forget(const Buffer& buffer);
  // Variables that stand alone in the shape of a match are defined by it.
  void DefineOpen(const Expr& e, std::vector<Var>* defined);

  const Function& function_;
  const VerifyOptions options_;
  Place place_;
  // The loops in scope that are not bound to threads, those that a block hides
  // left out.
  std::unordered_set<const VarNode*> loops_;
  std::set<int64_t> ids_;
  // All definitions so far, in scope or not.
  std::unordered_set<const void*> defined_;
};

void Verifier::CheckId(int64_t id, const std::string& what) {
  if (!is_blocks()) return;
  if (id <= 0 || id >= function_.next_id) {
    place_.Fail(absl::StrCat(
        what, " has id ", id,
        ", which is not between 1 and next_id = ", function_.next_id));
  } else if (!ids_.insert(id).second) {
    place_.Fail(absl::StrCat(what, " has id ", id,
                             ", which another loop or block has too"));
  }
}

void Verifier::Define(const Var& var) {
  if (!var) return place_.Fail("a variable is missing");
  if (!place_.vars.insert(var.get()).second) {
    place_.Fail(absl::StrCat("variable ", var.name(),
                             " is defined inside its own scope"));
  }
  if (!defined_.insert(var.get()).second && is_blocks()) {
    place_.Fail(absl::StrCat("variable ", var.name(), " is defined twice"));
  }
}

void Verifier::Define(const Buffer& buffer) {
  if (!place_.buffers.insert(buffer.get()).second ||
      (!defined_.insert(buffer.get()).second && is_blocks())) {
    place_.Fail(absl::StrCat("buffer ", buffer->name, " is defined twice"));
  }
  if (buffer->data) place_.data.insert(buffer->data.get());
}

void Verifier::Forget(const Buffer& buffer) {
  place_.buffers.erase(buffer.get());
}

void Verifier::AddParams() {
  for (const Param& param : function_.params) {
    if (!param.var) {
      return place_.Fail(param.buffer ? "a tensor parameter has no handle"
                                      : "a parameter is missing");
    }
    Define(param.var);
  }
  for (const Var& dim : SymbolicDims(function_)) Define(dim);
  for (const Param& param : function_.params) {
    if (!param.buffer) continue;
    CheckBuffer(param.buffer, place_);
    if (place_.ok()) Define(param.buffer);
  }
}

void Verifier::CheckOnlyRead(const Buffer& buffer) {
  Visit(function_.body, [&](const Stmt& s) {
    const auto* store = s.As<StoreNode>();
    if (store && store->buffer == buffer) {
      place_.Fail(absl::StrCat(
          kLayoutFreeBuffers, " lists the parameter ", buffer->name,
          ", which the function writes; only what it only reads can be laid "
          "out ahead"));
    }
    return place_.ok();
  });
}

void Verifier::CheckLayoutFree(const Attr& item, std::set<int64_t>* listed) {
  const int64_t* index = item.expr() ? AsInt(*item.expr()) : nullptr;
  const auto count = static_cast<int64_t>(function_.params.size());
  if (!index || *index < 0 || *index >= count) {
    return place_.Fail(
        absl::StrCat(kLayoutFreeBuffers, " holds ",
                     index ? absl::StrCat(*index) : "what is no number",
                     "; it is a list of positions among the ", count,
                     " parameters, from 0 on"));
  }
  const Param& param = function_.params[*index];
  if (!param.buffer) {
    return place_.Fail(absl::StrCat(kLayoutFreeBuffers, " lists the parameter ",
                                    param.var.name(), ", which is no tensor"));
  }
  if (!listed->insert(*index).second) {
    return place_.Fail(
        absl::StrCat(kLayoutFreeBuffers, " lists ", *index, " twice"));
  }
  CheckOnlyRead(param.buffer);
}

void Verifier::CheckLayoutFree() {
  const auto found = function_.attrs.find(kLayoutFreeBuffers);
  if (found == function_.attrs.end() || !is_blocks() || !place_.ok()) return;
  const AttrList* list = found->second.list();
  if (!list) {
    return place_.Fail(absl::StrCat(kLayoutFreeBuffers,
                                    " is no list; write [1] for the second "
                                    "parameter"));
  }
  std::set<int64_t> listed;
  for (const Attr& item : *list) {
    if (place_.ok()) CheckLayoutFree(item, &listed);
  }
}

void Verifier::CheckNumerics() {
  const auto found = function_.attrs.find(kNumerics);
  if (found == function_.attrs.end() || !place_.ok()) return;
  const std::string* text = found->second.string();
  if (text && (*text == kStrict || *text == kTermwise || *text == kNormwise)) {
    return;
  }
  place_.Fail(absl::StrCat(kNumerics, " is none of \"", kStrict, "\", \"",
                           kTermwise, "\" and \"", kNormwise, "\""));
}

void Verifier::CheckAuto() {
  const auto found = function_.attrs.find(kAuto);
  if (found == function_.attrs.end() || !place_.ok()) return;
  const Expr* value = found->second.expr();
  if (value && value->dtype().is_bool() && AsInt(*value)) return;
  place_.Fail(absl::StrCat(kAuto, " is neither True nor False"));
}

absl::Status Verifier::Run() {
  AddParams();
  if (function_.name.empty()) place_.Fail("the function has no name");
  // So that no number of new loops and blocks can overflow.
  if (function_.next_id > int64_t{1} << 48) place_.Fail("next_id is too large");
  if (!function_.body) place_.Fail("the body is missing");
  if (!place_.ok()) return place_.status();
  if (is_blocks()) {
    const auto* root = function_.body.As<BlockRealizeNode>();
    if (!root || !root->block || !root->block->iters.empty()) {
      place_.Fail(
          "the body is not a root block without iterators; a function that is "
          "to be scheduled has its stores in blocks: with T.block(\"C\"):");
    }
  }
  Check(function_.body);
  CheckNumerics();
  CheckAuto();
  CheckLayoutFree();
  if (!place_.ok()) return place_.status();
  KILN_RETURN_IF_ERROR(CheckBounds(function_));
  return is_blocks() ? verify_internal::CheckRegions(function_)
                     : absl::OkStatus();
}

void Verifier::Check(const Stmt& s) {
  if (!place_.ok()) return;
  if (!s) return place_.Fail("a statement is missing");
  switch (s.kind()) {
    case StmtKind::kFor:
      return CheckFor(*s.As<ForNode>());
    case StmtKind::kBlockRealize:
      return CheckRealize(*s.As<BlockRealizeNode>());
    case StmtKind::kSeq:
      for (const Stmt& stmt : s.As<SeqNode>()->stmts) Check(stmt);
      return;
    case StmtKind::kStore:
      return CheckStore(*s.As<StoreNode>());
    case StmtKind::kIf:
      return CheckIf(*s.As<IfNode>());
    case StmtKind::kLet:
      return CheckLet(*s.As<LetStmtNode>());
    case StmtKind::kAllocate:
      return CheckAllocate(*s.As<AllocateNode>());
    case StmtKind::kEvaluate:
      return CheckExpr(s.As<EvaluateNode>()->value, place_);
  }
}

void Verifier::CheckThreadTag(const ForNode& loop) {
  const bool is_thread = loop.for_kind == ForKind::kThreadBinding;
  if (!is_thread && !loop.thread_tag.empty()) {
    place_.Fail(absl::StrCat("the loop is tagged ", loop.thread_tag,
                             " and not bound to a thread"));
  }
  static const std::set<std::string> kTags = {
      "threadIdx.x",  "threadIdx.y", "threadIdx.z",  "blockIdx.x",
      "blockIdx.y",   "blockIdx.z",  "vthread",      "vthread.x",
      "vthread.y",    "vthread.z",   "clusterIdx.x", "clusterIdx.y",
      "clusterIdx.z", "cthread"};
  if (is_thread && !kTags.count(loop.thread_tag)) {
    place_.Fail(absl::StrCat("unknown thread axis \"", loop.thread_tag,
                             "\"; known are blockIdx, threadIdx and vthread "
                             "with .x, .y or .z"));
  }
}

void Verifier::CheckFor(const ForNode& loop) {
  place_.Enter(absl::StrCat("for ", loop.var.name()));
  CheckId(loop.id, "the loop");
  CheckIndex(loop.min, "the lower bound", place_);
  CheckIndex(loop.extent, "the extent", place_);
  if (loop.var.dtype() != DType::Index()) {
    place_.Fail(absl::StrCat("the loop variable has type ",
                             loop.var.dtype().ToString(),
                             "; it must be int64"));
  }
  CheckThreadTag(loop);
  Define(loop.var);
  const bool is_thread = loop.for_kind == ForKind::kThreadBinding;
  if (!is_thread) loops_.insert(loop.var.get());
  Check(loop.body);
  loops_.erase(loop.var.get());
  Forget(loop.var);
  place_.Leave();
}

void Verifier::CheckRealize(const BlockRealizeNode& realize) {
  if (!realize.block) return place_.Fail("a block is missing");
  const BlockNode& block = *realize.block;
  if (!is_blocks()) {
    return place_.Fail(absl::StrCat("block \"", block.name,
                                    "\" is left in a lowered function"));
  }
  place_.Enter(absl::StrCat("block \"", block.name, "\""));
  if (realize.values.size() != block.iters.size()) {
    place_.Fail(absl::StrCat("the block has ", block.iters.size(),
                             " iterators and ", realize.values.size(),
                             " bindings"));
  }
  for (const Expr& value : realize.values) {
    CheckIndex(value, "a binding", place_);
  }
  CheckExpr(realize.predicate, place_);
  if (place_.ok() && realize.predicate.dtype() != DType::Bool()) {
    place_.Fail("the predicate is not a bool");
  }
  if (place_.ok()) CheckBlock(block);
  place_.Leave();
}

void Verifier::DefineOpen(const Expr& e, std::vector<Var>* defined) {
  const auto* var = e ? e.As<VarNode>() : nullptr;
  if (!var || place_.vars.count(var) || place_.data.count(var)) return;
  defined->push_back(Var(var));
  Define(defined->back());
}

void Verifier::CheckBlock(const BlockNode& block) {
  CheckId(block.id, "the block");
  for (const IterVar& iter : block.iters) {
    CheckIndex(iter.domain.min, "the domain of an iterator", place_);
    CheckIndex(iter.domain.extent, "the domain of an iterator", place_);
    Define(iter.var);
    if (place_.ok() && iter.var.dtype() != DType::Index()) {
      place_.Fail(absl::StrCat("iterator ", iter.var.name(), " has type ",
                               iter.var.dtype().ToString(),
                               "; it must be int64"));
    }
  }
  // A block without iterators only groups the statements inside, which go on
  // to see the loops around.
  std::unordered_set<const VarNode*> hidden;
  if (!block.iters.empty()) hidden = std::exchange(loops_, {});
  for (const VarNode* loop : hidden) {
    place_.vars.erase(loop);
    place_.hidden.insert(loop);
  }
  CheckInside(block);
  for (const VarNode* loop : hidden) {
    place_.hidden.erase(loop);
    place_.vars.insert(loop);
  }
  loops_.merge(hidden);
  for (const IterVar& iter : block.iters) Forget(iter.var);
}

void Verifier::CheckInside(const BlockNode& block) {
  for (const Buffer& buffer : block.alloc_buffers) {
    CheckBuffer(buffer, place_);
    if (place_.ok()) Define(buffer);
  }
  std::vector<Var> opened;
  for (const MatchBufferRegion& match : block.match_buffers) {
    CheckRegion(match.source, "a matched region");
    if (!place_.ok()) return;
    for (const Expr& e : match.buffer->shape) DefineOpen(e, &opened);
    for (const Expr& e : match.buffer->strides) DefineOpen(e, &opened);
    DefineOpen(match.buffer->elem_offset, &opened);
    CheckMatch(match);
    if (place_.ok()) Define(match.buffer);
  }
  for (const auto& region : block.reads) CheckRegion(region, "a read region");
  for (const auto& region : block.writes) CheckRegion(region, "a write region");
  if (block.init) Check(block.init);
  Check(block.body);
  for (const Var& var : opened) Forget(var);
  for (const Buffer& buffer : block.alloc_buffers) Forget(buffer);
  for (const auto& match : block.match_buffers) Forget(match.buffer);
}

void Verifier::CheckRegion(const BufferRegion& region, const char* what) {
  if (!place_.ok()) return;
  if (!region.buffer || !place_.buffers.count(region.buffer.get())) {
    return place_.Fail(absl::StrCat(what, " is of buffer ",
                                    region.buffer ? region.buffer->name : "?",
                                    ", which is not defined here"));
  }
  if (region.region.size() != region.buffer->shape.size()) {
    place_.Fail(absl::StrCat(what, " of buffer ", region.buffer->name, " has ",
                             region.region.size(), " ranges for ",
                             region.buffer->shape.size(), " dimensions"));
  }
  for (const Range& range : region.region) {
    CheckIndex(range.min, what, place_);
    CheckIndex(range.extent, what, place_);
  }
}

void Verifier::CheckMatch(const MatchBufferRegion& match) {
  CheckBuffer(match.buffer, place_);
  if (!place_.ok()) return;
  if (match.buffer->dtype != match.source.buffer->dtype) {
    place_.Fail(absl::StrCat("buffer ", match.buffer->name, " of ",
                             match.buffer->dtype.ToString(), " matches ",
                             match.source.buffer->name, " of ",
                             match.source.buffer->dtype.ToString()));
  }
  if (match.buffer->shape.size() > match.source.region.size()) {
    place_.Fail(absl::StrCat("buffer ", match.buffer->name,
                             " has more dimensions than the region of ",
                             match.source.buffer->name, " that it matches"));
  }
}

void Verifier::CheckStore(const StoreNode& store) {
  const int lanes = CheckAccess(store.buffer, store.indices, place_);
  CheckExpr(store.value, place_);
  if (!place_.ok()) return;
  const DType element = store.buffer->dtype;
  const DType expected = element.WithLanes(element.lanes() * lanes);
  if (store.value.dtype() != expected) {
    place_.Fail(absl::StrCat("store of ", store.value.dtype().ToString(),
                             " into buffer ", store.buffer->name,
                             ", where the indices want ", expected.ToString()));
  }
}

void Verifier::CheckIf(const IfNode& node) {
  CheckExpr(node.condition, place_);
  if (place_.ok() && node.condition.dtype() != DType::Bool()) {
    place_.Fail(absl::StrCat("the condition of if has type ",
                             node.condition.dtype().ToString()));
  }
  place_.Enter("if");
  Check(node.then_case);
  if (node.else_case) Check(node.else_case);
  place_.Leave();
}

void Verifier::CheckLet(const LetStmtNode& let) {
  CheckExpr(let.value, place_);
  if (!place_.ok()) return;
  if (let.var.dtype() != let.value.dtype()) {
    place_.Fail(absl::StrCat("let ", let.var.name(), ": ",
                             let.var.dtype().ToString(), " = a value of ",
                             let.value.dtype().ToString()));
  }
  Define(let.var);
  Check(let.body);
  Forget(let.var);
}

void Verifier::CheckAllocate(const AllocateNode& node) {
  CheckBuffer(node.buffer, place_);
  if (!place_.ok()) return;
  const VarNode* data = node.buffer->data ? node.buffer->data.get() : nullptr;
  const bool known =
      data && (place_.data.count(data) || place_.vars.count(data));
  if (node.is_view && !known) {
    return place_.Fail(absl::StrCat("buffer ", node.buffer->name,
                                    " is declared over storage that is not "
                                    "defined here"));
  }
  Define(node.buffer);
  Check(node.body);
  Forget(node.buffer);
}

}  // namespace

absl::Status VerifyFunction(const Function& f, VerifyOptions options) {
  return Verifier(f, options).Run();
}

VerifyLevel LevelOf(const Function& f) {
  const bool has_root = f.body && f.body.kind() == StmtKind::kBlockRealize;
  return has_root ? VerifyLevel::kBlocks : VerifyLevel::kLowered;
}

absl::Status VerifyModule(const Module& m, VerifyOptions options) {
  std::set<std::string> names;
  auto add = [&](const std::string& name) {
    if (names.insert(name).second) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("module ", m.name, " has two functions called ", name));
  };
  for (const graph::GraphFunction& g : m.graph_functions) {
    KILN_RETURN_IF_ERROR(add(g->name));
  }
  for (const Function& f : m.functions) {
    KILN_RETURN_IF_ERROR(add(f.name));
    KILN_RETURN_IF_ERROR(VerifyFunction(f, options));
  }
  return absl::OkStatus();
}

}  // namespace kiln
