// Conditions seldom tie all iterators together: in a convolution,
//
//   1 <= h*2 + rh < 57 and 1 <= w*2 + rw < 57
//
// ties h to rh and w to rw. Iterators that a condition or an index ties form a
// group; the values of one group are tried one by one, and what groups count
// is multiplied.
#include "kiln/ir/work/points.h"

#include <algorithm>
#include <numeric>

#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/verify/evaluate.h"

namespace kiln::work_internal {
namespace {

using verify_internal::Evaluate;
using verify_internal::Values;

// Points of one group, and elements of all patterns together: some tenths of a
// second.
constexpr double kMaxPoints = 1 << 22;
constexpr double kMaxMarks = 1 << 26;

struct Group {
  std::vector<Iter> iters;
  std::vector<Expr> conditions;
  std::vector<size_t> dims;  // of the indices that use the iterators
};

class Grouping {
 public:
  explicit Grouping(const std::vector<Iter>& iters)
      : iters_(iters), parent_(iters.size()) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }
  // False where `e` uses anything but iterators.
  bool Tie(const Expr& e) {
    if (e->has_loads) return false;
    std::optional<size_t> first;
    for (const Var& var : FreeVars(e)) {
      const std::optional<size_t> at = PositionOf(var);
      if (!at) return false;
      if (first) parent_[Root(*at)] = Root(*first);
      first = at;
    }
    return true;
  }
  // The group of `e`; nullopt for a constant.
  std::optional<size_t> Of(const Expr& e) {
    const std::vector<Var> vars = FreeVars(e);
    if (vars.empty()) return std::nullopt;
    return Root(*PositionOf(vars[0]));
  }
  // By the position of their roots; other positions have no iterators.
  std::vector<Group> Make() {
    std::vector<Group> groups(iters_.size());
    for (size_t i = 0; i < iters_.size(); ++i) {
      groups[Root(i)].iters.push_back(iters_[i]);
    }
    return groups;
  }

 private:
  std::optional<size_t> PositionOf(const Var& var) const {
    for (size_t i = 0; i < iters_.size(); ++i) {
      if (iters_[i].var == var) return i;
    }
    return std::nullopt;
  }
  size_t Root(size_t i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }

  const std::vector<Iter>& iters_;
  std::vector<size_t> parent_;
};

struct Groups {
  std::vector<Group> list;
  double constant_factor = 1;  // 0 where a condition never holds
};

std::optional<Groups> GroupsOf(const Domain& domain,
                               const std::vector<Expr>& indices) {
  Grouping grouping(domain.iters);
  std::vector<Expr> conditions;
  for (const Expr& condition : domain.conditions) {
    for (const Expr& part : ConjunctsOf(condition)) conditions.push_back(part);
  }
  for (const Expr& e : conditions) {
    if (!grouping.Tie(e)) return std::nullopt;
  }
  for (const Expr& e : indices) {
    if (!grouping.Tie(e)) return std::nullopt;
  }
  Groups groups{grouping.Make()};
  for (const Expr& e : conditions) {
    if (const std::optional<size_t> at = grouping.Of(e)) {
      groups.list[*at].conditions.push_back(e);
      continue;
    }
    const std::optional<int64_t> value = Evaluate(e, Values());
    if (!value) return std::nullopt;
    if (!*value) groups.constant_factor = 0;
  }
  for (size_t d = 0; d < indices.size(); ++d) {
    if (const std::optional<size_t> at = grouping.Of(indices[d])) {
      groups.list[*at].dims.push_back(d);
    }
  }
  return groups;
}

double Extents(const std::vector<Iter>& iters) {
  double product = 1;
  for (const Iter& iter : iters) product *= static_cast<double>(iter.extent);
  return product;
}

// Whether all hold; nullopt where that is unknown.
std::optional<bool> Hold(const std::vector<Expr>& conditions,
                         const Values& values) {
  for (const Expr& condition : conditions) {
    const std::optional<int64_t> holds = Evaluate(condition, values);
    if (!holds) return std::nullopt;
    if (!*holds) return false;
  }
  return true;
}

bool Advance(const std::vector<Iter>& iters, Values* values) {
  for (size_t i = iters.size(); i-- > 0;) {
    std::optional<int64_t>& value = (*values)[iters[i].var.get()];
    if (++*value < iters[i].min + iters[i].extent) return true;
    value = iters[i].min;
  }
  return false;
}

// Calls `visit(values)` at each point of the group until it returns false.
// False where there are too many, or where something is unknown.
bool ForEachPoint(const Group& group, FunctionRef<bool(const Values&)> visit) {
  const double points = Extents(group.iters);
  if (points > kMaxPoints) return false;
  if (points == 0) return true;
  Values values;
  for (const Iter& iter : group.iters) values[iter.var.get()] = iter.min;
  do {
    const std::optional<bool> holds = Hold(group.conditions, values);
    if (!holds || (*holds && !visit(values))) return false;
  } while (Advance(group.iters, &values));
  return true;
}

std::optional<double> PointsOf(const Group& group) {
  if (group.conditions.empty()) return Extents(group.iters);
  double count = 0;
  const bool done = ForEachPoint(group, [&](const Values&) {
    ++count;
    return true;
  });
  return done ? std::optional<double>(count) : std::nullopt;
}

// Row-major.
struct Layout {
  explicit Layout(const std::vector<int64_t>& extents)
      : shape(extents), strides(extents.size(), 1) {
    for (size_t d = shape.size(); d-- > 1;) {
      strides[d - 1] = strides[d] * shape[d];
    }
  }
  const std::vector<int64_t>& shape;
  std::vector<int64_t> strides;
};

// The part of these dimensions; nullopt where an index is out of bounds.
std::optional<int64_t> OffsetAt(const std::vector<Expr>& indices,
                                const std::vector<size_t>& dims,
                                const Layout& layout, const Values& values) {
  int64_t offset = 0;
  for (size_t d : dims) {
    const std::optional<int64_t> index = Evaluate(indices[d], values);
    if (!index || *index < 0 || *index >= layout.shape[d]) return std::nullopt;
    offset += *index * layout.strides[d];
  }
  return offset;
}

std::optional<std::vector<int64_t>> OffsetsOf(const Group& group,
                                              const std::vector<Expr>& indices,
                                              const Layout& layout) {
  std::vector<int64_t> offsets;
  const bool done = ForEachPoint(group, [&](const Values& values) {
    const auto offset = OffsetAt(indices, group.dims, layout, values);
    if (offset) offsets.push_back(*offset);
    return offset.has_value();
  });
  if (!done) return std::nullopt;
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  return offsets;
}

void Mark(const Offsets& offsets, size_t next, int64_t sum,
          std::vector<bool>* marks) {
  if (next == offsets.size()) {
    (*marks)[static_cast<size_t>(sum)] = true;
    return;
  }
  for (int64_t offset : offsets[next]) {
    Mark(offsets, next + 1, sum + offset, marks);
  }
}

}  // namespace

double CountAll(const Domain& domain) { return Extents(domain.iters); }

std::optional<double> CountPoints(const Domain& domain) {
  const std::optional<Groups> groups = GroupsOf(domain, {});
  if (!groups) return std::nullopt;
  double count = groups->constant_factor;
  for (const Group& group : groups->list) {
    const std::optional<double> points = PointsOf(group);
    if (!points) return std::nullopt;
    count *= *points;
  }
  return count;
}

double CountElements(const Offsets& offsets) {
  double count = 1;
  for (const auto& set : offsets) count *= static_cast<double>(set.size());
  return count;
}

std::optional<Offsets> ElementsAt(const Domain& domain,
                                  const std::vector<Expr>& indices,
                                  const std::vector<int64_t>& shape) {
  const std::optional<Groups> groups = GroupsOf(domain, indices);
  if (!groups) return std::nullopt;
  const Layout layout(shape);
  std::vector<size_t> fixed;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (FreeVars(indices[d]).empty()) fixed.push_back(d);
  }
  const auto base = OffsetAt(indices, fixed, layout, Values());
  if (!base) return std::nullopt;
  double points = groups->constant_factor;
  Offsets offsets = {{*base}};
  for (const Group& group : groups->list) {
    if (group.dims.empty()) {
      const std::optional<double> count = PointsOf(group);
      if (!count) return std::nullopt;
      points *= *count;
      continue;
    }
    auto set = OffsetsOf(group, indices, layout);
    if (!set) return std::nullopt;
    offsets.push_back(*std::move(set));
  }
  if (points == 0) return Offsets{{}};
  return offsets;
}

std::optional<double> CountUnion(std::vector<Offsets> patterns,
                                 double elements) {
  std::sort(patterns.begin(), patterns.end());
  patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
  double sum = 0;
  for (const Offsets& pattern : patterns) {
    const double size = CountElements(pattern);
    if (size == elements) return elements;
    sum += size;
  }
  if (patterns.size() < 2) return sum;
  if (sum > kMaxMarks || elements > 8 * kMaxMarks) return std::nullopt;
  std::vector<bool> marks(static_cast<size_t>(elements));
  for (const Offsets& pattern : patterns) Mark(pattern, 0, 0, &marks);
  return static_cast<double>(std::count(marks.begin(), marks.end(), true));
}

}  // namespace kiln::work_internal
