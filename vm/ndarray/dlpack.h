/* The memory layout of DLPack (version 0.8 of the standard, before its
 * versioned structs), so that tensors pass between Kiln and other systems
 * without a copy. The names are Kiln's own: a program may include the
 * standard's header too, and cast. Plain C. */
#ifndef KILN_VM_NDARRAY_DLPACK_H_
#define KILN_VM_NDARRAY_DLPACK_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum KilnDlDeviceType { KILN_DL_CPU = 1, KILN_DL_CUDA = 2, KILN_DL_OPENCL = 4 };

enum KilnDlTypeCode {
  KILN_DL_INT = 0,
  KILN_DL_UINT = 1,
  KILN_DL_FLOAT = 2,
  KILN_DL_HANDLE = 3,
  KILN_DL_BFLOAT = 4,
  KILN_DL_COMPLEX = 5,
  KILN_DL_BOOL = 6
};

typedef struct KilnDlDevice {
  int32_t type; /* A KilnDlDeviceType. */
  int32_t id;
} KilnDlDevice;

typedef struct KilnDlType {
  uint8_t code; /* A KilnDlTypeCode. */
  uint8_t bits; /* Of one lane; 8 for bool. */
  uint16_t lanes;
} KilnDlType;

/* Element (0, 0, ...) lies at data + byte_offset. `strides` are in elements;
 * NULL means compact and row-major. */
typedef struct KilnDlTensor {
  void* data;
  KilnDlDevice device;
  int32_t ndim;
  KilnDlType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} KilnDlTensor;

/* A tensor with its owner. Who holds it calls deleter(self) once, if there is
 * one. */
typedef struct KilnDlManagedTensor {
  KilnDlTensor tensor;
  void* owner;
  void (*deleter)(struct KilnDlManagedTensor* self);
} KilnDlManagedTensor;

#ifdef __cplusplus
}
#endif

#endif /* KILN_VM_NDARRAY_DLPACK_H_ */
