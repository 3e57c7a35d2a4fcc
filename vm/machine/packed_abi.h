/* Functions of a shared object that programs call by name, as in
 *
 *   R.call_dps_packed("env.relu", (x,), R.Tensor((1, 128), "float32"))
 *
 * Plain C, so that a library needs nothing but this header and dlpack.h:
 *
 *   static int32_t Relu(const KilnPackedArgument* args, int32_t num_args,
 *                       char* message) { ... writes into args[1] ... }
 *   static const KilnPackedEntry kEntries[] = {{"env.relu", Relu}, {0, 0}};
 *   const int32_t kiln_packed_abi = KILN_PACKED_ABI_VERSION;
 *   const KilnPackedEntry* const kiln_packed_functions = kEntries;
 */
#ifndef KILN_VM_MACHINE_PACKED_ABI_H_
#define KILN_VM_MACHINE_PACKED_ABI_H_

#include <stdint.h>

#include "kiln/vm/ndarray/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when code compiled against an older version could not run. */
#define KILN_PACKED_ABI_VERSION 1

/* How many bytes a message may take, the zero at its end included. */
#define KILN_PACKED_MESSAGE_BYTES 256

enum KilnPackedKind {
  KILN_PACKED_TENSOR = 0,
  KILN_PACKED_INTEGER = 1, /* bool included */
  KILN_PACKED_FLOAT = 2,
  KILN_PACKED_TEXT = 3, /* ends with a zero */
  KILN_PACKED_SHAPE = 4
};

typedef struct KilnPackedArgument {
  int32_t kind; /* A KilnPackedKind. */
  int32_t ndim; /* Of a shape. */
  union {
    /* Compact, row-major, on the CPU. */
    const KilnDlTensor* tensor;
    int64_t integer;
    double number;
    const char* text;
    const int64_t* extents;
  } value;
} KilnPackedArgument;

/* Results are written into tensors among the arguments; the destinations of
 * call_dps_packed come last. Returns 0; or another number, having written the
 * reason into `message`, of KILN_PACKED_MESSAGE_BYTES. Keeps no argument beyond
 * the call. */
typedef int32_t (*KilnPackedFunction)(const KilnPackedArgument* args,
                                      int32_t num_args, char* message);

typedef struct KilnPackedEntry {
  const char* name; /* NULL behind the last one. */
  KilnPackedFunction function;
} KilnPackedEntry;

#ifdef __cplusplus
}
#endif

#endif /* KILN_VM_MACHINE_PACKED_ABI_H_ */
