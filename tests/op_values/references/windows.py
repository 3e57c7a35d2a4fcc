"""Convolutions and pools: windows that slide over some axes.

Everything is brought into the order batch, channels, axes; windows are visited
one by one.
"""

import itertools

import numpy as np

N = [{"n": 1}, {"n": 2}]
AXES = {1: "W", 2: "HW", 3: "DHW"}


def many(value, count):
    return [value] * count if isinstance(value, int) else list(value)


def sides(padding, axes):
    """Ahead of each axis, behind each axis."""
    padding = many(padding, axes)
    if len(padding) == axes:
        return padding, padding
    return padding[:axes], padding[axes:]


def moved(x, source, target):
    """Between two orders of one set of letters."""
    return np.transpose(x, [source.index(c) for c in target])


def conv(x, k, axes, strides=1, padding=0, dilation=1, groups=1):
    strides, dilation = many(strides, axes), many(dilation, axes)
    ahead, behind = sides(padding, axes)
    x = np.pad(x, [(0, 0), (0, 0)] + list(zip(ahead, behind)))
    reach = [(k.shape[2 + d] - 1) * dilation[d] + 1 for d in range(axes)]
    shape = [(x.shape[2 + d] - reach[d]) // strides[d] + 1 for d in range(axes)]
    y = np.zeros([len(x), len(k)] + shape, x.dtype)
    of_group = len(k) // groups
    for o in range(len(k)):
        first = o // of_group * k.shape[1]
        for at in np.ndindex(*shape):
            window = tuple(
                slice(p * s, p * s + r, dl)
                for p, s, r, dl in zip(at, strides, reach, dilation))
            part = x[(slice(None), slice(first, first + k.shape[1])) + window]
            y[(slice(None), o) + at] = (part * k[o]).sum(
                tuple(range(1, axes + 2)))
    return y


def transposed(x, k, axes, strides=1, padding=0, output_padding=0, dilation=1,
               groups=1):
    """Every element is spread over the result."""
    strides, dilation = many(strides, axes), many(dilation, axes)
    more = many(output_padding, axes)
    ahead, behind = sides(padding, axes)
    of_group = k.shape[1]
    full = [(x.shape[2 + d] - 1) * strides[d] + (k.shape[2 + d] - 1) *
            dilation[d] + 1 + more[d] for d in range(axes)]
    y = np.zeros([len(x), of_group * groups] + full, x.dtype)
    ins = x.shape[1] // groups
    for c in range(x.shape[1]):
        first = c // ins * of_group
        for at in np.ndindex(*x.shape[2:]):
            for tap in np.ndindex(*k.shape[2:]):
                to = tuple(p * s + t * dl for p, s, t, dl in
                           zip(at, strides, tap, dilation))
                y[(slice(None), slice(first, first + of_group)) + to] += (
                    x[(slice(None), c) + at][:, None] *
                    k[(c, slice(None)) + tap][None])
    crop = tuple(slice(a, e - b) for a, b, e in zip(ahead, behind, full))
    return y[(slice(None), slice(None)) + crop]


def attributes(options):
    texts = []
    for name, value in options.items():
        text = f'"{value}"' if isinstance(value, str) else str(value)
        texts.append(f", {name}={text}")
    return "".join(texts)


def add_convolutions(w):
    forms = {
        1: [{}, {"strides": 2, "padding": 1}, {"dilation": 2, "padding": [1, 2]},
            {"groups": 2}],
        2: [{}, {"strides": [2, 1], "padding": [1, 0]},
            {"padding": [1, 0, 2, 1], "dilation": [2, 1]},
            {"groups": 2, "padding": 1}, {"groups": 4}],
        3: [{}, {"strides": 2, "padding": [1, 0, 1]},
            {"groups": 2, "dilation": [1, 2, 1], "padding": [0, 1, 0, 1, 1, 0]}],
    }
    extents = {1: "7", 2: "5 6", 3: "4 5 3"}
    taps = {1: "3", 2: "3 2", 3: "2 2 1"}
    for axes, options in forms.items():
        for each in options:
            groups = each.get("groups", 1)
            w.add(f"nn.conv{axes}d", f"{each}",
                  f"nn.conv{axes}d(x, k{attributes(each)})",
                  {"x": (f"n 4 {extents[axes]}", "float32"),
                   "k": (f"4 {4 // groups} {taps[axes]}", "float32")},
                  lambda x, k, a=axes, o=each: conv(x, k, a, **o), N)
    w.add("nn.conv2d", "images of any size", "nn.conv2d(x, k, padding=[1, 1])",
          {"x": ("1 2 n m", "float32"), "k": ("3 2 3 3", "float32")},
          lambda x, k: conv(x, k, 2, padding=1),
          [{"n": 4, "m": 3}, {"n": 1, "m": 5}, {"n": 6, "m": 1}])
    w.add("nn.conv2d", "strides on any size", "nn.conv2d(x, k, strides=[2, 3])",
          {"x": ("1 2 n m", "float32"), "k": ("2 2 2 3", "float32")},
          lambda x, k: conv(x, k, 2, strides=[2, 3]),
          [{"n": 4, "m": 7}, {"n": 5, "m": 3}])
    for dtype in ("float64", "float16", "int32"):
        w.add("nn.conv2d", dtype, "nn.conv2d(x, k, padding=1)",
              {"x": ("1 2 3 3", dtype, w.integers(-2, 3)),
               "k": ("2 2 2 2", dtype, w.integers(-2, 3))},
              lambda x, k: conv(x, k, 2, padding=1))
    w.add("nn.conv2d", "int8 into int32", 'nn.conv2d(x, k, out_dtype="int32")',
          {"x": ("1 2 3 3", "int8", w.integers(-128, 128)),
           "k": ("2 2 2 2", "int8", w.integers(-128, 128))},
          lambda x, k: conv(x.astype(np.int32), k.astype(np.int32), 2),
          out="int32")
    for data, kernel, out in (("NHWC", "HWIO", "NHWC"), ("NHWC", "OHWI", "NCHW"),
                              ("NCHW", "HWIO", "NHWC")):
        sizes = {"N": "n", "C": "2", "H": "4", "W": "3"}
        of_kernel = {"O": "3", "I": "2", "H": "2", "W": "2"}
        w.add("nn.conv2d", f"{data} {kernel} {out}",
              f'nn.conv2d(x, k, padding=[1, 0], data_layout="{data}", '
              f'kernel_layout="{kernel}", out_layout="{out}")',
              {"x": (" ".join(sizes[c] for c in data), "float32"),
               "k": (" ".join(of_kernel[c] for c in kernel), "float32")},
              lambda x, k, f=(data, kernel, out): moved(
                  conv(moved(x, f[0], "NCHW"), moved(k, f[1], "OIHW"), 2,
                       padding=[1, 0]), "NCHW", f[2]), N)
    w.add("nn.conv1d", "NWC", 'nn.conv1d(x, k, data_layout="NWC", '
          'kernel_layout="WIO")',
          {"x": ("n 5 2", "float32"), "k": ("3 2 3", "float32")},
          lambda x, k: moved(conv(moved(x, "NWC", "NCW"), moved(
              k, "WIO", "OIW"), 1), "NCW", "NWC"), N)
    w.add("nn.conv3d", "NDHWC", 'nn.conv3d(x, k, data_layout="NDHWC", '
          'kernel_layout="DHWIO")',
          {"x": ("n 2 3 3 2", "float32"), "k": ("1 2 2 2 2", "float32")},
          lambda x, k: moved(conv(moved(x, "NDHWC", "NCDHW"), moved(
              k, "DHWIO", "OIDHW"), 3), "NCDHW", "NDHWC"), N)


def add_transposed(w):
    forms = {
        1: [{}, {"strides": 2, "padding": 1}, {"strides": 3, "output_padding": 2},
            {"dilation": 2, "padding": [1, 2]}, {"groups": 2}],
        2: [{}, {"strides": [2, 1], "padding": [1, 0]},
            {"strides": 2, "output_padding": [1, 0], "groups": 2},
            {"padding": [1, 0, 2, 1], "dilation": [2, 1]}],
        3: [{}, {"strides": 2, "padding": [0, 1, 0], "output_padding": 1},
            {"groups": 2, "dilation": [1, 2, 1]}],
    }
    extents = {1: "4", 2: "3 4", 3: "2 3 2"}
    taps = {1: "3", 2: "3 2", 3: "2 2 1"}
    for axes, options in forms.items():
        for each in options:
            groups = each.get("groups", 1)
            w.add(f"nn.conv{axes}d_transpose", f"{each}",
                  f"nn.conv{axes}d_transpose(x, k{attributes(each)})",
                  {"x": (f"n 4 {extents[axes]}", "float32"),
                   "k": (f"4 {4 // groups} {taps[axes]}", "float32")},
                  lambda x, k, a=axes, o=each: transposed(x, k, a, **o), N)
    w.add("nn.conv2d_transpose", "images of any size",
          "nn.conv2d_transpose(x, k, strides=[2, 2], padding=[1, 1])",
          {"x": ("1 2 n m", "float32"), "k": ("2 3 3 3", "float32")},
          lambda x, k: transposed(x, k, 2, strides=2, padding=1),
          [{"n": 3, "m": 2}, {"n": 1, "m": 4}])
    w.add("nn.conv2d_transpose", "NHWC",
          'nn.conv2d_transpose(x, k, strides=2, data_layout="NHWC", '
          'kernel_layout="HWOI")',
          {"x": ("n 3 2 2", "float32"), "k": ("2 2 3 2", "float32")},
          lambda x, k: moved(transposed(
              moved(x, "NHWC", "NCHW"), moved(k, "HWOI", "IOHW"), 2, strides=2),
              "NCHW", "NHWC"), N)


def windows_of(shape, size, strides, padding, dilation, ceil_mode):
    """For each place its taps inside the data, and inside data and padding."""
    axes = len(shape)
    size, strides = many(size, axes), many(strides, axes)
    dilation = many(dilation, axes)
    ahead, behind = sides(padding, axes)
    per_axis = []
    for d in range(axes):
        room = shape[d] + ahead[d] + behind[d] - (size[d] - 1) * dilation[d] - 1
        count = room // strides[d] + 1
        if ceil_mode:
            count = -(-room // strides[d]) + 1
            if (count - 1) * strides[d] >= shape[d] + ahead[d]:
                count -= 1  # it would begin behind the data
        places = []
        for p in range(count):
            taps = [p * strides[d] - ahead[d] + t * dilation[d]
                    for t in range(size[d])]
            places.append((
                [t for t in taps if 0 <= t < shape[d]],
                [t for t in taps if -ahead[d] <= t < shape[d] + behind[d]]))
        per_axis.append(places)
    out = tuple(len(p) for p in per_axis)
    for at in np.ndindex(*out):
        each = [per_axis[d][at[d]] for d in range(axes)]
        yield (at, out, [e[0] for e in each],
               int(np.prod([len(e[1]) for e in each])))


def pool(x, kind, size=1, strides=1, padding=0, dilation=1, ceil_mode=False,
         count_include_pad=False):
    y = None
    for at, out, inside, padded in windows_of(
            x.shape[2:], size, strides, padding, dilation, ceil_mode):
        if y is None:
            y = np.zeros(x.shape[:2] + out)
        part = x[np.ix_(*(range(e) for e in x.shape[:2]), *inside)]
        axes = tuple(range(2, x.ndim))
        if kind == "max":
            y[(slice(None), slice(None)) + at] = part.max(axes)
        else:
            count = padded if count_include_pad else np.prod(
                [len(e) for e in inside])
            y[(slice(None), slice(None)) + at] = part.sum(axes) / max(count, 1)
    return y


def pool_gradient(g, x, kind, **options):
    y = np.zeros_like(x)
    size = options["size"]
    for at, _, inside, padded in windows_of(
            x.shape[2:], size, options.get("strides", 1),
            options.get("padding", 0), options.get("dilation", 1),
            options.get("ceil_mode", False)):
        for b, c in np.ndindex(x.shape[:2]):
            own = g[(b, c) + at]
            taps = list(itertools.product(*inside))
            if kind == "max":
                best = max(taps, key=lambda t: x[(b, c) + t])
                y[(b, c) + best] += own
                continue
            count = padded if options.get("count_include_pad") else len(taps)
            for tap in taps:
                y[(b, c) + tap] += own / count
    return y


POOLS = (
    {"size": 2}, {"size": 3, "strides": 2, "padding": 1},
    {"size": 2, "dilation": 2}, {"size": 3, "strides": 2, "ceil_mode": True},
    {"size": 3, "strides": 2, "padding": 1, "ceil_mode": True,
     "count_include_pad": True},
    {"size": 3, "padding": 1, "count_include_pad": True},
)


def pool_attributes(options, axes):
    texts = dict(options)
    texts["pool_size"] = texts.pop("size")
    spread = {k: [v] * axes if type(v) is int and axes > 1 else v
              for k, v in texts.items()}
    return attributes(spread)


def add_pools(w):
    extents = {1: "8", 2: "6 5", 3: "4 5 3"}
    channels = {1: 2, 2: 1, 3: 1}
    for kind in ("max", "avg"):
        for axes in (1, 2, 3):
            for each in POOLS:
                w.add(f"nn.{kind}_pool{axes}d", f"{each}",
                      f"nn.{kind}_pool{axes}d(x{pool_attributes(each, axes)})",
                      {"x": (f"n {channels[axes]} {extents[axes]}", "float32")},
                      lambda x, k=kind, o=each: pool(x, k, **o), N,
                      symbolic=axes != 3)
        for each in ({"size": [2, 3], "strides": [1, 2], "padding": [1, 0, 0, 2]},
                     {"size": [3, 2], "strides": [2, 2], "padding": [1, 0],
                      "ceil_mode": True}):
            w.add(f"nn.{kind}_pool2d", f"{each}",
                  f"nn.{kind}_pool2d(x{pool_attributes(each, 2)})",
                  {"x": ("n 2 5 6", "float32")},
                  lambda x, k=kind, o=each: pool(x, k, **o), N)
        w.add(f"nn.{kind}_pool2d", "images of any size",
              f"nn.{kind}_pool2d(x, pool_size=[2, 2], strides=[2, 2], "
              "padding=[0, 1])", {"x": ("1 2 n m", "float32")},
              lambda x, k=kind: pool(x, k, 2, 2, [0, 1]),
              [{"n": 4, "m": 5}, {"n": 3, "m": 2}])
        w.add(f"nn.{kind}_pool2d", "rounded up on any size",
              f"nn.{kind}_pool2d(x, pool_size=[3, 3], strides=[2, 2], "
              "ceil_mode=True)", {"x": ("1 1 n m", "float32")},
              lambda x, k=kind: pool(x, k, 3, 2, ceil_mode=True),
              [{"n": 4, "m": 5}, {"n": 3, "m": 6}])
        w.add(f"nn.{kind}_pool2d", "rounded up over padding on any size",
              f"nn.{kind}_pool2d(x, pool_size=[3, 2], strides=[3, 4], "
              "padding=[1, 0, 1, 2], ceil_mode=True)",
              {"x": ("1 1 n m", "float32")},
              lambda x, k=kind: pool(x, k, [3, 2], [3, 4], [1, 0, 1, 2],
                                     ceil_mode=True),
              [{"n": 8, "m": 8}, {"n": 9, "m": 7}, {"n": 10, "m": 9}])
        w.add(f"nn.{kind}_pool2d", "NHWC",
              f'nn.{kind}_pool2d(x, pool_size=[2, 2], layout="NHWC")',
              {"x": ("n 4 3 2", "float32")},
              lambda x, k=kind: moved(pool(moved(x, "NHWC", "NCHW"), k, 2),
                                      "NCHW", "NHWC"), N)
        w.add(f"nn.{kind}_pool2d", "into NCHW",
              f'nn.{kind}_pool2d(x, pool_size=[2, 2], layout="NHWC", '
              'out_layout="NCHW")',
              {"x": ("n 4 3 2", "float32")},
              lambda x, k=kind: pool(moved(x, "NHWC", "NCHW"), k, 2), N)
        for dtype in ("float64", "float16"):
            w.add(f"nn.{kind}_pool2d", dtype,
                  f"nn.{kind}_pool2d(x, pool_size=[2, 2], padding=[1, 1])",
                  {"x": ("1 2 3 3", dtype)},
                  lambda x, k=kind: pool(x, k, 2, padding=1))
        for each in POOLS:
            shape = np.zeros((1, 1, 6, 5))
            pooled = pool(shape, kind, **each).shape
            w.add(f"grad.{kind}_pool2d_backward", f"{each}",
                  f"grad.{kind}_pool2d_backward(g, x"
                  f"{pool_attributes(each, 2)})",
                  {"g": (f"n 1 {pooled[2]} {pooled[3]}", "float32"),
                   "x": ("n 1 6 5", "float32", w.distinct)},
                  lambda g, x, k=kind, o=each: pool_gradient(g, x, k, **o), N)
    w.add("nn.max_pool2d", "int8", "nn.max_pool2d(x, pool_size=[2, 2], "
          "padding=[1, 1])", {"x": ("1 2 3 3", "int8", w.integers(-9, -1))},
          lambda x: pool(x, "max", 2, padding=1))


def adaptive(x, size):
    axes = x.ndim - 2
    y = np.zeros(x.shape[:2] + tuple(size))
    for at in np.ndindex(*size):
        window = tuple(
            slice(p * e // s, -(-(p + 1) * e // s))
            for p, e, s in zip(at, x.shape[2:], size))
        y[(slice(None), slice(None)) + at] = x[
            (slice(None), slice(None)) + window].mean(tuple(range(2, 2 + axes)))
    return y


def add_adaptive(w):
    for axes, extents, sizes in ((1, "7", ([3], [1], [7])),
                                 (2, "5 6", ([2, 3], [1, 1], [5, 4], [7, 2])),
                                 (3, "4 5 3", ([2, 2, 3], [1, 1, 1]))):
        for size in sizes:
            w.add(f"nn.adaptive_avg_pool{axes}d", f"{size}",
                  f"nn.adaptive_avg_pool{axes}d(x, output_size={size})",
                  {"x": (f"n 2 {extents}", "float32")},
                  lambda x, s=size: adaptive(x, s), N)
        w.add(f"nn.adaptive_avg_pool{axes}d", "its own size",
              f"nn.adaptive_avg_pool{axes}d(x)",
              {"x": (f"n 2 {extents}", "float32")}, lambda x: x, N)
    w.add("nn.adaptive_avg_pool2d", "images of any size",
          "nn.adaptive_avg_pool2d(x, output_size=[2, 3])",
          {"x": ("1 2 n m", "float32")}, lambda x: adaptive(x, [2, 3]),
          [{"n": 4, "m": 6}, {"n": 5, "m": 7}, {"n": 1, "m": 2}])
    w.add("nn.adaptive_avg_pool2d", "NHWC",
          'nn.adaptive_avg_pool2d(x, output_size=[2, 2], layout="NHWC")',
          {"x": ("n 5 3 2", "float32")},
          lambda x: moved(adaptive(moved(x, "NHWC", "NCHW"), [2, 2]), "NCHW",
                          "NHWC"), N)


def add(w):
    add_convolutions(w)
    add_transposed(w)
    add_pools(w)
    add_adaptive(w)
