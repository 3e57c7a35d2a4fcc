"""Tensors of one value, values in a row, diagonals, windows."""

import numpy as np

N = [{"n": 3}, {"n": 1}, {"n": 6}]
TYPES = ("float32", "float64", "float16", "bfloat16", "int8", "int64", "uint8",
         "bool")


def add_fills(w):
    shape = {"s": ("n 2", "float32")}
    for dtype in TYPES:
        for op, value in (("zeros", 0), ("ones", 1)):
            w.add(op, dtype, f'{op}(R.shape([n, 2]), dtype="{dtype}")', shape,
                  lambda s, v=value: np.full(s.shape, v), N, out=dtype,
                  symbolic=dtype == "float32")
            w.add(f"{op}_like", dtype, f"{op}_like(x)", {"x": ("n 2", dtype)},
                  lambda x, v=value: np.full(x.shape, v), N,
                  symbolic=dtype == "float32")
            w.add(f"{op}_like", f"in {dtype}", f'{op}_like(x, dtype="{dtype}")',
                  {"x": ("n 2", "int32")},
                  lambda x, v=value: np.full(x.shape, v), N, out=dtype,
                  symbolic=False)
        w.add("full", f"in {dtype}",
              f'full(R.shape([n, 2]), v, dtype="{dtype}")',
              {"v": ("", "float32", 3), "x": ("n", "int32")},
              lambda v, x: np.full((len(x), 2), v), N, out=dtype,
              symbolic=dtype == "float32")
        w.add("full_like", dtype, "full_like(x, v)",
              {"x": ("n 2", dtype), "v": ("", dtype)},
              lambda x, v: np.full(x.shape, v), N, symbolic=dtype == "float32")
        w.add("full_like", f"in {dtype}", f'full_like(x, v, dtype="{dtype}")',
              {"x": ("n 2", "int32"), "v": ("", "int32", 1)},
              lambda x, v: np.full(x.shape, v), N, out=dtype, symbolic=False)
    w.add("zeros", "no elements", 'zeros(R.shape([n, 0]), dtype="float32")',
          {"s": ("n", "float32")}, lambda s: np.zeros((len(s), 0)), N)
    w.add("ones", "of rank 0", 'ones(R.shape([]), dtype="float32")',
          {"s": ("1", "float32")}, lambda s: np.ones(()))
    w.add("full", "a constant", 'full(R.shape([2, n]), R.const(0.5, "float32"))',
          {"s": ("n", "float32")}, lambda s: np.full((2, len(s)), 0.5), N)
    w.add("full", "a number", "full(R.shape([2, n]), R.prim_value(7))",
          {"s": ("n", "float32")}, lambda s: np.full((2, len(s)), 7), N,
          out="int64")


def add_ranges(w):
    def call(start, end, step, dtype):
        parts = ", ".join(f"R.prim_value({e})" for e in (start, end, step))
        return f'arange({parts}, dtype="{dtype}")'

    ignored = {"s": ("2", "float32")}
    for start, end, step, dtype in (
            (0, 5, 1, "int64"), (1, 8, 3, "int32"), (5, 0, -2, "int64"),
            (2, 2, 1, "int64"), (5, 2, 1, "int64"), (0, 4, 1, "float32"),
            (-3, 4, 2, "float64"), (0, 5, 1, "int8")):
        w.add("arange", f"{start} {end} {step} {dtype}",
              call(start, end, step, dtype), ignored,
              lambda s, f=(start, end, step): np.arange(*f), out=dtype)
    for start, end, step in ((0.0, 1.0, 0.25), (1.5, -1.0, -0.5)):
        w.add("arange", f"{start} {end} {step}",
              call(*(f"T.float32({e})" for e in (start, end, step)), "float32"),
              ignored, lambda s, f=(start, end, step): np.arange(*f))
    for start, step in ((0, 1), (1, 2), (-2, 3)):
        w.add("arange", f"from {start} by {step}", call(start, "n", step, "int64"),
              {"s": ("n", "float32")},
              lambda s, f=(start, step): np.arange(f[0], len(s), f[1]), N,
              out="int64")
    w.add("arange", "downwards", call("n", 0, -2, "int64"),
          {"s": ("n", "float32")}, lambda s: np.arange(len(s), 0, -2), N,
          out="int64")


def add_diagonals(w):
    def number(e):
        return f"R.prim_value({e})"

    for k in (0, 1, -2):
        for dtype in ("float32", "int8", "bool"):
            w.add("eye", f"{dtype} {k}",
                  f'eye({number("n")}, {number(4)}, {number(k)}, '
                  f'dtype="{dtype}")',
                  {"s": ("n", "float32")},
                  lambda s, k=k: np.eye(len(s), 4, k), N, out=dtype)
            w.add("eye_like", f"{dtype} {k}",
                  f'eye_like(x, {number(k)}, dtype="{dtype}")',
                  {"x": ("n 4", "float32")},
                  lambda x, k=k: np.eye(len(x), 4, k), N, out=dtype)
        for op, meaning in (("tril", np.tril), ("triu", np.triu)):
            for dims in ("n 3", "2 3 n"):
                for dtype in ("float32", "int64", "bool", "float16"):
                    if dtype != "float32" and k:
                        continue
                    w.add(op, f"{dtype} {dims} {k}", f"{op}(x, {number(k)})",
                          {"x": (dims, dtype)},
                          lambda x, k=k, m=meaning: m(x, k), N,
                          symbolic=dtype == "float32")
    w.add("eye_like", "its own type", f"eye_like(x, {number(0)})",
          {"x": ("3 n", "float64")}, lambda x: np.eye(3, x.shape[1]), N)

    def one_hot(x, depth, axis, on, off):
        y = np.where(x[..., None] == np.arange(depth), on, off)
        return np.moveaxis(y, -1, axis)

    for axis in (-1, 0, 1):
        for dtype, on, off in (("float32", "T.float32(1.0)", "T.float32(0.0)"),
                               ("int8", "T.int8(5)", "T.int8(-1)")):
            values = (1, 0) if dtype == "float32" else (5, -1)
            w.add("one_hot", f"{dtype} on {axis}",
                  f"one_hot(x, {number(on)}, {number(off)}, depth=3, "
                  f"axis={axis})",
                  {"x": ("n 2", "int64", w.integers(-1, 4))},
                  lambda x, a=axis, v=values: one_hot(x, 3, a, *v), N,
                  out=dtype)
    w.add("one_hot", "one index",
          f'one_hot(x, {number("T.float32(2.5)")}, '
          f'{number("T.float32(0.5)")}, depth=4)',
          {"x": ("", "int32", 2)}, lambda x: one_hot(x, 4, -1, 2.5, 0.5),
          out="float32")


def add_windows(w):
    def hamming(size, periodic, alpha, beta):
        if size == 1:
            return np.ones(1)
        period = size if periodic else size - 1
        return alpha - beta * np.cos(2 * np.pi * np.arange(size) / period)

    for size in (1, 2, 9):
        for periodic in (True, False):
            for dtype in ("float32", "float64"):
                w.add("hamming_window", f"{size} {periodic} {dtype}",
                      f"hamming_window(R.prim_value({size}), "
                      f"R.prim_value({periodic}), "
                      "R.prim_value(T.float32(0.5)), "
                      f'R.prim_value(T.float32(0.25)), dtype="{dtype}")',
                      {"s": ("1", "float32")},
                      lambda s, f=(size, periodic): hamming(*f, 0.5, 0.25),
                      out=dtype)
    w.add("hamming_window", "an extent",
          "hamming_window(R.prim_value(n), R.prim_value(True), "
          "R.prim_value(T.float32(0.54)), R.prim_value(T.float32(0.46)), "
          'dtype="float32")', {"s": ("n", "float32")},
          lambda s: hamming(len(s), True, np.float32(0.54), np.float32(0.46)),
          N)


def add(w):
    add_fills(w)
    add_ranges(w)
    add_diagonals(w)
    add_windows(w)
