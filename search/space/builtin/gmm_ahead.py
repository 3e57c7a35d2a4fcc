# Z[b, i, j] += X[b, i, k] * Y[j // 48, k, j % 48]: like gmm, over an operand
# that lies in panels of 48 columns already.


# The tile of Z is kept in registers while k runs.
def _tiles(sch, z, rows, columns):
    b, i, j, k = sch.get_loops(z)
    j_tile, j_inner = sch.split(j, [None, columns])
    vector, lane = sch.split(j_inner, [None, 16])
    i_tile, row = sch.split(i, [None, rows])
    sch.vectorize(lane)
    sch.unroll(row)
    sch.unroll(vector)
    return b, i_tile, j_tile, k, row, vector, lane


def _unrolled(sch, k):
    k0, k1 = sch.split(k, [None, sch.sample_categorical([1, 2, 4], [0.3, 0.4, 0.3])])
    sch.unroll(k1)
    return k0, k1


# The tile of Z is stored once.
def _store(sch, acc):
    *_, row, column = sch.get_loops(acc)
    vector, lane = sch.split(column, [None, 16])
    sch.vectorize(lane)
    sch.unroll(row)
    sch.unroll(vector)


# One pass over k for each tile.
def _whole(sch, z, rows, columns):
    b, i_tile, j_tile, k, row, vector, lane = _tiles(sch, z, rows, columns)
    i_outer, i_block = sch.split(i_tile, sch.sample_perfect_tile(i_tile, n=2, max_innermost_factor=64))
    j_outer, j_block = sch.split(j_tile, sch.sample_perfect_tile(j_tile, n=2, max_innermost_factor=64))
    k0, k1 = _unrolled(sch, k)
    sch.reorder(b, i_outer, j_outer, j_block, i_block, k0, k1, row, vector, lane)
    acc = sch.cache_write(z, 0, "local")
    sch.reverse_compute_at(acc, i_block, preserve_unit_loops=True)
    _store(sch, acc)
    sch.parallel(sch.fuse(b, i_outer, j_outer))
    return k0


def whole(sch):
    z = sch.get_block("Z", "main")
    rows = sch.sample_categorical([7, 8], [0.4, 0.6])
    sch.decompose_reduction(z, _whole(sch, z, rows, 48))


# Some hundred rows of a panel at a time, which stay in a near cache; Z is added
# to in place.
def blocked(sch):
    z = sch.get_block("Z", "main")
    rows = sch.sample_categorical([7, 8], [0.4, 0.6])
    b, i_tile, j_tile, k, row, vector, lane = _tiles(sch, z, rows, 48)
    i_outer, i_block = sch.split(i_tile, sch.sample_perfect_tile(i_tile, n=2, max_innermost_factor=64))
    j_outer, j_block = sch.split(j_tile, sch.sample_perfect_tile(j_tile, n=2, max_innermost_factor=64))
    k_step, k_row = sch.split(k, [None, 64])
    k_outer, k_block = sch.split(k_step, sch.sample_perfect_tile(k_step, n=2, max_innermost_factor=16))
    k0, k1 = _unrolled(sch, sch.fuse(k_block, k_row))
    sch.reorder(b, i_outer, j_outer, k_outer, j_block, i_block, k0, k1, row, vector, lane)
    sch.parallel(sch.fuse(b, i_outer, j_outer))
    sch.decompose_reduction(z, k_outer)
