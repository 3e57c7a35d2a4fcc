"""States cases and writes them as case.h describes.

    w.add("sum", "rows", "sum(x, axis=[1])", {"x": ("n 3", "float32")},
          lambda x: x.sum(1), at=[{"n": 2}, {"n": 5}])

writes two cases, one program of a [2, 3] tensor, and one of a ["n", 3] tensor
that runs at both extents. An input is its dimensions, its type, and optionally
what makes its elements of a shape (or the elements). References get floats as float64, and what
they give is rounded to the type of the result: that of the first tensor unless
`out` says otherwise, a type for each field of a tuple.
"""

import re
import zlib

import numpy as np

DTYPES = {
    name: np.dtype(name)
    for name in (
        "float16", "float32", "float64", "int8", "int16", "int32", "int64",
        "uint8", "uint16", "uint32", "uint64", "bool")
}


class Shape(tuple):
    """A value that is extents."""


def round_bfloat16(x):
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    rounded = bits.astype(np.uint32).view(np.float32)
    return np.where(np.isnan(x), np.float32(np.nan), rounded).astype(np.float32)


def cast(x, dtype):
    """Rounded to the type, as an array whose elements print exactly."""
    x = np.asarray(x)
    if dtype == "bfloat16":
        return round_bfloat16(x.astype(np.float32))
    with np.errstate(all="ignore"):
        return x.astype(DTYPES[dtype])


def is_float(dtype):
    return "float" in dtype


# Of results, which are compared within a tolerance.
DIGITS = {"float32": 7, "float64": 13, "float16": 6, "bfloat16": 6}


def number_text(x, digits=None):
    if isinstance(x, (bool, np.bool_)):
        return str(int(x))
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    text = str(x)
    if digits and np.isfinite(x):
        text = min(f"{x:.{digits}g}", text, key=len)
    return text[:-2] if text.endswith(".0") else text


class Writer:
    def __init__(self, family):
        self.lines = [f"# Written by make_values.py: {family}."]
        self.ops = set()
        self.count = 0
        self.random = None

    def text(self):
        return "\n".join(self.lines) + "\n"

    # --- Elements.

    def elements(self, dtype, shape):
        """Small numbers of both signs, few digits."""
        if dtype == "bool":
            return self.random.integers(0, 2, shape) > 0
        if dtype.startswith("uint"):
            return self.random.integers(0, 13, shape)
        if dtype.startswith("int"):
            return self.random.integers(-6, 7, shape)
        return self.random.integers(-14, 15, shape) / 4

    def within(self, low, high, digits=2):
        """Makes numbers in a range."""

        def make(shape):
            x = self.random.uniform(low, high, shape)
            return np.round(x, digits)

        return make

    def integers(self, low, high):
        """Makes low, low + 1, ..., high - 1."""
        return lambda shape: self.random.integers(low, high, shape)

    def distinct(self, shape):
        """Makes numbers of which no two are equal."""
        count = int(np.prod(shape))
        x = self.random.permutation(count) - count // 2
        return (x / 4).reshape(shape)

    # --- Cases.

    def add(self, op, about, call, inputs, reference, at=({},), out=None,
            tolerance=None, static=True, symbolic=True):
        """Static at the first extents, symbolic at all, where they differ."""
        self.ops.add(op)
        at = list(at)
        symbols = sorted(at[0])
        if static or not symbols:
            self._case(op, about, call, inputs, reference, at[:1], out,
                       tolerance, ())
        if symbols and symbolic:
            self._case(op, about + ", symbolic", call, inputs, reference, at,
                       out, tolerance, symbols)

    def _case(self, op, about, call, inputs, reference, at, out, tolerance,
              symbols):
        self.random = np.random.default_rng(zlib.crc32(f"{op} {about}".encode()))
        self.count += 1
        self.lines.append(f"case {op} {about}")
        self._program(call, inputs, at[0], symbols)
        if tolerance:
            self.lines.append("tolerance %g %g" % tolerance)
        for env in at:
            self._run(inputs, reference, env, out)

    def _program(self, call, inputs, env, symbols):
        params = ", ".join(
            f"{name}: {self._annotation(spec, env, symbols)}"
            for name, spec in inputs.items())
        self.lines.append(f"| def main({params}):")
        for symbol in env:
            if not re.search(rf"\b{symbol}\b", call):
                continue
            value = "T.int64()" if symbol in symbols else None
            if value:
                self.lines.append(f"|     {symbol} = {value}")
            else:
                call = re.sub(rf"\b{symbol}\b", str(env[symbol]), call)
        self.lines.append(f"|     return R.{call}")

    def _annotation(self, spec, env, symbols):
        if isinstance(spec[0], list):
            fields = [self._annotation(s, env, symbols) for s in spec[0]]
            return "R.Tuple(" + ", ".join(fields) + ")"
        dims, dtype = spec[:2]
        if dtype == "shape":
            dims = ", ".join(self._dims(dims, env, symbols))
            return f"R.Shape([{dims}])"
        if dtype == "prim":
            return dims
        dims = self._dims(dims, env, symbols)
        comma = "," if len(dims) == 1 else ""
        return f'R.Tensor(({", ".join(dims)}{comma}), "{dtype}")'

    def _dims(self, dims, env, symbols):
        texts = []
        for dim in dims.split():
            if symbols and not dim.isdigit():
                texts.append(f'"{dim}"')
            else:
                texts.append(str(eval(dim, {}, dict(env))))
        return texts

    # --- Values.

    def _run(self, inputs, reference, env, out):
        values, first = [], None
        self.lines.append("run")
        for spec in inputs.values():
            value, first = self._input(spec, env, first)
            values.append(value)
        result = reference(*values)
        self._output(result, out or first or "float32")

    def _input(self, spec, env, first):
        if isinstance(spec[0], list):
            self.lines.append(f"in tuple {len(spec[0])}")
            fields = []
            for field in spec[0]:
                value, first = self._input(field, env, first)
                fields.append(value)
            return tuple(fields), first
        if spec[1] == "shape":
            extents = Shape(eval(d, {}, dict(env)) for d in spec[0].split())
            self.lines.append("in " + value_text(extents, ""))
            return extents, first
        if spec[1] == "prim":
            value = spec[2]
            self.lines.append("in " + value_text(value, ""))
            return value, first
        dims, dtype = spec[:2]
        shape = tuple(eval(d, {}, dict(env)) for d in dims.split())
        made = spec[2] if len(spec) > 2 else None
        if callable(made):
            made = made(shape)
        elif made is None:
            made = self.elements(dtype, shape)
        x = cast(np.asarray(made).reshape(shape), dtype)
        self.lines.append("in " + value_text(x, dtype))
        wide = x.astype(np.float64) if is_float(dtype) else x
        return wide, first or dtype

    def _output(self, value, dtype):
        if isinstance(value, (tuple, list)) and not isinstance(value, Shape):
            self.lines.append(f"out tuple {len(value)}")
            for i, field in enumerate(value):
                each = dtype if isinstance(dtype, str) else dtype[i]
                self._output(field, each)
            return
        if type(value) not in (Shape, int, float):
            value = cast(value, dtype)
        self.lines.append("out " + value_text(value, dtype, DIGITS.get(dtype)))


def value_text(value, dtype, digits=None):
    if isinstance(value, Shape):
        return " ".join(["shape"] + [str(e) for e in value])
    if isinstance(value, (bool, int)):
        return f"integer {int(value)}"
    if isinstance(value, float):
        return f"float {value!r}"
    shape = ", ".join(str(e) for e in value.shape)
    elements = [number_text(e, digits) for e in value.reshape(-1)]
    return " ".join([f"{dtype}[{shape}]"] + elements)
