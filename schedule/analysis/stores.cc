// One statement may store all of the region (a point, or a nest of loops that
// fills it), or several may store its points one by one:
//
//   X[vi * 2] = a;  X[vi * 2 + 1] = b      of the region X[vi * 2:vi * 2 + 2]
#include "kiln/schedule/analysis/stores.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/dense.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {
namespace {

using Point = std::vector<int64_t>;  // from the corner of the region

bool SameIndex(const Expr& a, const Expr& b) {
  return a == b || SameExpr(a, b);
}

// The one store that most blocks consist of.
bool StoresThePoint(const Stmt& s, const BufferRegion& written) {
  const auto* store = s.As<StoreNode>();
  if (!store || store->buffer != written.buffer) return false;
  for (size_t d = 0; d < written.region.size(); ++d) {
    const Range& range = written.region[d];
    if (!IsOne(range.extent) || !SameIndex(store->indices[d], range.min)) {
      return false;
    }
  }
  return true;
}

class Stores {
 public:
  explicit Stores(const BufferRegion& written) : written_(written) {
    for (const Range& range : written.region) {
      wanted_.push_back(
          {range.min,
           analyzer_.Simplify(Sub(Add(range.min, range.extent), Int(1)))});
    }
  }

  // Whether `s` stores all of the region, or the points that it stores make it
  // complete.
  bool Fill(const Stmt& s) {
    if (!s) return false;
    if (const auto* seq = s.As<SeqNode>()) {
      return std::any_of(seq->stmts.begin(), seq->stmts.end(),
                         [&](const Stmt& child) { return Fill(child); });
    }
    if (const auto* let = s.As<LetStmtNode>()) return Fill(let->body);
    if (const auto* branch = s.As<IfNode>()) return FillEither(*branch);
    if (const auto* loop = s.As<ForNode>()) {
      loops_.push_back(loop);
      const bool fills = Fill(loop->body);
      loops_.pop_back();
      return fills;
    }
    if (const auto* realize = s.As<BlockRealizeNode>()) return Fill(*realize);
    const auto* store = s.As<StoreNode>();
    return store && store->buffer == written_.buffer && Fill(*store);
  }

 private:
  // What both branches store.
  bool FillEither(const IfNode& branch) {
    const std::set<Point> before = std::exchange(points_, {});
    bool fills = Fill(branch.then_case);
    const std::set<Point> then_points = std::exchange(points_, {});
    fills = Fill(branch.else_case) && fills;
    std::set<Point> both = before;
    std::set_intersection(then_points.begin(), then_points.end(),
                          points_.begin(), points_.end(),
                          std::inserter(both, both.end()));
    points_ = std::move(both);
    return fills || IsComplete();
  }

  bool Fill(const BlockRealizeNode& realize) {
    const ScopeBlock block{&realize, loops_};
    for (const BufferRegion& region : realize.block->writes) {
      if (region.buffer != written_.buffer) continue;
      const auto box = TouchedBox(block, region, 0, &analyzer_);
      if (!Contains(box, wanted_, &analyzer_)) continue;
      if (IsOne(realize.predicate)
              ? FillsBox(block, region, 0, box, &analyzer_)
              : StoresAll(*realize.block, region) &&
                    FillsBoxByCount(block, InLoopVariables(block, region), 0,
                                    box, &analyzer_)) {
        return true;
      }
    }
    return false;
  }

  bool Fill(const StoreNode& store) {
    if (loops_.empty()) {
      if (std::optional<Point> point = PointOf(store)) points_.insert(*point);
      return IsComplete();
    }
    std::vector<Range> point;
    for (const Expr& index : store.indices) point.push_back({index, Int(1)});
    Domains domains;
    for (const ForNode* loop : loops_) {
      domains.emplace(loop->var.get(), {loop->min, loop->extent});
    }
    return IsDenseBox(loops_, point) &&
           Contains(EvalRegion(point, domains, Bool(true), &analyzer_), wanted_,
                    &analyzer_);
  }

  std::optional<Point> PointOf(const StoreNode& store) {
    Point point;
    for (size_t d = 0; d < store.indices.size(); ++d) {
      const Expr at =
          analyzer_.Simplify(Sub(store.indices[d], written_.region[d].min));
      if (!AsInt(at)) return std::nullopt;
      point.push_back(*AsInt(at));
    }
    return point;
  }

  // Whether the points are all of a region of constant extents. Points outside
  // of it are no points of a well-formed block.
  bool IsComplete() const {
    int64_t volume = 1;
    for (const Range& range : written_.region) {
      const int64_t* extent = AsInt(range.extent);
      if (!extent || !FoldInt(ExprKind::kMul, volume, *extent, &volume)) {
        return false;
      }
    }
    return std::ssize(points_) >= volume;
  }

  const BufferRegion& written_;
  Analyzer analyzer_;
  std::vector<IntSet> wanted_;
  std::vector<const ForNode*> loops_;  // around the statement
  std::set<Point> points_;
};

bool HasStoreTo(const Stmt& s, const Buffer& buffer) {
  bool found = false;
  Visit(s, [&](const Stmt& inner) {
    const auto* store = inner.As<StoreNode>();
    found = found || (store && store->buffer == buffer);
    return !found;
  });
  return found;
}

}  // namespace

bool StoresAll(const BlockNode& block, const BufferRegion& written) {
  if (StoresThePoint(block.body, written)) return true;
  if (block.init && StoresThePoint(block.init, written)) return true;
  if (!HasStoreTo(block.body, written.buffer)) return true;
  Stores stores(written);
  return stores.Fill(block.init) || stores.Fill(block.body);
}

}  // namespace kiln
