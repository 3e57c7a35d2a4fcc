/* y[i] = x[i] * w[i % 8]: a kernel for threads_test. */
#include "kernel_abi.h"

struct Env {
  const float* x;
  const float* w;
  float* y;
};

static int32_t Body(void* env, int64_t begin, int64_t end) {
  const struct Env* e = env;
  for (int64_t i = begin; i < end; ++i) e->y[i] = e->x[i] * e->w[i % 8];
  return 0;
}

/* data: float32[n], float32[8], float32[n]; scalars: n. */
int32_t kiln_scale(const KilnHost* host, void* const* data,
                   const int64_t* scalars) {
  struct Env env = {data[0], data[1], data[2]};
  return host->parallel_for(host, scalars[0], Body, &env);
}
