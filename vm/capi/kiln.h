/* Compiled models for programs in C, and in all languages that call C. With
 * dlpack.h it is all that such a program includes.
 *
 *   KilnModel* model;
 *   KilnMachine* machine;
 *   KilnValue* result;
 *   KilnArgument x = {KILN_TENSOR, 0, {.tensor = &tensor}};
 *   KilnDlTensor y;
 *   if (KilnModelOpen("model.so", &model) || KilnMachineCreate(model, 0,
 * &machine)
 *       || KilnMachineCall(machine, "main", &x, 1, &result)
 *       || KilnValueTensor(result, &y)) {
 *     puts(KilnErrorText());
 *   }
 *
 * Functions that give an int32_t called "status" give KILN_OK, or another
 * KilnStatus and a text (KilnErrorText); results are then NULL or 0. No misuse
 * that can be told ends the program: null pointers, tensors of another type,
 * rank, extent or device, strides with gaps, unknown functions, models of other
 * versions or for other processors are errors.
 *
 * Threads: a model and a value may be used by several threads at once, and
 * given up by any. A machine runs one call at a time; a second one meanwhile is
 * refused. A machine for each thread over one model is how threads run it
 * together; they share its code and weights. */
#ifndef KILN_VM_CAPI_KILN_H_
#define KILN_VM_CAPI_KILN_H_

#include <stdint.h>

#include "kiln/vm/ndarray/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when programs compiled against an older version could not run. */
#define KILN_API_VERSION 1

#define KILN_API __attribute__((visibility("default")))

enum KilnStatus {
  KILN_OK = 0,
  KILN_INVALID_ARGUMENT = 3,
  KILN_NOT_FOUND = 5,
  KILN_RESOURCE_EXHAUSTED = 8,  /* no memory, no threads */
  KILN_FAILED_PRECONDITION = 9, /* also: not for this processor */
  KILN_INTERNAL = 13            /* others are possible: Abseil's codes */
};

enum KilnKind {
  KILN_NONE = 0, /* nothing: of functions that only write */
  KILN_TENSOR = 1,
  KILN_INTEGER = 2, /* bool included */
  KILN_REAL = 3,
  KILN_TEXT = 4,
  KILN_SHAPE = 5, /* extents */
  KILN_TUPLE = 6,
  KILN_VALUE = 7, /* an argument that is a KilnValue */
  KILN_OTHER = 8, /* a result that only programs of Kiln use: a function */
  KILN_ANY = 9    /* a parameter that takes all kinds */
};

typedef struct KilnModel KilnModel;     /* code, weights, bytecode */
typedef struct KilnMachine KilnMachine; /* runs it: threads, memory */
typedef struct KilnValue KilnValue;     /* what a function gave */

/* An argument of a call, in memory of the caller's. */
typedef struct KilnArgument {
  int32_t kind;  /* A KilnKind. */
  int32_t count; /* Of extents, or of fields; else not looked at. */
  union {
    /* On the CPU, compact and row-major; read, not copied. Functions that are
     * declared as working in place write into it. Where its address is no
     * multiple of 64 bytes, kernels may get a copy. */
    const KilnDlTensor* tensor;
    int64_t integer;
    double real;
    const char* text; /* ends with a zero */
    const int64_t* extents;
    const struct KilnArgument* fields;
    const KilnValue* value;
  } as;
} KilnArgument;

typedef struct KilnMachineOptions {
  uint64_t struct_bytes; /* sizeof(KilnMachineOptions) */
  int32_t threads;       /* of parallel loops; 0: one for each processor */
  /* Shared objects with functions that the model calls by name
   * (vm/machine/packed_abi.h). */
  int32_t num_libraries;
  const char* const* libraries;
} KilnMachineOptions;

/* What a function takes at one place. Lives as long as the model. */
typedef struct KilnParameter {
  const char* name;
  int32_t kind;     /* A KilnKind. */
  KilnDlType dtype; /* Of tensors and numbers; bits 0: any. */
  int32_t rank;     /* Of tensors and shapes; -1: any. */
  /* `rank` extents, -1 where calls choose; NULL: calls choose all of them. */
  const int64_t* extents;
} KilnParameter;

/* KILN_API_VERSION of the library. */
KILN_API int32_t KilnApiVersion(void);
/* Of Kiln: "0.1.0". */
KILN_API const char* KilnVersion(void);
/* What the last function that failed on this thread had to say; "" if none
 * has. Stays until the next one fails. */
KILN_API const char* KilnErrorText(void);

/* ---- Models. ---- */

/* A model as `compile` writes it: model.so or model.kiln. A status. */
KILN_API int32_t KilnModelOpen(const char* path, KilnModel** model);
/* One that the program is linked to; `symbol` is the address of its symbol
 * kiln_model, or of the one that `compile --symbol` gave it. A status. */
KILN_API int32_t KilnModelOpenSymbol(const void* symbol, KilnModel** model);
/* Machines and values of the model stay good. NULL is none. */
KILN_API void KilnModelClose(KilnModel* model);

/* Of functions that can be called. 0 for NULL. */
KILN_API int32_t KilnModelFunctionCount(const KilnModel* model);
/* Lives as long as the model. NULL, and an error, where there is none. */
KILN_API const char* KilnModelFunctionName(const KilnModel* model,
                                           int32_t index);
/* "main(x: tensor float32[n, 784], k: number int64 k)"; as above. */
KILN_API const char* KilnModelFunctionSignature(const KilnModel* model,
                                                const char* function);
/* -1, and an error, for no such function. */
KILN_API int32_t KilnModelParameterCount(const KilnModel* model,
                                         const char* function);
/* A status. */
KILN_API int32_t KilnModelParameter(const KilnModel* model,
                                    const char* function, int32_t index,
                                    KilnParameter* parameter);

/* ---- Machines. ---- */

/* `options`: NULL for all by default. A status. */
KILN_API int32_t KilnMachineCreate(const KilnModel* model,
                                   const KilnMachineOptions* options,
                                   KilnMachine** machine);
/* No call of it may be running. NULL is none. */
KILN_API void KilnMachineDestroy(KilnMachine* machine);
/* Calls a function. The result never uses memory of the arguments' tensors: a
 * function that gives one of them back gives a copy of it, but of a KILN_VALUE
 * the tensor itself. A status. */
KILN_API int32_t KilnMachineCall(KilnMachine* machine, const char* function,
                                 const KilnArgument* arguments, int32_t count,
                                 KilnValue** result);

/* ---- Values. ---- */

/* NULL is none. */
KILN_API void KilnValueRelease(KilnValue* value);
/* A KilnKind. KILN_NONE for NULL. */
KILN_API int32_t KilnValueKindOf(const KilnValue* value);

/* All below: a status, KILN_INVALID_ARGUMENT for a value of another kind.
 * What they point to lives as long as the value. */
KILN_API int32_t KilnValueInteger(const KilnValue* value, int64_t* integer);
KILN_API int32_t KilnValueReal(const KilnValue* value, double* real);
/* Ends with a zero; `bytes` (or NULL) without it. */
KILN_API int32_t KilnValueText(const KilnValue* value, const char** text,
                               uint64_t* bytes);
KILN_API int32_t KilnValueShape(const KilnValue* value, const int64_t** extents,
                                int32_t* count);
KILN_API int32_t KilnValueFieldCount(const KilnValue* value, int32_t* count);
/* A value of its own, to be released. */
KILN_API int32_t KilnValueField(const KilnValue* value, int32_t index,
                                KilnValue** field);
KILN_API int32_t KilnValueTensor(const KilnValue* value, KilnDlTensor* tensor);
/* The tensor with an owner of its own, without a copy: good until its deleter
 * is called, also when all else is gone. It may be a weight of the model, or
 * what another value has: it is not to be written to. */
KILN_API int32_t KilnValueToDlpack(const KilnValue* value,
                                   KilnDlManagedTensor** tensor);
/* Takes over a tensor, without a copy; its deleter is called when nothing uses
 * it any more, by whatever thread. Where the status is not KILN_OK, it is still
 * the caller's. */
KILN_API int32_t KilnValueFromDlpack(KilnDlManagedTensor* tensor,
                                     KilnValue** value);

#ifdef __cplusplus
}
#endif

#endif /* KILN_VM_CAPI_KILN_H_ */
