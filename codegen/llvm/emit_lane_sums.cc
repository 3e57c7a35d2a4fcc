// Sums of neighbouring lanes, and of products of narrow integers those that one
// instruction multiplies and adds up. With vectors of 64 bytes,
//
//   c + lane_sums(int32(a) * int32(b), 2)     vpdpwssd c, int16(a), int16(b)
//   ... where there is no such instruction    c + vpmaddwd(int16(a), int16(b))
//   c + lane_sums(float32(a) * float32(b), 2) vdpbf16ps c, a, b
//   c + lane_sums(int32(a) * int32(b), 4)     vpdpbusd c, a, b
//
// where a and b are 32 numbers of 8 or 16 bits; in the last line 64, those of a
// without a sign, those of b with one. (Intel's Software Developer's Manual,
// volume 2.) Other sums are additions of shuffles.
#include <algorithm>
#include <numeric>

#include "kiln/codegen/llvm/emitter.h"
#include "kiln/ir/expr/dot_product.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace kiln::codegen_internal {
namespace {

constexpr int kLaneBytes = 4;  // of a sum
constexpr int kSseBytes = 16;
constexpr int kAvxBytes = 32;

int LanesIn(llvm::Value* value) {
  return static_cast<int>(
      llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements());
}

// Lanes `first` to `first` + `count`, of which some may be behind the end.
llvm::Value* LanesFrom(llvm::IRBuilder<>& b, llvm::Value* value, int first,
                       int count) {
  const int lanes = LanesIn(value);
  if (first == 0 && count == lanes) return value;
  std::vector<int> order(count, llvm::PoisonMaskElem);
  std::iota(order.begin(), order.begin() + std::min(count, lanes - first),
            first);
  return b.CreateShuffleVector(value, order);
}

llvm::Value* Joined(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y) {
  if (!x) return y;
  const int lanes = LanesIn(x);
  std::vector<int> order(lanes + LanesIn(y));
  std::iota(order.begin(), order.end(), 0);
  return b.CreateShuffleVector(x, LanesFrom(b, y, 0, lanes), order);
}

// Of one register of `bytes`: sums + those of neighbours of x * y.
class DotEmitter {
 public:
  DotEmitter(llvm::IRBuilder<>& b, bool has_vnni) : b_(b), vnni_(has_vnni) {}

  llvm::Value* Pairs(llvm::Value* sums, llvm::Value* x, llvm::Value* y) {
    const int bytes = LanesIn(sums) * kLaneBytes;
    if (vnni_) {
      return Call(Of(bytes, llvm::Intrinsic::x86_avx512_vpdpwssd_128,
                     llvm::Intrinsic::x86_avx512_vpdpwssd_256,
                     llvm::Intrinsic::x86_avx512_vpdpwssd_512),
                  {sums, AsSums(sums, x), AsSums(sums, y)});
    }
    return b_.CreateAdd(sums, Call(Of(bytes, llvm::Intrinsic::x86_sse2_pmadd_wd,
                                      llvm::Intrinsic::x86_avx2_pmadd_wd,
                                      llvm::Intrinsic::x86_avx512_pmaddw_d_512),
                                   {x, y}));
  }

  llvm::Value* Bf16Pairs(llvm::Value* sums, llvm::Value* x, llvm::Value* y) {
    llvm::Type* type = llvm::FixedVectorType::get(b_.getBFloatTy(), LanesIn(x));
    return Call(Of(LanesIn(sums) * kLaneBytes,
                   llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128,
                   llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256,
                   llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512),
                {sums, b_.CreateBitCast(x, type), b_.CreateBitCast(y, type)});
  }

  // x without signs, y with.
  llvm::Value* Quads(llvm::Value* sums, llvm::Value* x, llvm::Value* y) {
    return Call(
        Of(LanesIn(sums) * kLaneBytes, llvm::Intrinsic::x86_avx512_vpdpbusd_128,
           llvm::Intrinsic::x86_avx512_vpdpbusd_256,
           llvm::Intrinsic::x86_avx512_vpdpbusd_512),
        {sums, AsSums(sums, x), AsSums(sums, y)});
  }

 private:
  static llvm::Intrinsic::ID Of(int bytes, llvm::Intrinsic::ID sse,
                                llvm::Intrinsic::ID avx,
                                llvm::Intrinsic::ID avx512) {
    return bytes == kSseBytes ? sse : bytes == kAvxBytes ? avx : avx512;
  }
  llvm::Value* AsSums(llvm::Value* sums, llvm::Value* x) {
    return b_.CreateBitCast(x, sums->getType());
  }
  llvm::Value* Call(llvm::Intrinsic::ID id,
                    const std::vector<llvm::Value*>& args) {
    return b_.CreateIntrinsic(id, {}, args);
  }

  llvm::IRBuilder<>& b_;
  const bool vnni_;
};

}  // namespace

// A strict function keeps subnormal bfloat16.
bool Emitter::HasDotProduct(const NarrowProduct& product, int64_t steps) const {
  return !(strict_ && product.is_float()) &&
         IsDotProduct(product, steps, target_.machine.vectors.dots);
}

// Integers of 16 bits with the values of narrower ones; the bits of bfloat16.
llvm::Value* Emitter::As16Bits(const Expr& e) {
  llvm::Value* value = Emit(e);
  if (e.dtype().is_float()) return Bits(value);
  llvm::Type* type = value->getType()->getWithNewType(b_.getInt16Ty());
  return e.dtype().is_uint() ? b_.CreateZExt(value, type)
                             : b_.CreateSExt(value, type);
}

// Register by register.
llvm::Value* Emitter::EmitDotProduct(const NarrowProduct& product, int steps,
                                     llvm::Value* sums) {
  const bool x_first = product.a.dtype().is_uint() || steps == 2;
  const Expr& first = x_first ? product.a : product.b;
  const Expr& second = x_first ? product.b : product.a;
  llvm::Value* x = steps == 2 ? As16Bits(first) : Emit(first);
  llvm::Value* y = steps == 2 ? As16Bits(second) : Emit(second);
  DotEmitter emitter(b_, target_.machine.vectors.dots.integers >= 4);
  const int lanes = LanesIn(sums);
  const int most = target_.machine.vectors.bytes / kLaneBytes;
  int width = kSseBytes / kLaneBytes;
  while (width < most && width < lanes) width *= 2;
  llvm::Value* all = nullptr;
  for (int at = 0; at < lanes; at += width) {
    llvm::Value* part = LanesFrom(b_, sums, at, width);
    llvm::Value* of_x = LanesFrom(b_, x, at * steps, width * steps);
    llvm::Value* of_y = LanesFrom(b_, y, at * steps, width * steps);
    part = product.is_float() ? emitter.Bf16Pairs(part, of_x, of_y)
           : steps == 2       ? emitter.Pairs(part, of_x, of_y)
                              : emitter.Quads(part, of_x, of_y);
    all = Joined(b_, all, part);
  }
  return LanesFrom(b_, all, 0, lanes);
}

llvm::Value* Emitter::EmitLaneSums(const CallNode& call) {
  const int lanes = call.dtype.lanes();
  const int steps = call.args[0].dtype().lanes() / lanes;
  const auto product = NarrowProductOf(call.args[0]);
  if (product && lanes > 1 && HasDotProduct(*product, steps)) {
    llvm::Value* zero = llvm::Constant::getNullValue(TypeOf(call.dtype));
    return EmitDotProduct(*product, steps, zero);
  }
  const bool is_float = call.dtype.is_float();
  llvm::Value* all = Bits(Emit(call.args[0]));
  llvm::Value* sums = nullptr;
  for (int step = 0; step < steps; ++step) {
    std::vector<int> order(lanes);
    for (int i = 0; i < lanes; ++i) order[i] = i * steps + step;
    llvm::Value* one = lanes == 1 ? b_.CreateExtractElement(all, step)
                                  : b_.CreateShuffleVector(all, order);
    one = b_.CreateBitCast(one, TypeOf(call.dtype));
    sums = !sums      ? one
           : is_float ? EmitFloatArithmetic(ExprKind::kAdd, sums, one)
                      : b_.CreateAdd(sums, one);
  }
  return sums;
}

// The sum of a number and of such a product: one instruction, where there is
// one. Null for others.
llvm::Value* Emitter::EmitSumWithDotProduct(const BinaryNode& sum) {
  const auto* call = sum.b.As<CallNode>();
  if (sum.kind != ExprKind::kAdd || !call || call->op != Intrinsic::kLaneSums ||
      call->dtype.is_scalar()) {
    return nullptr;
  }
  const int steps = call->args[0].dtype().lanes() / call->dtype.lanes();
  const auto product = NarrowProductOf(call->args[0]);
  if (!product || !HasDotProduct(*product, steps)) return nullptr;
  return EmitDotProduct(*product, steps, Emit(sum.a));
}

}  // namespace kiln::codegen_internal
