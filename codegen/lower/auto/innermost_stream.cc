#include "kiln/codegen/lower/auto/innermost_stream.h"

#include <algorithm>

#include "kiln/codegen/lower/auto/asked_lines.h"
#include "kiln/codegen/lower/auto/vector_grid.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

constexpr int64_t kMinIterations = 16;
constexpr int64_t kMinRows = 4;  // of those that follow without gaps
// How far ahead to ask, in cycles.
constexpr int64_t kCyclesAhead = 128;
constexpr int64_t kMaxAhead = 64;

// Of vectors that `e` loads, but for those of what it is added to and those
// that were `seen` before.
int64_t LoadedBytes(const Expr& e, const Buffer& sum, AskedLines* seen) {
  int64_t bytes = 0;
  if (const auto* load = e.As<LoadNode>()) {
    if (load->dtype.lanes() == 1 || load->buffer == sum) return 0;
    const Expr index = ContiguousBase(load->indices[0]);
    return index && seen->Add(load->buffer, index) ? load->dtype.bytes() : 0;
  }
  ForEachOperand(e, [&](const Expr& operand) {
    bytes += LoadedBytes(operand, sum, seen);
  });
  return bytes;
}

}  // namespace

Stream StreamOf(const ForNode& loop, const Machine& machine) {
  Stream stream;
  bool is_innermost = true;
  int64_t loaded = 0;
  AskedLines seen(machine.vectors.bytes);
  Visit(loop.body, [&](const Stmt& s) {
    is_innermost &= !s.As<ForNode>();
    if (const auto* store = s.As<StoreNode>()) {
      stream.bytes += store->value.dtype().bytes();
      stream.is_sum |= LoadsFrom(store->value, store->buffer);
      loaded += LoadedBytes(store->value, store->buffer, &seen);
    } else if (const auto* let = s.As<LetStmtNode>()) {
      stream.inside.insert(let->var.get());
    } else if (const auto* allocate = s.As<AllocateNode>()) {
      stream.inside.insert(allocate->buffer.get());
    }
    return is_innermost;
  });
  const int64_t* extent = AsInt(loop.extent);
  if (!is_innermost || stream.bytes == 0 || !extent || *extent < kMinRows) {
    return {};
  }
  stream.loop = &loop;
  stream.uses_once = 4 * loaded > 3 * stream.bytes;
  stream.cycles = std::max<int64_t>(
      1, stream.bytes / (kVectorsPerCycle * machine.vectors.bytes));
  stream.is_short = *extent < kMinIterations;
  stream.ahead =
      std::clamp<int64_t>(kCyclesAhead / stream.cycles, 1, kMaxAhead);
  return stream;
}

bool IsInnermostSum(const Stmt& body) {
  bool is_innermost = true, is_sum = false;
  Visit(body, [&](const Stmt& s) {
    is_innermost &= !s.As<ForNode>() && !s.As<LetStmtNode>();
    const auto* store = s.As<StoreNode>();
    is_sum |= store && LoadsFrom(store->value, store->buffer);
    return is_innermost;
  });
  return is_innermost && is_sum;
}

}  // namespace kiln::lower
