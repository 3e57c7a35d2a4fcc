// Rules ask how far a step along each axis moves in each tensor. Indices are
// read as sums of axes with coefficients (search/feature), and dimensions
// weighed by what follows them:
//
//   C[i, j] += A[i, k] * W[j, k]      A: 512 x 768, W: 1024 x 768
//     axes i, j spatial, k reduced    A moves by 768, 0, 1; W by 0, 768, 1
//
// From that follow the questions of rules: which axis is contiguous in the
// output (j), which operand is shared along an axis (W along i), whether the
// sum runs through contiguous elements (k does in both). A stride that is no
// constant, as of x // 3, is none; rules then leave the axis alone. Only blocks
// whose loops are their iterators one by one are described: whoever has split a
// loop has made the choice already.
#include "kiln/search/space/rule/block_info.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/arith/split_dims.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/search/feature/approximate_index.h"
#include "kiln/search/feature/ops.h"

namespace kiln {
namespace {

const BlockNode* RootOf(const Function& f) {
  const auto* realize = f.body.As<BlockRealizeNode>();
  return realize ? realize->block.get() : nullptr;
}

// The axes, if the loops are they.
bool ReadAxes(const ScopeBlock& at, BlockInfo* info) {
  const BlockNode& block = at.block();
  if (!HasTrivialBinding(*at.realize)) return false;
  if (at.loops.size() != block.iters.size()) return false;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const int64_t* extent = AsInt(at.loops[i]->extent);
    const auto* bound = at.realize->values[i].As<VarNode>();
    if (!extent || bound != at.loops[i]->var.get()) return false;
    AxisInfo axis = {.extent = *extent};
    axis.reduce = block.iters[i].type == IterType::kReduce;
    axis.scans = block.iters[i].type == IterType::kOpaque;
    info->axes.push_back(axis);
  }
  return true;
}

ApproximateScope Axes(const BlockNode& block, const BlockInfo& info) {
  ApproximateScope scope;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    scope.Bind(
        block.iters[i].var.get(),
        ApproximateIndex::OfLoop(static_cast<int>(i), info.axes[i].extent));
  }
  return scope;
}

// The elements that one step along `axis` moves.
std::optional<double> StrideOf(const std::vector<ApproximateIndex>& indices,
                               const std::vector<double>& sizes, int axis) {
  double stride = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d].unknown) return std::nullopt;
    for (const ApproximateTerm& term : indices[d].terms) {
      if (term.loop != axis) continue;
      if (term.coefficient != std::floor(term.coefficient)) return std::nullopt;
      stride += term.coefficient * sizes[d];
    }
  }
  return stride;
}

// Whether the term is (k + ..) // c, so that each value serves c steps of k.
bool IsQuotientOf(const Term& term, const VarNode* k) {
  const auto* quotient = term.atom.As<BinaryNode>();
  if (!quotient || quotient->kind != ExprKind::kFloorDiv) return false;
  const int64_t* divisor = AsInt(quotient->b);
  return term.coefficient == 1 && divisor && *divisor > 1 &&
         ToLinear(quotient->a).Coefficient(k) == 1;
}

// Whether elements in order serve some steps of `k` each.
bool Lags(const std::vector<Expr>& indices, const Var& k) {
  for (size_t d = 0; d + 1 < indices.size(); ++d) {
    if (UsesVar(indices[d], k)) return false;
  }
  if (indices.empty()) return false;
  const Linear last = ToLinear(indices.back());
  const auto uses = [&](const Term& term) { return UsesVar(term.atom, k); };
  const auto found = absl::c_find_if(last.terms, uses);
  return last.ok && absl::c_count_if(last.terms, uses) == 1 &&
         IsQuotientOf(*found, k.get());
}

bool HasDigits(const std::vector<Expr>& indices) {
  return absl::c_any_of(indices, [](const Expr& index) {
    bool found = false;
    Visit(index, [&](const Expr& e) {
      found |= e.kind() == ExprKind::kFloorMod;
      return !found;
    });
    return found;
  });
}

// The first element, with iterators of one value taken out where that shows
// which dimensions are digits of one number.
std::vector<Expr> FirstOf(const BufferRegion& read, const BlockNode& block) {
  std::vector<Expr> firsts;
  for (const Range& range : read.region) firsts.push_back(range.min);
  if (!HasDigits(firsts)) return firsts;
  VarMap single;
  for (const IterVar& iter : block.iters) {
    if (IsOne(iter.domain.extent)) single[iter.var.get()] = iter.domain.min;
  }
  Analyzer analyzer;
  for (Expr& first : firsts) {
    first = analyzer.Simplify(Substitute(first, single));
  }
  return firsts;
}

ReadInfo DescribeAccess(const BufferRegion& read, const BlockNode& block,
                        const ApproximateScope& scope) {
  ReadInfo info;
  std::vector<Expr> firsts = FirstOf(read, block);
  info.elements = 1;
  for (const Expr& size : read.buffer->shape) {
    const int64_t* extent = AsInt(size);
    info.shape.push_back(extent ? *extent : 1);
    info.elements *= static_cast<double>(info.shape.back());
  }
  std::vector<int64_t> shape = info.shape;
  MergeSplitDims(&firsts, &shape);
  std::vector<ApproximateIndex> indices;
  for (const Expr& first : firsts) indices.push_back(scope.Evaluate(first));
  std::vector<double> sizes(indices.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) {
    sizes[d - 1] = sizes[d] * static_cast<double>(shape[d]);
  }
  for (size_t axis = 0; axis < block.iters.size(); ++axis) {
    info.strides.push_back(StrideOf(indices, sizes, static_cast<int>(axis)));
    info.lags.push_back(Lags(firsts, block.iters[axis].var));
  }
  return info;
}

void ReadWriteDims(const BlockNode& block, const ApproximateScope& axes,
                   BlockInfo* info) {
  const std::vector<Range>& region = block.writes[0].region;
  const ReadInfo write = DescribeAccess(block.writes[0], block, axes);
  for (size_t i = 0; i < info->axes.size(); ++i) {
    info->axes[i].steps_write = write.strides[i] == 1.0;
  }
  info->write_dims = static_cast<int>(region.size());
  for (size_t d = 0; d < region.size(); ++d) {
    for (size_t i = 0; i < block.iters.size(); ++i) {
      if (region[d].min.get() == block.iters[i].var.get()) {
        info->axes[i].write_dim = static_cast<int>(d);
      }
    }
  }
}

constexpr int64_t kMostChoices = 8;
constexpr int64_t kLeastLanes = 4;

// Marks the axis in a condition such as `axis == 2`.
void ReadChoice(const Expr& condition, const BlockNode& block,
                BlockInfo* info) {
  const auto* equal = condition.As<BinaryNode>();
  if (!equal || equal->kind != ExprKind::kEQ || !AsInt(equal->b)) return;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    AxisInfo& axis = info->axes[i];
    if (equal->a == block.iters[i].var) {
      axis.chooses = !axis.reduce && axis.extent <= kMostChoices;
    }
  }
}

void ReadBody(const Stmt& s, const BlockNode& block, BlockInfo* info) {
  if (s.kind() == StmtKind::kIf) info->has_condition = true;
  ForEachExpr(s, [&](const Expr& e) {
    Visit(e, [&](const Expr& x) {
      const auto* call = x.As<CallNode>();
      if (!call) return true;
      if (call->op == Intrinsic::kIfThenElse) {
        info->has_condition = true;
        ReadChoice(call->args[0], block, info);
      } else if (!IsOneInstruction(call->op)) {
        info->is_expensive = true;
      }
      return true;
    });
  });
  ForEachChild(s, [&](const Stmt& child) { ReadBody(child, block, info); });
}

bool IsElementwise(const BlockNode& block, const BlockInfo& info) {
  if (info.has_init || info.CountReduce() > 0) return false;
  if (block.body.kind() != StmtKind::kStore) return false;
  const auto indexed = [](const AxisInfo& a) { return a.write_dim >= 0; };
  return std::all_of(info.axes.begin(), info.axes.end(), indexed) &&
         info.axes.size() == static_cast<size_t>(info.write_dims);
}

// Whether `buffer` is laid out ahead, or could be.
bool IsConstant(const Function& f, const Scope& scope, const Buffer& buffer) {
  return IsLayoutFree(f, buffer) ||
         absl::c_any_of(scope.blocks, [&](const ScopeBlock& at) {
           return IsLayoutPreparation(at.block()) &&
                  WritesBuffer(at.block(), buffer);
         });
}

std::vector<std::string> NamesOf(const Scope& scope,
                                 const std::vector<int>& blocks) {
  std::vector<std::string> names;
  for (int i : blocks) names.push_back(scope.blocks[i].block().name);
  return names;
}

// A sum over the block's values needs them from all threads.
bool IsForTiles(const Scope& scope, int index) {
  const std::vector<int> consumers = scope.Consumers(index);
  return consumers.size() == 1 && !scope.IsOutput(index) &&
         absl::c_all_of(scope.blocks[consumers[0]].block().iters,
                        [](const IterVar& iter) {
                          return iter.type == IterType::kSpatial;
                        });
}

// Whether all that the block writes is written at the same indices.
bool WritesAlike(const BlockNode& block) {
  const BufferRegion& first = block.writes[0];
  return absl::c_all_of(block.writes, [&](const BufferRegion& other) {
    return absl::c_equal(first.buffer->shape, other.buffer->shape, SameExpr) &&
           absl::c_equal(
               first.region, other.region, [](const Range& a, const Range& b) {
                 return SameExpr(a.min, b.min) && SameExpr(a.extent, b.extent);
               });
  });
}

void AddLoads(const Stmt& s, const Buffer& buffer,
              std::vector<BufferRegion>* loads) {
  ForEachExpr(s, [&](const Expr& e) {
    Visit(e, [&](const Expr& x) {
      const auto* load = x.As<LoadNode>();
      if (load && load->buffer == buffer) {
        loads->push_back({buffer, PointRegion(load->indices)});
      }
      return true;
    });
  });
  ForEachChild(s, [&](const Stmt& child) { AddLoads(child, buffer, loads); });
}

// The region as the block declares it, or where elements of it are read in
// several ways, as both of A[k, i] * A[k, j], one description for each.
std::vector<ReadInfo> DescribeRead(const BufferRegion& read,
                                   const BlockNode& block,
                                   const ApproximateScope& axes) {
  std::vector<BufferRegion> loads;
  AddLoads(block.body, read.buffer, &loads);
  std::vector<ReadInfo> infos;
  for (const BufferRegion& load : loads) {
    ReadInfo info = DescribeAccess(load, block, axes);
    const bool is_known = absl::c_any_of(infos, [&](const ReadInfo& other) {
      return other.strides == info.strides;
    });
    if (!is_known) infos.push_back(std::move(info));
  }
  if (infos.size() < 2) return {DescribeAccess(read, block, axes)};
  return infos;
}

std::optional<BlockInfo> Describe(const Function& f, const Scope& scope,
                                  int index) {
  const ScopeBlock& at = scope.blocks[index];
  const BlockNode& block = at.block();
  BlockInfo info;
  info.name = block.name;
  if (!ReadAxes(at, &info)) return std::nullopt;
  const ApproximateScope axes = Axes(block, info);
  ReadWriteDims(block, axes, &info);
  for (size_t i = 0; i < block.reads.size(); ++i) {
    const BufferRegion& read = block.reads[i];
    if (WritesBuffer(block, read.buffer)) continue;
    for (ReadInfo& way : DescribeRead(read, block, axes)) {
      way.index = static_cast<int>(i);
      way.layout_free = IsConstant(f, scope, read.buffer);
      info.reads.push_back(std::move(way));
    }
  }
  info.has_init = static_cast<bool>(block.init);
  ReadBody(block.body, block, &info);
  info.is_output = scope.IsOutput(index);
  info.is_elementwise = IsElementwise(block, info);
  info.producers = NamesOf(scope, scope.Producers(index));
  info.consumers = NamesOf(scope, scope.Consumers(index));
  info.is_for_tiles = IsForTiles(scope, index);
  return info;
}

int64_t CountOf(IterType type, const BlockNode& block) {
  return absl::c_count_if(
      block.iters, [&](const IterVar& iter) { return iter.type == type; });
}

// The first block called `name`, if it is as wanted.
std::optional<BlockInfo> Find(const Function& f, std::string_view name,
                              FunctionRef<bool(const BlockNode&)> is_wanted) {
  const BlockNode* root = RootOf(f);
  if (!root) return std::nullopt;
  const Scope scope(*root);
  for (size_t i = 0; i < scope.blocks.size(); ++i) {
    const BlockNode& block = scope.blocks[i].block();
    if (block.name != name) continue;
    if (!is_wanted(block)) return std::nullopt;
    return Describe(f, scope, static_cast<int>(i));
  }
  return std::nullopt;
}

int64_t SizeOf(const BlockInfo& info, bool reduce) {
  int64_t size = 1;
  for (const AxisInfo& axis : info.axes) {
    if (axis.reduce == reduce) size *= axis.extent;
  }
  return size;
}

}  // namespace

int BlockInfo::CountReduce() const {
  return static_cast<int>(std::count_if(
      axes.begin(), axes.end(), [](const AxisInfo& a) { return a.reduce; }));
}

int BlockInfo::ContiguousAxis() const {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].write_dim >= 0 && axes[i].write_dim == write_dims - 1) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

int BlockInfo::VectorAxis() const {
  const int column = ContiguousAxis();
  if (column >= 0) return column;
  const auto at = absl::c_find_if(axes, [](const AxisInfo& a) {
    return a.steps_write && !a.chooses && a.extent >= kLeastLanes;
  });
  return at == axes.end() ? -1 : static_cast<int>(at - axes.begin());
}

bool BlockInfo::GoesOn(size_t outer, size_t inner) const {
  const AxisInfo &a = axes[outer], &b = axes[inner];
  return !a.reduce && !b.reduce && a.extent > 1 && b.extent > 1 &&
         a.write_dim >= 0 && b.write_dim == a.write_dim + 1 &&
         absl::c_all_of(reads, [&](const ReadInfo& read) {
           const auto &far = read.strides[outer], &near = read.strides[inner];
           return far && near && *far == *near * static_cast<double>(b.extent);
         });
}

int64_t BlockInfo::SpatialSize() const { return SizeOf(*this, false); }
int64_t BlockInfo::ReduceSize() const { return SizeOf(*this, true); }

bool BlockInfo::ReducesContiguously() const {
  int last = -1;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].reduce) last = static_cast<int>(i);
  }
  if (last < 0 || !has_init) return false;
  bool moves = false;
  for (const ReadInfo& read : reads) {
    if (!read.Uses(last)) continue;
    if (!read.LiesAlong(last)) return false;
    moves |= read.strides[last] == 1.0;
  }
  return moves;
}

std::optional<BlockInfo> DescribeBlock(const Function& f,
                                       std::string_view name) {
  return Find(f, name, [](const BlockNode& block) {
    return block.writes.size() == 1 && CountOf(IterType::kOpaque, block) == 0;
  });
}

std::optional<BlockInfo> DescribeTupleBlock(const Function& f,
                                            std::string_view name) {
  return Find(f, name, [](const BlockNode& block) {
    return block.writes.size() > 1 && WritesAlike(block) &&
           CountOf(IterType::kOpaque, block) == 0;
  });
}

std::optional<BlockInfo> DescribeScan(const Function& f,
                                      std::string_view name) {
  return Find(f, name, [](const BlockNode& block) {
    return block.writes.size() == 1 && CountOf(IterType::kOpaque, block) == 1 &&
           CountOf(IterType::kReduce, block) == 0;
  });
}

const BlockNode& NodeOf(const Function& f, std::string_view name) {
  const Scope scope(f.root());
  const auto at = absl::c_find_if(scope.blocks, [&](const ScopeBlock& block) {
    return block.block().name == name;
  });
  return at->block();
}

std::vector<std::string> RootBlocks(const Function& f) {
  std::vector<std::string> names;
  const BlockNode* root = RootOf(f);
  if (!root) return names;
  for (const ScopeBlock& at : Scope(*root).blocks) {
    names.push_back(at.block().name);
  }
  return names;
}

}  // namespace kiln
