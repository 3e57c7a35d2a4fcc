"""Ops that compute each element from the elements at its place."""

import math

import numpy as np

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTS = ("int32", "int64", "int8", "uint8")
N = [{"n": 2}, {"n": 3}]


def erf(x):
    return np.vectorize(math.erf, otypes=[float])(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def of_floats(w):
    """Name, what it means, range of inputs."""
    return (
        ("acos", np.arccos, -1, 1),
        ("acosh", np.arccosh, 1, 9),
        ("asin", np.arcsin, -1, 1),
        ("asinh", np.arcsinh, -9, 9),
        ("atan", np.arctan, -9, 9),
        ("atanh", np.arctanh, -0.95, 0.95),
        ("cos", np.cos, -9, 9),
        ("cosh", np.cosh, -4, 4),
        ("erf", erf, -3, 3),
        ("exp", np.exp, -5, 5),
        ("log", np.log, 0.05, 9),
        ("rsqrt", lambda x: 1 / np.sqrt(x), 0.1, 9),
        ("sigmoid", sigmoid, -9, 9),
        ("sin", np.sin, -9, 9),
        ("sinh", np.sinh, -4, 4),
        ("sqrt", np.sqrt, 0, 9),
        ("tan", np.tan, -1.4, 1.4),
        ("tanh", np.tanh, -4, 4),
    )


def add_floats(w):
    for op, meaning, low, high in of_floats(w):
        digits = 2
        for dtype in FLOATS:
            w.add(op, dtype, f"{op}(x)",
                  {"x": ("n 3", dtype, w.within(low, high, digits))},
                  meaning, N, symbolic=dtype == "float32")
        w.add(op, "of rank 0", f"{op}(x)",
              {"x": ("", "float32", w.within(low, high))}, meaning)
        w.add(op, "of no elements", f"{op}(x)", {"x": ("n 0", "float32")},
              meaning, N)


SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, -0.5,
           1.5, -1.5, 2.5, 1e-30, -3e38]


def add_special(w):
    """Where floats have infinities and NaN."""
    with np.errstate(all="ignore"):
        for op, meaning in (
                ("exp", np.exp), ("tanh", np.tanh), ("sigmoid", sigmoid),
                ("erf", erf), ("sqrt", np.sqrt), ("log", np.log),
                ("abs", np.abs), ("floor", np.floor), ("ceil", np.ceil),
                ("round", np.round), ("trunc", np.trunc), ("atan", np.arctan),
                ("negative", np.negative), ("asinh", np.arcsinh),
                ("nn.relu", lambda x: np.where(np.isnan(x), x,
                                               np.maximum(x, 0)))):
            if op == "nn.relu":
                continue  # which of NaN and 0 is larger is not promised
            for dtype in ("float32", "float64"):
                w.add(op, f"special {dtype}", f"{op}(x)",
                      {"x": ("14", dtype, SPECIAL)}, meaning)
        for op, meaning in (("isfinite", np.isfinite), ("isinf", np.isinf),
                            ("isnan", np.isnan)):
            for dtype in FLOATS:
                w.add(op, dtype, f"{op}(x)", {"x": ("14", dtype, SPECIAL)},
                      meaning, out="bool")
                w.add(op, dtype + " at an extent", f"{op}(x)",
                      {"x": ("n", dtype)}, meaning, N, out="bool")


def add_of_numbers(w):
    """Ops of floats and of integers."""
    for op, meaning in (("abs", np.abs), ("negative", np.negative),
                        ("square", np.square), ("sign", np.sign),
                        ("ceil", np.ceil), ("floor", np.floor),
                        ("round", np.round), ("trunc", np.trunc),
                        ("nn.relu", lambda x: np.maximum(x, 0))):
        for dtype in FLOATS + INTS:
            w.add(op, dtype, f"{op}(x)", {"x": ("n 3", dtype)}, meaning, N,
                  symbolic=dtype in ("float32", "int32"))
        w.add(op, "of rank 0", f"{op}(x)", {"x": ("", "float32")}, meaning)
    w.add("round", "halves go to even", "round(x)",
          {"x": ("8", "float32", [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5])},
          np.round)
    w.add("sign", "special", "sign(x)",
          {"x": ("4", "float32", [0.0, -0.0, np.inf, -np.inf])}, np.sign)


def c_divide(a, b):
    """Integers: towards zero. Floats: the quotient."""
    if a.dtype.kind == "f":
        return a / b
    quotient = np.abs(a.astype(object)) // np.abs(b.astype(object))
    negative = (a < 0) != (b < 0)
    return np.where(negative, -quotient, quotient).astype(a.dtype)


def c_mod(a, b):
    return np.fmod(a, b)


def not_zero(w, dtype):
    if "float" in dtype:
        return lambda s: w.within(0.5, 4)(s) * np.where(
            w.random.integers(0, 2, s) > 0, 1, -1)
    if dtype.startswith("u"):
        return w.integers(1, 9)
    return lambda s: w.integers(1, 5)(s) * np.where(
        w.random.integers(0, 2, s) > 0, 1, -1)


BROADCAST = (
    ("same", "n 3", "n 3"),
    ("a row", "n 3", "3"),
    ("a column and a row", "n 1", "1 3"),
    ("a number", "n 3", ""),
    ("more axes", "3", "2 n 3"),
    ("no elements", "n 0", "1 1"),
)


def add_two(w, op, meaning, dtypes, out=None, second=None, first=None):
    for dtype in dtypes:
        for about, a, b in BROADCAST:
            if about != "same" and dtype not in ("float32", "int32", "bool"):
                continue
            w.add(op, f"{dtype} {about}", f"{op}(x, y)",
                  {"x": (a, dtype, first and first(dtype)),
                   "y": (b, dtype, second and second(dtype))},
                  meaning, N, out=out,
                  symbolic=dtype == "float32" or
                  about == "same" and dtype == "int32")


def add_arithmetic(w):
    both = FLOATS + INTS
    nonzero = lambda dtype: not_zero(w, dtype)
    add_two(w, "add", np.add, both)
    add_two(w, "subtract", np.subtract, both)
    add_two(w, "multiply", np.multiply, both)
    add_two(w, "divide", c_divide, both, second=nonzero)
    add_two(w, "floor_divide", np.floor_divide, both, second=nonzero)
    add_two(w, "floor_mod", np.mod, both, second=nonzero)
    add_two(w, "mod", c_mod, both, second=nonzero)
    add_two(w, "maximum", np.maximum, both)
    add_two(w, "minimum", np.minimum, both)
    add_two(w, "atan2", np.arctan2, FLOATS)
    add_two(w, "log_add_exp", np.logaddexp, FLOATS)
    add_two(w, "power", np.power, FLOATS,
            first=lambda d: w.within(0.25, 2.5),
            second=lambda d: w.within(-2, 3))
    w.add("power", "whole exponents of negative numbers", "power(x, y)",
          {"x": ("4", "float32", [-2, -0.5, 3, -1.5]),
           "y": ("4", "float32", [3, -2, 0, 2])}, np.power)
    for op, meaning in (("equal", np.equal), ("not_equal", np.not_equal),
                        ("less", np.less), ("less_equal", np.less_equal),
                        ("greater", np.greater),
                        ("greater_equal", np.greater_equal)):
        whole = lambda d: w.integers(0, 3)
        add_two(w, op, meaning, both + ("bool",), out="bool", first=whole,
                second=whole)
        w.add(op, "NaN and zeros", f"{op}(x, y)",
              {"x": ("4", "float32", [np.nan, np.nan, 0.0, np.inf]),
               "y": ("4", "float32", [np.nan, 1, -0.0, np.inf])}, meaning,
              out="bool")
    w.add("add", "bools", "add(x, y)",
          {"x": ("2 1", "bool", [0, 1]), "y": ("2", "bool", [0, 1])},
          np.logical_or)
    w.add("multiply", "bools", "multiply(x, y)",
          {"x": ("2 1", "bool", [0, 1]), "y": ("2", "bool", [0, 1])},
          np.logical_and)
    w.add("add", "wraps", "add(x, y)",
          {"x": ("3", "int8", [127, -128, 100]),
           "y": ("3", "int8", [1, -1, 100])}, np.add)
    w.add("subtract", "wraps", "subtract(x, y)",
          {"x": ("3", "uint8", [0, 5, 255]), "y": ("3", "uint8", [1, 9, 255])},
          np.subtract)
    w.add("multiply", "a constant", 'multiply(x, R.const(0.5, "float32"))',
          {"x": ("n", "float32")}, lambda x: x * 0.5, N)
    w.add("log_add_exp", "large", "log_add_exp(x, y)",
          {"x": ("4", "float32", [1000, -1000, np.inf, -np.inf]),
           "y": ("4", "float32", [1000, 0, np.inf, -np.inf])}, np.logaddexp)


def add_three(w):
    w.add("ewise_fma", "float32", "ewise_fma(x, y, z)",
          {k: ("n 3", "float32") for k in "xyz"},
          lambda x, y, z: x * y + z, N)
    w.add("ewise_fma", "int32 stretched", "ewise_fma(x, y, z)",
          {"x": ("n 3", "int32"), "y": ("1 3", "int32"), "z": ("n 1", "int32")},
          lambda x, y, z: x * y + z, N)
    for dtype in ("float32", "int8", "bool", "bfloat16"):
        w.add("where", dtype, "where(c, x, y)",
              {"c": ("n 3", "bool"), "x": ("n 3", dtype), "y": ("3", dtype)},
              np.where, N, out=dtype)
    w.add("where", "a column of conditions", "where(c, x, y)",
          {"c": ("n 1", "bool"), "x": ("3", "int64"), "y": ("", "int64")},
          np.where, N, out="int64")


def add_logic(w):
    for op, meaning in (("logical_and", np.logical_and),
                        ("logical_or", np.logical_or),
                        ("logical_xor", np.logical_xor)):
        add_two(w, op, meaning, ("bool", "int32", "float32"),
                first=lambda d: w.integers(0, 2),
                second=lambda d: w.integers(0, 2))
    for dtype in ("bool", "int32", "float32", "uint8"):
        w.add("logical_not", dtype, "logical_not(x)",
              {"x": ("n 3", dtype, w.integers(0, 2))}, np.logical_not, N)
    for op, meaning in (("bitwise_and", np.bitwise_and),
                        ("bitwise_or", np.bitwise_or),
                        ("bitwise_xor", np.bitwise_xor)):
        add_two(w, op, meaning, ("bool",) + INTS)
    for dtype in ("bool",) + INTS:
        w.add("bitwise_not", dtype, "bitwise_not(x)", {"x": ("n 3", dtype)},
              np.bitwise_not, N)
    for op, meaning in (("left_shift", np.left_shift),
                        ("right_shift", np.right_shift)):
        add_two(w, op, meaning, INTS, second=lambda d: w.integers(0, 6))
        w.add(op, "high bits", f"{op}(x, y)",
              {"x": ("3", "int32", [-2**31, 2**31 - 1, -1]),
               "y": ("3", "int32", [1, 4, 31])}, meaning)


def add_clip(w):
    for dtype in FLOATS + INTS:
        w.add("clip", dtype, "clip(x, R.prim_value(1), R.prim_value(3))",
              {"x": ("n 3", dtype)}, lambda x: np.clip(x, 1, 3), N)
    w.add("clip", "bounds that are no integers",
          'clip(x, R.prim_value(T.float64(-1.5)), '
          'R.prim_value(T.float64(1.5)))',
          {"x": ("n 3", "float32")}, lambda x: np.clip(x, -1.5, 1.5), N)
    w.add("clip", "integers inside of fractions",
          'clip(x, R.prim_value(T.float64(-1.5)), '
          'R.prim_value(T.float64(1.5)))',
          {"x": ("9", "int32", range(-4, 5))}, lambda x: np.clip(x, -1, 1))


def prelu(x, alpha, axis):
    shape = [1] * x.ndim
    shape[axis] = -1
    return np.where(x > 0, x, x * alpha.reshape(shape))


def softplus(x, beta=1.0, threshold=20.0):
    return np.where(x * beta > threshold, x,
                    np.log1p(np.exp(np.minimum(x * beta, 700))) / beta)


def selu(x):
    return 1.0507009873554805 * np.where(
        x > 0, x, 1.6732632423543772 * np.expm1(x))


def add_activations(w):
    gelu_tanh = lambda x: 0.5 * x * (
        1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    for op, meaning in (
            ("nn.gelu", lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2)))),
            ("nn.gelu_tanh", gelu_tanh),
            ("nn.silu", lambda x: x * sigmoid(x)),
            ("nn.selu", selu),
            ("nn.relu6", lambda x: np.clip(x, 0, 6)),
            ("nn.leakyrelu", lambda x: np.where(x > 0, x, 0.01 * x)),
            ("nn.softplus", softplus)):
        for dtype in FLOATS:
            w.add(op, dtype, f"{op}(x)",
                  {"x": ("n 3", dtype, w.within(-9, 9))}, meaning, N,
                  symbolic=dtype == "float32")
        w.add(op, "of rank 0", f"{op}(x)", {"x": ("", "float32")}, meaning)
    w.add("nn.relu6", "int32", "nn.relu6(x)",
          {"x": ("n", "int32", w.integers(-3, 10))},
          lambda x: np.clip(x, 0, 6), N)
    w.add("nn.leakyrelu", "alpha", "nn.leakyrelu(x, alpha=0.3)",
          {"x": ("n 3", "float32")}, lambda x: np.where(x > 0, x, 0.3 * x), N)
    w.add("nn.softplus", "beta and threshold",
          "nn.softplus(x, beta=2.0, threshold=3.0)",
          {"x": ("n 5", "float32", w.within(-4, 4))},
          lambda x: softplus(x, 2.0, 3.0), N)
    w.add("nn.softplus", "large", "nn.softplus(x)",
          {"x": ("4", "float32", [100, 19.5, -100, 88])}, softplus)
    for about, axis, dims, count in (("axis 1", 1, "n 3 2", "3"),
                                     ("the last axis", -1, "n 2 3", "3"),
                                     ("axis 0", 0, "n 3", "n"),
                                     ("one slope", 1, "n 3", "1")):
        w.add("nn.prelu", about, f"nn.prelu(x, a, axis={axis})",
              {"x": (dims, "float32"), "a": (count, "float32")},
              lambda x, a, axis=axis: prelu(x, a, axis), N)


def add_astype(w):
    kinds = FLOATS + INTS + ("bool",)
    for source in kinds:
        for target in kinds:
            def meaning(x, target=target):
                if target == "bool":
                    return x != 0
                return np.trunc(x) if "float" not in target else x
            made = None
            if target.startswith("u"):
                made = w.integers(0, 2) if source == "bool" else (
                    w.within(0, 9, 1) if "float" in source
                    else w.integers(0, 9))
            w.add("astype", f"{source} to {target}",
                  f'astype(x, dtype="{target}")',
                  {"x": ("n 3", source, made)}, meaning, N, out=target,
                  symbolic=source == "float32")
    w.add("astype", "int32 wraps to int8", 'astype(x, dtype="int8")',
          {"x": ("4", "int32", [300, -300, 128, -129])},
          lambda x: x.astype(np.int8), out="int8")
    w.add("astype", "a number", 'astype(R.const(3, "int32"), dtype="float32")',
          {"x": ("2", "float32")}, lambda x: np.float64(3))


def add(w):
    add_floats(w)
    add_special(w)
    add_of_numbers(w)
    add_arithmetic(w)
    add_three(w)
    add_logic(w)
    add_clip(w)
    add_activations(w)
    add_astype(w)
