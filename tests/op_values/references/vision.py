"""Boxes of detectors, and images read under them."""

import math

import numpy as np

N = [{"n": 2}, {"n": 1}]


def overlap(a, b):
    """Of two boxes by any two opposite corners."""
    ends = []
    for box in (a, b):
        ends.append([(min(box[k], box[k + 2]), max(box[k], box[k + 2]))
                     for k in (0, 1)])
    both = math.prod(
        max(0.0, min(p[1], q[1]) - max(p[0], q[0])) for p, q in zip(*ends))
    areas = [math.prod(e[1] - e[0] for e in each) for each in ends]
    either = sum(areas) - both
    return both / either if either > 0 else 0.0


def valid_counts(x, threshold, id_index, score_index):
    counts = np.zeros(len(x))
    boxes = np.full(x.shape, -1.0)
    places = np.full(x.shape[:2], -1)
    for b, rows in enumerate(x):
        picked = [j for j, row in enumerate(rows) if row[score_index] > threshold
                  and (id_index < 0 or row[id_index] >= 0)]
        counts[b] = len(picked)
        for to, j in enumerate(picked):
            boxes[b, to], places[b, to] = rows[j], j
    return counts, boxes, places


def suppress(x, counts, indices, most=-1, iou=0.5, force=False, top=-1,
             start=2, score=1, ident=0, gives_indices=True, to_front=False,
             threshold=0.0):
    boxes = np.full(x.shape, -1.0)
    out = np.full(x.shape[:2], -1)
    numbers = np.zeros((len(x), 1))
    for b, rows in enumerate(x):
        order = sorted(range(int(counts[b])), key=lambda j: -rows[j][score])
        if top > 0:
            order = order[:top]
        kept, dropped = [], set()
        for at, j in enumerate(order):
            if at in dropped:
                continue
            if rows[j][score] <= threshold or (most > 0 and len(kept) >= most):
                continue
            kept.append(at)
            for later in range(at + 1, len(order)):
                k = order[later]
                if rows[k][score] <= threshold:
                    continue
                if not force and ident >= 0 and rows[j][ident] != rows[k][ident]:
                    continue
                if overlap(rows[j][start:start + 4],
                           rows[k][start:start + 4]) >= iou:
                    dropped.add(later)
        for to, at in enumerate(kept):
            boxes[b, to if to_front else at] = rows[order[at]]
            out[b, to] = indices[b, order[at]]
        numbers[b] = len(kept)
    return (out, numbers) if gives_indices else boxes


def some_boxes(w, batch, count):
    """Class, score, corners: a few heaps of boxes."""
    random = w.random
    heaps = random.integers(0, 3, (batch, count))
    low = heaps[..., None] * 8 + random.integers(0, 12, (batch, count, 2)) / 4
    extent = random.integers(12, 20, (batch, count, 2)) / 4
    scores = (random.permutation(batch * count).reshape(batch, count) + 1) / 32
    classes = random.integers(0, 2, (batch, count))
    return np.concatenate([classes[..., None], scores[..., None], low,
                           low + extent], -1)


def add_boxes(w):
    for threshold, ident, score in ((0, 0, 1), (0.5, -1, 1), (-1, 1, 0)):
        w.add("vision.get_valid_counts", f"{threshold} {ident} {score}",
              f"vision.get_valid_counts(x, score_threshold={threshold}, "
              f"id_index={ident}, score_index={score})",
              {"x": ("n 5 6", "float32")},
              lambda x, f=(threshold, ident, score): valid_counts(x, *f), N,
              out=("int32", "float32", "int32"))
    names = {"most": "max_output_size", "iou": "iou_threshold",
             "force": "force_suppress", "top": "top_k",
             "gives_indices": "return_indices", "to_front": "invalid_to_bottom",
             "threshold": "score_threshold", "ident": "id_index"}
    for options in ({}, {"force": True}, {"iou": 0.2, "most": 2}, {"top": 4},
                    {"ident": -1}, {"threshold": 0.2},
                    {"gives_indices": False, "force": True, "iou": 0.3},
                    {"gives_indices": False, "to_front": True, "iou": 0.3}):
        attrs = "".join(f", {names[k]}={v}" for k, v in options.items())
        w.add("vision.non_max_suppression", f"{options}",
              f"vision.non_max_suppression(x, c, i{attrs})",
              {"x": ("n 7 6", "float32", lambda s: some_boxes(w, *s[:2])),
               "c": ("n", "int32", w.integers(5, 8)),
               "i": ("n 7", "int32",
                     lambda s: np.tile(np.arange(10, 17), (s[0], 1)))},
              lambda x, c, i, o=options: suppress(x, c, i, **o), N,
              out=("int32", "int32") if options.get("gives_indices", True)
              else "float32")

    def all_classes(boxes, scores, limit, iou, threshold):
        picked = []
        for b, c in np.ndindex(scores.shape[:2]):
            order = sorted((j for j in range(scores.shape[2])
                            if scores[b, c, j] > threshold),
                           key=lambda j: -scores[b, c, j])
            kept = []
            for j in order:
                if len(kept) < limit and all(
                        overlap(boxes[b, k], boxes[b, j]) <= iou for k in kept):
                    kept.append(j)
            picked += [(b, c, j) for j in kept]
        out = np.zeros((scores.size, 3))
        out[:len(picked)] = np.array(picked).reshape(-1, 3)
        return out, np.array([len(picked)])

    for limit, iou, threshold in ((10, 0.3, 0.0), (2, 0.1, 0.1), (1, 0.9, 0.25)):
        w.add("vision.all_class_non_max_suppression",
              f"{limit} {iou} {threshold}",
              "vision.all_class_non_max_suppression(x, s, m, o, t)",
              {"x": ("2 6 4", "float32",
                     lambda s: some_boxes(w, *s[:2])[..., 2:]),
               "s": ("2 2 6", "float32", lambda s: w.random.permutation(
                   24).reshape(s) / 32),
               "m": ("1", "int64", limit), "o": ("1", "float32", iou),
               "t": ("1", "float32", threshold)},
              lambda x, s, m, o, t: all_classes(x, s, m[0], o[0], t[0]),
              out=("int64", "int64"))


def multibox(scores, moves, anchors, clip=False, threshold=0.0,
             variances=(1.0, 1.0, 1.0, 1.0), keep_background=True,
             apply_softmax=True):
    if apply_softmax:
        e = np.exp(scores - scores.max(1, keepdims=True))
        scores = e / e.sum(1, keepdims=True)
    scores = np.where(scores >= threshold, scores, 0)
    if not keep_background:
        scores[:, 0] = 0
    moves = moves.reshape(len(moves), -1, 4) * np.array(variances)
    low, high = anchors[0, :, :2], anchors[0, :, 2:]
    center = (low + high) / 2 + moves[..., :2] * (high - low)
    reach = np.exp(moves[..., 2:]) * (high - low) / 2
    boxes = np.concatenate([(center - reach)[..., ::-1],
                            (center + reach)[..., ::-1]], -1)
    return np.clip(boxes, 0, 1) if clip else boxes, scores


def add_multibox(w):
    for options in ({}, {"clip": True, "variances": [0.5, 0.25, 0.1, 0.2]},
                    {"threshold": 0.3, "keep_background": False},
                    {"apply_softmax": False, "threshold": 0.25}):
        attrs = "".join(f", {k}={v}" for k, v in options.items())
        w.add("vision.multibox_transform_loc", f"{options}",
              f"vision.multibox_transform_loc(s, m, a{attrs})",
              {"s": ("n 3 5", "float32"), "m": ("n 20", "float32"),
               "a": ("1 5 4", "float32", w.within(0, 1))},
              lambda s, m, a, o=options: multibox(s, m, a, **o), N,
              out=("float32", "float32"))


def between_pixels(image, y, x):
    """(c, h, w) at a place, 0 more than a pixel away."""
    height, width = image.shape[1:]
    if y < -1 or y > height or x < -1 or x > width:
        return np.zeros(len(image))
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    fy, fx = y - top, x - left
    above = image[:, top, left] * (1 - fx) + image[:, top, right] * fx
    below = image[:, bottom, left] * (1 - fx) + image[:, bottom, right] * fx
    return above * (1 - fy) + below * fy


def roi_align(image, rois, size, scale, samples, aligned, mode):
    y = np.zeros((len(rois), image.shape[1]) + tuple(size))
    for r, roi in enumerate(rois):
        shift = 0.5 if aligned else 0.0
        x1, y1, x2, y2 = roi[1:] * scale - shift
        height, width = y2 - y1, x2 - x1
        if not aligned:
            height, width = max(height, 1.0), max(width, 1.0)
        bins = height / size[0], width / size[1]
        count = [samples if samples > 0 else math.ceil(e) for e in bins]
        for at in np.ndindex(*size):
            values = []
            for s in np.ndindex(*count):
                places = [
                    start + (p + (k + 0.5) / c) * e
                    for start, p, k, c, e in zip((y1, x1), at, s, count, bins)]
                values.append(between_pixels(image[int(roi[0])], *places))
            values = np.array(values)
            y[(r, slice(None)) + at] = (values.mean(0) if mode == "avg"
                                        else values.max(0))
    return y


def roi_pool(image, rois, size, scale):
    y = np.zeros((len(rois), image.shape[1]) + tuple(size))
    rounded = lambda v: math.floor(v + 0.5) if v >= 0 else math.ceil(v - 0.5)
    for r, roi in enumerate(rois):
        x1, y1, x2, y2 = (rounded(v * scale) for v in roi[1:])
        extents = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
        for at in np.ndindex(*size):
            window = []
            for d, (start, extent) in enumerate(zip((y1, x1), extents)):
                limit = image.shape[2 + d]
                begin = start + math.floor(at[d] * extent / size[d])
                end = start + math.ceil((at[d] + 1) * extent / size[d])
                window.append(slice(min(max(begin, 0), limit),
                                    min(max(end, 0), limit)))
            part = image[(int(roi[0]), slice(None)) + tuple(window)]
            if part.size:
                y[(r, slice(None)) + at] = part.max((1, 2))
    return y


ROIS = [[0, 0, 0, 7, 5], [1, 2, 1, 6, 9], [0, 3.5, 4.25, 5, 5.5],
        [1, -3, -2, 4, 3]]


def add_regions(w):
    for samples, aligned, mode, scale, size in (
            (2, False, "avg", 1.0, (2, 3)), (2, True, "avg", 0.5, (2, 2)),
            (-1, False, "avg", 0.75, (2, 2)), (-1, True, "avg", 1.0, (3, 2)),
            (2, False, "max", 1.0, (2, 2)), (3, True, "max", 0.5, (1, 2))):
        w.add("vision.roi_align", f"{samples} {aligned} {mode} {scale} {size}",
              f"vision.roi_align(x, r, pooled_size={list(size)}, "
              f"spatial_scale={scale}, sample_ratio={samples}, "
              f'aligned={aligned}, mode="{mode}")',
              {"x": ("2 2 n 7", "float32"), "r": ("4 5", "float32", ROIS)},
              lambda x, r, f=(size, scale, samples, aligned, mode): roi_align(
                  x, r, *f), [{"n": 6}, {"n": 9}], tolerance=(1e-4, 1e-4))
    w.add("vision.roi_align", "NHWC",
          "vision.roi_align(x, r, pooled_size=[2, 2], spatial_scale=1.0, "
          'sample_ratio=2, layout="NHWC")',
          {"x": ("2 6 7 2", "float32"), "r": ("4 5", "float32", ROIS)},
          lambda x, r: roi_align(x.transpose(0, 3, 1, 2), r, (2, 2), 1.0, 2,
                                 False, "avg").transpose(0, 2, 3, 1),
          tolerance=(1e-4, 1e-4))
    for size, scale in (((2, 3), 1.0), ((3, 2), 0.5), ((1, 1), 0.75)):
        w.add("vision.roi_pool", f"{size} {scale}",
              f"vision.roi_pool(x, r, pooled_size={list(size)}, "
              f"spatial_scale={scale})",
              {"x": ("2 2 n 7", "float32"), "r": ("4 5", "float32", ROIS)},
              lambda x, r, f=(size, scale): roi_pool(x, r, *f),
              [{"n": 6}, {"n": 9}])


def add(w):
    add_boxes(w)
    add_multibox(w)
    add_regions(w)
