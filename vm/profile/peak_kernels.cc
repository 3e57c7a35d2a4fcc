// A multiply-add unit accepts a new operation every cycle and answers after
// about four, so two units are busy from eight independent chains on. Twelve
// fit the 16 vector registers of every version, with two operands and a product
// besides. Products are added to chains, as those of a matrix are: where a
// product and a sum are two operations, only sums wait for each other.
#include "kiln/vm/profile/peak_kernels.h"

namespace kiln {
namespace {

constexpr int kChains = 12;
constexpr int kUnroll = 8;

// Makes the compiler forget what it knows about a value.
template <typename T>
inline __attribute__((always_inline)) void Hide(T& value) {
  asm volatile("" : "+m"(value));
}

// The same, of a vector in a register. A macro: the body of a kernel has the
// target that the register needs.
#define KILN_HIDE_REGISTER(value) asm volatile("" : "+v"(value))

#define KILN_ALWAYS_UNROLL _Pragma("clang loop unroll(full)")

// The bodies are macros, since neither templates nor lambdas pass the target of
// their caller on.
#define KILN_FMA_KERNEL(NAME, TARGET, T, BYTES)                               \
  __attribute__((target(TARGET), noinline)) double NAME(int64_t iterations) { \
    typedef T Vector __attribute__((vector_size(BYTES)));                     \
    T factor_seed = static_cast<T>(0.999);                                    \
    T term_seed = static_cast<T>(0.001);                                      \
    Hide(factor_seed);                                                        \
    Hide(term_seed);                                                          \
    Vector factor = factor_seed - Vector{};                                   \
    const Vector term = term_seed - Vector{};                                 \
    Vector chain[kChains];                                                    \
    KILN_ALWAYS_UNROLL for (int c = 0; c < kChains; ++c) {                    \
      chain[c] = term * static_cast<T>(c);                                    \
    }                                                                         \
    for (int64_t i = 0; i < iterations; ++i) {                                \
      KILN_ALWAYS_UNROLL for (int u = 0; u < kUnroll; ++u) {                  \
        KILN_ALWAYS_UNROLL for (int c = 0; c < kChains; ++c) {                \
          KILN_HIDE_REGISTER(factor);                                         \
          chain[c] = factor * term + chain[c];                                \
        }                                                                     \
      }                                                                       \
    }                                                                         \
    double sum = 0;                                                           \
    KILN_ALWAYS_UNROLL for (int c = 0; c < kChains; ++c) sum += chain[c][0];  \
    return sum;                                                               \
  }

#define KILN_MEMORY_KERNELS(READ, WRITE, TARGET, BYTES)                      \
  __attribute__((target(TARGET), noinline)) double READ(const void* data,    \
                                                        int64_t bytes) {     \
    typedef long long Vector __attribute__((vector_size(BYTES), may_alias)); \
    const Vector* at = static_cast<const Vector*>(data);                     \
    const Vector* end = at + bytes / BYTES;                                  \
    Vector sum[8] = {};                                                      \
    for (; at < end; at += 8) {                                              \
      KILN_ALWAYS_UNROLL for (int u = 0; u < 8; ++u) sum[u] |= at[u];        \
    }                                                                        \
    Vector total = {};                                                       \
    KILN_ALWAYS_UNROLL for (int u = 0; u < 8; ++u) total |= sum[u];          \
    return static_cast<double>(total[0]);                                    \
  }                                                                          \
  __attribute__((target(TARGET), noinline)) void WRITE(void* data,           \
                                                       int64_t bytes) {      \
    typedef long long Vector __attribute__((vector_size(BYTES), may_alias)); \
    Vector* at = static_cast<Vector*>(data);                                 \
    Vector* end = at + bytes / BYTES;                                        \
    long long seed = 1;                                                      \
    Hide(seed);                                                              \
    const Vector value = seed - Vector{};                                    \
    for (; at < end; at += 8) {                                              \
      KILN_ALWAYS_UNROLL for (int u = 0; u < 8; ++u) at[u] = value;          \
      asm volatile("" ::: "memory");                                         \
    }                                                                        \
  }

#define KILN_VERSION(SUFFIX, TARGET, BYTES)                         \
  KILN_FMA_KERNEL(FmaF32##SUFFIX, TARGET, float, BYTES)             \
  KILN_FMA_KERNEL(FmaF64##SUFFIX, TARGET, double, BYTES)            \
  KILN_MEMORY_KERNELS(Read##SUFFIX, Write##SUFFIX, TARGET, BYTES)   \
  constexpr PeakKernels MakeKernels##SUFFIX(std::string_view isa) { \
    constexpr int64_t kVectors = 2 * kChains * kUnroll;             \
    return {isa,                                                    \
            &FmaF32##SUFFIX,                                        \
            &FmaF64##SUFFIX,                                        \
            kVectors * (BYTES) / 4,                                 \
            kVectors * (BYTES) / 8,                                 \
            &Read##SUFFIX,                                          \
            &Write##SUFFIX};                                        \
  }

#if defined(__x86_64__)
KILN_VERSION(Avx512, "avx512f", 64)
KILN_VERSION(Avx2, "avx2,fma", 32)
KILN_VERSION(Baseline, "sse2", 16)
#else
#error "measuring the peak is written for x86-64"
#endif

}  // namespace

const PeakKernels& BestPeakKernels(int most_vector_bytes) {
  static constexpr PeakKernels kAvx512 = MakeKernelsAvx512("avx512f");
  static constexpr PeakKernels kAvx2 = MakeKernelsAvx2("avx2+fma");
  static constexpr PeakKernels kBaseline = MakeKernelsBaseline("baseline");
  if (most_vector_bytes >= 64 && __builtin_cpu_supports("avx512f")) {
    return kAvx512;
  }
  if (most_vector_bytes >= 32 && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("fma")) {
    return kAvx2;
  }
  return kBaseline;
}

}  // namespace kiln
