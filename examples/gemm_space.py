# A space of schedules for Z[b, i, j] += X[b, i, k] * Y[b, k, j], as `--workload gmm:N,M,K` states it:
#
#   bazel run //tools:tune -- --workload gmm:512,512,512 --space examples/gemm_space.py --trials 64
#
# A space is a schedule function whose sample_* calls are open; a file with several is the union of theirs, and names that
# begin with _ are helpers. Copy it, change it, tune with it: nothing is rebuilt.
# The numbers are for 32 vector registers of 16 floats (AVX-512). With 16 registers of 8 floats (AVX2), write 8 for 16 and
# let a tile have up to 14 accumulators, such as 6 rows of 16 columns.


# The register tile: `rows` by `columns` numbers of Z, which stay in registers while k runs. The rest of the registers
# holds a row of Y and an element of X.
def _tile(sch, z, rows, columns):
    b, i, j, k = sch.get_loops(z)
    j_tile, j_inner = sch.split(j, [None, columns])
    vector, lane = sch.split(j_inner, [None, 16])
    i_tile, row = sch.split(i, [None, rows])
    sch.vectorize(lane)
    sch.unroll(row)
    sch.unroll(vector)
    return b, i_tile, j_tile, k, row, vector, lane


# Some steps of k at a time.
def _unrolled(sch, k):
    k0, k1 = sch.split(k, [None, sch.sample_categorical([1, 2, 4], [0.3, 0.4, 0.3])])
    sch.unroll(k1)
    return k0, k1


# Blocks of tiles, each with one pass over k. An iteration of the outer loops is what a thread takes at a time; inside, a
# panel of Y is used for all rows of the block before the next panel comes. Gives the loop over panels.
def _one_pass(sch, z, rows, columns):
    b, i_tile, j_tile, k, row, vector, lane = _tile(sch, z, rows, columns)
    i_outer, i_block = sch.split(i_tile, sch.sample_perfect_tile(i_tile, n=2, max_innermost_factor=64))
    j_outer, j_block = sch.split(j_tile, sch.sample_perfect_tile(j_tile, n=2, max_innermost_factor=64))
    k0, k1 = _unrolled(sch, k)
    sch.reorder(b, i_outer, j_outer, j_block, i_block, k0, k1, row, vector, lane)

    # The sums wait in a tile of their own, written to Z when k is through.
    acc = sch.cache_write(z, 0, "local")
    sch.reverse_compute_at(acc, i_block, preserve_unit_loops=True)
    *_, acc_row, acc_column = sch.get_loops(acc)
    acc_vector, acc_lane = sch.split(acc_column, [None, 16])
    sch.vectorize(acc_lane)
    sch.unroll(acc_row)
    sch.unroll(acc_vector)

    sch.parallel(sch.fuse(b, i_outer, j_outer))
    # Last: the tile starts from zeros before k0, not by a test inside.
    sch.decompose_reduction(z, k0)
    return j_block


# Y is read where it lies.
def _direct(sch, rows, columns):
    _one_pass(sch, sch.get_block("Z", "main"), rows, columns)


# Y is packed first into panels as wide as the tile, each contiguous over k. The time for it counts. Eight rows at a time are
# read as they lie, so that the hardware sees what comes next.
def _packed(sch, rows, columns):
    z = sch.get_block("Z", "main")
    panels = sch.cache_read(z, 1, "global")
    sch.transform_layout(panels, ("write", 0), lambda b, k, j: (b, j // columns, k, j % columns), pad_value=0.0)
    _one_pass(sch, z, rows, columns)
    *outer, k, j = sch.get_loops(panels)
    k_outer, k_inner = sch.split(k, [None, 8])
    vector, lane = sch.split(j, [None, 16])
    sch.reorder(k_outer, *outer, k_inner)
    sch.parallel(k_outer)
    sch.vectorize(lane)


# A large Y: each panel is packed in the loop over panels, just before it is used, and stays in the second-level cache.
def _near(sch, rows, columns):
    z = sch.get_block("Z", "main")
    panel = sch.cache_read(z, 1, "global")
    sch.transform_layout(panel, ("write", 0), lambda b, k, j: (b, j // columns, k, j % columns), pad_value=0.0)
    sch.compute_at(panel, _one_pass(sch, z, rows, columns))
    *_, j = sch.get_loops(panel)
    vector, lane = sch.split(j, [None, 16])
    sch.vectorize(lane)
    sch.unroll(vector)


# For few rows and a large Y, which takes about as long to pack as to use: blocks of rows of Y are read where they lie, once,
# and used for all rows of Z, whose sums wait in Z.
def _streamed(sch, rows, columns):
    z = sch.get_block("Z", "main")
    b, i_tile, j_tile, k, row, vector, lane = _tile(sch, z, rows, columns)
    j_outer, j_block = sch.split(j_tile, sch.sample_perfect_tile(j_tile, n=2, max_innermost_factor=64))
    k_block, k_row = sch.split(k, [None, sch.sample_categorical([64, 128, 256], [0.3, 0.4, 0.3])])
    k0, k1 = _unrolled(sch, k_row)
    sch.reorder(b, j_outer, k_block, j_block, i_tile, k0, k1, row, vector, lane)
    sch.parallel(sch.fuse(b, j_outer))
    sch.decompose_reduction(z, k_block)


# Rows that leave a few of 32 registers for operands, for tiles of 32, 48 and 64 columns.
def _rows_of_32(sch):
    return sch.sample_categorical([7, 12, 13, 14], [0.1, 0.3, 0.3, 0.3])


def _rows_of_48(sch):
    return sch.sample_categorical([7, 8], [0.4, 0.6])


def _rows_of_64(sch):
    return sch.sample_categorical([5, 6], [0.3, 0.7])


def packed_32(sch):
    _packed(sch, _rows_of_32(sch), 32)


def packed_48(sch):
    _packed(sch, _rows_of_48(sch), 48)


def packed_64(sch):
    _packed(sch, _rows_of_64(sch), 64)


def near_32(sch):
    _near(sch, _rows_of_32(sch), 32)


def near_48(sch):
    _near(sch, _rows_of_48(sch), 48)


def near_64(sch):
    _near(sch, _rows_of_64(sch), 64)


def direct_32(sch):
    _direct(sch, _rows_of_32(sch), 32)


def direct_48(sch):
    _direct(sch, _rows_of_48(sch), 48)


def direct_64(sch):
    _direct(sch, _rows_of_64(sch), 64)


def streamed_32(sch):
    _streamed(sch, _rows_of_32(sch), 32)


def streamed_48(sch):
    _streamed(sch, _rows_of_48(sch), 48)


def streamed_64(sch):
    _streamed(sch, _rows_of_64(sch), 64)
