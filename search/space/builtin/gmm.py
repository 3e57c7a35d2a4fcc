# Z[b, i, j] += X[b, i, k] * Y[b, k, j] in register tiles of `rows` by `columns`
# numbers, the columns in vectors of 16.


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


# All of Y is packed first, row by row, into panels of `columns`.
def _packed(sch, rows, columns):
    z = sch.get_block("Z", "main")
    panels = sch.cache_read(z, 1, "global")
    sch.transform_layout(panels, ("write", 0), lambda b, k, j: (b, j // columns, k, j % columns), pad_value=0.0)
    k0 = _whole(sch, z, rows, columns)
    *outer, k, j = sch.get_loops(panels)
    k_outer, k_inner = sch.split(k, [None, 8])
    vector, lane = sch.split(j, [None, 16])
    sch.reorder(k_outer, *outer, k_inner)
    sch.parallel(k_outer)
    sch.vectorize(lane)
    sch.decompose_reduction(z, k0)


# Y is read where it lies.
def _direct(sch, rows, columns):
    z = sch.get_block("Z", "main")
    sch.decompose_reduction(z, _whole(sch, z, rows, columns))


# A block of Y, some hundred rows by some panels, is packed and used by all
# tiles under it before the next one.
def _blocked(sch, rows, columns):
    z = sch.get_block("Z", "main")
    b, i_tile, j_tile, k, row, vector, lane = _tiles(sch, z, rows, columns)
    i_outer, i_block = sch.split(i_tile, [sch.sample_categorical([1, 2], [0.6, 0.4]), None])
    j_outer, j_block = sch.split(j_tile, sch.sample_perfect_tile(j_tile, n=2, max_innermost_factor=64))
    k_step, k_row = sch.split(k, [None, 64])
    k_outer, k_block = sch.split(k_step, sch.sample_perfect_tile(k_step, n=2, max_innermost_factor=16))
    k0, k1 = _unrolled(sch, sch.fuse(k_block, k_row))
    sch.reorder(b, i_outer, j_outer, k_outer, j_block, i_block, k0, k1, row, vector, lane)
    panels = sch.cache_read(z, 1, "global")
    sch.transform_layout(panels, ("write", 0), lambda b, k, j: (b, j // columns, k, j % columns), pad_value=0.0)
    sch.compute_at(panels, k_outer, preserve_unit_loops=True)
    *_, j = sch.get_loops(panels)
    p_vector, p_lane = sch.split(j, [None, 16])
    sch.vectorize(p_lane)
    sch.parallel(sch.fuse(b, i_outer, j_outer))
    sch.decompose_reduction(z, k_outer)


# Rows that leave a few of 32 vector registers for operands.
def _rows_of_48(sch):
    return sch.sample_categorical([7, 8], [0.4, 0.6])


def _rows_of_32(sch):
    return sch.sample_categorical([12, 13, 14], [0.3, 0.3, 0.4])


def _rows_of_64(sch):
    return sch.sample_categorical([5, 6], [0.3, 0.7])


def packed_48(sch):
    _packed(sch, _rows_of_48(sch), 48)


def packed_32(sch):
    _packed(sch, _rows_of_32(sch), 32)


def packed_64(sch):
    _packed(sch, _rows_of_64(sch), 64)


def blocked_48(sch):
    _blocked(sch, _rows_of_48(sch), 48)


def blocked_32(sch):
    _blocked(sch, _rows_of_32(sch), 32)


def blocked_64(sch):
    _blocked(sch, _rows_of_64(sch), 64)


def direct_48(sch):
    _direct(sch, _rows_of_48(sch), 48)


def direct_32(sch):
    _direct(sch, _rows_of_32(sch), 32)


def direct_64(sch):
    _direct(sch, _rows_of_64(sch), 64)


# For machines with 16 registers of 8 numbers.
def packed_16(sch):
    _packed(sch, 6, 16)
