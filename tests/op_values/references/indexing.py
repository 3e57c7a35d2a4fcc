"""Elements read from and written to places that tensors hold."""

import numpy as np

N = [{"n": 2}, {"n": 1}, {"n": 5}]


def take(x, places, axis, mode):
    axis %= x.ndim
    extent = x.shape[axis]
    if mode == "clip":
        return np.take(x, np.clip(places, 0, extent - 1), axis)
    if mode == "wrap":
        return np.take(x, places % extent, axis)
    inside = (places >= 0) & (places < extent)
    y = np.take(x, np.where(inside, places, 0), axis)
    shape = (1,) * axis + places.shape + (1,) * (x.ndim - 1 - axis)
    return np.where(inside.reshape(shape), y, np.nan if x.dtype.kind == "f" else 0)


def add_take(w):
    inside = w.integers(0, 3)
    for dtype in ("float32", "float64", "float16", "bfloat16", "int8", "bool",
                  "int64"):
        for axis in (0, 1, -1):
            if dtype != "float32" and axis != 1:
                continue
            dims = "3 n 2" if axis == 0 else "n 3 2" if axis == 1 else "n 2 3"
            w.add("take", f"{dtype} on {axis}", f"take(x, i, axis={axis})",
                  {"x": (dims, dtype), "i": ("n 2", "int64", inside)},
                  lambda x, i, a=axis: np.take(x, i, a), N,
                  symbolic=dtype == "float32")
    w.add("take", "of a vector", "take(x, i)",
          {"x": ("3", "float32"), "i": ("n", "int32", inside)},
          lambda x, i: x[i], N)
    w.add("take", "one place", "take(x, i, axis=0)",
          {"x": ("3 n", "float32"), "i": ("", "int64", inside)},
          lambda x, i: x[i], N)
    w.add("take", "a number", "take(x, R.prim_value(1), axis=0)",
          {"x": ("3 n", "float32")}, lambda x: x[1], N)
    w.add("take", "places of uint8", "take(x, i, axis=1)",
          {"x": ("n 3", "float32"), "i": ("2", "uint8", inside)},
          lambda x, i: x[:, i], N)
    w.add("take", "no places", "take(x, i, axis=0)",
          {"x": ("3 n", "float32"), "i": ("0", "int64")},
          lambda x, i: x[i], N)
    for mode in ("clip", "wrap", "nan"):
        for axis in (0, -1):
            w.add("take", f"{mode} on {axis}",
                  f'take(x, i, axis={axis}, mode="{mode}")',
                  {"x": ("3 n 3", "float32"),
                   "i": ("6", "int64", [-7, -3, -1, 0, 3, 8])},
                  lambda x, i, a=axis, m=mode: take(x, i, a, m), N)
        w.add("take", f"{mode} of integers",
              f'take(x, i, axis=0, mode="{mode}")',
              {"x": ("3 n", "int8"), "i": ("3", "int32", [-2, 1, 5])},
              lambda x, i, m=mode: take(x, i, 0, m), N)

    def backward(g, x, i, axis):
        y = np.zeros_like(x)
        if axis is None:
            np.add.at(y, i, g)
            return y
        axis %= x.ndim
        for at in np.ndindex(i.shape):
            index = (slice(None),) * axis
            y[index + (i[at],)] += g[index + at]
        return y

    for axis in (0, 1, -1):
        w.add("grad.take_backward", f"on {axis}",
              f"grad.take_backward(g, x, i, axis={axis})",
              {"g": ("5 3 n" if axis == 0 else "3 5 n" if axis == 1 else
                     "3 n 5", "float32"),
               "x": ("3 3 n" if axis != -1 else "3 n 3", "float32"),
               "i": ("5", "int32", inside)},
              lambda g, x, i, a=axis: backward(g, x, i, a), N)
    w.add("grad.take_backward", "places of two axes",
          "grad.take_backward(g, x, i, axis=1)",
          {"g": ("n 2 2", "float32"), "x": ("n 3", "float32"),
           "i": ("2 2", "int64", inside)},
          lambda g, x, i: backward(g, x, i, 1), N)
    w.add("grad.take_backward", "a vector", "grad.take_backward(g, x, i)",
          {"g": ("n", "float32"), "x": ("3", "float32"),
           "i": ("n", "int64", inside)},
          lambda g, x, i: backward(g, x, i, None), N)


def add_gathers(w):
    for axis in (0, 1, -1):
        for dtype in ("float32", "int8"):
            w.add("gather_elements", f"{dtype} on {axis}",
                  f"gather_elements(x, i, axis={axis})",
                  {"x": ("3 n" if axis == 0 else "n 3", dtype),
                   "i": ("4 n" if axis == 0 else "n 4", "int64",
                         w.integers(-3, 3))},
                  lambda x, i, a=axis: np.take_along_axis(x, i, a), N)
    w.add("gather_elements", "fewer places than data",
          "gather_elements(x, i, axis=1)",
          {"x": ("4 3", "float32"), "i": ("2 2", "int32", [[2, 0], [1, 1]])},
          lambda x, i: np.take_along_axis(x[:2], i, 1))

    def gather_nd(x, i, batch):
        out = np.empty(i.shape[:-1] + x.shape[batch + i.shape[-1]:], x.dtype)
        for at in np.ndindex(i.shape[:-1]):
            out[at] = x[at[:batch] + tuple(i[at])]
        return out

    for about, x, i, batch in (
            ("whole", "3 3 n", "n 2", 0), ("elements", "3 3 3", "2 n 3", 0),
            ("rows", "3 n", "4 1", 0), ("a batch", "n 3 3 2", "n 4 2", 1),
            ("two batches", "n 2 3", "n 2 1", 2), ("no numbers", "n 2", "3 0", 0)):
        w.add("gather_nd", about, f"gather_nd(x, i, batch_dims={batch})",
              {"x": (x, "float32"), "i": (i, "int64", w.integers(0, 3))},
              lambda x, i, b=batch: gather_nd(x, i, b), N)
    w.add("index_tensor", "one", "index_tensor(x, (i,))",
          {"x": ("3 n", "float32"), "i": ("2 2", "int64", w.integers(-3, 3))},
          lambda x, i: x[i], N)
    w.add("index_tensor", "two that meet", "index_tensor(x, (i, j))",
          {"x": ("3 3 n", "float32"), "i": ("n 1", "int64", w.integers(-3, 3)),
           "j": ("4", "int64", w.integers(-3, 3))},
          lambda x, i, j: x[i, j], N)
    w.add("index_tensor", "all axes", "index_tensor(x, (i, j))",
          {"x": ("3 3", "int8"), "i": ("n", "int32", w.integers(0, 3)),
           "j": ("n", "int32", w.integers(0, 3))},
          lambda x, i, j: x[i, j], N)


REDUCTIONS = {
    "update": lambda a, b: b, "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b, "min": min, "max": max,
}


def add_scatters(w):
    def scatter_elements(x, i, u, axis, reduction):
        y = x.copy()
        for at in np.ndindex(i.shape):
            to = list(at)
            to[axis] = i[at]
            y[tuple(to)] = REDUCTIONS[reduction](y[tuple(to)], u[at])
        return y

    for reduction in REDUCTIONS:
        for dtype in ("float32", "int32", "float64"):
            if dtype != "float32" and reduction not in ("add", "max"):
                continue
            w.add("scatter_elements", f"{reduction} {dtype}",
                  f'scatter_elements(x, i, u, axis=1, reduction="{reduction}")',
                  {"x": ("n 3", dtype), "i": ("n 4", "int64", w.integers(-3, 3)),
                   "u": ("n 4", dtype)},
                  lambda x, i, u, r=reduction: scatter_elements(x, i, u, 1, r),
                  N)
    w.add("scatter_elements", "on 0, fewer places", "scatter_elements(x, i, u)",
          {"x": ("3 n", "float32"), "i": ("2 1", "int32", [[1], [2]]),
           "u": ("2 1", "float32")},
          lambda x, i, u: scatter_elements(x, i, u, 0, "update"), N)
    w.add("scatter_elements", "on -2", "scatter_elements(x, i, u, axis=-2)",
          {"x": ("3 n", "int8"), "i": ("2 n", "int64", w.integers(0, 3)),
           "u": ("2 n", "int8")},
          lambda x, i, u: scatter_elements(x, i, u, -2, "update"), N)

    def scatter_nd(x, i, u, reduction):
        y = x.copy()
        combine = np.vectorize(REDUCTIONS[reduction], otypes=[x.dtype])
        for at in np.ndindex(i.shape[:-1]):
            to = tuple(i[at])
            y[to] = combine(y[to], u[at])
        return y

    for reduction in REDUCTIONS:
        for about, x, i, u in (("rows", "3 n", "4 1", "4 n"),
                               ("elements", "3 3", "n 2", "n"),
                               ("of two axes", "3 3 n", "2 2 2", "2 2 n")):
            w.add("scatter_nd", f"{reduction} {about}",
                  f'scatter_nd(x, i, u, reduction="{reduction}")',
                  {"x": (x, "float32"), "i": (i, "int64", w.integers(0, 3)),
                   "u": (u, "float32")},
                  lambda x, i, u, r=reduction: scatter_nd(x, i, u, r), N)

    def index_put(x, indices, values, adds):
        y = x.copy()
        if adds:
            np.add.at(y, tuple(indices), values)
            return y
        meet = np.broadcast_arrays(*indices)
        rows = np.broadcast_to(values, y[tuple(indices)].shape)
        for at in np.ndindex(meet[0].shape):
            y[tuple(m[at] for m in meet)] = rows[at]
        return y

    for adds in (False, True):
        attr = f", accumulate={adds}"
        w.add("index_put", f"elements {adds}",
              f"index_put(x, (i, j), v{attr})",
              {"x": ("3 3", "float32"), "i": ("n", "int64", w.integers(-3, 3)),
               "j": ("n", "int64", w.integers(-3, 3)), "v": ("n", "float32")},
              lambda x, i, j, v, a=adds: index_put(x, (i, j), v, a), N)
        w.add("index_put", f"rows {adds}", f"index_put(x, (i,), v{attr})",
              {"x": ("3 n", "int32"), "i": ("4", "int64", w.integers(0, 3)),
               "v": ("4 n", "int32")},
              lambda x, i, v, a=adds: index_put(x, (i,), v, a), N)
        w.add("index_put", f"one value for all {adds}",
              f"index_put(x, (i, j), v{attr})",
              {"x": ("3 3 n", "float32"), "i": ("2 1", "int64", [[0], [2]]),
               "j": ("2", "int64", [1, 2]), "v": ("1", "float32")},
              lambda x, i, j, v, a=adds: index_put(x, (i, j), v, a), N)


def add(w):
    add_take(w)
    add_gathers(w)
    add_scatters(w)
