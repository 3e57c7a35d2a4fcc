"""Ops that move elements: other extents, orders, parts and joins."""

import numpy as np

N = [{"n": 2}, {"n": 1}, {"n": 5}]
N0 = [{"n": 3}, {"n": 0}, {"n": 1}]
TYPES = ("float64", "float16", "int8", "int64", "uint8", "bool", "bfloat16")


def add_moves(w):
    for dtype in ("float32",) + TYPES:
        w.add("permute_dims", f"{dtype} reversed", "permute_dims(x)",
              {"x": ("n 3 2", dtype)}, np.transpose, N,
              symbolic=dtype == "float32")
    for axes in ([1, 0, 2], [-1, 0, 1], [0, 1, 2]):
        w.add("permute_dims", f"{axes}", f"permute_dims(x, axes={axes})",
              {"x": ("n 3 2", "float32")},
              lambda x, axes=axes: np.transpose(x, axes), N0)
    w.add("permute_dims", "of rank 0", "permute_dims(x)",
          {"x": ("", "float32")}, np.transpose)
    for shape, to in (("[n, 6]", (-1, 6)), ("[3, n, 2]", (3, -1, 2)),
                      ("[n * 6]", (-1,)), ("[1, n, 1, 6]", (1, -1, 1, 6))):
        w.add("reshape", shape, f"reshape(x, R.shape({shape}))",
              {"x": ("n 3 2", "float32")},
              lambda x, to=to: x.reshape([x.size // 6 if e == -1 and len(to) > 1
                                          else e for e in to]
                                         if x.size else
                                         [0 if e == -1 else e for e in to]),
              N0)
    w.add("reshape", "an extent left open", "reshape(x, R.shape([2, -1]))",
          {"x": ("n 4", "int8")}, lambda x: x.reshape(2, -1), N)
    w.add("reshape", "to rank 0", "reshape(x, R.shape([]))",
          {"x": ("1 1", "float32")}, lambda x: x.reshape(()))
    w.add("reshape", "from rank 0", "reshape(x, R.shape([1, 1]))",
          {"x": ("", "float32")}, lambda x: x.reshape(1, 1))
    w.add("flatten", "three axes", "flatten(x)", {"x": ("n 3 2", "float32")},
          np.ravel, N0)
    w.add("flatten", "of rank 0", "flatten(x)", {"x": ("", "int32")}, np.ravel)
    w.add("flatten", "of rank 1", "flatten(x)", {"x": ("n", "bool")},
          np.ravel, N)
    w.add("nn.batch_flatten", "three axes", "nn.batch_flatten(x)",
          {"x": ("n 3 2", "float32")}, lambda x: x.reshape(len(x), 6), N0)
    w.add("nn.batch_flatten", "one axis", "nn.batch_flatten(x)",
          {"x": ("3", "float32")}, lambda x: x.reshape(3, 1))
    for axis in ([0], [-1], [1, 3], [0, -1]):
        w.add("expand_dims", f"{axis}", f"expand_dims(x, axis={axis})",
              {"x": ("n 3", "float32")},
              lambda x, axis=axis: np.expand_dims(x, axis), N0)
    w.add("expand_dims", "of rank 0", "expand_dims(x, axis=[0])",
          {"x": ("", "int8")}, lambda x: x[None])
    for axis in ([0], [-1], [0, 2], None):
        attr = f", axis={axis}" if axis else ""
        at = N0 if axis else ({},)
        w.add("squeeze", f"{axis}", f"squeeze(x{attr})",
              {"x": ("1 n 1" if axis else "1 3 1", "float32")},
              lambda x, axis=axis: np.squeeze(x, axis and tuple(axis)), at)


def add_stretches(w):
    w.add("broadcast_to", "rows", "broadcast_to(x, R.shape([n, 3]))",
          {"x": ("3", "float32"), "y": ("n", "float32")},
          lambda x, y: np.broadcast_to(x, (len(y), 3)), N0)
    w.add("broadcast_to", "columns", "broadcast_to(x, R.shape([2, n, 3]))",
          {"x": ("n 1", "int32")},
          lambda x: np.broadcast_to(x, (2, len(x), 3)), N0)
    w.add("broadcast_to", "a number", "broadcast_to(x, R.shape([2, 2]))",
          {"x": ("", "bool")}, lambda x: np.broadcast_to(x, (2, 2)))
    for repeats, axis in ((2, 0), (3, -1), (1, 1), (0, 0), (2, None)):
        attr = "" if axis is None else f", axis={axis}"
        w.add("repeat", f"{repeats} on {axis}",
              f"repeat(x, repeats={repeats}{attr})", {"x": ("n 3", "float32")},
              lambda x, r=repeats, a=axis: np.repeat(x, r, a), N0)
    for repeats in ([2, 3], [2], [2, 1, 3], [1, 1], [0, 2]):
        w.add("tile", f"{repeats}", f"tile(x, repeats={repeats})",
              {"x": ("n 3", "float32")},
              lambda x, r=repeats: np.tile(x, r), N0)
    w.add("tile", "a number", "tile(x, repeats=2)", {"x": ("n 3", "int8")},
          lambda x: np.tile(x, 2), N)
    for axis in (0, 1, -1):
        w.add("flip", f"{axis}", f"flip(x, axis={axis})",
              {"x": ("n 3 2", "float32")},
              lambda x, axis=axis: np.flip(x, axis), N0)

    def reverse(x, lengths, sequence, batch):
        y = x.copy()
        for b, length in enumerate(lengths):
            index = [slice(None)] * x.ndim
            index[batch] = b
            row = np.moveaxis(x[tuple(index)],
                              sequence - (sequence > batch), 0)
            to = np.moveaxis(y[tuple(index)], sequence - (sequence > batch), 0)
            to[:length] = row[:length][::-1]
        return y

    for sequence, batch in ((1, 0), (0, 1), (2, 0), (1, 2)):
        dims = ["3", "3", "3"]
        dims[batch] = "n"
        w.add("reverse_sequence", f"{sequence} {batch}",
              f"reverse_sequence(x, s, seq_axis={sequence}, "
              f"batch_axis={batch})",
              {"x": (" ".join(dims), "float32"),
               "s": ("n", "int64", w.integers(1, 4))},
              lambda x, s, a=sequence, b=batch: reverse(x, s, a, b), N)
    w.add("reverse_sequence", "lengths of int32", "reverse_sequence(x, s)",
          {"x": ("n 4", "int8"), "s": ("n", "int32", w.integers(1, 5))},
          lambda x, s: reverse(x, s, 1, 0), N)


def add_joins(w):
    for dtype in ("float32",) + TYPES:
        w.add("concat", dtype, "concat((x, y), axis=0)",
              {"x": ("n 3", dtype), "y": ("2 3", dtype)},
              lambda x, y: np.concatenate((x, y)), N0,
              symbolic=dtype == "float32")
    w.add("concat", "three on the last axis", "concat((x, y, x), axis=-1)",
          {"x": ("n 2", "float32"), "y": ("n 1", "float32")},
          lambda x, y: np.concatenate((x, y, x), -1), N0)
    w.add("concat", "a tuple", "concat(t, axis=1)",
          {"t": ([("2 n", "int32"), ("2 3", "int32")],)},
          lambda t: np.concatenate(t, 1), N0)
    w.add("concat", "vectors without an axis", "concat((x, y), axis=None)",
          {"x": ("n", "float32"), "y": ("2", "float32")},
          lambda x, y: np.concatenate((x, y)), N0)
    w.add("concat", "one", "concat((x,), axis=0)", {"x": ("n 2", "float32")},
          lambda x: x, N)
    for axis in (0, 1, -1, -2):
        w.add("stack", f"{axis}", f"stack((x, y, x), axis={axis})",
              {"x": ("n 3", "float32"), "y": ("n 3", "float32")},
              lambda x, y, axis=axis: np.stack((x, y, x), axis), N0)
    w.add("stack", "numbers", "stack((x, y), axis=0)",
          {"x": ("", "int8"), "y": ("", "int8")}, lambda x, y: np.stack((x, y)))
    for indexing in ("ij", "xy"):
        w.add("meshgrid", indexing, f'meshgrid((x, y), indexing="{indexing}")',
              {"x": ("n", "float32"), "y": ("3", "float32")},
              lambda x, y, i=indexing: np.meshgrid(x, y, indexing=i), N0)
        w.add("meshgrid", f"three {indexing}",
              f'meshgrid((x, y, z), indexing="{indexing}")',
              {"x": ("n", "int32"), "y": ("3", "int32"), "z": ("2", "int32")},
              lambda x, y, z, i=indexing: np.meshgrid(x, y, z, indexing=i), N)


def add_splits(w):
    def of_list(x, cuts, axis):
        extent = x.shape[axis]
        cuts = [min(c, extent) for c in cuts]
        return np.split(x, cuts, axis)

    for cuts, axis in (([2, 3], 0), ([1], 1), ([1, 2], -1), ([2, 2], 0)):
        w.add("split", f"at {cuts} on {axis}",
              f"split(x, indices_or_sections={cuts}, axis={axis})",
              {"x": ("4 n 3" if axis != 1 else "2 n 2", "float32")},
              lambda x, c=cuts, a=axis: of_list(x, c, a),
              [{"n": 2}, {"n": 1}, {"n": 4}])
    for parts, axis in ((2, 0), (3, -1)):
        w.add("split", f"into {parts} on {axis}",
              f"split(x, indices_or_sections={parts}, axis={axis})",
              {"x": ("4 n 3", "int8")},
              lambda x, p=parts, a=axis: np.split(x, p, a), N0)
    w.add("split", "an extent that is not known",
          "split(x, indices_or_sections=2, axis=0)",
          {"x": ("n 2", "float32")}, lambda x: np.split(x, 2),
          [{"n": 4}, {"n": 2}, {"n": 6}])
    w.add("split", "the last part is smaller",
          "split(x, indices_or_sections=3, axis=0)",
          {"x": ("7", "float32")}, lambda x: [x[:3], x[3:6], x[6:]])


def add_slices(w):
    def tuple_of(numbers):
        texts = [f"R.prim_value({e})" for e in numbers]
        return "(" + ", ".join(texts) + ("," if len(texts) == 1 else "") + ")"

    def call(axes, begin, end, step, more=""):
        parts = [tuple_of(p) for p in (axes, begin, end, step)]
        return "strided_slice(x, " + ", ".join(parts) + more + ")"

    forms = (
        ([0], [1], [5], [2]),
        ([0], [-2], [9], [1]),
        ([1], [-1], [-9], [-1]),
        ([0, -1], [0, 1], [-1, 3], [1, 2]),
        ([1, 0], [2, 1], [0, 3], [-1, 1]),
        ([0], [5], [2], [1]),
        ([0], [9], [0], [-2]),
        ([0], [-1], [-9223372036854775807], [-3]),
    )
    for axes, begin, end, step in forms:
        def meaning(x, axes=axes, begin=begin, end=end, step=step):
            index = [slice(None)] * x.ndim
            for a, b, e, s in zip(axes, begin, end, step):
                index[a] = slice(b, e, s)
            return x[tuple(index)]
        w.add("strided_slice", f"{axes} {begin} {end} {step}",
              call(axes, begin, end, step), {"x": ("n 4", "float32")}, meaning,
              [{"n": 4}, {"n": 1}, {"n": 7}])
    w.add("strided_slice", "in bounds",
          call([0], [1], [3], [1], ", assume_inbound=True"),
          {"x": ("n 2", "int32")}, lambda x: x[1:3], [{"n": 4}, {"n": 3}])
    w.add("strided_slice", "to the end of an extent",
          "strided_slice(x, (R.prim_value(0),), (R.prim_value(1),), "
          "(R.prim_value(n),), (R.prim_value(2),))",
          {"x": ("n 2", "float32")}, lambda x: x[1::2],
          [{"n": 4}, {"n": 1}, {"n": 7}])
    for begin, end, step in (([0, 1], [3, 4], [2, 1]),
                             ([-2, 3], [9, 0], [1, -1]),
                             ([3, -1], [-9, -9], [-1, -2]),
                             ([2, 2], [1, 2], [1, 1])):
        w.add("dynamic_strided_slice", f"{begin} {end} {step}",
              "dynamic_strided_slice(x, b, e, s)",
              {"x": ("n 4", "float32"), "b": ("2", "int64", begin),
               "e": ("2", "int64", end), "s": ("2", "int64", step)},
              lambda x, b, e, s: x[b[0]:e[0]:s[0], b[1]:e[1]:s[1]],
              [{"n": 4}, {"n": 6}])

    def scatter(x, y, begin, end, step, axis):
        z = x.copy()
        index = [slice(None)] * x.ndim
        index[axis] = slice(begin, end, step)
        z[tuple(index)] = y
        return z

    for begin, end, step, axis, dims in (
            (1, 4, 1, 0, "3 n"), (0, 5, 2, 0, "3 n"), (-3, 5, 2, 0, "2 n"),
            (0, 9, 1, -2, "5 n"), (3, 3, 1, 0, "0 n")):
        w.add("slice_scatter", f"{begin} {end} {step} {axis}",
              f"slice_scatter(x, y, R.prim_value({begin}), "
              f"R.prim_value({end}), R.prim_value({step}), axis={axis})",
              {"x": ("5 n", "float32"), "y": (dims, "float32")},
              lambda x, y, f=(begin, end, step, axis): scatter(x, y, *f), N0)
    w.add("slice_scatter", "the last axis",
          "slice_scatter(x, y, R.prim_value(1), R.prim_value(6), "
          "R.prim_value(3), axis=1)",
          {"x": ("n 7", "int8"), "y": ("n 2", "int8")},
          lambda x, y: scatter(x, y, 1, 6, 3, 1), N)


def add_layouts(w):
    w.add("layout_transform", "parts of 4",
          "layout_transform(x, index_map=T.index_map(lambda i, j: (i, j // 4, j % 4)))",
          {"x": ("n 8", "float32")}, lambda x: x.reshape(len(x), 2, 4), N)
    w.add("layout_transform", "another order",
          "layout_transform(x, index_map=T.index_map(lambda i, j, k: (k, i, j)))",
          {"x": ("n 3 2", "float32")}, lambda x: x.transpose(2, 0, 1), N)

    def padded(x, value):
        y = np.full((len(x), 8), value, x.dtype)
        y[:, :6] = x
        return y.reshape(len(x), 2, 4).transpose(1, 0, 2)

    w.add("layout_transform", "padded",
          "layout_transform(x, index_map=T.index_map(lambda i, j: (j // 4, i, j % 4)), "
          "pad_value=7.0)",
          {"x": ("n 6", "float32")}, lambda x: padded(x, 7), N)


def add_of_extents(w):
    """Places and extents that are worked out when the program runs."""
    def places(axes, begin, end, step):
        parts = []
        for part in (axes, begin, end, step):
            parts.append("(" + "".join(f"R.prim_value({e}), " for e in part)
                         + ")")
        return "strided_slice(x, " + ", ".join(parts) + ")"

    at = [{"n": 4, "m": 1}, {"n": 6, "m": 3}, {"n": 2, "m": 2}]
    inputs = {"x": ("n 3", "float32"), "y": ("m", "float32")}
    for begin, end, step in (("m", "n", 1), ("0 - m", "n", 1), ("0", "m", 1),
                             ("m", "n + 7", 2), ("n - 1", "m - 1", -1)):
        def sliced(x, y, places=(begin, end), step=step):
            n, m = x.shape[0], y.shape[0]
            first, last = (eval(e, {}, {"n": n, "m": m}) for e in places)
            return x[first:last:step]
        w.add("strided_slice", f"from {begin} to {end} by {step}",
              places([0], [begin], [end], [step]), inputs, sliced, at)
    w.add("broadcast_to", "an extent of another tensor",
          "broadcast_to(x, R.shape([m, n, 3]))", inputs,
          lambda x, y: np.broadcast_to(x, (len(y),) + x.shape), at)
    w.add("reshape", "extents that are products",
          "reshape(x, R.shape([n * m, 2]))", {"x": ("n 2 m", "float32")},
          lambda x: x.reshape(-1, 2), at)
    w.add("permute_dims", "five axes", "permute_dims(x, axes=[4, 1, 3, 0, 2])",
          {"x": ("2 n 1 3 m", "int32")},
          lambda x: x.transpose(4, 1, 3, 0, 2), at)
    w.add("concat", "extents that differ", "concat((x, y, x), axis=1)",
          {"x": ("2 n", "float32"), "y": ("2 m", "float32")},
          lambda x, y: np.concatenate((x, y, x), 1), at)
    w.add("take", "by another extent", "take(x, i, axis=0)",
          {"x": ("3 n", "float32"), "i": ("m 2", "int64", w.integers(0, 3))},
          lambda x, i: x[i], at)


def add(w):
    add_of_extents(w)
    add_moves(w)
    add_stretches(w)
    add_joins(w)
    add_splits(w)
    add_slices(w)
    add_layouts(w)
