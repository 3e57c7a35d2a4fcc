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
