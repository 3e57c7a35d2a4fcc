// A square of elements that a copy transposes: rows are loaded whole, cast, and
// vectors interleaved with each other, log2(size) times:
//
//   a b c d      a0 c0 a1 c1   a2 c2 a3 c3   b0 d0 b1 d1   b2 d2 b3 d3
//            →   a0 b0 c0 d0   a1 b1 c1 d1   a2 b2 c2 d2   a3 b3 c3 d3
//
// A rectangle is a part of a square, of which nothing else is read or written.
// Looked for in functions with the mark kTransposedCopy (ir/tensor/marks.h).
#include <algorithm>
#include <bit>

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

// The first `count` of `lanes` lanes.
llvm::Constant* FirstLanes(llvm::IRBuilder<>& b, int count, int lanes) {
  std::vector<llvm::Constant*> mask;
  for (int i = 0; i < lanes; ++i) mask.push_back(b.getInt1(i < count));
  return llvm::ConstantVector::get(mask);
}

}  // namespace

llvm::Value* Emitter::LoadFirst(const Buffer& buffer, llvm::Value* address,
                                int lanes, int count) {
  if (count == lanes) return LoadElement(buffer, address, lanes);
  const DType dtype = buffer->dtype.WithLanes(lanes);
  llvm::Type* type = TypeOf(dtype);
  llvm::Type* bits =
      llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(type));
  llvm::Value* loaded =
      b_.CreateMaskedLoad(bits, address, llvm::Align(dtype.Element().bytes()),
                          FirstLanes(b_, count, lanes));
  return b_.CreateBitCast(loaded, type);
}

void Emitter::StoreFirst(const Buffer& buffer, llvm::Value* address,
                         llvm::Value* value, int count) {
  const auto* type = llvm::cast<llvm::FixedVectorType>(value->getType());
  const int lanes = static_cast<int>(type->getNumElements());
  if (count == lanes) return StoreElement(buffer, address, value);
  b_.CreateMaskedStore(Bits(value), address,
                       llvm::Align(buffer->dtype.Element().bytes()),
                       FirstLanes(b_, count, lanes));
}

size_t Emitter::EmitTransposed(absl::Span<const Stmt> stmts) {
  if (!is_transposing_) return 0;
  const std::optional<TransposedCopy> copy = FindTransposedCopy(stmts);
  if (!copy) return 0;
  has_transposed_ = true;
  const int lanes = static_cast<int>(copy->lanes);
  const int steps = static_cast<int>(copy->stores.size());
  const int size = static_cast<int>(
      std::bit_ceil(static_cast<unsigned>(std::max(lanes, steps))));
  const DType from = copy->source->dtype.WithLanes(size);
  const DType to = copy->stores[0]->value.dtype().WithLanes(size);
  std::vector<llvm::Value*> rows, mixed(size);
  for (int i = 0; i < lanes; ++i) {
    const Expr index = Add(copy->first, Int(i * copy->stride));
    llvm::Value* row =
        LoadFirst(copy->source, Address(copy->source, index), size, steps);
    rows.push_back(from == to ? row : EmitCast(to, from, row));
  }
  rows.resize(size, llvm::PoisonValue::get(rows[0]->getType()));
  for (int step = 1; step < size; step *= 2) {
    for (int i = 0; i < size / 2; ++i) {
      llvm::Value *x = rows[i], *y = rows[i + size / 2];
      mixed[2 * i] = Interleave(b_, x, y, 0, size);
      mixed[2 * i + 1] = Interleave(b_, x, y, size / 2, size);
    }
    rows.swap(mixed);
  }
  for (int i = 0; i < steps; ++i) {
    const StoreNode& store = *copy->stores[i];
    const Expr& at = store.indices[0].As<RampNode>()->base;
    StoreFirst(store.buffer, Address(store.buffer, at), rows[i], lanes);
  }
  return copy->stores.size();
}

}  // namespace kiln::codegen_internal
