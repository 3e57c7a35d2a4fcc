// Quadrants count row by row: 0 and 1 above, 2 and 3 below.
#include "kiln/schedule/primitive/strassen.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/reducer.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/rewrite/element_access.h"
#include "kiln/schedule/rewrite/private_nest.h"

namespace kiln {
namespace {

constexpr char kName[] = "strassen";
constexpr int kProducts = 7;

// What each product takes of the quadrants of a factor.
using Parts = std::array<std::array<int, 4>, kProducts>;
constexpr Parts kLeft = {{{1, 0, 0, 1},
                          {0, 0, 1, 1},
                          {1, 0, 0, 0},
                          {0, 0, 0, 1},
                          {1, 1, 0, 0},
                          {-1, 0, 1, 0},
                          {0, 1, 0, -1}}};
constexpr Parts kRight = {{{1, 0, 0, 1},
                           {1, 0, 0, 0},
                           {0, 1, 0, -1},
                           {-1, 0, 1, 0},
                           {0, 0, 0, 1},
                           {1, 1, 0, 0},
                           {0, 0, 1, 1}}};
// What each quadrant of the result takes of the products.
constexpr std::array<std::array<int, kProducts>, 4> kResult = {
    {{1, 0, 0, 1, -1, 0, 1},
     {0, 0, 1, 0, 1, 0, 0},
     {0, 1, 0, 1, 0, 0, 0},
     {1, -1, 1, 0, 0, 1, 0}}};

// Two of the three axes choose an element of each tensor.
struct Matrix {
  Buffer buffer;
  std::vector<Expr> indices;
  DType dtype;                 // of the elements as they are used
  size_t row = 0, column = 0;  // dimensions
  Buffer parts;  // [kProducts, .., half the rows, .., half the columns, ..]
};

struct Plan {
  PrivateNest target;
  std::array<size_t, 3> axes;  // iterators: row, column, sum
  std::array<Expr, 3> halves;  // their extents
  Matrix left, right, result;

  const IterVar& Axis(size_t i) const { return target.block().iters[axes[i]]; }
};

absl::Status PlanAxes(const std::vector<int64_t>& axes, Plan* plan) {
  const std::vector<IterVar>& iters = plan->target.block().iters;
  const auto count = static_cast<int64_t>(iters.size());
  const bool fits = axes.size() == 3 && axes[0] != axes[1] &&
                    std::all_of(axes.begin(), axes.end(), [&](int64_t axis) {
                      return 0 <= axis && axis < count;
                    });
  if (!fits) {
    return BadArgument(
        kName,
        absl::StrCat("axes are the positions of the row, the column and "
                     "the sum among the ",
                     count, " iterators of ", Describe(plan->target.block())));
  }
  for (size_t i = 0; i < 3; ++i) {
    plan->axes[i] = static_cast<size_t>(axes[i]);
    const IterVar& iter = plan->Axis(i);
    const IterType wanted = i == 2 ? IterType::kReduce : IterType::kSpatial;
    if (iter.type != wanted) {
      return Refusal(kName,
                     absl::StrCat("`", iter.var.name(), "` is no ",
                                  i == 2 ? "reduce" : "spatial", " iterator"));
    }
    const int64_t* extent = AsInt(iter.domain.extent);
    if (!extent || *extent % 2 != 0 || *extent == 0) {
      return Refusal(kName,
                     absl::StrCat("`", iter.var.name(),
                                  "` does not run over twice a constant"),
                     "round it up by pad_einsum");
    }
    plan->halves[i] = Int(*extent / 2, iter.domain.extent.dtype());
  }
  return absl::OkStatus();
}

// The dimension of which `axis` is the index.
absl::StatusOr<size_t> DimensionOf(const Plan& plan, const Matrix& m,
                                   size_t axis) {
  const IterVar& iter = plan.Axis(axis);
  const auto uses = std::count_if(
      m.indices.begin(), m.indices.end(),
      [&](const Expr& index) { return UsesVar(index, iter.var); });
  const auto at = std::find(m.indices.begin(), m.indices.end(), iter.var);
  const auto d = static_cast<size_t>(at - m.indices.begin());
  if (uses == 1 && at != m.indices.end() &&
      Analyzer().CanProveEqual(m.buffer->shape[d], iter.domain.extent)) {
    return d;
  }
  return Refusal(
      kName,
      absl::StrCat("`", iter.var.name(), "` is not an index alone of `",
                   m.buffer->name, "`, over the whole of the dimension"));
}

absl::Status PlanMatrix(const Function& f, size_t row, size_t column,
                        size_t other, Plan* plan, Matrix* m) {
  KILN_ASSIGN_OR_RETURN(m->row, DimensionOf(*plan, *m, row));
  KILN_ASSIGN_OR_RETURN(m->column, DimensionOf(*plan, *m, column));
  const Var& stranger = plan->Axis(other).var;
  for (const Expr& index : m->indices) {
    if (!UsesVar(index, stranger)) continue;
    return Refusal(kName,
                   absl::StrCat("`", m->buffer->name, "` has an index with `",
                                stranger.name(), "`"));
  }
  std::vector<Expr> shape = m->buffer->shape;
  shape[m->row] = plan->halves[row];
  shape[m->column] = plan->halves[column];
  shape.insert(shape.begin(), Int(kProducts));
  const bool is_result = m == &plan->result;
  m->parts = MakeBuffer(
      UnusedBlockName(
          f, absl::StrCat(m->buffer->name, is_result ? "_products" : "_sums")),
      m->dtype, std::move(shape), m->buffer->scope);
  // All elements go into sums, and come out of them.
  if (!is_result && IsArgument(f, m->buffer)) return absl::OkStatus();
  const ElementAccess access{plan->target.path, Path(), m->buffer, m->indices,
                             plan->target.block().iters};
  if (TouchesAll(access, is_result)) return absl::OkStatus();
  return Refusal(
      kName, absl::StrCat(Describe(plan->target.block()),
                          " touches only a part of `", m->buffer->name, "`"));
}

// As they are for the values that the iterators have: h + r is h where r is 0.
std::vector<Expr> Simplified(const BlockNode& block,
                             std::vector<Expr> indices) {
  Analyzer analyzer;
  for (const IterVar& iter : block.iters) analyzer.Bind(iter.var, iter.domain);
  for (Expr& index : indices) index = analyzer.Simplify(index);
  return indices;
}

// The tensor that the block reads or writes at one element.
absl::Status FindMatrix(const Function& f, const Plan& plan,
                        const Buffer& buffer, bool is_write, Matrix* m) {
  const BlockNode& block = plan.target.block();
  const auto& regions = is_write ? block.writes : block.reads;
  const auto at = std::find_if(
      regions.begin(), regions.end(),
      [&](const BufferRegion& region) { return region.buffer == buffer; });
  KILN_ASSIGN_OR_RETURN(
      ElementAccess access,
      FindElementAccess(f, block.id, static_cast<int>(at - regions.begin()),
                        is_write, kName));
  m->buffer = buffer;
  m->indices = Simplified(block, std::move(access.indices));
  return absl::OkStatus();
}

// An element of a tensor, perhaps in another type.
absl::Status MatchFactor(const Function& f, const Plan& plan, const Expr& e,
                         Matrix* m) {
  const auto* cast = e.As<CastNode>();
  const auto* load = (cast ? cast->value : e).As<LoadNode>();
  if (!load) {
    return Refusal(kName,
                   absl::StrCat("a factor in ", Describe(plan.target.block()),
                                " is not an element of a tensor"));
  }
  m->dtype = e.dtype();
  return FindMatrix(f, plan, load->buffer, /*is_write=*/false, m);
}

absl::Status MatchProduct(const Function& f, Plan* plan) {
  const BlockNode& block = plan->target.block();
  const auto reducer = MatchReducer(block);
  if (!reducer.ok()) {
    return Refusal(kName, std::string(reducer.status().message()));
  }
  const auto* sum = reducer->combined[0].As<BinaryNode>();
  const auto* product = reducer->operands[0].As<BinaryNode>();
  const bool fits = reducer->buffers.size() == 1 && sum && product &&
                    sum->kind == ExprKind::kAdd &&
                    product->kind == ExprKind::kMul &&
                    reducer->buffers[0]->dtype == product->a.dtype();
  if (!fits) {
    return Refusal(kName,
                   absl::StrCat(Describe(block), " is not a sum of products"));
  }
  KILN_RETURN_IF_ERROR(FindMatrix(f, *plan, reducer->buffers[0],
                                  /*is_write=*/true, &plan->result));
  plan->result.dtype = plan->result.buffer->dtype;
  KILN_RETURN_IF_ERROR(MatchFactor(f, *plan, product->a, &plan->left));
  KILN_RETURN_IF_ERROR(MatchFactor(f, *plan, product->b, &plan->right));
  const bool has_row =
      std::any_of(plan->left.indices.begin(), plan->left.indices.end(),
                  [&](const Expr& e) { return UsesVar(e, plan->Axis(0).var); });
  if (!has_row) std::swap(plan->left, plan->right);
  return absl::OkStatus();
}

absl::Status CheckNumerics(const Function& f, const Plan& plan) {
  const DType dtype = plan.result.dtype;
  if (dtype.is_int() && dtype.bits() == 64) {
    return Refusal(kName, "sums of 64-bit integers may overflow");
  }
  if (!dtype.is_float() || AllowsNormwise(f)) return absl::OkStatus();
  return Refusal(kName,
                 absl::StrCat("the errors of `", plan.result.buffer->name,
                              "` would be small beside the largest elements "
                              "only"),
                 "allow it by T.func_attr({\"numerics\": \"normwise\"})");
}

// Other spatial iterators choose elements of the result, or have one value.
absl::Status CheckOutput(const Plan& plan) {
  for (const IterVar& iter : plan.target.block().iters) {
    const bool chooses = std::any_of(
        plan.result.indices.begin(), plan.result.indices.end(),
        [&](const Expr& index) { return UsesVar(index, iter.var); });
    if (chooses || iter.type != IterType::kSpatial ||
        IsOne(iter.domain.extent)) {
      continue;
    }
    return Refusal(kName,
                   absl::StrCat("`", iter.var.name(), "` is no index of `",
                                plan.result.buffer->name, "`"));
  }
  return absl::OkStatus();
}

// The sum of those with 1, without those with -1.
template <typename Coefficients, typename Value>
Expr Combine(const Coefficients& coefficients, const Value& value) {
  Expr sum;
  for (const int sign : {1, -1}) {
    for (size_t i = 0; i < coefficients.size(); ++i) {
      if (coefficients[i] != sign) continue;
      sum = !sum       ? value(i)
            : sign > 0 ? Add(sum, value(i))
                       : Sub(sum, value(i));
    }
  }
  return sum;
}

// values[i] where `chooser` is i.
Expr Choose(const Expr& chooser, std::vector<Expr> values) {
  Expr chosen = values.back();
  for (size_t i = values.size() - 1; i-- > 0;) {
    const Expr here = EQ(chooser, Int(static_cast<int64_t>(i)));
    chosen =
        Call(chosen.dtype(), Intrinsic::kIfThenElse, {here, values[i], chosen});
  }
  return chosen;
}

IterVar Iterator(std::string_view name, Expr extent) {
  return {
      Var(std::string(name)), {Int(0), std::move(extent)}, IterType::kSpatial};
}

// Iterators over the dimensions of `m.parts`.
std::vector<IterVar> ItersOfParts(const Matrix& m) {
  std::vector<IterVar> iters = {Iterator("vp", Int(kProducts))};
  for (size_t d = 1; d < m.parts->shape.size(); ++d) {
    iters.push_back(Iterator(absl::StrCat("v", d - 1), m.parts->shape[d]));
  }
  return iters;
}

std::vector<Expr> VarsOf(const std::vector<IterVar>& iters, size_t first) {
  std::vector<Expr> vars;
  for (size_t i = first; i < iters.size(); ++i) vars.push_back(iters[i].var);
  return vars;
}

// Sums of quadrants of a factor.
Stmt SumsNest(const Matrix& m, const Parts& parts, Function* f) {
  BlockFields fields;
  fields.id = f->NewId();
  fields.name = m.parts->name;
  fields.iters = ItersOfParts(m);
  const std::vector<Expr> here = VarsOf(fields.iters, 1);
  const auto quadrant = [&](size_t q) {
    std::vector<Expr> at = here;
    if (q >= 2) at[m.row] = Add(at[m.row], m.parts->shape[m.row + 1]);
    if (q % 2) at[m.column] = Add(at[m.column], m.parts->shape[m.column + 1]);
    return Cast(m.dtype, Load(m.buffer, std::move(at)));
  };
  std::vector<Expr> sums;
  for (const auto& part : parts) sums.push_back(Combine(part, quadrant));
  const std::vector<Expr> to = VarsOf(fields.iters, 0);
  fields.body = MakeStore(m.parts, Choose(to[0], std::move(sums)), to);
  std::vector<Range> read = PointRegion(here);
  for (const size_t d : {m.row, m.column}) {
    read[d].extent = Add(m.parts->shape[d + 1], Int(1));
  }
  fields.reads = {{m.buffer, std::move(read)}};
  fields.writes = {{m.parts, PointRegion(to)}};
  fields.annotations[kStrassenParts] = Attr(Bool(true));
  return LoopsOverDomains(MakeBlock(std::move(fields)), f);
}

// The quadrants of the result.
Stmt JoinNest(const Matrix& m, Function* f) {
  BlockFields fields;
  fields.id = f->NewId();
  fields.name = UnusedBlockName(*f, absl::StrCat(m.buffer->name, "_join"));
  std::vector<Expr> to, from = {nullptr}, halves;
  for (size_t d = 0; d < m.buffer->shape.size(); ++d) {
    const Expr extent = m.parts->shape[d + 1];
    const IterVar inner = Iterator(absl::StrCat("v", d), extent);
    to.push_back(inner.var);
    from.push_back(inner.var);
    if (d == m.row || d == m.column) {
      fields.iters.push_back(Iterator(absl::StrCat("vq", d), Int(2)));
      halves.push_back(fields.iters.back().var);
      to.back() = Add(Mul(halves.back(), extent), inner.var);
    }
    fields.iters.push_back(inner);
  }
  if (m.row > m.column) std::swap(halves[0], halves[1]);
  const auto product = [&](size_t p) {
    from[0] = Int(static_cast<int64_t>(p));
    return Load(m.parts, from);
  };
  const auto side = [&](size_t q) {
    return Choose(halves[1], {Combine(kResult[q], product),
                              Combine(kResult[q + 1], product)});
  };
  fields.body = MakeStore(m.buffer, Choose(halves[0], {side(0), side(2)}), to);
  from[0] = Int(0);
  std::vector<Range> read = PointRegion(from);
  read[0].extent = Int(kProducts);
  fields.reads = {{m.parts, std::move(read)}};
  fields.writes = {{m.buffer, PointRegion(to)}};
  fields.annotations[kStrassenParts] = Attr(Bool(true));
  return LoopsOverDomains(MakeBlock(std::move(fields)), f);
}

Expr Element(const Matrix& m, const Var& product) {
  std::vector<Expr> at = m.indices;
  at.insert(at.begin(), product);
  return Load(m.parts, std::move(at));
}

// The block over the parts, which is one product after the other.
Stmt ProductsNest(const Plan& plan, Function* f) {
  BlockFields fields = plan.target.block().fields();
  for (size_t i = 0; i < 3; ++i) {
    fields.iters[plan.axes[i]].domain.extent = plan.halves[i];
  }
  fields.iters.insert(fields.iters.begin(), Iterator("vp", Int(kProducts)));
  const Var p = fields.iters[0].var;
  const Expr sum = Element(plan.result, p);
  const Expr left = Element(plan.left, p), right = Element(plan.right, p);
  const std::vector<Expr> to = sum.As<LoadNode>()->indices;
  const Buffer& sums = plan.result.parts;
  fields.body = MakeStore(sums, Add(sum, Mul(left, right)), to);
  fields.init = MakeStore(sums, Constant(0, sums->dtype), to);
  fields.reads = {
      {plan.left.parts, PointRegion(left.As<LoadNode>()->indices)},
      {plan.right.parts, PointRegion(right.As<LoadNode>()->indices)}};
  fields.writes = {{sums, PointRegion(to)}};
  const BlockRealizeNode& realize = plan.target.realize();
  std::vector<Expr> values = realize.values;
  const Var loop("p");
  values.insert(values.begin(), loop);
  Stmt nest = MakeRealize(std::move(values), realize.predicate,
                          MakeBlock(std::move(fields)));
  std::vector<Expr> extents(realize.values.size());
  for (size_t i = 0; i < 3; ++i) extents[plan.axes[i]] = plan.halves[i];
  return MakeFor(f->NewId(), loop, Int(kProducts),
                 LoopsAround(plan.target, std::move(nest), extents));
}

Function Apply(Function f, const Plan& plan) {
  std::vector<Stmt> nests = {SumsNest(plan.left, kLeft, &f),
                             SumsNest(plan.right, kRight, &f),
                             ProductsNest(plan, &f), JoinNest(plan.result, &f)};
  return ReplaceNest(std::move(f), plan.target, std::move(nests),
                     {plan.left.parts, plan.right.parts, plan.result.parts});
}

}  // namespace

absl::StatusOr<Function> Strassen(const Function& f, BlockId block,
                                  const std::vector<int64_t>& axes) {
  Plan plan;
  KILN_ASSIGN_OR_RETURN(plan.target, FindPrivateNest(f, block, kName));
  const Scope scope(*plan.target.path.scope()->block);
  if (Reason reason = WhyNotReduction(scope, scope.IndexOf(block))) {
    return Refusal(kName, absl::StrCat(Describe(plan.target.block()),
                                       " is no reduction: ", *reason));
  }
  KILN_RETURN_IF_ERROR(CheckPrivateNest(plan.target, kName));
  KILN_RETURN_IF_ERROR(PlanAxes(axes, &plan));
  KILN_RETURN_IF_ERROR(MatchProduct(f, &plan));
  KILN_RETURN_IF_ERROR(CheckOutput(plan));
  KILN_RETURN_IF_ERROR(CheckNumerics(f, plan));
  KILN_RETURN_IF_ERROR(PlanMatrix(f, 0, 2, 1, &plan, &plan.left));
  KILN_RETURN_IF_ERROR(PlanMatrix(f, 2, 1, 0, &plan, &plan.right));
  KILN_RETURN_IF_ERROR(PlanMatrix(f, 0, 1, 2, &plan, &plan.result));
  return Apply(f, plan);
}

}  // namespace kiln
