#include "kiln/ir/work/accesses.h"

#include <algorithm>
#include <optional>

#include "kiln/ir/expr/visit.h"

namespace kiln::work_internal {
namespace {

std::optional<std::vector<int64_t>> ShapeOf(const Buffer& buffer) {
  std::vector<int64_t> shape;
  for (const Expr& e : buffer->shape) {
    const int64_t* extent = AsInt(e);
    if (!extent) return std::nullopt;
    shape.push_back(*extent);
  }
  return shape;
}

double SizeOf(const std::vector<int64_t>& shape) {
  double size = 1;
  for (int64_t extent : shape) size *= static_cast<double>(extent);
  return size;
}

bool SharesLoops(const Access& a, const Access& b) {
  return !a.domain.iters.empty() && !b.domain.iters.empty() &&
         a.domain.iters[0].var == b.domain.iters[0].var;
}

// Whether two index expressions are the same operations on the same variables.
bool Same(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (a.kind() != b.kind() || a.dtype() != b.dtype() || a->has_loads ||
      b->has_loads) {
    return false;
  }
  if (const int64_t* value = AsInt(a)) return *value == *AsInt(b);
  const auto* binary = a.As<BinaryNode>();
  const auto* other = b.As<BinaryNode>();
  return binary && Same(binary->a, other->a) && Same(binary->b, other->b);
}

bool SameIndices(const Access& a, const Access& b) {
  return std::equal(a.indices.begin(), a.indices.end(), b.indices.begin(),
                    b.indices.end(), Same);
}

// Whether a read of the same buffer gets its elements from a write.
enum class Relation { kNone, kProvides, kUnclear };

Relation RelationOf(const Access& write, const Access& read,
                    const Offsets& elements,
                    const std::vector<int64_t>& shape) {
  if (SharesLoops(write, read) && !SameIndices(write, read)) {
    return Relation::kUnclear;
  }
  if (write.statement >= read.statement) return Relation::kNone;
  const auto written = ElementsAt(write.domain, write.indices, shape);
  if (!written) return Relation::kUnclear;
  const auto both = CountUnion({*written, elements}, SizeOf(shape));
  if (both && *both == CountElements(*written)) return Relation::kProvides;
  return Relation::kUnclear;
}

Count Total(const std::vector<Offsets>& patterns, double elements,
            bool is_exact) {
  const std::optional<double> touched = CountUnion(patterns, elements);
  return {touched.value_or(elements), is_exact && touched.has_value()};
}

}  // namespace

Count ElementsRead(const Buffer& buffer, const std::vector<Access>& accesses) {
  const auto shape = ShapeOf(buffer);
  if (!shape) return {0, false};
  std::vector<const Access*> writes;
  for (const Access& access : accesses) {
    if (access.writes) writes.push_back(&access);
  }
  std::vector<Offsets> patterns;
  bool is_exact = true;
  for (const Access& read : accesses) {
    if (read.writes) continue;
    const auto elements = ElementsAt(read.domain, read.indices, *shape);
    if (!elements) return {SizeOf(*shape), false};
    bool provided = false, unclear = false;
    for (const Access* write : writes) {
      if (provided) break;
      const Relation relation = RelationOf(*write, read, *elements, *shape);
      provided = relation == Relation::kProvides;
      unclear = unclear || relation == Relation::kUnclear;
    }
    if (provided) continue;
    is_exact = is_exact && !unclear;
    patterns.push_back(*elements);
  }
  return Total(patterns, SizeOf(*shape), is_exact);
}

Count ElementsWritten(const Buffer& buffer,
                      const std::vector<Access>& accesses) {
  const auto shape = ShapeOf(buffer);
  if (!shape) return {0, false};
  std::vector<Offsets> patterns;
  for (const Access& write : accesses) {
    if (!write.writes) continue;
    const auto elements = ElementsAt(write.domain, write.indices, *shape);
    if (!elements) return {SizeOf(*shape), false};
    patterns.push_back(*elements);
  }
  return Total(patterns, SizeOf(*shape), true);
}

}  // namespace kiln::work_internal
