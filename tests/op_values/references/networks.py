"""Normalizations, losses, padding, small integers."""

import math

import numpy as np

N = [{"n": 2}, {"n": 1}, {"n": 4}]


def softmax(x, axis, logs=False):
    moved = x - x.max(axis, keepdims=True)
    total = np.exp(moved).sum(axis, keepdims=True)
    return moved - np.log(total) if logs else np.exp(moved) / total


def add_softmax(w):
    for op, logs in (("nn.softmax", False), ("nn.log_softmax", True)):
        for dtype in ("float32", "float64", "float16", "bfloat16"):
            for axis in (-1, 1, 0):
                if dtype != "float32" and axis != -1:
                    continue
                w.add(op, f"{dtype} {axis}", f"{op}(x, axis={axis})",
                      {"x": ("n 3 4", dtype)},
                      lambda x, a=axis, l=logs: softmax(x, a, l), N,
                      symbolic=dtype == "float32")
        w.add(op, "along an extent", f"{op}(x, axis=1)",
              {"x": ("2 n 3", "float32")},
              lambda x, l=logs: softmax(x, 1, l), N)
        w.add(op, "large", f"{op}(x)",
              {"x": ("2 3", "float32", [1000, 999, 0, -1000, -1000, 0])},
              lambda x, l=logs: softmax(x, -1, l))


def normal(x, axes, epsilon=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(
        x.var(axes, keepdims=True) + epsilon)


def along(p, rank, axes):
    """A factor that has the dimensions `axes`, in this order."""
    order = np.argsort(axes)
    shape = [1] * rank
    for axis, extent in zip(np.sort(axes), np.transpose(p, order).shape):
        shape[axis] = extent
    return np.transpose(p, order).reshape(shape)


def affine(x, g, b, axes, scale=True, center=True):
    axes = [a % x.ndim for a in axes]
    y = x * along(g, x.ndim, axes) if scale else x
    return y + along(b, x.ndim, axes) if center else y


def add_norms(w):
    for axes, dims in (([-1], "4"), ([1, 2], "3 4"), ([2, 1], "4 3"), ([1], "3")):
        for more in ({}, {"scale": False}, {"center": False}, {"epsilon": 0.1}):
            attrs = "".join(f", {k}={v}" for k, v in more.items())
            flags = {k: v for k, v in more.items() if k != "epsilon"}
            if more and axes != [-1]:
                continue
            def reference(x, g, b, axes=axes, more=more, flags=flags):
                return affine(normal(x, tuple(axes), more.get("epsilon", 1e-5)),
                              g, b, axes, **flags)
            w.add("nn.layer_norm", f"{axes}{attrs}",
                  f"nn.layer_norm(x, g, b, axes={axes}{attrs})",
                  {"x": ("n 3 4", "float32"), "g": (dims, "float32"),
                   "b": (dims, "float32")}, reference, N)
    w.add("nn.layer_norm", "over an extent", "nn.layer_norm(x, g, b, axes=[0])",
          {"x": ("n 3", "float32"), "g": ("n", "float32"),
           "b": ("n", "float32")},
          lambda x, g, b: affine(normal(x, 0), g, b, [0]), N)
    w.add("nn.layer_norm", "float16", "nn.layer_norm(x, g, b, axes=[-1])",
          {"x": ("2 5", "float16"), "g": ("5", "float16"),
           "b": ("5", "float16")},
          lambda x, g, b: affine(normal(x, -1), g, b, [-1]),
          tolerance=(4e-3, 8e-3))
    w.add("nn.layer_norm", "far from 0", "nn.layer_norm(x, g, b, axes=[-1])",
          {"x": ("2 5", "float32", w.within(1000, 1010)),
           "g": ("5", "float32"), "b": ("5", "float32")},
          lambda x, g, b: affine(normal(x, -1), g, b, [-1]),
          tolerance=(1e-3, 1e-3))

    def rms(x, g, axes, epsilon=1e-5):
        mean = (x * x).mean(tuple(axes), keepdims=True)
        return x / np.sqrt(mean + epsilon) * along(
            g, x.ndim, [a % x.ndim for a in axes])

    for axes, dims in (([-1], "4"), ([1, 2], "3 4"), ([1], "3")):
        w.add("nn.rms_norm", f"{axes}", f"nn.rms_norm(x, g, axes={axes})",
              {"x": ("n 3 4", "float32"), "g": (dims, "float32")},
              lambda x, g, a=axes: rms(x, g, a), N)
    w.add("nn.rms_norm", "epsilon", "nn.rms_norm(x, g, axes=[-1], epsilon=0.5)",
          {"x": ("n 4", "float32"), "g": ("4", "float32")},
          lambda x, g: rms(x, g, [-1], 0.5), N)
    for channel, axes in ((1, [2, 3]), (-1, [1, 2])):
        w.add("nn.instance_norm", f"{channel} {axes}",
              f"nn.instance_norm(x, g, b, channel_axis={channel}, axes={axes})",
              {"x": ("n 3 4 3", "float32"), "g": ("3", "float32"),
               "b": ("3", "float32")},
              lambda x, g, b, c=channel, a=axes: affine(
                  normal(x, tuple(a)), g, b, [c]), N)

    def group(x, g, b, groups, channel, axes):
        x = np.moveaxis(x, channel, 0)
        parts = x.reshape((groups, -1) + x.shape[1:])
        # Axes of the moved data, with one more ahead of them.
        rest = [a if a > channel else a + 1 for a in axes]
        y = normal(parts, tuple([1] + [r + 1 for r in rest])).reshape(x.shape)
        y = np.moveaxis(y, 0, channel)
        return affine(y, g, b, [channel])

    for groups, channel, axes, dims in ((2, 1, [2, 3], "n 4 3 2"),
                                        (1, 1, [2], "n 4 3"),
                                        (4, 1, [2], "n 4 3"),
                                        (2, 2, [1], "n 3 4")):
        rank = len(dims.split())
        w.add("nn.group_norm", f"{groups} {channel} {axes}",
              f"nn.group_norm(x, g, b, num_groups={groups}, "
              f"channel_axis={channel}, axes={axes})",
              {"x": (dims, "float32"), "g": ("4", "float32"),
               "b": ("4", "float32")},
              lambda x, g, b, f=(groups, channel, axes): group(x, g, b, *f), N)

    def batch(x, g, b, mean, var, axis, epsilon=1e-5, momentum=0.1,
              training=True, **flags):
        axis %= x.ndim
        others = tuple(d for d in range(x.ndim) if d != axis)
        if training:
            y = normal(x, others, epsilon)
            new = [momentum * now + (1 - momentum) * old for now, old in
                   ((x.mean(others), mean), (x.var(others), var))]
        else:
            y = (x - along(mean, x.ndim, [axis])) / np.sqrt(
                along(var, x.ndim, [axis]) + epsilon)
            new = [mean, var]
        return tuple([affine(y, g, b, [axis], **flags)] + new)

    for options in ({"axis": 1}, {"axis": -1, "momentum": 0.5},
                    {"axis": 1, "training": False},
                    {"axis": 1, "training": False, "epsilon": 0.01,
                     "scale": False},
                    {"axis": 1, "center": False}):
        attrs = ", ".join(f"{k}={v}" for k, v in options.items())
        w.add("nn.batch_norm", attrs, f"nn.batch_norm(x, g, b, m, v, {attrs})",
              {"x": ("n 3 3" if options["axis"] != -1 else "n 2 3", "float32"),
               **{k: ("3", "float32") for k in "gbm"},
               "v": ("3", "float32", w.within(0.5, 3))},
              lambda x, g, b, m, v, o=options: batch(x, g, b, m, v, **o), N,
              tolerance=(1e-4, 1e-5))
    w.add("nn.dropout", "nothing is dropped", "nn.dropout(x, rate=0.25)",
          {"x": ("n 3", "float32")}, lambda x: (x, np.ones_like(x)), N)


def nll(x, t, weights, reduction, ignored):
    if x.ndim == 1:
        x, t = x[None], np.asarray(t)[None]
        single = True
    else:
        single = False
    losses, total = np.zeros(t.shape), 0.0
    for at in np.ndindex(t.shape):
        c = int(t[at])
        if c == ignored:
            continue
        weight = 1.0 if weights is None else weights[c]
        losses[at] = -x[(at[0], c) + at[1:]] * weight
        total += weight
    if reduction == "none":
        return losses[0] if single else losses
    return losses.sum() / (total if reduction == "mean" else 1)


def nll_gradient(g, x, t, weights, reduction, ignored):
    y = np.zeros_like(x)
    one = x.ndim == 1
    xs, ts, ys = (x[None], np.asarray(t)[None], y[None]) if one else (x, t, y)
    total = sum(
        (1.0 if weights is None else weights[int(c)])
        for c in ts.reshape(-1) if int(c) != ignored)
    for at in np.ndindex(ts.shape):
        c = int(ts[at])
        if c == ignored:
            continue
        weight = 1.0 if weights is None else weights[c]
        own = np.asarray(g).reshape(-1)[0] if reduction != "none" else (
            g if one else g[at])
        ys[(at[0], c) + at[1:]] -= weight * own / (
            total if reduction == "mean" else 1)
    return y


def add_losses(w):
    classes = w.integers(0, 4)
    for reduction in ("none", "sum", "mean"):
        for about, x, t in (("rows", "n 4", "n"), ("one", "4", ""),
                            ("images", "2 4 n 2", "2 n 2")):
            for ignored in (-100, 1):
                for weighted in (True, False):
                    attrs = f', reduction="{reduction}", ignore_index={ignored}'
                    if about != "rows" and (ignored == 1 or not weighted):
                        continue
                    # A mean of no losses is no number.
                    first = classes if ignored != 1 else w.integers(2, 4)
                    inputs = {"x": (x, "float32"), "t": (t, "int64", first)}
                    names = "x, t"
                    if weighted:
                        inputs["w"] = ("4", "float32", w.within(0.5, 2))
                        names += ", w"
                    def loss(x, t, weights=None, f=(reduction, ignored)):
                        return nll(x, t, weights, *f)
                    name = f"{about} {reduction} {ignored} {weighted}"
                    w.add("nn.nll_loss", name, f"nn.nll_loss({names}{attrs})",
                          inputs, loss, N)
                    def back(g, x, t, weights=None, f=(reduction, ignored)):
                        return nll_gradient(g, x, t, weights, *f)
                    of = t if reduction == "none" else ""
                    w.add("grad.nll_loss_backward", name,
                          f"grad.nll_loss_backward(g, {names}{attrs})",
                          {"g": (of, "float32"), **inputs}, back, N)
    w.add("nn.nll_loss", "some are ignored",
          "nn.nll_loss(x, t, w, ignore_index=2)",
          {"x": ("6 4", "float32"), "t": ("6", "int32", [2, 0, 2, 1, 3, 2]),
           "w": ("4", "float32", w.within(0.5, 2))},
          lambda x, t, v: nll(x, t, v, "mean", 2))
    for dims in ("n 4", "4", "2 n 3"):
        w.add("nn.cross_entropy_with_logits", dims,
              "nn.cross_entropy_with_logits(x, y)",
              {"x": (dims, "float32"), "y": (dims, "float32")},
              lambda x, y: -(x * y).sum() / (len(x) if x.ndim > 1 else 1), N)


def add_rearranged(w):
    modes = {"constant": "constant", "replicate": "edge", "reflect": "reflect",
             "circular": "wrap"}
    for mode, name in modes.items():
        for width in ([0, 0, 1, 2], [0, 0, 2, 0], [0, 0, 0, 0]):
            w.add("nn.pad", f"{mode} {width}",
                  f'nn.pad(x, pad_width={width}, pad_mode="{mode}")',
                  {"x": ("n 4", "float32")},
                  lambda x, m=name, p=width: np.pad(
                      x, [p[:2], p[2:]], m), N)
    w.add("nn.pad", "a value", "nn.pad(x, pad_width=[1, 0, 0, 2], "
          "pad_value=-2.5)", {"x": ("n 3", "float32")},
          lambda x: np.pad(x, [(1, 0), (0, 2)], constant_values=-2.5), N)
    w.add("nn.pad", "integers", "nn.pad(x, pad_width=[1, 1], pad_value=7.0)",
          {"x": ("n", "int8")}, lambda x: np.pad(x, 1, constant_values=7), N)
    w.add("nn.pad", "nothing", "nn.pad(x, pad_width=[2, 1])",
          {"x": ("n", "float32")}, lambda x: np.pad(x, (2, 1)),
          [{"n": 0}, {"n": 3}])
    w.add("nn.pad", "reflected rows", 'nn.pad(x, pad_width=[2, 1, 0, 0], '
          'pad_mode="reflect")', {"x": ("n 2", "float32")},
          lambda x: np.pad(x, [(2, 1), (0, 0)], "reflect"),
          [{"n": 3}, {"n": 5}])

    def shuffle(x, r):
        lead, (c, h, v) = x.shape[:-3], x.shape[-3:]
        y = x.reshape(lead + (c // r**2, r, r, h, v))
        rank = len(lead)
        order = list(range(rank)) + [rank + d for d in (0, 3, 1, 4, 2)]
        return y.transpose(order).reshape(lead + (c // r**2, h * r, v * r))

    for dims, r in (("n 4 2 3", 2), ("n 9 1 2", 3), ("n 3 2 2", 1),
                    ("8 n 3", 2)):
        w.add("nn.pixel_shuffle", f"{dims} {r}",
              f"nn.pixel_shuffle(x, upscale_factor={r})",
              {"x": (dims, "float32")}, lambda x, r=r: shuffle(x, r), N)


BOUNDS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}


def half_away(x):
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def add_quantized(w):
    def quantize(x, s, z, axis, dtype):
        if s.ndim:
            shape = [1] * x.ndim
            shape[axis] = -1
            s, z = s.reshape(shape), z.reshape(shape)
        return np.clip(half_away(x / s) + z, *BOUNDS[dtype])

    def dequantize(q, s, z, axis):
        if s.ndim:
            shape = [1] * q.ndim
            shape[axis] = -1
            s, z = s.reshape(shape), z.reshape(shape)
        return (q.astype(np.float64) - z) * s

    zero = w.integers(-3, 4)
    scale = [0.25, 0.5, 2]
    for dtype in BOUNDS:
        for axis, dims, of in ((-1, "n 3", "3"), (0, "3 n", "3"),
                               (1, "n 3 2", "3"), (-1, "n 3", "")):
            w.add("quantize", f"{dtype} {axis} {dims} of {of or 'one'}",
                  f'quantize(x, s, z, out_dtype="{dtype}", axis={axis})',
                  {"x": (dims, "float32", w.within(-90, 90, 1)),
                   "s": (of, "float32", scale if of else 0.5),
                   "z": (of, dtype, w.integers(0, 4))},
                  lambda x, s, z, f=(axis, dtype): quantize(x, s, z, *f), N,
                  out=dtype)
            w.add("dequantize", f"{dtype} {axis} {dims} of {of or 'one'}",
                  f"dequantize(x, s, z, axis={axis})",
                  {"x": (dims, dtype), "s": (of, "float32",
                                             scale if of else 0.5),
                   "z": (of, dtype, w.integers(0, 4))},
                  lambda x, s, z, a=axis: dequantize(x, s, z, a), N,
                  out="float32")
    w.add("quantize", "halves go away from 0",
          'quantize(x, s, z, out_dtype="int8")',
          {"x": ("6", "float32", [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]),
           "s": ("", "float32", 1), "z": ("", "int8", 0)},
          lambda x, s, z: half_away(x), out="int8")
    w.add("dequantize", "into float16",
          'dequantize(x, s, z, out_dtype="float16")',
          {"x": ("n 3", "int8"), "s": ("3", "float16", scale),
           "z": ("3", "int32", zero)},
          lambda x, s, z: dequantize(x, s, z, -1), N, out="float16")


def add(w):
    add_softmax(w)
    add_norms(w)
    add_losses(w)
    add_rearranged(w)
    add_quantized(w)
