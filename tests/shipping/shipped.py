# For module_test: arguments and results of several kinds.
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T


@I.ir_module
class Module:
    @T.prim_func
    def row_sums(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, 8), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i, k in T.grid(n, 8):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]

    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), k: R.Prim("int64")):
        twice = R.add(x, x)
        s = R.shape_of(x)
        y = (twice, k, s)
        return y
