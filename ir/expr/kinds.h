// The table of expression kinds and the table of intrinsics.
//
// Enumerators, script names, precedences, arities and properties derive from
// these rows; a new binary operator or intrinsic is one row here.
#ifndef KILN_IR_EXPR_KINDS_H_
#define KILN_IR_EXPR_KINDS_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln {

// X(Kind, script operator or "" when only a call spells it, call name,
//   precedence as in Python (higher binds tighter), gives bool, commutes)
#define KILN_BINARY_KINDS(X)                      \
  X(Add, "+", "Add", 10, false, true)             \
  X(Sub, "-", "Sub", 10, false, false)            \
  X(Mul, "*", "Mul", 11, false, true)             \
  X(Div, "/", "Div", 11, false, false)            \
  X(FloorDiv, "//", "FloorDiv", 11, false, false) \
  X(FloorMod, "%", "FloorMod", 11, false, false)  \
  X(TruncDiv, "", "truncdiv", 0, false, false)    \
  X(TruncMod, "", "truncmod", 0, false, false)    \
  X(Min, "", "min", 0, false, true)               \
  X(Max, "", "max", 0, false, true)               \
  X(EQ, "==", "EQ", 5, true, true)                \
  X(NE, "!=", "NE", 5, true, true)                \
  X(LT, "<", "LT", 5, true, false)                \
  X(LE, "<=", "LE", 5, true, false)               \
  X(GT, ">", "GT", 5, true, false)                \
  X(GE, ">=", "GE", 5, true, false)               \
  X(And, "and", "And", 3, true, true)             \
  X(Or, "or", "Or", 2, true, true)

// The kinds that are not binary operators. X(Kind)
#define KILN_OTHER_EXPR_KINDS(X) \
  X(IntImm)                      \
  X(FloatImm)                    \
  X(StringImm)                   \
  X(Var)                         \
  X(Cast)                        \
  X(Not)                         \
  X(Select)                      \
  X(Load)                        \
  X(Ramp)                        \
  X(Broadcast)                   \
  X(Let)                         \
  X(Call)

enum class ExprKind : uint8_t {
#define KILN_ENUM(kind, ...) k##kind,
  KILN_BINARY_KINDS(KILN_ENUM) KILN_OTHER_EXPR_KINDS(KILN_ENUM)
#undef KILN_ENUM
};

struct BinaryInfo {
  std::string_view symbol;  // "+", or "" when only a call spells it
  std::string_view name;    // "Add"
  int precedence;
  bool gives_bool;
  bool commutes;
};

// The row of a binary kind; nullptr for other kinds.
const BinaryInfo* GetBinaryInfo(ExprKind kind);
inline bool IsBinary(ExprKind kind) { return kind <= ExprKind::kOr; }
std::string_view ExprKindName(ExprKind kind);

// What a call to an intrinsic may do. A pure call depends on its arguments
// alone. An opaque one may read and write anything.
enum class Purity : uint8_t { kPure, kReads, kOpaque };

// X(Op, script name, arity (-1: any), purity)
// Ops of the same type as their first argument unless the script gives a
// dtype. IfThenElse evaluates only the chosen branch. ldexp(x, n) is x * 2^n.
// Products of fixed-point numbers, rounded half up, wrapping to 32 bits:
//   q_multiply_shift(x, y, q, s)          x * y * 2^(s - q)
//   q_multiply_shift_per_axis(x, y, l, r, q, shifts_left, shifts_right)
//                                         x * y * 2^(shifts_left ? l : 0) /
//                                         2^(q + r)
// where the exponents l, r, q and |s| are 0 to 31.
// Of a vector, the sums of n neighbours each, in a vector of fewer lanes:
//   lane_sums(x, n)                       x[i*n] + ... + x[i*n + n - 1]
// A hint, which changes nothing but time:
//   prefetch(address_of(A[i]), rw, locality, 1)
//                                         A[i] will be read (rw = 0) or written
//                                         (1) soon; locality 3: bring it to the
//                                         nearest cache, 2: to the second ...
// A[i] is not accessed and may lie outside of A; i itself is computed.
// What a function of scalars gives (ir/tensor/returned_value.h):
//   ret(x)
// Packed functions, by name, and the tensors that they are handed:
//   call_packed("f", tvm_stack_make_array(A.data, tvm_stack_make_shape(4, 5),
//                                         strides, 2, T.float32(0), offset), n)
// where strides are a shape, or 0 of what is dense, and the number before the
// offset stands for its type.
// A note about what follows, which changes nothing of what is computed; it is
// the value of a LetStmt, whose body is what the note is about:
//   attr(node, key, value)
#define KILN_INTRINSICS(X)                                            \
  X(IfThenElse, "if_then_else", 3, kPure)                             \
  X(Likely, "likely", 1, kPure)                                       \
  X(Exp, "exp", 1, kPure)                                             \
  X(Exp2, "exp2", 1, kPure)                                           \
  X(Exp10, "exp10", 1, kPure)                                         \
  X(Log, "log", 1, kPure)                                             \
  X(Log2, "log2", 1, kPure)                                           \
  X(Log10, "log10", 1, kPure)                                         \
  X(Log1p, "log1p", 1, kPure)                                         \
  X(Sqrt, "sqrt", 1, kPure)                                           \
  X(Rsqrt, "rsqrt", 1, kPure)                                         \
  X(Tanh, "tanh", 1, kPure)                                           \
  X(Sigmoid, "sigmoid", 1, kPure)                                     \
  X(Erf, "erf", 1, kPure)                                             \
  X(Sin, "sin", 1, kPure)                                             \
  X(Cos, "cos", 1, kPure)                                             \
  X(Tan, "tan", 1, kPure)                                             \
  X(Sinh, "sinh", 1, kPure)                                           \
  X(Cosh, "cosh", 1, kPure)                                           \
  X(Asin, "asin", 1, kPure)                                           \
  X(Acos, "acos", 1, kPure)                                           \
  X(Atan, "atan", 1, kPure)                                           \
  X(Atan2, "atan2", 2, kPure)                                         \
  X(Pow, "pow", 2, kPure)                                             \
  X(Fmod, "fmod", 2, kPure)                                           \
  X(Fma, "fma", 3, kPure)                                             \
  X(Abs, "abs", 1, kPure)                                             \
  X(Floor, "floor", 1, kPure)                                         \
  X(Ceil, "ceil", 1, kPure)                                           \
  X(Trunc, "trunc", 1, kPure)                                         \
  X(Round, "round", 1, kPure)                                         \
  X(Nearbyint, "nearbyint", 1, kPure)                                 \
  X(IsNan, "isnan", 1, kPure)                                         \
  X(IsInf, "isinf", 1, kPure)                                         \
  X(IsFinite, "isfinite", 1, kPure)                                   \
  X(Popcount, "popcount", 1, kPure)                                   \
  X(Clz, "clz", 1, kPure)                                             \
  X(BitwiseAnd, "bitwise_and", 2, kPure)                              \
  X(BitwiseOr, "bitwise_or", 2, kPure)                                \
  X(BitwiseXor, "bitwise_xor", 2, kPure)                              \
  X(BitwiseNot, "bitwise_not", 1, kPure)                              \
  X(ShiftLeft, "shift_left", 2, kPure)                                \
  X(ShiftRight, "shift_right", 2, kPure)                              \
  X(Reinterpret, "reinterpret", 1, kPure)                             \
  X(MinValue, "min_value", 0, kPure)                                  \
  X(MaxValue, "max_value", 0, kPure)                                  \
  X(Infinity, "infinity", 0, kPure)                                   \
  X(TypeAnnotation, "type_annotation", 0, kPure)                      \
  X(AddressOf, "address_of", 1, kReads)                               \
  X(AccessPtr, "tvm_access_ptr", 5, kOpaque)                          \
  X(Assume, "assume", 1, kOpaque)                                     \
  X(CallExtern, "call_extern", -1, kOpaque)                           \
  X(CallPureExtern, "call_pure_extern", -1, kPure)                    \
  X(CallLlvmIntrin, "call_llvm_intrin", -1, kOpaque)                  \
  X(CallLlvmPureIntrin, "call_llvm_pure_intrin", -1, kPure)           \
  X(CallPacked, "call_packed", -1, kOpaque)                           \
  X(CallCPacked, "call_cpacked", -1, kOpaque)                         \
  X(StackAlloca, "tvm_stack_alloca", 2, kOpaque)                      \
  X(StackMakeShape, "tvm_stack_make_shape", -1, kOpaque)              \
  X(StackMakeArray, "tvm_stack_make_array", 6, kOpaque)               \
  X(StorageSync, "tvm_storage_sync", 1, kOpaque)                      \
  X(FillFragment, "tvm_fill_fragment", 6, kOpaque)                    \
  X(LoadMatrixSync, "tvm_load_matrix_sync", 8, kOpaque)               \
  X(StoreMatrixSync, "tvm_store_matrix_sync", 8, kOpaque)             \
  X(MmaSync, "tvm_mma_sync", 8, kOpaque)                              \
  X(SimdgroupFill, "metal.make_filled_simdgroup_matrix", -1, kOpaque) \
  X(SimdgroupLoad, "metal.simdgroup_load", -1, kOpaque)               \
  X(SimdgroupStore, "metal.simdgroup_store", -1, kOpaque)             \
  X(SimdgroupMma, "metal.simdgroup_multiply_accumulate", -1, kOpaque) \
  X(Asinh, "asinh", 1, kPure)                                         \
  X(Acosh, "acosh", 1, kPure)                                         \
  X(Atanh, "atanh", 1, kPure)                                         \
  X(Hypot, "hypot", 2, kPure)                                         \
  X(Copysign, "copysign", 2, kPure)                                   \
  X(Ldexp, "ldexp", 2, kPure)                                         \
  X(QMultiplyShift, "q_multiply_shift", 4, kPure)                     \
  X(QMultiplyShiftPerAxis, "q_multiply_shift_per_axis", 7, kPure)     \
  X(LaneSums, "lane_sums", 2, kPure)                                  \
  X(ThreadAllreduce, "tvm_thread_allreduce", -1, kOpaque)             \
  X(WarpShuffle, "tvm_warp_shuffle", 5, kOpaque)                      \
  X(WarpShuffleUp, "tvm_warp_shuffle_up", 5, kOpaque)                 \
  X(WarpShuffleDown, "tvm_warp_shuffle_down", 5, kOpaque)             \
  X(WarpActivemask, "tvm_warp_activemask", 0, kOpaque)                \
  X(Prefetch, "prefetch", 4, kReads)                                  \
  X(Ret, "ret", 1, kOpaque)                                           \
  X(Attr, "attr", 3, kReads)

enum class Intrinsic : uint8_t {
#define KILN_ENUM(op, ...) k##op,
  KILN_INTRINSICS(KILN_ENUM)
#undef KILN_ENUM
};

struct IntrinsicInfo {
  std::string_view name;
  int arity;  // -1: any
  Purity purity;
};

const IntrinsicInfo& GetIntrinsicInfo(Intrinsic op);
std::optional<Intrinsic> FindIntrinsic(std::string_view name);

}  // namespace kiln

#endif  // KILN_IR_EXPR_KINDS_H_
