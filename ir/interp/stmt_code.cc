// A statement becomes a tree of objects like an expression (expr_code.cc). A
// block is run by its definition, which all schedules have to keep:
//
//   for k in range(3):
//     with T.block("C"):
//       vk = T.axis.reduce(3, k)
//       T.where(k < 2)
//       with T.init(): C[0] = 0
//       C[0] = C[0] + A[vk]
//
//   k = 0: vk = 0 is the first of its domain: init, then the body
//   k = 1: the body
//   k = 2: the predicate fails, and nothing of the block is evaluated
//
// The init runs where all reduction iterators are at the start of their
// domains; an iterator outside of its domain is an error. A store evaluates all
// lanes of its value before it writes one. The outermost loop over threadIdx
// around a barrier starts a group of threads (threads.h); the loops over
// threadIdx below it then run the one iteration that is the thread's own.
#include "absl/strings/str_cat.h"
#include "kiln/base/check.h"
#include "kiln/ir/interp/numeric.h"
#include "kiln/ir/interp/scope.h"
#include "kiln/ir/interp/threads.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::interp_internal {
namespace {

class SeqCode : public StmtCode {
 public:
  explicit SeqCode(std::vector<StmtPtr> stmts) : stmts_(std::move(stmts)) {}
  void Run(Frame& frame) const override {
    for (const StmtPtr& stmt : stmts_) {
      if (frame.failed) return;
      stmt->Run(frame);
    }
  }

 private:
  std::vector<StmtPtr> stmts_;
};

class StoreCode : public StmtCode {
 public:
  StoreCode(int slot, const Buffer& buffer, int lanes, ExprPtr value,
            std::vector<IndexCode> indices, const Place* place)
      : slot_(slot),
        element_(buffer->dtype.Element()),
        element_lanes_(buffer->dtype.lanes()),
        lanes_(lanes),
        name_(buffer->name),
        value_(std::move(value)),
        indices_(std::move(indices)),
        place_(place) {}

  void Run(Frame& frame) const override {
    if (lanes_ == 1) return Put(frame, 0, Get(frame, 0));
    std::vector<Value> values(lanes_);
    for (int lane = 0; lane < lanes_; ++lane) values[lane] = Get(frame, lane);
    for (int lane = 0; lane < lanes_; ++lane) Put(frame, lane, values[lane]);
  }

 private:
  Value Get(Frame& frame, int lane) const {
    Value value;
    if (element_.is_float()) {
      value.f = value_->Real(frame, lane);
    } else {
      value.i = value_->Int(frame, lane);
    }
    return value;
  }

  void Put(Frame& frame, int lane, Value value) const {
    int64_t indices[kMaxRank];
    const int index_lane = element_lanes_ == 1 ? lane : lane / element_lanes_;
    for (size_t d = 0; d < indices_.size(); ++d) {
      indices[d] = indices_[d].Get(frame, index_lane);
    }
    const View& view = frame.views[slot_];
    uint8_t* at = Address(frame, view, indices, name_, place_);
    if (!at) return;
    if (element_lanes_ > 1) at += lane % element_lanes_ * element_.bytes();
    if (element_.is_float()) {
      StoreReal(element_, value.f, at);
    } else {
      StoreInt(element_, value.i, at);
    }
    MarkWritten(view, at, element_.bytes());
  }

  int slot_;
  DType element_;
  int element_lanes_, lanes_;
  std::string name_;
  ExprPtr value_;
  std::vector<IndexCode> indices_;
  const Place* place_;
};

class IfCode : public StmtCode {
 public:
  IfCode(ExprPtr condition, StmtPtr yes, StmtPtr no)
      : condition_(std::move(condition)),
        yes_(std::move(yes)),
        no_(std::move(no)) {}
  void Run(Frame& frame) const override {
    const bool chosen = condition_->Int(frame, 0);
    if (frame.failed) return;
    if (chosen) {
      yes_->Run(frame);
    } else if (no_) {
      no_->Run(frame);
    }
  }

 private:
  ExprPtr condition_;
  StmtPtr yes_, no_;
};

// Evaluates all lanes of an expression, into slots or for its effect.
class BindCode : public StmtCode {
 public:
  BindCode(int slot, DType dtype, ExprPtr value, StmtPtr body)
      : slot_(slot),
        dtype_(dtype),
        value_(std::move(value)),
        body_(std::move(body)) {}
  void Run(Frame& frame) const override {
    for (int lane = 0; lane < dtype_.lanes(); ++lane) {
      Value value;
      if (dtype_.is_float()) {
        value.f = value_->Real(frame, lane);
      } else {
        value.i = value_->Int(frame, lane);
      }
      if (body_) frame.slots[slot_ + lane] = value;
    }
    if (body_ && !frame.failed) body_->Run(frame);
  }

 private:
  int slot_;
  DType dtype_;
  ExprPtr value_;
  StmtPtr body_;  // null: the value is not kept
};

class AllocateCode : public StmtCode {
 public:
  AllocateCode(std::unique_ptr<BufferCode> buffer, int source)
      : buffer_(std::move(buffer)), source_(source) {}
  void SetBody(StmtPtr body) { body_ = std::move(body); }
  void Run(Frame& frame) const override {
    if (source_ < 0) {
      buffer_->Allocate(frame);
    } else {
      View view;
      if (!buffer_->Evaluate(frame, &view)) return;
      view.storage = frame.views[source_].storage;
      frame.views[buffer_->slot()] = std::move(view);
    }
    if (!frame.failed) body_->Run(frame);
  }

 private:
  std::unique_ptr<BufferCode> buffer_;
  int source_;  // the view whose storage this one shares; -1: none
  StmtPtr body_;
};

enum class LoopOrder { kForward, kParallel, kOwnThread };

class ForCode : public StmtCode {
 public:
  ForCode(const ForNode& loop, LoopOrder order, Scope& scope)
      : order_(order),
        tag_(loop.thread_tag),
        outside_(scope.place()),
        min_(CompileExpr(loop.min, scope)),
        extent_(CompileExpr(loop.extent, scope)),
        slot_(scope.Define(loop.var)) {
    scope.Enter("", {{loop.var.name(), slot_}});
    place_ = scope.place();
    body_ = CompileStmt(loop.body, scope);
    scope.Leave();
    scope.Forget(loop.var);
  }

  void Run(Frame& frame) const override {
    const int64_t min = min_->Int(frame, 0);
    const int64_t extent = extent_->Int(frame, 0);
    int64_t end;
    if (__builtin_add_overflow(min, extent, &end)) {
      return frame.Fail(
          outside_, absl::StatusCode::kOutOfRange,
          absl::StrCat("loop bounds ", min, " + ", extent, " overflow"));
    }
    if (order_ == LoopOrder::kOwnThread) return RunOwn(frame, min, extent);
    const bool reverse =
        order_ == LoopOrder::kParallel && frame.run->options->reverse_parallel;
    for (int64_t i = 0; i < extent; ++i) {
      frame.slots[slot_].i = reverse ? end - 1 - i : min + i;
      if (!frame.Step(place_)) return;
      body_->Run(frame);
    }
  }

 private:
  // The iteration of the calling thread, which may have none.
  void RunOwn(Frame& frame, int64_t min, int64_t extent) const {
    const int64_t index = ThreadIndex(frame, tag_);
    if (index >= extent) return;
    frame.slots[slot_].i = min + index;
    if (frame.Step(place_)) body_->Run(frame);
  }

  LoopOrder order_;
  std::string tag_;
  const Place* outside_;
  ExprPtr min_, extent_;
  int slot_;
  const Place* place_;
  StmtPtr body_;
};

// The outermost loop over threads of a block that has barriers.
class ThreadsCode : public StmtCode {
 public:
  ThreadsCode(const ForNode& outermost, Scope& scope) : place_(scope.place()) {
    Collect(Stmt(&outermost), scope);
    scope.in_threads = true;
    body_ = std::make_unique<ForCode>(outermost, LoopOrder::kOwnThread, scope);
    scope.in_threads = false;
  }

  void Run(Frame& frame) const override {
    ThreadExtents extents;
    for (const auto& [tag, code] : extents_) {
      extents[tag] = std::max(extents[tag], code->Int(frame, 0));
    }
    if (!frame.failed) RunThreads(frame, extents, *body_, place_);
  }

 private:
  void Collect(const Stmt& s, Scope& scope) {
    Visit(s, [&](const Stmt& node) {
      const auto* loop = node.As<ForNode>();
      if (loop && loop->for_kind == ForKind::kThreadBinding &&
          loop->thread_tag.compare(0, 10, "threadIdx.") == 0) {
        extents_.emplace_back(loop->thread_tag,
                              CompileExpr(loop->extent, scope));
      }
      return true;
    });
  }

  const Place* place_;
  std::vector<std::pair<std::string, ExprPtr>> extents_;
  StmtPtr body_;
};

class BlockCode : public StmtCode {
 public:
  BlockCode(const BlockRealizeNode& realize, Scope& scope);
  void Run(Frame& frame) const override;

 private:
  struct Iter {
    std::string name;
    int slot;
    bool is_reduce;
    IndexCode value, min, extent;
  };
  bool BindIters(Frame& frame, bool* is_first) const;
  void FailDomain(Frame& frame, const Iter& iter, int64_t value, int64_t min,
                  int64_t extent) const;

  ExprPtr predicate_;
  std::vector<Iter> iters_;
  std::vector<std::unique_ptr<BufferCode>> allocations_;
  std::vector<std::unique_ptr<MatchBufferCode>> matches_;
  const Place* place_;
  StmtPtr init_, body_;
};

BlockCode::BlockCode(const BlockRealizeNode& realize, Scope& scope) {
  const BlockNode& block = *realize.block;
  predicate_ = CompileExpr(realize.predicate, scope);
  std::vector<std::pair<std::string, int>> vars;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const IterVar& iter = block.iters[i];
    iters_.push_back({iter.var.name(), 0, iter.type == IterType::kReduce,
                      IndexCode(realize.values[i], scope),
                      IndexCode(iter.domain.min, scope),
                      IndexCode(iter.domain.extent, scope)});
  }
  for (size_t i = 0; i < block.iters.size(); ++i) {
    iters_[i].slot = scope.Define(block.iters[i].var);
    vars.emplace_back(iters_[i].name, iters_[i].slot);
  }
  scope.Enter(block.name.empty() ? "root" : block.name, std::move(vars));
  place_ = scope.place();
  for (const Buffer& buffer : block.alloc_buffers) {
    allocations_.push_back(std::make_unique<BufferCode>(buffer, scope));
  }
  for (const MatchBufferRegion& match : block.match_buffers) {
    matches_.push_back(std::make_unique<MatchBufferCode>(match, scope));
  }
  if (block.init) init_ = CompileStmt(block.init, scope);
  body_ = CompileStmt(block.body, scope);
  for (const IterVar& iter : block.iters) scope.Forget(iter.var);
  for (const Buffer& buffer : block.alloc_buffers) scope.Forget(buffer);
  for (const auto& match : block.match_buffers) scope.Forget(match.buffer);
  scope.Leave();
}

void BlockCode::FailDomain(Frame& frame, const Iter& iter, int64_t value,
                           int64_t min, int64_t extent) const {
  frame.Fail(place_, absl::StatusCode::kOutOfRange,
             absl::StrCat("iterator ", iter.name, " is ", value,
                          ", outside of its domain of ", extent,
                          " values from ", min));
}

bool BlockCode::BindIters(Frame& frame, bool* is_first) const {
  for (const Iter& iter : iters_) {
    const int64_t value = iter.value.Get(frame, 0);
    const int64_t min = iter.min.Get(frame, 0);
    const int64_t extent = iter.extent.Get(frame, 0);
    frame.slots[iter.slot].i = value;
    if (iter.is_reduce && value != min) *is_first = false;
    // The distance is unsigned, as it may be larger than any int64.
    if (value < min || extent <= 0 ||
        static_cast<uint64_t>(value) - static_cast<uint64_t>(min) >=
            static_cast<uint64_t>(extent)) {
      FailDomain(frame, iter, value, min, extent);
    }
    if (frame.failed) return false;
  }
  return true;
}

void BlockCode::Run(Frame& frame) const {
  if (!predicate_->Int(frame, 0) || frame.failed) return;
  bool is_first = true;
  if (!BindIters(frame, &is_first)) return;
  for (const auto& allocation : allocations_) {
    allocation->Allocate(frame);
    if (frame.failed) return;
  }
  for (const auto& match : matches_) {
    match->Bind(frame);
    if (frame.failed) return;
  }
  if (init_ && is_first) init_->Run(frame);
  if (!frame.failed) body_->Run(frame);
}

bool HasBarrier(const Stmt& s) {
  bool found = false;
  VisitExprs(s, [&](const Expr& e) {
    const auto* call = e.As<CallNode>();
    found = found || (call && call->op == Intrinsic::kStorageSync);
    return !found;
  });
  return found;
}

StmtPtr CompileFor(const ForNode& loop, Scope& scope) {
  LoopOrder order = LoopOrder::kForward;
  if (loop.for_kind == ForKind::kParallel) order = LoopOrder::kParallel;
  if (loop.for_kind == ForKind::kThreadBinding &&
      loop.thread_tag.compare(0, 10, "threadIdx.") == 0) {
    if (scope.in_threads) {
      order = LoopOrder::kOwnThread;
    } else if (HasBarrier(loop.body)) {
      return std::make_unique<ThreadsCode>(loop, scope);
    }
  }
  return std::make_unique<ForCode>(loop, order, scope);
}

StmtPtr CompileStore(const StoreNode& store, Scope& scope) {
  int lanes = store.buffer->dtype.lanes(), index_lanes = 1;
  for (const Expr& index : store.indices) {
    index_lanes = std::max(index_lanes, index.dtype().lanes());
  }
  lanes *= index_lanes;
  if (store.indices.size() > kMaxRank ||
      store.indices.size() != store.buffer->shape.size() ||
      (store.value.dtype().lanes() != lanes)) {
    scope.Fail(absl::StatusCode::kInvalidArgument,
               absl::StrCat("store of ", store.value.dtype().ToString(),
                            " into buffer ", store.buffer->name, " of ",
                            store.buffer->dtype.ToString(), " with ",
                            store.indices.size(), " indices of ", index_lanes,
                            " lanes"));
  }
  return std::make_unique<StoreCode>(scope.Slot(store.buffer), store.buffer,
                                     lanes, CompileExpr(store.value, scope),
                                     CompileIndices(store.indices, scope),
                                     scope.place());
}

StmtPtr CompileLet(const LetStmtNode& let, Scope& scope) {
  ExprPtr value = CompileExpr(let.value, scope);
  const int slot = scope.Define(let.var);
  StmtPtr body = CompileStmt(let.body, scope);
  scope.Forget(let.var);
  return std::make_unique<BindCode>(slot, let.var.dtype(), std::move(value),
                                    std::move(body));
}

StmtPtr CompileAllocate(const AllocateNode& node, Scope& scope) {
  int source = -1;
  if (node.is_view) {
    source = node.buffer->data ? scope.DataSlot(node.buffer->data) : -1;
    if (source < 0) {
      scope.Fail(absl::StatusCode::kInvalidArgument,
                 absl::StrCat("buffer ", node.buffer->name,
                              " is declared over storage that nothing here "
                              "provides"));
    }
  }
  auto code = std::make_unique<AllocateCode>(
      std::make_unique<BufferCode>(node.buffer, scope), source);
  code->SetBody(CompileStmt(node.body, scope));
  scope.Forget(node.buffer);
  return code;
}

StmtPtr CompileSeq(const SeqNode& seq, Scope& scope) {
  std::vector<StmtPtr> stmts;
  for (const Stmt& stmt : seq.stmts) stmts.push_back(CompileStmt(stmt, scope));
  return std::make_unique<SeqCode>(std::move(stmts));
}

StmtPtr CompileIf(const IfNode& node, Scope& scope) {
  return std::make_unique<IfCode>(
      CompileExpr(node.condition, scope), CompileStmt(node.then_case, scope),
      node.else_case ? CompileStmt(node.else_case, scope) : nullptr);
}

}  // namespace

StmtPtr CompileStmt(const Stmt& s, Scope& scope) {
  switch (s.kind()) {
    case StmtKind::kFor:
      return CompileFor(*s.As<ForNode>(), scope);
    case StmtKind::kBlockRealize:
      return std::make_unique<BlockCode>(*s.As<BlockRealizeNode>(), scope);
    case StmtKind::kSeq:
      return CompileSeq(*s.As<SeqNode>(), scope);
    case StmtKind::kStore:
      return CompileStore(*s.As<StoreNode>(), scope);
    case StmtKind::kIf:
      return CompileIf(*s.As<IfNode>(), scope);
    case StmtKind::kLet:
      return CompileLet(*s.As<LetStmtNode>(), scope);
    case StmtKind::kAllocate:
      return CompileAllocate(*s.As<AllocateNode>(), scope);
    case StmtKind::kEvaluate: {
      const Expr& value = s.As<EvaluateNode>()->value;
      return std::make_unique<BindCode>(0, value.dtype(),
                                        CompileExpr(value, scope), nullptr);
    }
  }
  KILN_CHECK(false) << "unknown kind";
  return nullptr;
}

}  // namespace kiln::interp_internal
