"""Products of matrices and tensors, and attention."""

import math

import numpy as np

N = [{"n": 3}, {"n": 1}, {"n": 6}]


def add_matmul(w):
    for about, x, y in (("matrices", "n 4", "4 5"), ("rows and columns", "n", "n"),
                        ("a row", "4", "4 n"), ("a column", "n 4", "4"),
                        ("batches", "2 n 3", "2 3 4"),
                        ("stretched batches", "2 1 n 3", "3 3 4"),
                        ("one matrix for all", "n 2 3", "3 4"),
                        ("summed over an extent", "2 n", "n 3"),
                        ("a batch of columns", "3", "n 3 2")):
        for dtype in ("float32", "float64", "int32", "float16", "bfloat16"):
            if dtype != "float32" and about != "matrices":
                continue
            w.add("matmul", f"{dtype} {about}", "matmul(x, y)",
                  {"x": (x, dtype), "y": (y, dtype)}, np.matmul, N,
                  tolerance=(3e-2, 2e-1) if dtype == "bfloat16" else
                  (4e-3, 2e-2) if dtype == "float16" else None)
    for source, target in (("int8", "int32"), ("uint8", "int32"),
                           ("float16", "float32")):
        w.add("matmul", f"{source} into {target}",
              f'matmul(x, y, out_dtype="{target}")',
              {"x": ("n 4", source, w.integers(0, 100)),
               "y": ("4 3", source, w.integers(0, 100))},
              lambda x, y, s=source: np.matmul(
                  x.astype(np.int32), y.astype(np.int32))
              if "int" in s else np.matmul(x, y), N, out=target)
    w.add("matmul", "nothing to sum", "matmul(x, y)",
          {"x": ("n 0", "float32"), "y": ("0 2", "float32")}, np.matmul, N)
    w.add("matmul", "sums that may be empty", "matmul(x, y)",
          {"x": ("2 n", "float32"), "y": ("n 2", "float32")}, np.matmul,
          [{"n": 2}, {"n": 0}])
    w.add("outer", "vectors", "outer(x, y)",
          {"x": ("n", "float32"), "y": ("3", "float32")}, np.outer, N)
    w.add("outer", "integers", "outer(x, y)",
          {"x": ("n", "int32"), "y": ("n", "int32")}, np.outer, N)


def add_einsum(w):
    for subscripts, dims in (
            ("ij,jk->ik", ("n 3", "3 2")), ("bij,bjk->bik", ("2 n 3", "2 3 2")),
            ("ii->i", ("3 3",)), ("ii", ("3 3",)), ("ij->ji", ("n 3",)),
            ("ij->", ("n 3",)), ("i,j->ij", ("n", "3")),
            ("...ij,...jk->...ik", ("2 n 3", "2 3 2")), ("ij,j", ("n 3", "3")),
            ("bi,bj,bk->ijk", ("n 2", "n 3", "n 2")), ("ab,b->ba", ("n 3", "3"))):
        names = "xyz"[:len(dims)]
        operands = "(" + ", ".join(names) + ("," if len(dims) == 1 else "") + ")"
        w.add("einsum", subscripts,
              f'einsum({operands}, subscripts="{subscripts}")',
              {k: (d, "float32") for k, d in zip(names, dims)},
              lambda *x, s=subscripts: np.einsum(s, *x), N)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(q, k, v, bias=None, scale=None, mask=None, window=None):
    """(batch, places, heads, size), one query and one head at a time."""
    y = np.zeros(q.shape[:3] + v.shape[3:])
    group = q.shape[2] // k.shape[2]
    scale = 1 / math.sqrt(q.shape[3]) if scale is None else scale
    for b, i, n in np.ndindex(q.shape[:3]):
        seen = []
        place = i + (k.shape[1] - q.shape[1] if mask == "BottomRight" else 0)
        for j in range(k.shape[1]):
            if mask and j > place or window and j <= place - window:
                continue
            seen.append(j)
        if not seen:
            continue
        scores = k[b, seen, n // group] @ q[b, i, n] * scale
        if bias is not None:
            whole = np.broadcast_to(
                bias, (q.shape[0], q.shape[2], q.shape[1], k.shape[1]))
            scores = scores + whole[b, n, i, seen]
        y[b, i, n] = softmax(scores) @ v[b, seen, n // group]
    return y


def add_attention(w):
    dims = {"q": ("2 n 2 4", "float32"), "k": ("2 5 2 4", "float32"),
            "v": ("2 5 2 3", "float32")}
    for about, attrs, options in (
            ("plain", "", {}), ("scale", ", scale=0.3", {"scale": 0.3}),
            ("top left", ', causal_mask="TopLeft"', {"mask": "TopLeft"}),
            ("bottom right", ', causal_mask="BottomRight"',
             {"mask": "BottomRight"}),
            ("a window", ', causal_mask="BottomRight", window_size=2', {"mask": "BottomRight", "window": 2})):
        w.add("nn.attention", about, f"nn.attention(q, k, v{attrs})", dims,
              lambda q, k, v, o=options: attention(q, k, v, **o),
              [{"n": 3}, {"n": 1}, {"n": 4}])
    w.add("nn.attention", "keys as many as queries",
          "nn.attention(q, k, v)",
          {"q": ("1 n 1 2", "float32"), "k": ("1 n 1 2", "float32"),
           "v": ("1 n 1 2", "float32")}, attention, N)
    w.add("nn.attention", "fewer heads of keys", "nn.attention(q, k, v)",
          {"q": ("1 n 4 2", "float32"), "k": ("1 3 2 2", "float32"),
           "v": ("1 3 2 2", "float32")}, attention, N)
    w.add("nn.attention", "float16", "nn.attention(q, k, v)",
          {"q": ("1 2 1 2", "float16"), "k": ("1 3 1 2", "float16"),
           "v": ("1 3 1 2", "float16")}, attention)
    for about, shape in (("whole", "2 2 n 5"), ("of keys", "1 1 1 5"),
                         ("of heads", "1 2 n 5")):
        w.add("nn.attention_bias", about, "nn.attention_bias(q, k, v, b)",
              {**dims, "b": (shape, "float32")}, attention,
              [{"n": 3}, {"n": 1}, {"n": 4}])
    w.add("nn.attention_bias", "with a mask",
          'nn.attention_bias(q, k, v, b, causal_mask="BottomRight")',
          {**dims, "b": ("2 2 n 5", "float32")},
          lambda q, k, v, b: attention(q, k, v, b, mask="BottomRight"),
          [{"n": 3}, {"n": 1}, {"n": 4}])

    def var_len(q, k, v, starts_q, starts_k, mask):
        y = np.zeros(q.shape[:3] + v.shape[3:])
        for s in range(len(starts_q) - 1):
            of_q = slice(starts_q[s], starts_q[s + 1])
            of_k = slice(starts_k[s], starts_k[s + 1])
            y[:, of_q] = attention(q[:, of_q], k[:, of_k], v[:, of_k], mask=mask)
        return y

    for mask in (None, "TopLeft", "BottomRight"):
        attr = f', causal_mask="{mask}"' if mask else ""
        w.add("nn.attention_var_len", f"{mask}",
              f"nn.attention_var_len(q, k, v, a, b, l, m{attr})",
              {"q": ("1 6 n 2", "float32"), "k": ("1 7 n 2", "float32"),
               "v": ("1 7 n 2", "float32"), "a": ("4", "int32", [0, 2, 3, 6]),
               "b": ("4", "int32", [0, 3, 4, 7]), "l": ("", "int32", 3),
               "m": ("", "int32", 3)},
              lambda q, k, v, a, b, l, m, mask=mask: var_len(
                  q, k, v, a, b, mask), [{"n": 2}, {"n": 1}])


def add(w):
    add_matmul(w)
    add_einsum(w)
    add_attention(w)
