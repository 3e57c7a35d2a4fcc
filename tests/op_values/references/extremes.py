"""Numbers at the ends of their types, as docs/numerics.md promises them."""

import math

import numpy as np

NAN, INF = math.nan, math.inf
SPECIAL = {
    "float32": [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, -2.5, 1e-40, 3e38,
                -3e38, 1e-20],
    "float64": [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, -2.5, 5e-324, 1e308,
                -1e308, 1e-200],
    "float16": [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, -2.5, 6e-8, 65504,
                -65504, 1e-3],
    "bfloat16": [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, -2.5, 1e-30, 3e38,
                 -3e38, 1e-3],
}
BOUNDS = {
    "int8": (-2**7, 2**7 - 1), "int16": (-2**15, 2**15 - 1),
    "int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1),
    "uint8": (0, 2**8 - 1), "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1), "uint64": (0, 2**64 - 1),
}


def larger(a, b):
    return np.where(a > b, a, b)


def smaller(a, b):
    return np.where(a < b, a, b)


def add_functions(w):
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    erf = np.vectorize(math.erf, otypes=[float])
    for op, meaning in (
            ("exp", np.exp), ("log", np.log), ("sqrt", np.sqrt),
            ("rsqrt", lambda x: 1 / np.sqrt(x)), ("tanh", np.tanh),
            ("sigmoid", sigmoid), ("erf", erf), ("sin", np.sin),
            ("cos", np.cos), ("tan", np.tan), ("sinh", np.sinh),
            ("cosh", np.cosh), ("asin", np.arcsin), ("acos", np.arccos),
            ("atan", np.arctan), ("asinh", np.arcsinh), ("acosh", np.arccosh),
            ("atanh", np.arctanh), ("square", np.square),
            ("nn.relu", lambda x: larger(x, 0.0)),
            ("nn.relu6", lambda x: smaller(larger(x, 0.0), 6.0)),
            ("nn.leakyrelu", lambda x: np.where(x > 0, x, 0.01 * x))):
        for dtype, numbers in SPECIAL.items():
            if op in ("sin", "cos", "tan"):
                numbers = [x for x in numbers if not 1e30 < abs(x) < INF]
            w.add(op, f"extremes of {dtype}", f"{op}(x)",
                  {"x": (str(len(numbers)), dtype, numbers)}, meaning)


def add_pairs(w):
    # A loop may divide by one number as by its reciprocal, which of a
    # subnormal one is infinite.
    pairs = {d: [x for x in numbers if abs(x) not in (0.5, 1e-40, 5e-324, 6e-8)
                 and x != -1] for d, numbers in SPECIAL.items()}
    for op, meaning in (
            ("add", np.add), ("subtract", np.subtract),
            ("multiply", np.multiply), ("divide", np.divide),
            ("maximum", larger), ("minimum", smaller), ("power", np.power),
            ("atan2", np.arctan2), ("mod", np.fmod)):
        for dtype, numbers in pairs.items():
            if "16" in dtype and op in ("power", "mod", "atan2"):
                continue
            count = str(len(numbers))
            w.add(op, f"extremes of {dtype}", f"{op}(x, y)",
                  {"x": (count + " 1", dtype, numbers),
                   "y": (count, dtype, numbers)}, meaning)
    for op, meaning in (("equal", np.equal), ("less", np.less),
                        ("greater_equal", np.greater_equal)):
        for dtype, numbers in pairs.items():
            count = str(len(numbers))
            w.add(op, f"extremes of {dtype}", f"{op}(x, y)",
                  {"x": (count + " 1", dtype, numbers),
                   "y": (count, dtype, numbers)}, meaning, out="bool")


def exactly(x):
    return np.asarray(x).astype(object)


def wrapped(x, dtype):
    low, high = BOUNDS[dtype]
    each = np.vectorize(lambda v: (int(v) - low) % (high - low + 1) + low,
                        otypes=[object])
    return each(x).astype(dtype)


def quotient_down(a, b):
    return np.vectorize(lambda p, q: p // q if q else 0, otypes=[object])(a, b)


def rest_down(a, b):
    return np.vectorize(lambda p, q: p % q if q else p, otypes=[object])(a, b)


def quotient(a, b):
    def one(p, q):
        if not q:
            return 0
        size = abs(p) // abs(q)
        return size if (p < 0) == (q < 0) else -size

    return np.vectorize(one, otypes=[object])(a, b)


def rest(a, b):
    return np.vectorize(
        lambda p, q: (abs(p) % abs(q)) * (-1 if p < 0 else 1) if q else p,
        otypes=[object])(a, b)


def shifted_left(a, b, bits):
    return np.vectorize(lambda p, q: p << q if 0 <= q < bits else 0,
                        otypes=[object])(a, b)


def shifted_right(a, b, bits):
    return np.vectorize(
        lambda p, q: p >> q if 0 <= q < bits else (-1 if p < 0 else 0),
        otypes=[object])(a, b)


def add_integers(w):
    for dtype, (low, high) in BOUNDS.items():
        numbers = sorted({low, low + 1, 0, 1, 2, 7, high - 1, high} |
                         ({-1, -3} if low < 0 else set()))
        count = str(len(numbers))
        column, row = (count + " 1", dtype, numbers), (count, dtype, numbers)
        bits = np.dtype(dtype).itemsize * 8
        for op, meaning in (
                ("add", np.add), ("subtract", np.subtract),
                ("multiply", np.multiply), ("maximum", np.maximum),
                ("minimum", np.minimum), ("floor_divide", quotient_down),
                ("floor_mod", rest_down), ("divide", quotient), ("mod", rest)):
            w.add(op, f"extremes of {dtype}", f"{op}(x, y)",
                  {"x": column, "y": row},
                  lambda x, y, m=meaning, d=dtype: wrapped(
                      m(exactly(x), exactly(y)), d))
        for op, meaning in (("left_shift", shifted_left),
                            ("right_shift", shifted_right)):
            by = [0, 1, bits - 1, bits, bits + 3] + ([-1] if low < 0 else [])
            w.add(op, f"extremes of {dtype}", f"{op}(x, y)",
                  {"x": column, "y": (str(len(by)), dtype, by)},
                  lambda x, y, m=meaning, d=dtype, n=bits: wrapped(
                      m(exactly(x), exactly(y), n), d))
        for op, meaning in (("less", np.less), ("greater", np.greater),
                            ("equal", np.equal)):
            w.add(op, f"extremes of {dtype}", f"{op}(x, y)",
                  {"x": column, "y": row}, meaning, out="bool")
        for op, meaning in (("abs", np.abs), ("negative", np.negative),
                            ("square", np.square), ("bitwise_not", np.invert)):
            if op == "bitwise_not":
                reference = meaning
            else:
                reference = (lambda x, m=meaning, d=dtype: wrapped(
                    m(exactly(x)), d))
            w.add(op, f"extremes of {dtype}", f"{op}(x)", {"x": row}, reference)
        w.add("sign", f"extremes of {dtype}", "sign(x)", {"x": row}, np.sign)
        for op, meaning in (("max", np.max), ("min", np.min)):
            w.add(op, f"extremes of {dtype}", f"{op}(x, axis=[1])",
                  {"x": ("2 2", dtype, [low, low, high, high])},
                  lambda x, m=meaning: m(x, 1))
        w.add("sum", f"extremes of {dtype}", "sum(x)", {"x": row},
              lambda x, d=dtype: wrapped(np.array(exactly(x).sum()), d))
        w.add("sort", f"extremes of {dtype}", "sort(x)",
              {"x": (count, dtype, numbers[::-1])}, np.sort)
        w.add("argmax", f"extremes of {dtype}", "argmax(x, axis=0)",
              {"x": ("3", dtype, [high - 1, high, high - 1])}, np.argmax,
              out="int64")
        w.add("cumsum", f"extremes of {dtype}", "cumsum(x, axis=0)", {"x": row},
              lambda x, d=dtype: wrapped(np.cumsum(exactly(x)), d))
        w.add("where", f"extremes of {dtype}", "where(c, x, y)",
              {"c": (count, "bool"), "x": row,
               "y": (count, dtype, numbers[::-1])}, np.where, out=dtype)


def add_casts(w):
    for source, numbers in SPECIAL.items():
        for target, (low, high) in BOUNDS.items():
            def limited(x, low=low, high=high, target=target):
                return np.array([
                    0 if math.isnan(v) else low if v <= low else
                    high if v >= high else int(v) for v in x], dtype=target)
            w.add("astype", f"extremes of {source} to {target}",
                  f'astype(x, dtype="{target}")',
                  {"x": (str(len(numbers)), source, numbers)}, limited,
                  out=target)
        for target in SPECIAL:
            if target != source:
                w.add("astype", f"extremes of {source} to {target}",
                      f'astype(x, dtype="{target}")',
                      {"x": (str(len(numbers)), source, numbers)},
                      lambda x: x, out=target)
        w.add("astype", f"extremes of {source} to bool",
              'astype(x, dtype="bool")',
              {"x": (str(len(numbers)), source, numbers)}, lambda x: x != 0,
              out="bool")
    for source, (low, high) in BOUNDS.items():
        numbers = sorted({low, 0, 1, 5, high // 3, high - 1, high})
        for target in BOUNDS:
            if target != source:
                w.add("astype", f"extremes of {source} to {target}",
                      f'astype(x, dtype="{target}")',
                      {"x": (str(len(numbers)), source, numbers)},
                      lambda x, t=target: wrapped(x, t), out=target)
        for target in ("float32", "float64"):
            w.add("astype", f"extremes of {source} to {target}",
                  f'astype(x, dtype="{target}")',
                  {"x": (str(len(numbers)), source, numbers)},
                  lambda x, t=target: x.astype(t), out=target)
    halves = [1 + k / 2**12 for k in range(1, 8)]
    for target in ("float16", "bfloat16"):
        w.add("astype", f"ties of float32 to {target}",
              f'astype(x, dtype="{target}")',
              {"x": ("7", "float32", halves)}, lambda x: x, out=target,
              tolerance=(1e-5, 0))


def add(w):
    with np.errstate(all="ignore"):
        add_functions(w)
        add_pairs(w)
        add_integers(w)
        add_casts(w)
