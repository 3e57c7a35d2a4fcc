# A space for mm.py: how many rows of C are held in registers is sampled.
def space(sch):
    c = sch.get_block("C", "main")
    i, j, k = sch.get_loops(c)
    i_0, i_1 = sch.split(i, sch.sample_perfect_tile(i, n=2, max_innermost_factor=8))
    j_0, j_1 = sch.split(j, [None, 16])
    sch.reorder(i_0, j_0, k, i_1, j_1)
    tile = sch.cache_write(c, 0, "local")
    sch.reverse_compute_at(tile, j_0)
    sch.parallel(i_0)
    sch.unroll(i_1)
    sch.vectorize(j_1)
    sch.decompose_reduction(c, k)
