/* Uses each kind of reference that the object loader links: constants, data,
 * zeros, tables of addresses, calls to itself, to its host and to the C
 * library. Compiled with several sets of flags by object_loader_test. */
#include "kernel_abi.h"

void* memset(void* to, int value, unsigned long bytes);
extern int kiln_test_outside(int value); /* Given by the test. */
extern int kiln_test_variable;
extern int kiln_test_missing(void) __attribute__((weak));

int counter = 40;          /* .data */
int zeros[1000];           /* .bss */
static int hidden_counter; /* .bss, local */

static const float kTable[4] __attribute__((aligned(64))) = {1, 2, 4, 8};

static float Twice(float x) { return 2 * x; }
static float Square(float x) { return x * x; }
typedef float (*Function)(float);
static Function const kFunctions[2] = {Twice, Square}; /* Addresses in data. */

struct Env {
  float* data;
  int64_t choice;
};

static int32_t Body(void* env, int64_t begin, int64_t end) {
  struct Env* e = env;
  for (int64_t i = begin; i < end; ++i) {
    e->data[i] = kFunctions[e->choice & 1](e->data[i]) + kTable[i & 3];
  }
  return 0;
}

/* data[0]: float32[n]; scalars: n, choice. */
int32_t loader_kernel(const KilnHost* host, void* const* data,
                      const int64_t* scalars) {
  struct Env env = {data[0], scalars[1]};
  return host->parallel_for(host, scalars[0], Body, &env);
}

int32_t count_up(const KilnHost* host, void* const* data,
                 const int64_t* scalars) {
  (void)host, (void)data, (void)scalars;
  ++hidden_counter;
  zeros[999] += 1;
  return ++counter + hidden_counter + zeros[999] + zeros[0];
}

int32_t call_out(const KilnHost* host, void* const* data,
                 const int64_t* scalars) {
  (void)host;
  memset(data[0], 0, (unsigned long)scalars[0]);
  kiln_test_variable += 5;
  return kiln_test_outside(7) + (kiln_test_missing != 0);
}

/* What two of the kernels say of themselves. */
const int32_t count_up_version __asm__("count_up" KILN_KERNEL_ABI_SUFFIX) =
    KILN_KERNEL_ABI_VERSION;
const int32_t old_version __asm__("old_kernel" KILN_KERNEL_ABI_SUFFIX) = 1;

int32_t old_kernel(const KilnHost* host, void* const* data,
                   const int64_t* scalars) {
  (void)host, (void)data, (void)scalars;
  return 0;
}

/* A table of jumps, or of values, in read-only data. */
int32_t choose(const KilnHost* host, void* const* data,
               const int64_t* scalars) {
  (void)host;
  int32_t* out = data[0];
  switch (scalars[0]) {
    case 0:
      out[0] = 11;
      return 5;
    case 1:
      out[1] = 13;
      return 19;
    case 2:
      out[0] = 17;
      return 3;
    case 3:
      out[2] = 19;
      return 81;
    case 4:
      out[1] = 23;
      return 27;
    case 5:
      out[3] = 29;
      return 42;
    default:
      return -1;
  }
}
