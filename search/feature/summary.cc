#include "kiln/search/feature/summary.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kiln/ir/tensor/automatic.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/search/feature/condition_share.h"
#include "kiln/search/feature/ops.h"

namespace kiln {
namespace {

constexpr std::string_view kUnrollKey = "pragma_auto_unroll_max_step";

std::optional<int64_t> IntAnnotation(const Annotations& annotations,
                                     std::string_view key) {
  if (annotations.empty()) return std::nullopt;
  const auto found = annotations.find(std::string(key));
  if (found == annotations.end() || !found->second.expr()) return std::nullopt;
  const int64_t* value = AsInt(*found->second.expr());
  return value ? std::optional<int64_t>(*value) : std::nullopt;
}

int64_t ExtentOf(const Expr& extent) {
  const int64_t* value = AsInt(extent);
  return value ? std::max<int64_t>(*value, 1) : 1;
}

LoopRole Combine(LoopRole a, LoopRole b) {
  if (a == LoopRole::kNone || a == b) return b;
  return b == LoopRole::kNone ? a : LoopRole::kMixed;
}

class Walker {
 public:
  explicit Walker(ProgramSummary* out) : out_(*out) {}

  void Run(const Function& f) {
    for (const Param& param : f.params) {
      if (param.buffer) out_.buffers[BufferOf(param.buffer)].is_param = true;
    }
    has_cold_constants_ = HasColdConstants(f);
    if (has_cold_constants_) {
      for (const int param : LayoutFreeParams(f)) {
        out_.buffers[BufferOf(f.params[param].buffer)].is_cold = true;
      }
    }
    Walk(f.body);
    for (BufferSummary& buffer : out_.buffers) SetExtents(&buffer);
  }

 private:
  void Walk(const Stmt& s);
  void WalkFor(const ForNode& loop);
  void WalkRealize(const BlockRealizeNode& realize);
  void WalkPreparation(const BlockNode& block);
  void WalkStore(const StoreNode& store);
  void BindIters(const BlockRealizeNode& realize);
  void SetRole(const ApproximateIndex& value, LoopRole role);
  double ShareOf(const BlockRealizeNode& realize,
                 const ApproximateIndex* values);
  void ReadExpr(const Expr& e, bool guarded, StoreSummary* store);
  bool ReadDecided(const Expr& e, bool guarded, StoreSummary* store);
  void AddAccess(const Buffer& buffer, const std::vector<Expr>& indices,
                 bool writes, bool guarded, StoreSummary* store);
  int BufferOf(const Buffer& buffer);
  int CommonLoop(int a, int b) const;
  void SetExtents(BufferSummary* buffer);
  void Grow(const AccessSummary& access, BufferSummary* buffer);

  ProgramSummary& out_;
  std::vector<int64_t> extents_;  // of out_.loops
  ApproximateScope scope_;
  std::vector<int> stack_;       // loops around
  std::vector<LoopRole> roles_;  // of these
  int64_t unroll_steps_ = 0;
  int block_ = 0, num_blocks_ = 0;
  bool has_cold_constants_ = false;
  std::vector<const CallNode*> skipped_;  // see SkippedChoices
  bool has_phases_ = false;               // of the block around
  bool transposes_ = false;               // so does it
  bool sums_lanes_ = false;               // as well
  bool in_init_ = false, guarded_ = false;
  double share_ = 1;
  double weight_ = 1;  // how often an expression counts
  // Of a loop's iterations, what earlier choices of a chain left.
  struct Chain {
    int loop = -1;
    double left = 1;
  };
  Chain chain_;
  std::vector<bool> seen_;  // buffers with an access
};

void Walker::Walk(const Stmt& s) {
  switch (s.kind()) {
    case StmtKind::kFor:
      return WalkFor(*s.As<ForNode>());
    case StmtKind::kBlockRealize:
      return WalkRealize(*s.As<BlockRealizeNode>());
    case StmtKind::kStore:
      return WalkStore(*s.As<StoreNode>());
    case StmtKind::kLet: {
      const LetStmtNode& let = *s.As<LetStmtNode>();
      scope_.Bind(let.var.get(), scope_.Evaluate(let.value));
      return Walk(let.body);
    }
    case StmtKind::kIf: {
      const bool outer = std::exchange(guarded_, true);
      ForEachChild(s, [this](const Stmt& child) { Walk(child); });
      guarded_ = outer;
      return;
    }
    case StmtKind::kSeq:
    case StmtKind::kAllocate:
    case StmtKind::kEvaluate:
      return ForEachChild(s, [this](const Stmt& child) { Walk(child); });
  }
}

void Walker::WalkFor(const ForNode& loop) {
  const int64_t outer_steps = unroll_steps_;
  unroll_steps_ =
      IntAnnotation(loop.annotations, kUnrollKey).value_or(unroll_steps_);
  LoopSummary summary;
  summary.extent = ExtentOf(loop.extent);
  summary.kind = loop.for_kind;
  summary.thread_tag = loop.thread_tag;
  summary.unroll_steps = unroll_steps_;
  summary.is_tile_product = IsMarked(loop, kTileProduct);
  summary.parent = stack_.empty() ? -1 : stack_.back();
  summary.depth = static_cast<int>(stack_.size());
  const int id = static_cast<int>(out_.loops.size());
  const size_t depth = scope_.depth();
  ApproximateIndex value = ApproximateIndex::OfLoop(id, summary.extent);
  if (const int64_t* min = AsInt(loop.min)) {
    value.constant = static_cast<double>(*min);
  }
  out_.loops.push_back(summary);
  extents_.push_back(summary.extent);
  scope_.Bind(loop.var.get(), std::move(value));
  stack_.push_back(id);
  roles_.push_back(LoopRole::kNone);
  Walk(loop.body);
  stack_.pop_back();
  roles_.pop_back();
  scope_.Shrink(depth);
  unroll_steps_ = outer_steps;
}

void Walker::SetRole(const ApproximateIndex& value, LoopRole role) {
  for (const ApproximateTerm& term : value.terms) {
    LoopRole& known = roles_[out_.loops[term.loop].depth];
    known = Combine(known, role);
  }
}

// Of the iterations around a block with a predicate, those that its domains
// leave.
double Walker::ShareOf(const BlockRealizeNode& realize,
                       const ApproximateIndex* values) {
  if (IsOne(realize.predicate)) return 1;
  double domain = 1, iterations = 1;
  std::vector<bool> used(stack_.size());
  for (size_t i = 0; i < realize.values.size(); ++i) {
    domain *=
        static_cast<double>(ExtentOf(realize.block->iters[i].domain.extent));
    for (const ApproximateTerm& term : values[i].terms) {
      used[out_.loops[term.loop].depth] = true;
    }
  }
  for (size_t i = 0; i < stack_.size(); ++i) {
    if (used[i]) iterations *= static_cast<double>(extents_[stack_[i]]);
  }
  return std::min(1.0, domain / iterations);
}

void Walker::BindIters(const BlockRealizeNode& realize) {
  absl::InlinedVector<ApproximateIndex, 8> values;
  for (const Expr& value : realize.values) {
    values.push_back(scope_.Evaluate(value));
  }
  share_ *= ShareOf(realize, values.data());
  for (size_t i = 0; i < values.size(); ++i) {
    const IterVar& iter = realize.block->iters[i];
    if (iter.type == IterType::kSpatial) SetRole(values[i], LoopRole::kSpatial);
    if (iter.type == IterType::kReduce) SetRole(values[i], LoopRole::kReduce);
    const int64_t* min = AsInt(iter.domain.min);
    if (min && *min == 0 && AsInt(iter.domain.extent)) {
      values[i].most = static_cast<double>(*AsInt(iter.domain.extent) - 1);
    }
    scope_.Bind(iter.var.get(), std::move(values[i]));
  }
}

// It ran ahead: to the function what it wrote is one more argument.
void Walker::WalkPreparation(const BlockNode& block) {
  Visit(block.body, [&](const Stmt& s) {
    const auto* store = s.As<StoreNode>();
    if (!store) return true;
    BufferSummary& buffer = out_.buffers[BufferOf(store->buffer)];
    buffer.is_param = true;
    buffer.is_cold = has_cold_constants_;
    return true;
  });
}

void Walker::WalkRealize(const BlockRealizeNode& realize) {
  if (IsLayoutPreparation(*realize.block)) {
    return WalkPreparation(*realize.block);
  }
  const size_t depth = scope_.depth();
  const double outer_share = share_;
  const int outer_block = std::exchange(block_, num_blocks_++);
  const int64_t outer_steps = unroll_steps_;
  const bool outer_guarded = guarded_;
  const bool outer_phases = has_phases_;
  const bool outer_transposes = transposes_;
  const bool outer_sums_lanes = sums_lanes_;
  const std::vector<LoopRole> outer_roles = roles_;
  const BlockNode& block = *realize.block;
  unroll_steps_ =
      IntAnnotation(block.annotations, kUnrollKey).value_or(unroll_steps_);
  guarded_ = guarded_ || !IsOne(realize.predicate);
  has_phases_ = block.annotations.contains(kPhases);
  transposes_ = block.annotations.contains(kTransposedCopy);
  sums_lanes_ = block.annotations.contains(kLaneSums);
  BindIters(realize);
  if (block.init) {
    const bool outer_init = std::exchange(in_init_, true);
    Walk(block.init);
    in_init_ = outer_init;
  }
  Walk(block.body);
  roles_ = outer_roles;
  guarded_ = outer_guarded;
  has_phases_ = outer_phases;
  transposes_ = outer_transposes;
  sums_lanes_ = outer_sums_lanes;
  unroll_steps_ = outer_steps;
  block_ = outer_block;
  share_ = outer_share;
  scope_.Shrink(depth);
}

void Walker::WalkStore(const StoreNode& store) {
  StoreSummary summary;
  summary.loops = stack_;
  summary.roles = roles_;
  summary.is_init = in_init_;
  summary.predicated = guarded_;
  summary.share = share_;
  summary.block = block_;
  summary.transposes = transposes_;
  summary.sums_lanes = sums_lanes_;
  skipped_ = SkippedChoices(store);
  std::vector<Expr> conditions;
  for (const CallNode* choice : skipped_) conditions.push_back(choice->args[0]);
  summary.added = ConditionShare(conditions, scope_, extents_, has_phases_);
  AddAccess(store.buffer, store.indices, true, guarded_, &summary);
  ReadExpr(store.value, guarded_, &summary);
  summary.is_reduction = summary.accesses[0].reads;
  if (const Expr product = FusedProduct(store.value)) {
    summary.product = NarrowProductOf(product);
  }
  out_.stores.push_back(std::move(summary));
}

// Choices that an unrolled loop decides cost nothing, and the operations of
// their sides count in their shares of its iterations: of a chain of choices by
// one loop, each in the share that those before it leave.
bool Walker::ReadDecided(const Expr& e, bool guarded, StoreSummary* store) {
  const auto* call = e.As<CallNode>();
  if (!call || call->op != Intrinsic::kIfThenElse) return false;
  const auto* equal = call->args[0].As<BinaryNode>();
  if (!equal || equal->kind != ExprKind::kEQ || !AsInt(equal->b)) return false;
  const ApproximateIndex chooser = scope_.Evaluate(equal->a);
  const bool decided =
      !chooser.unknown && chooser.terms.size() == 1 &&
      out_.loops[chooser.terms[0].loop].kind == ForKind::kUnrolled;
  if (!decided) return false;
  const Chain outer = chain_;
  const double weight = weight_;
  const int loop = chooser.terms[0].loop;
  const double left = outer.loop == loop ? outer.left : 1;
  const double all = ConditionShare({call->args[0]}, scope_, extents_);
  const double share = left > 0 ? std::min(1.0, all / left) : 0;
  chain_ = Chain();
  weight_ = weight * share;
  ReadExpr(call->args[1], guarded, store);
  chain_ = {loop, left - all};
  weight_ = weight * (1 - share);
  ReadExpr(call->args[2], guarded, store);
  chain_ = outer;
  weight_ = weight;
  return true;
}

void Walker::ReadExpr(const Expr& e, bool guarded, StoreSummary* store) {
  if (ReadDecided(e, guarded, store)) return;
  if (const LoadNode* load = e.As<LoadNode>()) {
    return AddAccess(load->buffer, load->indices, false, guarded, store);
  }
  const std::optional<OpClass> op = ClassOf(e);
  if (op && std::ranges::count(skipped_, e.As<CallNode>()) == 0) {
    store->ops[static_cast<int>(*op)] += weight_ * e.dtype().lanes();
  }
  if (const SelectNode* select = e.As<SelectNode>()) {
    ReadExpr(select->true_value, true, store);
    return ReadExpr(select->false_value, true, store);
  }
  if (const CallNode* call = e.As<CallNode>();
      call && call->op == Intrinsic::kIfThenElse) {
    ReadExpr(call->args[1], true, store);
    return ReadExpr(call->args[2], true, store);
  }
  const Expr product = FusedProduct(e);
  ForEachOperand(e, [&](const Expr& operand) {
    if (operand != product) return ReadExpr(operand, guarded, store);
    ForEachOperand(
        product, [&](const Expr& factor) { ReadExpr(factor, guarded, store); });
  });
}

// Elements further apart than this, in one dimension, are not taken for parts
// of one region.
constexpr double kNear = 16;

bool IsNear(const ApproximateDim& a, const ApproximateDim& b) {
  return b.base <= a.base + a.width + kNear &&
         a.base <= b.base + b.width + kNear;
}

// Whether the accesses move together, near each other.
bool BelongTogether(const AccessSummary& a, const AccessSummary& b) {
  if (a.buffer != b.buffer || a.dims.size() != b.dims.size()) return false;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (a.dims[i].terms != b.dims[i].terms ||
        a.dims[i].unknown != b.dims[i].unknown ||
        !IsNear(a.dims[i], b.dims[i])) {
      return false;
    }
  }
  return true;
}

// Takes the accesses of `b`, whose terms are those of `a`, into `a`.
void Merge(const AccessSummary& b, AccessSummary* a) {
  a->reads |= b.reads;
  a->writes |= b.writes;
  a->guarded |= b.guarded;
  ++a->count;
  for (size_t i = 0; i < a->dims.size(); ++i) {
    ApproximateDim& dim = a->dims[i];
    const double end =
        std::max(dim.base + dim.width, b.dims[i].base + b.dims[i].width);
    dim.base = std::min(dim.base, b.dims[i].base);
    dim.width = end - dim.base;
  }
}

void Walker::AddAccess(const Buffer& buffer, const std::vector<Expr>& indices,
                       bool writes, bool guarded, StoreSummary* store) {
  AccessSummary access;
  access.buffer = BufferOf(buffer);
  access.reads = !writes;
  access.writes = writes;
  access.guarded = guarded;
  for (const Expr& index : indices) {
    ApproximateIndex value = scope_.Evaluate(index);
    ApproximateDim dim;
    dim.unknown = value.unknown;
    dim.terms = std::move(value.terms);
    dim.base = value.constant;
    dim.width = index.dtype().lanes();
    access.dims.push_back(std::move(dim));
  }
  BufferSummary& summary = out_.buffers[access.buffer];
  const int here = stack_.empty() ? -1 : stack_.back();
  summary.owner_loop =
      seen_[access.buffer] ? CommonLoop(summary.owner_loop, here) : here;
  seen_[access.buffer] = true;
  for (AccessSummary& other : store->accesses) {
    if (BelongTogether(other, access)) return Merge(access, &other);
  }
  store->accesses.push_back(std::move(access));
}

int Walker::BufferOf(const Buffer& buffer) {
  for (size_t i = 0; i < out_.buffers.size(); ++i) {
    if (out_.buffers[i].node == buffer.get()) return static_cast<int>(i);
  }
  BufferSummary summary;
  summary.node = buffer.get();
  summary.is_local = buffer->scope == "local";
  summary.element_bytes = static_cast<int>(buffer->dtype.bytes());
  out_.buffers.push_back(std::move(summary));
  seen_.push_back(false);
  return static_cast<int>(out_.buffers.size()) - 1;
}

int Walker::CommonLoop(int a, int b) const {
  while (a != b) {
    int& deeper = a > b ? a : b;  // parents have smaller numbers
    deeper = deeper < 0 ? -1 : out_.loops[deeper].parent;
  }
  return a;
}

void Walker::Grow(const AccessSummary& access, BufferSummary* buffer) {
  const int depth =
      buffer->owner_loop < 0 ? 0 : out_.loops[buffer->owner_loop].depth + 1;
  const std::vector<Expr>& shape = buffer->node->shape;
  for (size_t i = 0; i < access.dims.size() && i < shape.size(); ++i) {
    const double limit = static_cast<double>(ExtentOf(shape[i]));
    const double span = Span(out_, access.dims[i], depth, limit);
    buffer->extents[i] =
        std::max(buffer->extents[i], static_cast<int64_t>(span));
  }
}

void Walker::SetExtents(BufferSummary* buffer) {
  const std::vector<Expr>& shape = buffer->node->shape;
  if (buffer->is_param) buffer->owner_loop = -1;
  for (const Expr& extent : shape) {
    buffer->extents.push_back(buffer->is_param ? ExtentOf(extent) : 1);
  }
  if (buffer->is_param) return;
  const int id = static_cast<int>(buffer - out_.buffers.data());
  for (const StoreSummary& store : out_.stores) {
    for (const AccessSummary& access : store.accesses) {
      if (access.buffer == id) Grow(access, buffer);
    }
  }
}

}  // namespace

std::string_view OpClassName(OpClass op) {
  static constexpr std::string_view kNames[] = {
#define KILN_NAME(id, name) name,
      KILN_OP_CLASSES(KILN_NAME)
#undef KILN_NAME
  };
  return kNames[static_cast<int>(op)];
}

double Span(const ProgramSummary& program, const ApproximateDim& dim, int depth,
            double limit) {
  if (dim.unknown) return limit;
  double span = dim.width;
  for (const ApproximateTerm& term : dim.terms) {
    const LoopSummary& loop = program.loops[term.loop];
    if (loop.depth < depth) continue;
    span += term.reach;
  }
  return std::min(limit, std::floor(span + 1e-6));
}

double Distinct(const ProgramSummary& program, const ApproximateDim& dim,
                int depth, double limit) {
  if (dim.unknown) return limit;
  double points = dim.width;
  for (const ApproximateTerm& term : dim.terms) {
    const LoopSummary& loop = program.loops[term.loop];
    if (loop.depth < depth) continue;
    points *= std::min(static_cast<double>(loop.extent), 1 + term.reach);
  }
  return std::min(points, Span(program, dim, depth, limit));
}

namespace {

// Partial sums of lanes, and those that they are made of.
void FindLaneBuffers(ProgramSummary* program) {
  for (auto store = program->stores.rbegin(); store != program->stores.rend();
       ++store) {
    const int target = store->accesses[0].buffer;
    if (!store->sums_lanes && !program->buffers[target].holds_lanes) continue;
    for (const AccessSummary& access : store->accesses) {
      BufferSummary& buffer = program->buffers[access.buffer];
      if (access.buffer != target && buffer.is_local) buffer.holds_lanes = true;
    }
  }
}

}  // namespace

ProgramSummary Summarize(const Function& f) {
  ProgramSummary summary;
  summary.is_auto = IsAuto(f);
  summary.is_strict = IsStrict(f);
  Walker(&summary).Run(f);
  FindLaneBuffers(&summary);
  return summary;
}

}  // namespace kiln
