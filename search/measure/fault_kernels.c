/* Kernels that do what a candidate must not do. They stand in for candidates
 * in tests and under tune's fault injection. Freestanding: each touches only
 * its arguments and its host. */
#include "kernel_abi.h"

#define KERNEL(name)                                                 \
  int32_t kiln_fault_##name(const KilnHost* host, void* const* data, \
                            const int64_t* scalars)

KERNEL(segfault) {
  *(volatile int*)16 = 1;
  return 0;
}

KERNEL(divide_by_zero) {
  volatile int one = 1;
  volatile int zero = 0;
  return one / zero;
}

KERNEL(stack_overflow) {
  volatile char frame[4096];
  frame[0] = (char)(intptr_t)host;
  return kiln_fault_stack_overflow(host, data, scalars) + frame[0];
}

KERNEL(infinite_loop) {
  volatile int stop = 0;
  while (!stop) {
  }
  return 0;
}

KERNEL(huge_allocation) {
  volatile char* memory = host->alloc(host, (uint64_t)64 << 30);
  if (!memory) return KILN_KERNEL_OUT_OF_MEMORY;
  *memory = 1;
  host->free(host, (void*)memory);
  return 0;
}

KERNEL(endless_allocation) {
  while (1) {
    volatile char* memory = host->alloc(host, (uint64_t)256 << 20);
    if (!memory) return KILN_KERNEL_OUT_OF_MEMORY;
    memory[0] = 1;
  }
}

/* Changes nothing, so that the output stays what it was before. */
KERNEL(wrong_result) { return 0; }

KERNEL(error_status) { return 7; }

static int32_t FaultInside(void* env, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) *(volatile int64_t*)(16 + i) = i;
  return 0;
}

KERNEL(parallel_segfault) {
  return host->parallel_for(host, 64, &FaultInside, 0);
}

static int32_t LeaveWorkspace(const KilnHost* host) {
  volatile char* memory = host->alloc(host, 100);
  if (!memory) return KILN_KERNEL_OUT_OF_MEMORY;
  memory[-1] = 1;
  host->free(host, (void*)memory);
  return 0;
}

KERNEL(workspace_underrun) { return LeaveWorkspace(host); }

/* A kernel does not know how many buffers it has, so these come once for each
 * of the first buffers. */
#define PER_BUFFER(i)                                   \
  KERNEL(write_past_end_##i) {                          \
    for (volatile char* at = data[i];; ++at) *at = 1;   \
  }                                                     \
  KERNEL(read_past_end_##i) {                           \
    for (volatile char* at = data[i];; ++at) (void)*at; \
  }                                                     \
  KERNEL(write_before_start_##i) {                      \
    ((volatile char*)data[i])[-1] = 1;                  \
    return 0;                                           \
  }
PER_BUFFER(0)
PER_BUFFER(1)
PER_BUFFER(2)
PER_BUFFER(3)
PER_BUFFER(4)
PER_BUFFER(5)
PER_BUFFER(6)
PER_BUFFER(7)
