/* The contract between a compiled kernel and whoever runs it. Plain C, so that
 * generated code, hand-written C and other languages can all meet it.
 *
 * A kernel is one function, KilnKernel. It touches nothing but its arguments
 * and the services of its host; it is reentrant, keeps no state between calls
 * and never throws. One that uses AMX asks Linux for it when it is first called
 * (arch_prctl), and has its registers to itself while it runs: the services of
 * the host leave them alone. */
#ifndef KILN_VM_LIBRARY_KERNEL_ABI_H_
#define KILN_VM_LIBRARY_KERNEL_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when code compiled against an older version could not run. */
#define KILN_KERNEL_ABI_VERSION 2

/* An object that exports a kernel kiln_f exports a constant int32_t kiln_f.abi
 * too: the version that it was compiled against. */
#define KILN_KERNEL_ABI_SUFFIX ".abi"

/* Alignment in bytes of every workspace, and the most that the signature states
 * of a buffer. */
#define KILN_KERNEL_ALIGNMENT 64

/* What a kernel, a parallel body or parallel_for returns. A kernel may return
 * any positive value of its own; negative values are reserved for these. */
enum KilnKernelStatus {
  KILN_KERNEL_OK = 0,
  /* `alloc` gave NULL and the kernel stopped. */
  KILN_KERNEL_OUT_OF_MEMORY = -1,
  /* parallel_for was called from inside a parallel body. */
  KILN_KERNEL_NESTED_PARALLEL = -2,
  /* An argument broke an assumption that the kernel checks itself. */
  KILN_KERNEL_BAD_ARGUMENT = -3,
  /* Said in place of a kernel by a host that catches faults: the kernel reached
   * outside of its buffers, or divided an integer by zero. */
  KILN_KERNEL_MEMORY_FAULT = -4,
  KILN_KERNEL_DIVISION_FAULT = -5,
  /* The operating system does not let the process use AMX. */
  KILN_KERNEL_NO_TILES = -6
};

/* A part of a parallel loop: the iterations begin <= i < end. `env` is what the
 * kernel handed to parallel_for, shared by all parts. */
typedef int32_t (*KilnParallelBody)(void* env, int64_t begin, int64_t end);

/* Services that a kernel may call. */
typedef struct KilnHost {
  /* Runs each of [0, n) once, in ranges that threads of the host take; the
   * calling thread is one of them. `body` may be called with several ranges by
   * one thread. Returns when all have ended: the status of the first range (by
   * position) that did not return 0, else 0.
   * Runs nothing and returns 0 for n <= 0. Returns KILN_KERNEL_NESTED_PARALLEL
   * without running anything where the caller is inside a parallel body. */
  int32_t (*parallel_for)(const struct KilnHost* host, int64_t n,
                          KilnParallelBody body, void* env);
  /* A workspace of `bytes`, 64-byte aligned and with undefined contents, or
   * NULL. It belongs to the calling thread, which gives it back with `free`;
   * workspaces are given back in the reverse order of their allocation. */
  void* (*alloc)(const struct KilnHost* host, uint64_t bytes);
  void (*free)(const struct KilnHost* host, void* workspace);
  /* The host's own. */
  void* impl;
} KilnHost;

/* Entry point of a kernel. data[i] is the base address of the i-th buffer of
 * its signature, aligned as stated there. No byte of a buffer that the kernel
 * writes belongs to another one of the call, but for one that the signature
 * lets it be in place of, all of it. scalars[i] is the value of the i-th
 * scalar: integers sign- or zero-extended to 64 bits, bool 0 or 1, floats of
 * any width as the bits of a double. Returns 0 or a KilnKernelStatus. */
typedef int32_t (*KilnKernel)(const KilnHost* host, void* const* data,
                              const int64_t* scalars);

/* a / b rounded down, as extents are spelled; 0 where there is none. */
static inline int64_t KilnFloorDiv(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? 0 : (int64_t)(0 - (uint64_t)a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/* Whether the `a_bytes` from `a` and the `b_bytes` from `b` have one in common.
 * No call may have that of a buffer that is written and another one, but for
 * the whole of one in place of which it may be written. */
static inline int KilnShareMemory(const void* a, uint64_t a_bytes,
                                  const void* b, uint64_t b_bytes) {
  const uintptr_t begin_a = (uintptr_t)a, begin_b = (uintptr_t)b;
  if (a_bytes == 0 || b_bytes == 0) return 0;
  return begin_a < begin_b ? begin_b - begin_a < a_bytes
                           : begin_a - begin_b < b_bytes;
}

#ifdef __cplusplus
}
#endif

#endif /* KILN_VM_LIBRARY_KERNEL_ABI_H_ */
