#include "kiln/codegen/lower/auto/vector_grid.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

// Vectors of one buffer whose elements are constants apart.
struct Family {
  const LoadNode* load;  // one of them
  Linear form;
  std::vector<int64_t> apart;  // from that one, each once
};

void AddApart(int64_t apart, std::vector<int64_t>* all) {
  const auto at = std::lower_bound(all->begin(), all->end(), apart);
  if (at == all->end() || *at != apart) all->insert(at, apart);
}

// The element that a vector of consecutive lanes begins at, or a number of its
// own; null for others.
Expr FirstElement(const LoadNode& load) {
  const Expr& index = load.indices[0];
  return load.dtype.lanes() == 1 ? index : ContiguousBase(index);
}

void AddToFamilies(const LoadNode& load, std::vector<Family>* families) {
  Linear form = ToLinear(FirstElement(load));
  for (Family& family : *families) {
    if (family.load->buffer != load.buffer ||
        family.load->dtype != load.dtype) {
      continue;
    }
    const Linear apart = Difference(form, family.form);
    if (apart.is_constant()) return AddApart(apart.constant, &family.apart);
  }
  families->push_back({&load, std::move(form), {0}});
}

// How many of the first numbers go up in equal steps.
size_t EqualSteps(absl::Span<const int64_t> numbers) {
  size_t count = std::min<size_t>(numbers.size(), 2);
  while (count < numbers.size() &&
         numbers[count] - numbers[count - 1] == numbers[1] - numbers[0]) {
    ++count;
  }
  return count;
}

VectorGrid GridAt(const LoadNode& load, int64_t apart) {
  const Expr first = FirstElement(load);
  return {load.buffer, Add(first, Int(apart)), load.dtype.lanes()};
}

std::optional<VectorGrid> GridOfFamily(const Family& family) {
  const std::vector<int64_t>& apart = family.apart;
  VectorGrid grid = GridAt(*family.load, apart[0]);
  const size_t columns = EqualSteps(apart);
  if (apart.size() % columns != 0) return std::nullopt;
  grid.columns = static_cast<int64_t>(columns);
  grid.rows = static_cast<int64_t>(apart.size() / columns);
  if (columns > 1) grid.column_step = apart[1] - apart[0];
  if (grid.rows > 1) grid.row_step = apart[columns] - apart[0];
  for (size_t i = 0; i < apart.size(); ++i) {
    const auto row = static_cast<int64_t>(i / columns);
    const auto column = static_cast<int64_t>(i % columns);
    if (apart[i] - apart[0] != row * grid.row_step + column * grid.column_step)
      return std::nullopt;
  }
  return grid;
}

// Of the vectors of consecutive lanes, or of the scalars, in the order of first
// uses.
std::vector<Family> FamiliesIn(const Stmt& body, bool vectors) {
  std::vector<Family> families;
  VisitExprs(body, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (load && load->dtype.lanes() > 1 == vectors && FirstElement(*load)) {
      AddToFamilies(*load, &families);
    }
    return true;
  });
  return families;
}

}  // namespace

Expr ContiguousBase(const Expr& index) {
  const auto* ramp = index.As<RampNode>();
  return ramp && IsOne(ramp->stride) ? ramp->base : nullptr;
}

std::optional<VectorGrid> GridOf(absl::Span<const LoadNode* const> loads) {
  std::vector<Family> families;
  for (const LoadNode* load : loads) {
    if (!ContiguousBase(load->indices[0])) return std::nullopt;
    AddToFamilies(*load, &families);
  }
  if (families.size() != 1) return std::nullopt;
  return GridOfFamily(families[0]);
}

std::vector<VectorGrid> FindVectorGrids(const Stmt& body) {
  std::vector<VectorGrid> grids;
  for (const Family& family : FamiliesIn(body, /*vectors=*/true)) {
    if (std::optional<VectorGrid> grid = GridOfFamily(family)) {
      grids.push_back(*std::move(grid));
      continue;
    }
    for (int64_t apart : family.apart) {
      grids.push_back(GridAt(*family.load, apart));
    }
  }
  return grids;
}

std::vector<VectorGrid> FindScalarGrids(const Stmt& body) {
  std::vector<VectorGrid> grids;
  for (const Family& family : FamiliesIn(body, /*vectors=*/false)) {
    std::optional<VectorGrid> grid = GridOfFamily(family);
    if (grid) grids.push_back(*std::move(grid));
  }
  return grids;
}

int64_t VectorSpan(const Stmt& body, const Buffer& buffer) {
  int64_t first = INT64_MAX, end = INT64_MIN;
  VisitExprs(body, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    const Expr element = load && load->buffer == buffer
                             ? ContiguousBase(load->indices[0])
                             : Expr();
    if (element) {
      const int64_t at = ToLinear(element).constant;
      first = std::min(first, at);
      end = std::max(end, at + load->dtype.lanes());
    }
    return true;
  });
  return end > first ? end - first : 0;
}

}  // namespace kiln::lower
