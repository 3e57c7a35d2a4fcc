# A space of schedules for Z[b, i, j] += X[b, i, k] * Y[b, k, j], as `--workload gmm:N,M,K` states it:
#
#   bazel run //tools:tune -- --workload gmm:512,512,512 --space examples/gemm_space.py --trials 64
#
# A space is a schedule function whose sample_* calls are open. Copy it, change it, tune with it: nothing is rebuilt.
# The numbers are for 32 vector registers of 16 floats (AVX-512). With 16 registers of 8 floats (AVX2), write 8 for 16 and
# sample tiles of up to 14 accumulators, such as 602.
def gemm(sch):
    z = sch.get_block("Z", "main")
    b, i, j, k = sch.get_loops(z)

    # The register tile: rows x vectors of 16 columns, as 100 * rows + vectors. While k runs, rows * vectors accumulators
    # stay in registers, and the rest holds a row of Y. One choice, not two, so that only pairs that fit are drawn.
    # A sampled value is a variable: it can be used in arithmetic before it is known.
    tile = sch.sample_categorical([404, 604, 704, 802, 803, 1202, 1402], [0.1, 0.15, 0.1, 0.2, 0.2, 0.15, 0.1])
    j_vector, lane = sch.split(j, [None, 16])
    j_tile, vector = sch.split(j_vector, [None, tile % 100])
    i_tile, row = sch.split(i, [None, tile // 100])

    # Blocks of tiles: one iteration of the outer loops is what a thread takes at a time; inside, a panel of Y is used for
    # all rows of the block before the next panel comes.
    i_outer, i_block = sch.split(i_tile, sch.sample_perfect_tile(i_tile, n=2, max_innermost_factor=32))
    j_outer, j_block = sch.split(j_tile, sch.sample_perfect_tile(j_tile, n=2, max_innermost_factor=32))
    k0, k1 = sch.split(k, [None, sch.sample_categorical([1, 2, 4], [0.34, 0.33, 0.33])])
    sch.reorder(b, i_outer, j_outer, j_block, i_block, k0, k1, row, vector, lane)

    # Pack Y: panels of 16 columns, each contiguous over k. The time for it counts. M has to be a multiple of 16 here: a last
    # panel that is not full would need a pad_value, and packs with other loops.
    panels = sch.cache_read(z, 1, "global")
    sch.transform_layout(panels, ("write", 0), lambda b, k, j: (b, j // 16, k, j % 16))

    # Accumulate in a tile of its own, written to Z when k is through.
    acc = sch.cache_write(z, 0, "local")
    sch.reverse_compute_at(acc, i_block, preserve_unit_loops=True)

    # What the loops become in machine code.
    sch.parallel(sch.fuse(b, i_outer, j_outer))
    sch.vectorize(lane)
    sch.unroll(row)
    sch.unroll(vector)
    sch.unroll(k1)

    # The same for writing back, and for packing.
    outer, jb, ib, a0, a1, a2 = sch.get_loops(acc)
    a_vector, a_lane = sch.split(a2, [None, 16])
    sch.vectorize(a_lane)
    sch.unroll(a1)
    sch.unroll(a_vector)
    pb, pk, pj = sch.get_loops(panels)
    panel, p_lane = sch.split(pj, [None, 16])
    sch.reorder(pb, panel, pk, p_lane)
    sch.parallel(sch.fuse(pb, panel))
    sch.vectorize(p_lane)

    # Last: the tile starts from zeros before k0, not by a test inside.
    sch.decompose_reduction(z, k0)
