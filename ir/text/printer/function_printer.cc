// A parameter whose buffer is plain is declared in the signature; any other one
// is a handle, which the body matches with its buffer. The root block is a
// comment where it says nothing that the reader would not restore. In the
// classic spelling:
//
//   def main(A: T.Buffer((8,), "float32"), b: T.handle):
//       n = T.int64()
//       B = T.match_buffer(b, (n,))
//       # with T.block("root"):
//       for i in range(8):
//           with T.block("B"):
//
// How a buffer is declared depends on what statements below use of it (its
// address, its offset), so that the uses of the whole function are collected
// first. A root block around just one block without iterators is written out,
// since that block could be taken for the root when the text is read.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/returned_value.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/stmt_printer.h"

namespace kiln::script {

void StmtPrinter::FindUses(const Function& f) {
  VisitExprs(f.body, [&](const Expr& e) {
    if (const auto* var = e.As<VarNode>()) used_.insert(var);
    if (const auto* load = e.As<LoadNode>()) {
      accessed_.insert(load->buffer.get());
    }
    return true;
  });
  Visit(f.body, [&](const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) {
      accessed_.insert(store->buffer.get());
    }
    if (const auto* allocate = s.As<AllocateNode>();
        allocate && allocate->is_view && allocate->buffer->data) {
      used_.insert(allocate->buffer->data.get());
    }
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      for (const BufferRegion& region : realize->block->reads) {
        accessed_.insert(region.buffer.get());
      }
      for (const BufferRegion& region : realize->block->writes) {
        accessed_.insert(region.buffer.get());
      }
    }
    return true;
  });
}

// Whether the type of a parameter says all about its buffer.
bool StmtPrinter::IsSimple(const Buffer& buffer) const {
  if (newest_) return true;
  auto is_new = [&](const VarNode* var) { return !names_.IsDefined(var); };
  for (const Expr& extent : buffer->shape) {
    if (UsesVar(extent, is_new)) return false;
  }
  return buffer->strides.empty() && !buffer->elem_offset &&
         buffer->scope == "global" && buffer->alignment == 64 &&
         buffer->offset_factor == 0;
}

std::vector<std::string> StmtPrinter::Parameters(const Function& f) {
  std::vector<std::string> texts;
  for (const Param& param : f.params) {
    if (!param.buffer) {
      const VarNode* var = param.var.get();
      if (!names_.IsDefined(var)) names_.Define(param.var);
      texts.push_back(
          absl::StrCat(names_.Of(var), ": T.", var->dtype.ToString()));
    } else if (IsSimple(param.buffer)) {
      const std::string name = names_.Define(param.buffer);
      texts.push_back(absl::StrCat(
          name, ": T.Buffer(",
          BufferArguments(param.buffer, Declares::kParameter), ")"));
    } else {
      texts.push_back(absl::StrCat(names_.Define(param.var), ": T.handle"));
      matched_.push_back(param);
    }
  }
  return texts;
}

void StmtPrinter::MatchedParameters() {
  for (const Param& param : matched_) {
    DeclareBuffer(
        param.buffer,
        absl::StrCat("T.match_buffer(", names_.Of(param.var.get()), ", "),
        Declares::kMatch);
  }
  matched_.clear();
}

// Declares, in the newest spelling, the symbolic dimensions that the signature
// names in quotes.
void StmtPrinter::DeclareDimensions(const Function& f) {
  if (!newest_) return;
  for (const Var& dim : SymbolicDims(f)) {
    const bool spelled = names_.Of(dim.get()).find('.') != std::string::npos;
    const bool stride =
        std::any_of(f.params.begin(), f.params.end(), [&](const Param& param) {
          return param.buffer &&
                 std::any_of(param.buffer->strides.begin(),
                             param.buffer->strides.end(),
                             [&](const Expr& e) { return e == dim; });
        });
    if (spelled || stride) continue;
    Line(absl::StrCat(names_.Of(dim.get()), " = T.int64()"));
  }
}

// Whether the root block states nothing and is restored when the text is read.
bool StmtPrinter::HasImplicitRoot(const Function& f) const {
  const auto* realize = f.body.As<BlockRealizeNode>();
  if (!realize || realize->block->name != "root") return false;
  const BlockNode& root = *realize->block;
  const bool silent = root.iters.empty() && root.reads.empty() &&
                      root.writes.empty() && root.annotations.empty() &&
                      root.match_buffers.empty() && !root.init &&
                      IsOne(realize->predicate);
  if (!silent) return false;
  const auto* only = root.body.As<BlockRealizeNode>();
  const bool ambiguous = only && only->block->iters.empty();
  if (!root.alloc_buffers.empty()) return true;
  bool has_blocks = false;
  Visit(root.body, [&](const Stmt& s) {
    has_blocks = has_blocks || s.kind() == StmtKind::kBlockRealize;
    return !has_blocks;
  });
  return has_blocks && !ambiguous;
}

void StmtPrinter::FunctionBody(const Function& f) {
  if (!f.attrs.empty()) {
    Line(absl::StrCat("T.func_attr(", exprs_.AttributeMap(f.attrs), ")"));
  }
  MatchedParameters();
  if (!HasImplicitRoot(f)) return Print(f.body);
  const BlockNode& root = f.root();
  Line(newest_ ? "# with T.sblock(\"root\"):" : "# with T.block(\"root\"):");
  const std::string alloc =
      newest_ ? "T.sblock_alloc_buffer(" : "T.alloc_buffer(";
  for (const Buffer& buffer : root.alloc_buffers) {
    DeclareBuffer(buffer, alloc, Declares::kAllocation);
  }
  Print(root.body);
}

namespace {

std::string ResultType(const Function& f) {
  const Expr value = ReturnedValue(f);
  return value ? absl::StrCat(" -> T.", value.dtype().ToString()) : "";
}

}  // namespace

void StmtPrinter::PrintFunction(const Function& f) {
  NamesScope scope(names_);
  FindUses(f);
  std::vector<std::string> options;
  if (f.is_private) options.push_back("private=True");
  if (newest_) options.push_back("s_tir=True");
  Line(absl::StrCat(
      "@T.prim_func",
      options.empty() ? "" : "(" + absl::StrJoin(options, ", ") + ")"));
  Line(absl::StrCat("def ", f.name, "(", absl::StrJoin(Parameters(f), ", "),
                    ")", ResultType(f), ":"));
  Indent();
  DeclareDimensions(f);
  FunctionBody(f);
  Dedent();
}

}  // namespace kiln::script
