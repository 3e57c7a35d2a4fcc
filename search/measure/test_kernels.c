/* Kernels over (A: float32[n], B: out float32[n]) and one scalar n, all of
 * which compute B[i] = 2 * A[i] + 1, or try to. */
#include "kernel_abi.h"

#define KERNEL(name)                                           \
  int32_t test_##name(const KilnHost* host, void* const* data, \
                      const int64_t* scalars)

static void Compute(const float* a, float* b, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) b[i] = 2 * a[i] + 1;
}

KERNEL(good) {
  Compute(data[0], data[1], 0, scalars[0]);
  return 0;
}

/* The same result in 1000 times the work. */
KERNEL(slow) {
  for (volatile int repeat = 0; repeat < 1000; ++repeat) {
    Compute(data[0], data[1], 0, scalars[0]);
  }
  return 0;
}

static int32_t Part(void* env, int64_t begin, int64_t end) {
  void* const* data = env;
  Compute(data[0], data[1], begin, end);
  return 0;
}

KERNEL(parallel) {
  return host->parallel_for(host, scalars[0], &Part, (void*)data);
}

/* Through a workspace. */
KERNEL(workspace) {
  float* copy = host->alloc(host, scalars[0] * sizeof(float));
  if (!copy) return KILN_KERNEL_OUT_OF_MEMORY;
  for (int64_t i = 0; i < scalars[0]; ++i) copy[i] = ((float*)data[0])[i];
  Compute(copy, data[1], 0, scalars[0]);
  host->free(host, copy);
  return 0;
}

/* One element wrong, the last. */
KERNEL(last_wrong) {
  Compute(data[0], data[1], 0, scalars[0]);
  ((float*)data[1])[scalars[0] - 1] += 1;
  return 0;
}

/* Right, but one element too far. */
KERNEL(one_too_many) {
  Compute(data[0], data[1], 0, scalars[0]);
  ((volatile float*)data[1])[scalars[0]] = 1;
  return 0;
}

KERNEL(writes_input) {
  Compute(data[0], data[1], 0, scalars[0]);
  ((volatile float*)data[0])[0] = 1;
  return 0;
}

/* Right for the first call only: the checked one. */
static volatile int calls;
KERNEL(crashes_when_timed) {
  if (calls++) *(volatile int*)16 = 1;
  Compute(data[0], data[1], 0, scalars[0]);
  return 0;
}

/* Right for the checked call only, as a race may be. */
static volatile int races;
KERNEL(wrong_when_timed) {
  Compute(data[0], data[1], 0, scalars[0]);
  if (races++) ((float*)data[1])[0] += 1;
  return 0;
}

/* Leaves a process behind in a session of its own. */
KERNEL(escapes) {
  long pid;
  __asm__ volatile("syscall" : "=a"(pid) : "a"(57L) : "rcx", "r11", "memory");
  if (pid == 0) {
    long session;
    __asm__ volatile("syscall"
                     : "=a"(session)
                     : "a"(112L)
                     : "rcx", "r11", "memory");
    while (1) __asm__ volatile("pause");
  }
  Compute(data[0], data[1], 0, scalars[0]);
  return 7;
}
