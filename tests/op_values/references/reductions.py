"""Reductions, scans, and where extremes are."""

import numpy as np

N = [{"n": 2}, {"n": 1}, {"n": 5}]

# Attributes, the axes, whether they are kept.
FORMS = (
    ("", None, False),
    ("axis=[1]", (1,), False),
    ("axis=-1", (-1,), False),
    ("axis=[0, -1], keepdims=True", (0, -1), True),
    ("keepdims=True", None, True),
    ("axis=[0]", (0,), False),
    ("axis=[-2], keepdims=True", (1,), True),
)


def add_reductions(w):
    floats = ("float32", "float64", "float16", "bfloat16")
    ints = ("int32", "int64", "int8", "uint8")
    for op, meaning, dtypes in (
            ("sum", np.sum, floats + ints), ("prod", np.prod, floats + ints),
            ("max", np.max, floats + ints), ("min", np.min, floats + ints),
            ("mean", np.mean, floats), ("std", np.std, floats),
            ("variance", np.var, floats)):
        for dtype in dtypes:
            for attrs, axis, keeps in FORMS:
                if dtype not in ("float32", "int32") and attrs != FORMS[3][0]:
                    continue
                def reference(x, axis=axis, keeps=keeps):
                    if x.dtype.kind in "iu" and op in ("sum", "prod"):
                        return meaning(x, axis, keepdims=keeps, dtype=x.dtype)
                    return meaning(x, axis, keepdims=keeps)
                made = None
                if op == "prod":
                    made = (w.within(-1.5, 1.5) if "float" in dtype
                            else w.integers(0, 3))
                about = f"{dtype} {attrs}".strip()
                tolerance = (3e-2, 6e-2) if dtype == "bfloat16" else (
                    (6e-3, 6e-3) if dtype == "float16" else None)
                w.add(op, about, f"{op}(x, {attrs})" if attrs else f"{op}(x)",
                      {"x": ("n 3 2", dtype, made)}, reference, N,
                      symbolic=dtype in ("float32", "int32"),
                      tolerance=tolerance)
        w.add(op, "of rank 0", f"{op}(x)", {"x": ("", "float32")}, meaning)
        w.add(op, "no axes", f"{op}(x, axis=[])", {"x": ("n 2", "float32")},
              lambda x: meaning(x, ()), N)
    for op, meaning in (("sum", np.sum), ("prod", np.prod)):
        w.add(op, "of no elements", f"{op}(x, axis=[0])",
              {"x": ("n 3", "float32")}, lambda x: meaning(x, 0),
              [{"n": 0}, {"n": 2}])
        w.add(op, "of bools", f"{op}(x, axis=[0])", {"x": ("n 3", "bool")},
              lambda x: (np.any if op == "sum" else np.all)(x, 0), N)
    for op, meaning in (("max", np.max), ("min", np.min)):
        w.add(op, "of bools", f"{op}(x, axis=[1])", {"x": ("n 3", "bool")},
              lambda x: meaning(x, 1), N)
        w.add(op, "infinities", f"{op}(x, axis=[1])",
              {"x": ("2 2", "float32", [np.inf, -np.inf, -np.inf, 3])},
              lambda x: meaning(x, 1))
        w.add(op, "all negative or all large", f"{op}(x, axis=[1])",
              {"x": ("2 3", "int8", [-128, -3, -5, 127, 100, 127])},
              lambda x: meaning(x, 1))
    w.add("variance", "far from 0", "variance(x, axis=[1])",
          {"x": ("n 4", "float32", w.within(1000, 1001))},
          lambda x: np.var(x, 1), N, tolerance=(1e-3, 1e-5))
    w.add("sum", "wraps", "sum(x)", {"x": ("3", "int8", [100, 100, 100])},
          lambda x: np.sum(x, dtype=np.int8))


def add_collapse(w):
    w.add("collapse_sum_to", "rows", "collapse_sum_to(x, R.shape([1, 3]))",
          {"x": ("n 3", "float32")}, lambda x: x.sum(0, keepdims=True), N)
    w.add("collapse_sum_to", "fewer axes", "collapse_sum_to(x, R.shape([n, 1]))",
          {"x": ("4 n 3", "float32")},
          lambda x: x.sum((0, 2))[:, None], N)
    w.add("collapse_sum_to", "the same", "collapse_sum_to(x, R.shape([n, 3]))",
          {"x": ("n 3", "int32")}, lambda x: x, N)
    w.add("collapse_sum_to", "a number", "collapse_sum_to(x, R.shape([]))",
          {"x": ("2 3", "float64")}, lambda x: x.sum())
    w.add("collapse_sum_like", "columns", "collapse_sum_like(x, y)",
          {"x": ("2 n 3", "float32"), "y": ("n 1", "float32")},
          lambda x, y: x.sum((0, 2))[:, None], N)
    w.add("collapse_sum_like", "another type", "collapse_sum_like(x, y)",
          {"x": ("n 3", "float32"), "y": ("3", "int32")},
          lambda x, y: x.sum(0), N)


def exclusive(scan, x, axis, first):
    """What came before each element."""
    done = scan(x, axis)
    moved = np.roll(done, 1, axis)
    index = [slice(None)] * x.ndim
    index[axis] = slice(0, 1)
    moved[tuple(index)] = first
    return moved


def add_scans(w):
    for op, scan, first in (("cumsum", np.cumsum, 0), ("cumprod", np.cumprod, 1)):
        def whole(x, axis, scan=scan):
            return scan(x, axis, dtype=x.dtype)
        made = lambda d: (w.within(-1.5, 1.5) if "float" in d
                          else w.integers(-2, 3) if d[0] == "i"
                          else w.integers(0, 3))
        for dtype in ("float32", "float64", "float16", "bfloat16", "int32",
                      "int64", "int8", "uint8"):
            for axis in (0, 1, -1):
                if dtype not in ("float32", "int32") and axis != -1:
                    continue
                w.add(op, f"{dtype} axis {axis}", f"{op}(x, axis={axis})",
                      {"x": ("n 3 2", dtype, made(dtype))},
                      lambda x, axis=axis: whole(x, axis), N,
                      symbolic=dtype in ("float32", "int32"),
                      tolerance=(3e-2, 6e-2) if dtype == "bfloat16" else None)
        w.add(op, "of all", f"{op}(x)", {"x": ("n 3", "float32", made("float32"))},
              lambda x: scan(x.reshape(-1)), N)
        w.add(op, "exclusive", f"{op}(x, axis=0, exclusive=True)",
              {"x": ("n 3", "float32", made("float32"))},
              lambda x: exclusive(scan, x, 0, first), N)
        w.add(op, "exclusive of all", f"{op}(x, exclusive=True)",
              {"x": ("n 2", "int32", made("int32"))},
              lambda x: exclusive(whole, x.reshape(-1), 0, first), N)
        w.add(op, "in int64", f'{op}(x, axis=1, dtype="int64")',
              {"x": ("n 4", "int8", w.integers(60, 120))},
              lambda x: scan(x.astype(np.int64), 1), N, out="int64")
        w.add(op, "in float64", f'{op}(x, dtype="float64")',
              {"x": ("n 2", "int32", made("int32"))},
              lambda x: scan(x.astype(np.float64).reshape(-1)), N, out="float64")
        w.add(op, "of bools", f"{op}(x, axis=1)", {"x": ("n 4", "bool")},
              lambda x: scan(x.astype(int), 1) > 0, N)
        w.add(op, "no elements", f"{op}(x, axis=1)", {"x": ("n 0", "float32")},
              lambda x: x, N)


def add_search(w):
    for op, meaning in (("argmax", np.argmax), ("argmin", np.argmin)):
        for dtype in ("float32", "float64", "float16", "bfloat16", "int32",
                      "int64", "int8", "uint8"):
            for attrs, axis, keeps in (("axis=1", 1, False), ("", None, False),
                                       ("axis=-1, keepdims=True", -1, True),
                                       ("axis=0", 0, False),
                                       ("keepdims=True", None, True)):
                if dtype not in ("float32", "int32") and attrs != "axis=1":
                    continue
                w.add(op, f"{dtype} {attrs}".strip(),
                      f"{op}(x, {attrs})" if attrs else f"{op}(x)",
                      {"x": ("n 4 2", dtype, w.integers(0, 4))},
                      lambda x, axis=axis, keeps=keeps: meaning(
                          x, axis, keepdims=keeps), N, out="int64",
                      symbolic=dtype in ("float32", "int32"))
        w.add(op, "infinities", f"{op}(x, axis=1)",
              {"x": ("2 3", "float32", [np.inf, -np.inf, 0] + [-np.inf] * 3)},
              lambda x: meaning(x, 1), out="int64")


def add(w):
    add_reductions(w)
    add_collapse(w)
    add_scans(w)
    add_search(w)
