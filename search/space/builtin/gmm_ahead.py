# Z[b, i, j] += X[b, i, k] * Y[j // columns, k, j % columns]: like gmm, over an
# operand that lies in panels of so many columns already.


# The tile of Z is kept in registers while k runs, and stored once.
def _tiles(sch, rows, columns):
    z = sch.get_block("Z", "main")
    b, i, j, k = sch.get_loops(z)
    j_tile, j_inner = sch.split(j, [None, columns])
    vector, lane = sch.split(j_inner, [None, 16])
    i_tile, row = sch.split(i, [None, rows])
    sch.vectorize(lane)
    sch.unroll(row)
    sch.unroll(vector)
    i_outer, i_block = sch.split(i_tile, sch.sample_perfect_tile(i_tile, n=2, max_innermost_factor=64))
    j_outer, j_block = sch.split(j_tile, sch.sample_perfect_tile(j_tile, n=2, max_innermost_factor=64))
    k0, k1 = sch.split(k, [None, sch.sample_categorical([1, 2, 4], [0.3, 0.4, 0.3])])
    sch.unroll(k1)
    sch.reorder(b, i_outer, j_outer, j_block, i_block, k0, k1, row, vector, lane)
    acc = sch.cache_write(z, 0, "local")
    sch.reverse_compute_at(acc, i_block, preserve_unit_loops=True)
    _store(sch, acc)
    sch.parallel(sch.fuse(b, i_outer, j_outer))
    sch.decompose_reduction(z, k0)


def _store(sch, acc):
    *_, row, column = sch.get_loops(acc)
    vector, lane = sch.split(column, [None, 16])
    sch.vectorize(lane)
    sch.unroll(row)
    sch.unroll(vector)


def _ahead_32(sch):
    _tiles(sch, sch.sample_categorical([12, 13, 14], [0.3, 0.3, 0.4]), 32)


def _ahead_48(sch):
    _tiles(sch, sch.sample_categorical([7, 8], [0.4, 0.6]), 48)


def _ahead_64(sch):
    _tiles(sch, sch.sample_categorical([5, 6], [0.4, 0.6]), 64)
