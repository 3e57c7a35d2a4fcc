// One walk in the order of scopes keeps the sets of variables and buffers that
// are declared around a statement; each use is looked up in them, and each
// scope takes off at its end what it has added. An access after its allocation,
//
//   with T.decl_buffer((8,)) as t: t[0] = 1
//   C[0] = t[0]
//
// gives "not in lowered form: buffer t is not declared". The first fault is the
// one that is told. Whether indices are in bounds is not checked.
#include "kiln/codegen/lower/verify_lowered.h"

#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

class Verifier {
 public:
  absl::Status Run(const Function& f);

 private:
  void CheckStmt(const Stmt& s);
  void CheckFor(const ForNode& loop);
  void CheckStore(const StoreNode& store);
  void CheckAllocate(const AllocateNode& node);
  void CheckExpr(const Expr& e);
  void CheckScalar(const Expr& e, const std::string& what);
  void CheckBuffer(const Buffer& buffer);
  void CheckAccess(const Buffer& buffer, const std::vector<Expr>& indices);
  void CheckScoped(const Var& var, const Stmt& body);

  void Fail(const std::string& message) {
    status_.Update(
        absl::InternalError(absl::StrCat("not in lowered form: ", message)));
  }

  absl::Status status_;
  std::unordered_set<const VarNode*> vars_;
  std::unordered_set<const BufferNode*> buffers_;
  const ForNode* parallel_ = nullptr;
};

void Verifier::CheckBuffer(const Buffer& buffer) {
  if (buffer->shape.size() != 1 || !buffer->strides.empty() ||
      buffer->elem_offset) {
    Fail(absl::StrCat("buffer ", buffer->name, " is not flat"));
  }
}

void Verifier::CheckAccess(const Buffer& buffer,
                           const std::vector<Expr>& indices) {
  if (!buffers_.count(buffer.get())) {
    Fail(absl::StrCat("buffer ", buffer->name, " is not declared"));
  }
  if (indices.size() != 1 || indices[0].dtype().Element() != DType::Index()) {
    Fail(absl::StrCat("an index of ", buffer->name, " is not one int64"));
  }
}

void Verifier::CheckScalar(const Expr& e, const std::string& what) {
  if (!e.dtype().is_scalar()) Fail(absl::StrCat(what, " is a vector"));
}

void Verifier::CheckExpr(const Expr& e) {
  if (const auto* var = e.As<VarNode>(); var && !vars_.count(var)) {
    Fail(absl::StrCat("variable ", var->name, " is not declared"));
  }
  if (const auto* load = e.As<LoadNode>()) {
    CheckAccess(load->buffer, load->indices);
  }
  const auto* let = e.As<LetNode>();
  if (let) {
    CheckExpr(let->value);
    const bool is_new = vars_.insert(let->var.get()).second;
    CheckExpr(let->body);
    if (is_new) vars_.erase(let->var.get());
    return;
  }
  ForEachOperand(e, [&](const Expr& x) { CheckExpr(x); });
}

void Verifier::CheckScoped(const Var& var, const Stmt& body) {
  const bool is_new = vars_.insert(var.get()).second;
  CheckStmt(body);
  if (is_new) vars_.erase(var.get());
}

void Verifier::CheckFor(const ForNode& loop) {
  CheckScalar(loop.min, "the bound of loop " + loop.var.name());
  CheckScalar(loop.extent, "the bound of loop " + loop.var.name());
  const bool is_parallel = loop.for_kind == ForKind::kParallel;
  if (!is_parallel && loop.for_kind != ForKind::kSerial) {
    Fail(absl::StrCat("loop ", loop.var.name(), " is of another kind"));
  }
  if (is_parallel && parallel_) {
    Fail(absl::StrCat("parallel loop ", loop.var.name(), " inside of ",
                      parallel_->var.name()));
  }
  const ForNode* outer = parallel_;
  if (is_parallel) parallel_ = &loop;
  CheckScoped(loop.var, loop.body);
  parallel_ = outer;
}

void Verifier::CheckStore(const StoreNode& store) {
  CheckAccess(store.buffer, store.indices);
  const int lanes =
      store.indices[0].dtype().lanes() * store.buffer->dtype.lanes();
  if (store.value.dtype().lanes() != lanes) {
    Fail(absl::StrCat("a store to ", store.buffer->name, " of ",
                      store.value.dtype().lanes(), " lanes at ", lanes));
  }
}

void Verifier::CheckAllocate(const AllocateNode& node) {
  CheckBuffer(node.buffer);
  for (const Expr& extent : node.buffer->shape) CheckExpr(extent);
  const bool is_new = buffers_.insert(node.buffer.get()).second;
  const Var& data = node.buffer->data;
  const bool is_new_data = data && vars_.insert(data.get()).second;
  CheckStmt(node.body);
  if (is_new) buffers_.erase(node.buffer.get());
  if (is_new_data) vars_.erase(data.get());
}

void Verifier::CheckStmt(const Stmt& s) {
  ForEachExpr(s, [&](const Expr& e) { CheckExpr(e); });
  switch (s.kind()) {
    case StmtKind::kFor:
      return CheckFor(*s.As<ForNode>());
    case StmtKind::kStore:
      return CheckStore(*s.As<StoreNode>());
    case StmtKind::kAllocate:
      return CheckAllocate(*s.As<AllocateNode>());
    case StmtKind::kLet:
      return CheckScoped(s.As<LetStmtNode>()->var, s.As<LetStmtNode>()->body);
    case StmtKind::kIf:
      CheckScalar(s.As<IfNode>()->condition, "the condition of an if");
      break;
    case StmtKind::kBlockRealize:
      Fail(absl::StrCat("block ", s.As<BlockRealizeNode>()->block->name));
      return;
    case StmtKind::kSeq:
    case StmtKind::kEvaluate:
      break;
  }
  ForEachChild(s, [&](const Stmt& child) { CheckStmt(child); });
}

absl::Status Verifier::Run(const Function& f) {
  for (const Param& param : f.params) {
    vars_.insert(param.var.get());
    if (!param.buffer) continue;
    CheckBuffer(param.buffer);
    buffers_.insert(param.buffer.get());
    if (param.buffer->data) vars_.insert(param.buffer->data.get());
  }
  for (const Var& dim : SymbolicDims(f)) vars_.insert(dim.get());
  CheckStmt(f.body);
  return status_;
}

}  // namespace

absl::StatusOr<Function> VerifyLowered(Function f) {
  KILN_RETURN_IF_ERROR(Verifier().Run(f));
  return f;
}

}  // namespace kiln
