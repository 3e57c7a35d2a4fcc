/* What packed_library_test opens. */
#include <stdio.h>
#include <string.h>

#include "kiln/vm/machine/packed_abi.h"

/* Doubles a tensor of floats into the next one. */
static int32_t Twice(const KilnPackedArgument* args, int32_t num_args,
                     char* message) {
  int64_t count = 1;
  if (num_args != 2 || args[0].kind != KILN_PACKED_TENSOR) {
    snprintf(message, KILN_PACKED_MESSAGE_BYTES, "twice takes two tensors");
    return 1;
  }
  const KilnDlTensor* x = args[0].value.tensor;
  for (int32_t i = 0; i < x->ndim; ++i) count *= x->shape[i];
  for (int64_t i = 0; i < count; ++i) {
    ((float*)args[1].value.tensor->data)[i] = 2 * ((const float*)x->data)[i];
  }
  return 0;
}

/* Writes the sum of a number, a float, the length of a text and the extents of
 * a shape into a tensor of one float. */
static int32_t Sum(const KilnPackedArgument* args, int32_t num_args,
                   char* message) {
  (void)message;
  if (num_args != 5) return 7;
  double sum = (double)args[0].value.integer + args[1].value.number;
  sum += (double)strlen(args[2].value.text);
  for (int32_t i = 0; i < args[3].ndim; ++i) {
    sum += (double)args[3].value.extents[i];
  }
  *(float*)args[4].value.tensor->data = (float)sum;
  return 0;
}

/* Writes as much of a message as there is room for, and no end. */
static int32_t Fail(const KilnPackedArgument* args, int32_t num_args,
                    char* message) {
  (void)args;
  (void)num_args;
  memset(message, 'x', KILN_PACKED_MESSAGE_BYTES);
  return 1;
}

static const KilnPackedEntry kEntries[] = {
    {"env.twice", Twice}, {"env.sum", Sum}, {"env.fail", Fail}, {NULL, NULL}};
const int32_t kiln_packed_abi = FUNCTIONS_VERSION;
const KilnPackedEntry* const kiln_packed_functions = kEntries;
