/* env.linear and env.relu over OpenBLAS, for programs that call them by name.
 *
 *   env.linear(x, w, b, y)   y[i, j] = sum over k of x[i, k] * w[j, k] + b[j]
 *   env.relu(x, y)           y = max(x, 0)
 *
 * Tensors are of float32. */
#include <cblas.h>
#include <stdio.h>
#include <string.h>

#include "kiln/vm/machine/packed_abi.h"

static int IsFloats(const KilnPackedArgument* arg, int32_t ndim) {
  if (arg->kind != KILN_PACKED_TENSOR) return 0;
  const KilnDlTensor* tensor = arg->value.tensor;
  return tensor->dtype.code == KILN_DL_FLOAT && tensor->dtype.bits == 32 &&
         (ndim < 0 || tensor->ndim == ndim);
}

static float* Data(const KilnPackedArgument* arg) {
  return (float*)((char*)arg->value.tensor->data +
                  arg->value.tensor->byte_offset);
}

static int Refuse(char* message, const char* why) {
  snprintf(message, KILN_PACKED_MESSAGE_BYTES, "%s", why);
  return 1;
}

static int32_t Linear(const KilnPackedArgument* args, int32_t num_args,
                      char* message) {
  if (num_args != 4 || !IsFloats(args, 2) || !IsFloats(args + 1, 2) ||
      !IsFloats(args + 2, 1) || !IsFloats(args + 3, 2)) {
    return Refuse(message, "env.linear takes x, w, b and y, of float32 in 2, 2, "
                           "1 and 2 dimensions");
  }
  const int64_t* x = args[0].value.tensor->shape;
  const int64_t* w = args[1].value.tensor->shape;
  const int64_t* y = args[3].value.tensor->shape;
  if (x[1] != w[1] || x[0] != y[0] || w[0] != y[1] ||
      args[2].value.tensor->shape[0] != w[0]) {
    return Refuse(message, "env.linear takes (m, k), (n, k), (n,) and (m, n)");
  }
  float* out = Data(args + 3);
  for (int64_t i = 0; i < x[0]; ++i) {
    memcpy(out + i * w[0], Data(args + 2), w[0] * sizeof(float));
  }
  if (x[0] == 1) {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, w[0], w[1], 1, Data(args + 1),
                w[1], Data(args), 1, 1, out, 1);
  } else {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, x[0], w[0], x[1], 1,
                Data(args), x[1], Data(args + 1), w[1], 1, out, w[0]);
  }
  return 0;
}

static int64_t NumElements(const KilnDlTensor* tensor) {
  int64_t count = 1;
  for (int32_t i = 0; i < tensor->ndim; ++i) count *= tensor->shape[i];
  return count;
}

static int32_t Relu(const KilnPackedArgument* args, int32_t num_args,
                    char* message) {
  if (num_args != 2 || !IsFloats(args, -1) || !IsFloats(args + 1, -1)) {
    return Refuse(message, "env.relu takes x and y, of float32");
  }
  const int64_t count = NumElements(args[0].value.tensor);
  if (count != NumElements(args[1].value.tensor)) {
    return Refuse(message, "env.relu takes two tensors of the same shape");
  }
  const float* x = Data(args);
  float* y = Data(args + 1);
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  return 0;
}

static const KilnPackedEntry kEntries[] = {
    {"env.linear", Linear}, {"env.relu", Relu}, {NULL, NULL}};
const int32_t kiln_packed_abi = KILN_PACKED_ABI_VERSION;
const KilnPackedEntry* const kiln_packed_functions = kEntries;
