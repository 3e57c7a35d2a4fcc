# The classifier of examples/mlp for any number of images. Its weights become
# part of the compiled model: compile --bind-params examples/mlp/data/weights.npz.
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 784), "float32"), w0: R.Tensor((128, 784), "float32"), b0: R.Tensor((128,), "float32"), w1: R.Tensor((10, 128), "float32"), b1: R.Tensor((10,), "float32")) -> R.Tensor(("n", 10), "float32"):
        with R.dataflow():
            lv0 = R.permute_dims(w0)
            lv1 = R.matmul(x, lv0)
            lv2 = R.add(lv1, b0)
            lv3 = R.nn.relu(lv2)
            lv4 = R.permute_dims(w1)
            lv5 = R.matmul(lv3, lv4)
            out = R.add(lv5, b1)
            R.output(out)
        return out
