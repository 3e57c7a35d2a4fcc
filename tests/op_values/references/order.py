"""Elements in order, bins, and what is distinct."""

import numpy as np

N = [{"n": 2}, {"n": 1}, {"n": 5}]


def places_of(x, axis, descending):
    """A stable order: equal elements as they come."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    back = np.flip(x, axis)
    places = np.flip(np.argsort(back, axis, kind="stable"), axis)
    return x.shape[axis] - 1 - places


def add_sorts(w):
    few = w.integers(0, 4)
    for dtype in ("float32", "float64", "float16", "bfloat16", "int32", "int64",
                  "int8", "uint8"):
        for axis, descending in ((-1, False), (0, True), (1, False), (-1, True)):
            if dtype != "float32" and (axis, descending) != (-1, True):
                continue
            attrs = f"axis={axis}, descending={descending}"
            dims = "7 n 2" if axis == 0 else "n 6 2" if axis == 1 else "n 2 9"
            about = f"{dtype} {attrs}"
            w.add("sort", about, f"sort(x, {attrs})", {"x": (dims, dtype)},
                  lambda x, a=axis, d=descending: np.take_along_axis(
                      x, places_of(x, a, d), a), N, symbolic=dtype == "float32")
            w.add("argsort", about, f"argsort(x, {attrs})",
                  {"x": (dims, dtype, few)},
                  lambda x, a=axis, d=descending: places_of(x, a, d), N,
                  out="int32", symbolic=dtype == "float32")
    for n in (1, 2, 17, 40):
        w.add("sort", f"{n} elements", "sort(x)", {"x": (str(n), "float32")},
              np.sort)
    w.add("sort", "an extent", "sort(x)", {"x": ("n", "float32")}, np.sort,
          [{"n": 5}, {"n": 1}, {"n": 33}, {"n": 0}])
    w.add("argsort", "in int64", 'argsort(x, dtype="int64")',
          {"x": ("n 5", "float32", few)},
          lambda x: places_of(x, -1, False), N, out="int64")
    w.add("argsort", "in float32", 'argsort(x, axis=0, dtype="float32")',
          {"x": ("n 5", "float32", few)},
          lambda x: places_of(x, 0, False), N, out="float32")


def topk(x, k, axis, largest, which):
    places = np.take(places_of(x, axis, largest),
                     np.arange(k if k > 0 else x.shape[axis]), axis)
    values = np.take_along_axis(x, places, axis)
    return {"both": (values, places), "values": values,
            "indices": places}[which]


def add_topk(w):
    few = w.integers(0, 6)
    for k, axis, largest, which, dtype in (
            (1, -1, True, "both", "int32"), (3, -1, True, "both", "int64"),
            (2, 0, False, "both", "int32"), (3, 1, False, "values", "int32"),
            (4, 1, True, "indices", "int32"), (0, 1, True, "both", "int32")):
        dims = "5 n" if axis == 0 else "n 5"
        for of in ("float32", "int8", "float64"):
            if of != "float32" and k != 3:
                continue
            out = {"both": (of, dtype), "values": of, "indices": dtype}[which]
            w.add("topk", f"{of} {k} {axis} {largest} {which} {dtype}",
                  f'topk(x, k={k}, axis={axis}, ret_type="{which}", '
                  f'largest={largest}, dtype="{dtype}")',
                  {"x": (dims, of, few)},
                  lambda x, f=(k, axis, largest, which): topk(x, *f), N,
                  out=out)


def add_median(w):
    def median(x, axis, keeps):
        places = places_of(x, axis, False)
        middle = np.take(places, [(x.shape[axis] - 1) // 2], axis)
        values = np.take_along_axis(x, middle, axis)
        if keeps:
            return values, middle
        return values.squeeze(axis), middle.squeeze(axis)

    for axis in (0, 1, -1):
        for keeps in (False, True):
            for count in (4, 5):
                dims = f"{count} n" if axis == 0 else f"n {count}"
                w.add("median", f"{axis} {keeps} of {count}",
                      f"median(x, axis=[{axis}], keepdims={keeps})",
                      {"x": (dims, "float32")},
                      lambda x, f=(axis, keeps): median(x, *f), N,
                      out=("float32", "int64"))
    for keeps in (False, True):
        w.add("median", f"of all {keeps}", f"median(x, keepdims={keeps})",
              {"x": ("n 3", "int32")},
              lambda x, keeps=keeps: np.sort(x.reshape(-1))[
                  (x.size - 1) // 2].reshape((1, 1) if keeps else ()), N)
        w.add("median", f"of two axes {keeps}",
              f"median(x, axis=[0, 2], keepdims={keeps})",
              {"x": ("2 n 3", "float32")},
              lambda x, keeps=keeps: np.sort(
                  x.swapaxes(0, 1).reshape(x.shape[1], -1))[:, 2].reshape(
                      (1, x.shape[1], 1) if keeps else (x.shape[1],)), N)


def add_bins(w):
    for right in (False, True):
        for out in ("int32", "int64"):
            for dtype in ("float32", "int32"):
                bounds = [-2, 0, 0, 3]
                w.add("bucketize", f"{dtype} {right} {out}",
                      f"bucketize(x, b, out_int32={out == 'int32'}, "
                      f"right={right})",
                      {"x": ("n 4", dtype, w.integers(-3, 5)),
                       "b": ("4", dtype, bounds)},
                      lambda x, b, right=right: np.searchsorted(
                          b, x, "right" if right else "left"), N, out=out)
    w.add("bucketize", "no boundaries", "bucketize(x, b)",
          {"x": ("n", "float32"), "b": ("0", "float32")},
          lambda x, b: np.zeros(x.shape), N, out="int64")

    def multinomial(p, u, s):
        return np.array([
            [min(int((np.cumsum(p[row[0]]) <= x[0]).sum()), p.shape[1] - 1)]
            for x, row in zip(u, s)])

    for dtype in ("int64", "int32"):
        w.add("multinomial_from_uniform", dtype,
              f'multinomial_from_uniform(p, u, s, dtype="{dtype}")',
              {"p": ("3 4", "float32", [[.1, .2, .3, .4], [1, 0, 0, 0],
                                        [.25, .25, .25, .25]]),
               "u": ("n 1", "float32", w.within(0.01, 0.99)),
               "s": ("n 1", "int64", w.integers(0, 3))}, multinomial,
              [{"n": 4}, {"n": 1}, {"n": 9}], out=dtype)


def add_distinct(w):
    few = w.integers(0, 3)
    for dtype in ("float32", "int32", "bool", "float16"):
        w.add("nonzero", dtype, "nonzero(x)", {"x": ("n 3", dtype, few)},
              lambda x: np.array(np.nonzero(x)).reshape(2, -1), N, out="int64")
    w.add("nonzero", "nothing", "nonzero(x)", {"x": ("3", "float32", [0] * 3)},
          lambda x: np.zeros((1, 0)), out="int64")

    def flags(*values):
        return ", ".join(f"R.prim_value({v})" for v in values)

    def unique(x, axis, index, inverse, counts):
        parts = np.unique(x, True, True, True, axis=axis)
        picked = [parts[0]]
        for wanted, part in zip((index, inverse, counts), parts[1:]):
            if wanted:
                picked.append(part.reshape(-1))
        return tuple(picked) if len(picked) > 1 else picked[0]

    for dtype in ("float32", "int64", "int8"):
        for wanted in ((False, False, False), (True, True, True),
                       (False, True, False), (True, False, True)):
            w.add("unique", f"{dtype} {wanted}",
                  f"unique(x, {flags(True, *wanted)})",
                  {"x": ("n 4", dtype, few)},
                  lambda x, f=wanted: unique(x, None, *f), N,
                  out=(dtype,) + ("int64",) * 3 if any(wanted) else dtype)
    for axis in (0, 1):
        w.add("unique", f"slices of {axis}",
              f"unique(x, {flags(True, True, True, True, axis)})",
              {"x": ("6 n" if axis == 0 else "n 6", "int32", w.integers(0, 2))},
              lambda x, a=axis: unique(x, a, True, True, True), N,
              out=("int32", "int64", "int64", "int64"))


def add(w):
    add_sorts(w)
    add_topk(w)
    add_median(w)
    add_bins(w)
    add_distinct(w)
