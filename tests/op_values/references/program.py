"""Ops of shapes and of the program that have values to compare."""

import numpy as np

from references.writer import Shape

N = [{"n": 2}, {"n": 0}, {"n": 5}]


def add(w):
    w.add("shape_of", "a tensor", "shape_of(x)", {"x": ("n 3", "float32")},
          lambda x: Shape(x.shape), N)
    w.add("shape_of", "rank 0", "shape_of(x)", {"x": ("", "int8")},
          lambda x: Shape(()))
    w.add("shape_to_tensor", "extents", "shape_to_tensor(R.shape([n, 3, n + 1]))",
          {"x": ("n", "float32")},
          lambda x: np.array([len(x), 3, len(x) + 1]), N, out="int64")
    w.add("shape_to_tensor", "an argument", "shape_to_tensor(s)",
          {"s": ("n 4", "shape")}, lambda s: np.array(s), N, out="int64")
    w.add("tensor_to_shape", "a vector", "tensor_to_shape(x)",
          {"x": ("3", "int64", [4, 0, 7])}, lambda x: Shape(x.tolist()))
    w.add("size", "a tensor", "size(x)", {"x": ("n 3 2", "float32")},
          lambda x: np.array(x.size), N, out="int64")
    w.add("size", "rank 0", "size(x)", {"x": ("", "float32")},
          lambda x: np.array(1), out="int64")
    for op in ("grad.no_grad", "grad.start_checkpoint", "grad.end_checkpoint",
               "builtin.stop_lift_params", "memory.ensure_zero_offset"):
        w.add(op, "its argument", f"{op}(x)", {"x": ("n 2", "float32")},
              lambda x: x, N)
    w.add("memory.view", "another shape", "memory.view(x, R.shape([3, 2]))",
          {"x": ("2 3", "float32")}, lambda x: x.reshape(3, 2))
    add_inspections(w)


def add_inspections(w):
    """Numbers that a tensor is like; those of types as DLPack counts."""
    codes = {"float32": 2, "float16": 2, "int8": 0, "uint32": 1, "bool": 6}
    bits = {"float32": 32, "float16": 16, "int8": 8, "uint32": 32, "bool": 8}
    tensors = {"x": ("n 3 2", "float32")}
    for axis in range(3):
        w.add("inspect.tensor_shape_i", f"axis {axis}",
              f"inspect.tensor_shape_i(x, {axis})", tensors,
              lambda x, axis=axis: x.shape[axis], N)
        w.add("inspect.tensor_stride_i", f"axis {axis}",
              f"inspect.tensor_stride_i(x, {axis})", tensors,
              lambda x, axis=axis: int(np.prod(x.shape[axis + 1:])), N)
    w.add("inspect.tensor_ndim", "rank 3", "inspect.tensor_ndim(x)", tensors,
          lambda x: x.ndim, N)
    w.add("inspect.tensor_ndim", "rank 0", "inspect.tensor_ndim(x)",
          {"x": ("", "int8")}, lambda x: 0)
    for op in ("tensor_byte_offset", "tensor_elem_offset"):
        w.add(f"inspect.{op}", "a tensor", f"inspect.{op}(x)", tensors,
              lambda x: 0, N)
    for dtype in codes:
        x = {"x": ("2", dtype)}
        w.add("inspect.tensor_dtype_code", dtype,
              "inspect.tensor_dtype_code(x)", x,
              lambda x, dtype=dtype: codes[dtype])
        w.add("inspect.tensor_dtype_bits", dtype,
              "inspect.tensor_dtype_bits(x)", x,
              lambda x, dtype=dtype: bits[dtype])
        w.add("inspect.tensor_dtype_lanes", dtype,
              "inspect.tensor_dtype_lanes(x)", x, lambda x: 1)
    for source in ("float16", "int32", "float32"):
        w.add("wrap_param", f"of {source}", 'wrap_param(x, dtype="float32")',
              {"x": ("n 2", source)}, lambda x: x, N, out="float32",
              symbolic=source == "float32")
