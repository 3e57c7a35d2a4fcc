# sqrt(sum of squares): the sum runs through rows, unrolled.
def space(sch):
    c = sch.get_block("C", "main")
    b, i, j = sch.get_loops(c)
    j0, j1 = sch.split(j, sch.sample_perfect_tile(j, n=2, max_innermost_factor=64))
    sch.unroll(j1)
    sch.decompose_reduction(c, i)
