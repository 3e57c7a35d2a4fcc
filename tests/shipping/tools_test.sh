#!/bin/sh
# One model as a shared object and as a file of objects, with both runners: the
# same result. What is wrong gets a message.
# tools_test.sh COMPILE RUN RUN_MODEL CLASSIFIER.PY WEIGHTS.NPZ IMAGE.NPY LIBKILN_RT.SO
set -eu
compile=$1 run=$2 run_model=$3 model=$4 weights=$5 image=$6 runtime=$7 mm=mm.py

fail() {
  echo "FAILED: $1"
  exit 1
}

# refused TEXT COMMAND...: exits with 1 and a message that has the text.
refused() {
  text=$1
  shift
  status=0
  "$@" >message 2>&1 || status=$?
  [ "$status" -eq 1 ] || fail "$*: status $status"
  grep -qF -- "$text" message || { cat message; fail "$*: no \"$text\""; }
}

"$compile" "$model" -o m.so --bind-params "$weights"
"$compile" "$model" -o m.kiln --bind-params "$weights"
"$run" m.so --input "@$image" --output @y.npy
for runner in "$run" "$run_model"; do
  for file in m.so m.kiln; do
    "$runner" "$file" --input "@$image" --expect @y.npy --atol 0 --rtol 0
  done
done

# What is said of a program has no effect on a compiled model.
refused "--bind is for a program" "$run" m.so --bind n=4
refused "give --target to compile" "$run" m.so --target llvm\ -num-cores=1
refused "--check is for a program" "$run" m.so --check

# What kernels call is there, whatever program opens the model.
cat >half.py <<'END'
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "float16")):
        y = R.add(x, x)
        z = R.tan(y)
        return z
END
"$compile" half.py -o half.so --target "llvm -mcpu=x86-64-v2"
if command -v python3 >/dev/null; then
  RUNTIME=$runtime python3 - <<'END'
import ctypes, os
runtime = ctypes.CDLL(os.environ["RUNTIME"])
runtime.KilnErrorText.restype = ctypes.c_char_p
model = ctypes.c_void_p()
status = runtime.KilnModelOpen(b"half.so", ctypes.byref(model))
assert status == 0, runtime.KilnErrorText()
END
fi

# A tensor function alone, and a header for it.
cat >"$mm" <<'END'
@T.prim_func
def scale(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = A[vi] * T.float32(2)
END
"$compile" "$mm" -o mm.so --symbol kiln_mm --header mm.h
grep -q "Tensor<float, 1> C)" mm.h || fail "mm.h has no function"
"$run_model" mm.so --time | grep -q "scale: .* us" || fail "mm.so does not run"

head -c 300000 m.so >cut.so
refused "cut.so is cut short" "$run_model" cut.so
refused "cut.so is cut short" "$run" cut.so
refused "is no executable of Kiln" "$run_model" "$model"
refused "nowhere.so" "$run_model" nowhere.so
refused "one model is run at a time" "$run_model"
refused "--threads -1" "$run_model" m.so --threads=-1
refused "is no name in C" "$compile" "$mm" -o x.so --symbol a-b
refused "is for shared objects" "$compile" "$mm" -o x.kiln --symbol ab
refused "is no name in C++" "$compile" "$mm" -o x.so --header x.h
refused "nowhere/x.so" "$compile" "$mm" -o nowhere/x.so
refused "none" "$compile" "$model" -o x.so --bind-params "$weights" --func none
"$compile" "$model" -o other.so --bind-params "$weights" \
  --target "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"
refused "other.so is for processors of kind 183" "$run_model" other.so
ls ./*.so.* 2>/dev/null && fail "folders are left"
echo "all as it should be"
