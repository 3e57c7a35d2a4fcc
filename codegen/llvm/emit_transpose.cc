// A square of elements that a copy transposes: rows are loaded whole, cast, and
// vectors interleaved with each other, log2(size) times:
//
//   a b c d      a0 c0 a1 c1   a2 c2 a3 c3   b0 d0 b1 d1   b2 d2 b3 d3
//            →   a0 b0 c0 d0   a1 b1 c1 d1   a2 b2 c2 d2   a3 b3 c3 d3
//
// Looked for in functions with the mark kTransposedCopy (ir/tensor/marks.h).
#include "kiln/codegen/llvm/emitter.h"
#include "kiln/codegen/llvm/transposed_copy.h"

namespace kiln::codegen_internal {
namespace {

// Lanes of a and b in turn, from lane `first` on.
llvm::Value* Interleave(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y,
                        int first, int lanes) {
  std::vector<int> mask;
  for (int i = 0; i < lanes / 2; ++i) {
    mask.push_back(first + i);
    mask.push_back(lanes + first + i);
  }
  return b.CreateShuffleVector(x, y, mask);
}

}  // namespace

size_t Emitter::EmitTransposed(absl::Span<const Stmt> stmts) {
  if (!is_transposing_) return 0;
  const std::optional<TransposedCopy> copy = FindTransposedCopy(stmts);
  if (!copy) return 0;
  has_transposed_ = true;
  const int size = static_cast<int>(copy->size);
  const DType from = copy->source->dtype.WithLanes(size);
  const DType to = copy->stores[0]->value.dtype();
  std::vector<llvm::Value*> rows, mixed(size);
  for (int i = 0; i < size; ++i) {
    const Expr index = Add(copy->first, Int(i * copy->stride));
    llvm::Value* row =
        LoadElement(copy->source, Address(copy->source, index), size);
    rows.push_back(from == to ? row : EmitCast(to, from, row));
  }
  for (int step = 1; step < size; step *= 2) {
    for (int i = 0; i < size / 2; ++i) {
      llvm::Value *x = rows[i], *y = rows[i + size / 2];
      mixed[2 * i] = Interleave(b_, x, y, 0, size);
      mixed[2 * i + 1] = Interleave(b_, x, y, size / 2, size);
    }
    rows.swap(mixed);
  }
  for (int i = 0; i < size; ++i) {
    const StoreNode& store = *copy->stores[i];
    const Expr& to = store.indices[0].As<RampNode>()->base;
    StoreElement(store.buffer, Address(store.buffer, to), rows[i]);
  }
  return copy->stores.size();
}

}  // namespace kiln::codegen_internal
