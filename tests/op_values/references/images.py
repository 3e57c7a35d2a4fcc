"""Images resized and read between their pixels, one pixel at a time."""

import itertools
import math

import numpy as np

N = [{"n": 2}, {"n": 1}]


def cubic(t, a):
    """The weights of the pixels at -1, 0, 1, 2 for a place t behind 0."""

    def weight(d):
        d = abs(d)
        if d <= 1:
            return (a + 2) * d**3 - (a + 3) * d**2 + 1
        return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0

    return [weight(t - k) for k in (-1, 0, 1, 2)]


def place_of(p, count, wanted, mode, roi):
    if mode == "half_pixel":
        return (p + 0.5) * count / wanted - 0.5
    if mode == "pytorch_half_pixel":
        return (p + 0.5) * count / wanted - 0.5 if wanted > 1 else 0.0
    if mode == "asymmetric":
        return p * count / wanted
    if mode == "align_corners":
        return p * (count - 1) / (wanted - 1) if wanted > 1 else 0.0
    if mode == "tf_half_pixel_for_nn":
        return (p + 0.5) * count / wanted
    first, last = roi
    if wanted == 1:
        return 0.5 * (first + last) * (count - 1)
    return (first + p * (last - first) / (wanted - 1)) * (count - 1)


ROUNDINGS = {
    "round": lambda x: math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1),
    "round_prefer_floor": lambda x: math.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: math.floor(x + 0.5),
    "floor": lambda x: math.floor(x + 1e-5),
    "ceil": lambda x: math.ceil(x - 1e-5),
}


def taps_of(place, count, method, rounding, alpha, exclude):
    if method == "nearest_neighbor":
        taps = [(ROUNDINGS[rounding](place), 1.0)]
    elif method == "linear":
        low = math.floor(place)
        taps = [(low, 1 - (place - low)), (low + 1, place - low)]
    else:
        low = math.floor(place)
        taps = list(zip(range(low - 1, low + 3), cubic(place - low, alpha)))
        if exclude:
            taps = [(i, v) for i, v in taps if 0 <= i < count]
            total = sum(v for _, v in taps)
            taps = [(i, v / total) for i, v in taps]
    return [(min(max(i, 0), count - 1), v) for i, v in taps]


def resize(x, size, method="linear", mode="half_pixel", rounding="round",
           alpha=-0.75, exclude=False, roi=None, outside=0.0):
    axes = len(size)
    y = np.zeros(x.shape[:2] + tuple(size))
    roi = roi or [0.0] * (2 * axes)
    for at in np.ndindex(*size):
        places = [
            place_of(p, c, s, mode, (roi[d], roi[d + axes]))
            for d, (p, c, s) in enumerate(zip(at, x.shape[2:], size))]
        to = (slice(None), slice(None)) + at
        if mode == "tf_crop_and_resize" and any(
                not 0 <= p <= c - 1 for p, c in zip(places, x.shape[2:])):
            y[to] = outside
            continue
        taps = [taps_of(p, c, method, rounding, alpha, exclude)
                for p, c in zip(places, x.shape[2:])]
        for picked in itertools.product(*taps):
            pixel = x[(slice(None), slice(None)) + tuple(i for i, _ in picked)]
            y[to] += pixel * math.prod(v for _, v in picked)
    return y


def add_resize(w):
    def call(size, axes=2, **more):
        extents = ", ".join(str(e) for e in size)
        names = {"mode": "coordinate_transformation_mode",
                 "rounding": "rounding_method", "alpha": "cubic_alpha",
                 "exclude": "cubic_exclude", "outside": "extrapolation_value"}
        attrs = ""
        for key, value in more.items():
            if key == "exclude":
                value = int(value)
            text = f'"{value}"' if isinstance(value, str) else value
            attrs += f", {names.get(key, key)}={text}"
        return f"image.resize{axes}d(x, R.shape([{extents}]){attrs})"

    for method in ("nearest_neighbor", "linear", "cubic"):
        for mode in ("half_pixel", "align_corners", "asymmetric",
                     "pytorch_half_pixel"):
            for size in ((5, 7), (2, 3), (1, 1)):
                more = {"method": method, "mode": mode}
                if method == "nearest_neighbor":
                    more["rounding"] = "round_prefer_floor"
                w.add("image.resize2d", f"{method} {mode} {size}",
                      call(size, **more), {"x": ("n 1 3 4", "float32")},
                      lambda x, s=size, m=more: resize(x, s, **m), N,
                      symbolic=size == (5, 7) and method != "cubic",
                      tolerance=(1e-4, 1e-4))
    for rounding in ROUNDINGS:
        more = {"method": "nearest_neighbor", "mode": "asymmetric",
                "rounding": rounding}
        w.add("image.resize2d", f"{rounding}", call((7, 5), **more),
              {"x": ("1 1 4 4", "float32")},
              lambda x, m=more: resize(x, (7, 5), **m))
    more = {"method": "nearest_neighbor", "mode": "tf_half_pixel_for_nn",
            "rounding": "floor"}
    w.add("image.resize2d", "for nearest neighbours", call((7, 5), **more),
          {"x": ("1 1 4 4", "float32")}, lambda x: resize(x, (7, 5), **more))
    for exclude in (False, True):
        cubic_more = {"method": "cubic", "alpha": -0.5, "exclude": exclude}
        w.add("image.resize2d", f"cubic, other alpha {exclude}",
              call((6, 5), **cubic_more), {"x": ("1 2 4 3", "float32")},
              lambda x, m=cubic_more: resize(x, (6, 5), **m),
              tolerance=(1e-4, 1e-4))
    for method in ("linear", "nearest_neighbor"):
        crop = {"method": method, "mode": "tf_crop_and_resize",
                "roi": [0.1, -0.2, 0.9, 0.7], "outside": 9.5}
        w.add("image.resize2d", f"cropped {method}", call((3, 5), **crop),
              {"x": ("n 1 4 4", "float32")},
              lambda x, m=crop: resize(x, (3, 5), **m), N)
    w.add("image.resize2d", "images of any size", call((4, 6)),
          {"x": ("1 1 n m", "float32")}, lambda x: resize(x, (4, 6)),
          [{"n": 2, "m": 3}, {"n": 5, "m": 1}], tolerance=(1e-4, 1e-4))
    w.add("image.resize2d", "to twice an extent",
          "image.resize2d(x, R.shape([n * 2, 3]))",
          {"x": ("1 1 n 4", "float32")},
          lambda x: resize(x, (2 * x.shape[2], 3)), [{"n": 2}, {"n": 3}],
          tolerance=(1e-4, 1e-4))
    w.add("image.resize2d", "NHWC", call((3, 5), layout="NHWC"),
          {"x": ("n 4 4 2", "float32")},
          lambda x: resize(x.transpose(0, 3, 1, 2), (3, 5)).transpose(
              0, 2, 3, 1), N, tolerance=(1e-4, 1e-4))
    w.add("image.resize2d", "into float64", call((3, 3), out_dtype="float64"),
          {"x": ("1 1 2 2", "float32")}, lambda x: resize(x, (3, 3)),
          out="float64", tolerance=(1e-5, 1e-5))
    w.add("image.resize2d", "integers, nearest",
          call((3, 3), method="nearest_neighbor", rounding="floor"),
          {"x": ("1 1 2 2", "uint8")},
          lambda x: resize(x, (3, 3), "nearest_neighbor", rounding="floor"))
    for method in ("nearest_neighbor", "linear", "cubic"):
        for mode in ("half_pixel", "align_corners", "asymmetric"):
            if method == "cubic" and mode != "half_pixel":
                continue
            three = {"method": method, "mode": mode}
            if method == "nearest_neighbor":
                three["rounding"] = "floor"
            w.add("image.resize3d", f"{method} {mode}",
                  call((3, 4, 3), 3, **three), {"x": ("1 n 2 3 2", "float32")},
                  lambda x, m=three: resize(x, (3, 4, 3), **m), N,
                  symbolic=method == "linear", tolerance=(1e-4, 1e-4))


def affine_grid(theta, size, aligned):
    axes = len(size)
    y = np.zeros((len(theta), axes) + tuple(size))
    for at in np.ndindex(*size):
        where = []
        for p, s in zip(at, size):
            if aligned:
                where.append(-1 + 2 * p / (s - 1) if s > 1 else -1.0)
            else:
                where.append((2 * p + 1) / s - 1)
        point = np.array(where[::-1] + [1.0])
        y[(slice(None), slice(None)) + at] = theta @ point
    return y


def reflect(p, low, high):
    """Mirrored at both ends until it is between them."""
    if high <= low:
        return low
    while p < low or p > high:
        p = 2 * low - p if p < low else 2 * high - p
    return p


def inside(p, count, padding, aligned):
    if padding == "border":
        return min(max(p, 0), count - 1)
    if padding == "reflection":
        low, high = (0, count - 1) if aligned else (-0.5, count - 0.5)
        return min(max(reflect(p, low, high), 0), count - 1)
    return p


def grid_sample(x, grid, method, padding, aligned):
    axes = x.ndim - 2
    y = np.zeros(x.shape[:2] + grid.shape[2:])

    def pixel(b, index):
        if any(not 0 <= i < c for i, c in zip(index, x.shape[2:])):
            return np.zeros(x.shape[1])
        return x[(b, slice(None)) + tuple(index)]

    for b in range(len(x)):
        for at in np.ndindex(*grid.shape[2:]):
            taps = []
            for d, count in enumerate(x.shape[2:]):
                g = grid[(b, axes - 1 - d) + at]
                p = ((g + 1) / 2 * (count - 1) if aligned
                     else ((g + 1) * count - 1) / 2)
                if method == "bicubic":
                    low = math.floor(p)
                    taps.append([
                        (int(inside(low + k, count, padding, aligned)), v)
                        for k, v in zip((-1, 0, 1, 2), cubic(p - low, -0.75))])
                    continue
                p = inside(p, count, padding, aligned)
                if method == "nearest":
                    taps.append([(int(np.rint(p)), 1.0)])
                    continue
                low = math.floor(p)
                taps.append([(low, 1 - (p - low)), (low + 1, p - low)])
            for picked in itertools.product(*taps):
                y[(b, slice(None)) + at] += pixel(
                    b, [i for i, _ in picked]) * math.prod(
                        v for _, v in picked)
    return y


def add_grids(w):
    for aligned in (True, False):
        for size in ((3, 4), (1, 2), (2, 3, 2)):
            axes = len(size)
            extents = ", ".join(str(e) for e in size)
            w.add("image.affine_grid", f"{size} {aligned}",
                  f"image.affine_grid(x, R.shape([{extents}]), "
                  f"align_corners={aligned})",
                  {"x": (f"n {axes} {axes + 1}", "float32")},
                  lambda x, s=size, a=aligned: affine_grid(x, s, a), N)
        for method in ("nearest", "bilinear", "bicubic"):
            for padding in ("zeros", "border", "reflection"):
                if method == "bicubic" and aligned == (padding == "border"):
                    continue
                w.add("image.grid_sample", f"{method} {padding} {aligned}",
                      f'image.grid_sample(x, g, method="{method}", '
                      f'padding_mode="{padding}", align_corners={aligned})',
                      {"x": ("n 2 3 4", "float32"),
                       "g": ("n 2 2 3", "float32", w.within(-1.6, 1.6, 3))},
                      lambda x, g, f=(method, padding, aligned): grid_sample(
                          x, g, *f), N, tolerance=(1e-4, 1e-4),
                      symbolic=method != "bicubic")
        for method in ("nearest", "bilinear"):
            w.add("image.grid_sample", f"volumes {method} {aligned}",
                  f'image.grid_sample(x, g, method="{method}", '
                  f'layout="NCDHW", align_corners={aligned})',
                  {"x": ("1 1 2 3 2", "float32"),
                   "g": ("1 3 2 n 2", "float32", w.within(-1.3, 1.3, 3))},
                  lambda x, g, f=(method, "zeros", aligned): grid_sample(
                      x, g, *f), N, tolerance=(1e-4, 1e-4))
    w.add("image.grid_sample", "images of any size", "image.grid_sample(x, g)",
          {"x": ("1 1 n m", "float32"),
           "g": ("1 2 2 2", "float32", w.within(-1.2, 1.2, 3))},
          lambda x, g: grid_sample(x, g, "bilinear", "zeros", True),
          [{"n": 3, "m": 2}, {"n": 1, "m": 4}], tolerance=(1e-4, 1e-4))


def add(w):
    add_resize(w)
    add_grids(w)
