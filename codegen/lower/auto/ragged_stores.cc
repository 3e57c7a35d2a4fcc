#include "kiln/codegen/lower/auto/ragged_stores.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "kiln/codegen/lower/auto/vector_grid.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

// Tiles have no more registers than that.
constexpr size_t kMostStores = 32;
// The hardware follows longer runs of stores, on average: asked for, rows of 56
// pixels of 15 channels take 9.7 us, and 8.1 where not; two vectors side by
// side are not followed (12544 x 100 x 9: 253 us and 431).
constexpr int64_t kLongestRun = 3;
// How many bytes a tile's work stores for each of a result: where it is only
// moved, the stores follow each other too closely for anything to come ahead.
constexpr int64_t kLeastWork = 2;

// The stores of statements that do nothing else, each iteration on its own.
class Expansion {
 public:
  explicit Expansion(FunctionRef<bool(const Buffer&)> is_far)
      : is_far_(is_far) {}

  // False where `s` is no such statement. Of what depends on a condition, the
  // case where it holds.
  bool Add(const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) return AddStore(*store);
    if (const auto* loop = s.As<ForNode>()) return AddLoop(*loop);
    if (const auto* choice = s.As<IfNode>()) return Add(choice->then_case);
    const auto* seq = s.As<SeqNode>();
    return seq && absl::c_all_of(seq->stmts,
                                 [&](const Stmt& each) { return Add(each); });
  }
  std::vector<LateAccess> Take() { return std::move(stores_); }

 private:
  bool AddStore(const StoreNode& store) {
    if (!is_far_(store.buffer) || stores_.size() >= kMostStores) return false;
    const Expr& index = store.indices[0];
    Expr first = index.dtype().is_scalar() ? index : ContiguousBase(index);
    if (!first) return false;
    first = Substitute(first, values_);
    stores_.push_back({store.buffer, first, store.value.dtype().bytes(), true});
    return true;
  }

  bool AddLoop(const ForNode& loop) {
    const int64_t* extent = AsInt(loop.extent);
    const int64_t* min = AsInt(loop.min);
    if (!extent || !min || *extent > static_cast<int64_t>(kMostStores)) {
      return false;
    }
    for (int64_t i = 0; i < *extent; ++i) {
      values_[loop.var.get()] = Int(*min + i, loop.var.dtype());
      if (!Add(loop.body)) return false;
    }
    return true;
  }

  FunctionRef<bool(const Buffer&)> is_far_;
  VarMap values_;
  std::vector<LateAccess> stores_;
};

std::vector<LateAccess> StoresOf(const Stmt& s,
                                 FunctionRef<bool(const Buffer&)> is_far) {
  Expansion expansion(is_far);
  if (!expansion.Add(s)) return {};
  return expansion.Take();
}

bool CrossesLines(const LateAccess& store, const Linear& first,
                  int64_t line_bytes) {
  const int64_t bytes = store.buffer->dtype.bytes();
  const auto is_odd = [&](int64_t elements) {
    return elements * bytes % line_bytes != 0;
  };
  return is_odd(first.constant) ||
         absl::c_any_of(first.terms, [&](const Term& term) {
           return is_odd(term.coefficient);
         });
}

bool AreRagged(const std::vector<LateAccess>& stores, int64_t line_bytes) {
  bool crosses = false;
  int runs = 1;  // of stores one after the other
  std::optional<Linear> last;
  for (const LateAccess& store : stores) {
    if (2 * store.bytes <= line_bytes) return false;
    Linear first = ToLinear(store.first);
    crosses |= CrossesLines(store, first, line_bytes);
    if (last) {
      const Linear apart = Difference(first, *last);
      const int64_t elements = store.bytes / store.buffer->dtype.bytes();
      runs += !apart.is_constant() || apart.constant != elements;
    }
    last = std::move(first);
  }
  return crosses && runs > 1 &&
         kLongestRun * runs >= static_cast<int64_t>(stores.size());
}

int64_t BytesOf(const std::vector<LateAccess>& stores) {
  int64_t bytes = 0;
  for (const LateAccess& store : stores) bytes += store.bytes;
  return bytes;
}

}  // namespace

std::vector<RaggedStores> FindRaggedStores(
    const SeqNode& seq, int64_t line_bytes, int64_t most_work,
    FunctionRef<bool(const Buffer&)> is_far) {
  std::vector<RaggedStores> found;
  RaggedStores tile;
  int64_t work_bytes = 0;
  const auto end_tile = [&](size_t next) {
    if (work_bytes >= kLeastWork * BytesOf(tile.stores) &&
        AreRagged(tile.stores, line_bytes)) {
      found.push_back(std::move(tile));
    }
    tile = {next, {}};
    work_bytes = 0;
  };
  for (size_t i = 0; i < seq.stmts.size(); ++i) {
    std::vector<LateAccess> stores = StoresOf(seq.stmts[i], is_far);
    if (stores.empty()) {
      if (!tile.stores.empty()) end_tile(i);
      const int64_t bytes = BytesStored(seq.stmts[i]);
      work_bytes += bytes;
      if (bytes >= most_work) end_tile(i + 1);
    }
    absl::c_move(stores, std::back_inserter(tile.stores));
  }
  end_tile(seq.stmts.size());
  return found;
}

}  // namespace kiln::lower
