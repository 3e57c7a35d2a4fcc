// A scheduled function, boiled down to what decides its speed: loops, and for
// each store what it computes and which elements it touches. Taken from the
// blocks as they stand, without lowering.
//
//   for i in parallel(8), j in 4, k in 128, v in vectorized(16):
//     C[i, 16 * j + v] += A[i, k] * B[k, 16 * j + v]
//
// is one store in four loops with a multiply-add and three accesses; that to B
// has the coefficients {k: 1} and {j: 16, v: 1} in its two dimensions.
//
// Sizes are those of the elements touched: an intermediate buffer that is
// written and read inside some loops counts as large as one iteration of them
// needs it, as lowering will make it. Names, ids and addresses make no
// difference. Blocks that only prepare constant arguments (see
// ir/tensor/layout_free.h) are left out. Total for every well-formed function:
// what is no affine index with constant bounds is approximated.
#ifndef KILN_SEARCH_FEATURE_SUMMARY_H_
#define KILN_SEARCH_FEATURE_SUMMARY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/expr/dot_product.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/feature/approximate_index.h"

namespace kiln {

// Operations by the type of their operands and by kind.
// X(Enumerator, name in tables of features)
#define KILN_OP_CLASSES(X)        \
  X(FloatMad, "float_mad")        \
  X(FloatAddSub, "float_add_sub") \
  X(FloatMul, "float_mul")        \
  X(FloatDivMod, "float_div_mod") \
  X(FloatCmp, "float_cmp")        \
  X(FloatMath, "float_math_func") \
  X(FloatOther, "float_other")    \
  X(IntMad, "int_mad")            \
  X(IntAddSub, "int_add_sub")     \
  X(IntMul, "int_mul")            \
  X(IntDivMod, "int_div_mod")     \
  X(IntCmp, "int_cmp")            \
  X(IntMath, "int_math_func")     \
  X(IntOther, "int_other")        \
  X(Bool, "bool_op")              \
  X(Select, "select_op")

enum class OpClass : uint8_t {
#define KILN_ENUM(id, name) k##id,
  KILN_OP_CLASSES(KILN_ENUM)
#undef KILN_ENUM
};
#define KILN_COUNT(id, name) +1
inline constexpr int kNumOpClasses = 0 KILN_OP_CLASSES(KILN_COUNT);
#undef KILN_COUNT
std::string_view OpClassName(OpClass op);

// Operations in one evaluation, indices and conditions not counted, nor the
// choice of what is added at all.
using OpCounts = std::array<double, kNumOpClasses>;

// What the iterations of a loop are to the block inside.
enum class LoopRole : uint8_t { kNone, kSpatial, kReduce, kMixed };

struct LoopSummary {
  int64_t extent = 1;  // 1 where it is not constant
  ForKind kind = ForKind::kSerial;
  std::string_view thread_tag;  // only for kThreadBinding
  int64_t unroll_steps = 0;  // of `pragma_auto_unroll_max_step` here or above
  bool is_tile_product =
      false;        // has the mark kTileProduct (ir/tensor/marks.h)
  int parent = -1;  // the loop around, or -1
  int depth = 0;    // number of loops around
};

// One index of an access. A term's loop is a position in
// ProgramSummary::loops.
struct ApproximateDim {
  ApproximateTerms terms;
  double base = 0;       // the least constant of the accesses
  double width = 1;      // one more than the constants differ by
  bool unknown = false;  // may be anywhere in the dimension
};

// All accesses of a store to a buffer that differ in constants alone, by a few
// elements.
struct AccessSummary {
  int buffer;  // position in ProgramSummary::buffers
  bool reads = false, writes = false;
  int count = 1;         // loads and stores in the text
  bool guarded = false;  // behind a condition, as padding is
  absl::InlinedVector<ApproximateDim, 4> dims;
};

struct BufferSummary {
  const BufferNode* node = nullptr;  // valid as long as the function
  bool is_param = false;             // or prepared ahead of the function
  bool is_local = false;  // of scope "local": registers, where they suffice
  // Its elements come from memory the first time (kColdConstants in
  // ir/tensor/layout_free.h).
  bool is_cold = false;
  // Local, and its lanes are what a block with the mark kLaneSums adds up.
  bool holds_lanes = false;
  int element_bytes = 4;
  // The innermost loop around all accesses, or -1.
  int owner_loop = -1;
  std::vector<int64_t> extents;  // as allocated under `owner_loop`
};

struct StoreSummary {
  std::vector<int> loops;       // around it, outermost first
  std::vector<LoopRole> roles;  // of these
  OpCounts ops = {};
  std::vector<AccessSummary> accesses;  // the store's own buffer first
  // The initialization of a reduction inside its loops: runs where these are 0.
  bool is_init = false;
  bool is_reduction = false;  // reads the element that it writes
  bool predicated = false;
  // Of the iterations, the share that predicates let through.
  double share = 1;
  // Of the additions of a reduction, the share that is not left out since a
  // condition makes them zero, as taps on padding are.
  double added = 1;
  int block = 0;  // stores of one block have one number
  // Of a block with the mark kTransposedCopy: squares of it are loaded row by
  // row and turned in registers.
  bool transposes = false;
  bool sums_lanes = false;  // of a block with the mark kLaneSums
  // What it adds up, where that are products of narrow numbers.
  std::optional<NarrowProduct> product;
};

struct ProgramSummary {
  std::vector<LoopSummary> loops;  // parents first
  std::vector<BufferSummary> buffers;
  std::vector<StoreSummary> stores;  // in program order
  // Whether code generation adds what the schedule leaves open.
  bool is_auto = true;
  bool is_strict = false;  // its sums keep their order
};

ProgramSummary Summarize(const Function& f);

// How far an index moves, in elements, while the loops of depth `depth` and
// deeper run: the length of the interval, at most `limit`.
double Span(const ProgramSummary& program, const ApproximateDim& dim, int depth,
            double limit);
// The number of values that it takes, which is less where steps are over 1.
double Distinct(const ProgramSummary& program, const ApproximateDim& dim,
                int depth, double limit);

}  // namespace kiln

#endif  // KILN_SEARCH_FEATURE_SUMMARY_H_
