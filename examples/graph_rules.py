# Rules over graph functions: what to find, and what to put there. A parameter
# stands for any value of its kind, a dimension for any extent.


# Three products of one input, as in attention, become one.
@R.function
def pattern_attention(
    x: R.Tensor(("m", "k"), "float32"),
    q: R.Tensor(("k", "n"), "float32"),
    k: R.Tensor(("k", "n"), "float32"),
    v: R.Tensor(("k", "n"), "float32"),
):
    return (R.matmul(x, q), R.matmul(x, k), R.matmul(x, v))


@R.function
def replacement_attention(
    x: R.Tensor(("m", "k"), "float32"),
    q: R.Tensor(("k", "n"), "float32"),
    k: R.Tensor(("k", "n"), "float32"),
    v: R.Tensor(("k", "n"), "float32"),
):
    weights = R.concat((q, k, v), axis=1)
    parts = R.split(R.matmul(x, weights), 3, axis=1)
    return (parts[0], parts[1], parts[2])


# A product of a sum, where both products are there already.
@R.function
def pattern_distribute(
    x: R.Tensor(("m", "k"), "float32"),
    a: R.Tensor(("k", "n"), "float32"),
    b: R.Tensor(("k", "n"), "float32"),
):
    return R.add(R.matmul(x, a), R.matmul(x, b))


@R.function
def replacement_distribute(
    x: R.Tensor(("m", "k"), "float32"),
    a: R.Tensor(("k", "n"), "float32"),
    b: R.Tensor(("k", "n"), "float32"),
):
    return R.matmul(x, R.add(a, b))


@R.function
def pattern_transposed_twice(x: R.Tensor(ndim=2)):
    return R.permute_dims(R.permute_dims(x))


@R.function
def replacement_transposed_twice(x: R.Tensor(ndim=2)):
    return x
