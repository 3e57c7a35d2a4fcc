# A space for mm_relu.py: the tile is sampled, what is done with it is fixed.
def space(sch):
    product = sch.get_block("product", "mm_relu")
    relu = sch.get_block("relu", "mm_relu")
    i, j, k = sch.get_loops(block=product)
    i_0, i_1 = sch.split(loop=i, factors=sch.sample_perfect_tile(loop=i, n=2, max_innermost_factor=8))
    j_0, j_1 = sch.split(loop=j, factors=sch.sample_perfect_tile(loop=j, n=2, max_innermost_factor=32))
    sch.reorder(i_0, j_0, k, i_1, j_1)
    sch.reverse_compute_at(relu, j_0)
    sch.unroll(i_1)
    sch.vectorize(j_1)
    sch.parallel(i_0)
    sch.decompose_reduction(product, k)
