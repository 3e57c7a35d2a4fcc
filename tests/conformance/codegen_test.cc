// Compiled code against the interpreter: fixed programs, each about one thing
// that a code generator can get wrong, and random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/testing/compare.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/tools/support/execute.h"

namespace kiln {
namespace {

Target TwoCores() {
  Target target = HostTarget();
  target.num_cores = 2;
  return target;
}

Function Parse(const std::string& body) {
  absl::StatusOr<Function> f =
      ParseFunction("test.py", absl::StrCat("@T.prim_func\ndef main(", body));
  EXPECT_TRUE(f.ok()) << f.status() << "\n" << body;
  return f.ok() ? *f : Function();
}

// Runs `f` both ways on copies of `args` and compares all parameters.
absl::Status SameBothWays(const Function& f, std::vector<Tensor> args,
                          Tolerance tolerance) {
  std::vector<Tensor> compiled = args;
  absl::Status status = Interpret(f, args);
  if (!status.ok()) return status;
  status = RunCompiled(f, compiled, TwoCores());
  for (size_t i = 0; status.ok() && i < args.size(); ++i) {
    status = CompareTensors(compiled[i], args[i], tolerance);
  }
  return status;
}

void ExpectSame(const std::string& text, Tolerance tolerance = {}) {
  const Function f = Parse(text);
  if (!f.body) return;
  EXPECT_EQ(SameBothWays(f, RandomInputs(f, 1), tolerance), absl::OkStatus())
      << text;
}

// C[i] = `value` over A, B of `dtype` and `size` elements; the result has
// `out_dtype`.
std::string Map(const std::string& dtype, const std::string& out_dtype,
                const std::string& value, int size = 64,
                const std::string& loop = "range") {
  return absl::StrCat("A: T.Buffer((", size, ",), \"", dtype,
                      "\"), B: T.Buffer((", size, ",), \"", dtype,
                      "\"), C: T.Buffer((", size, ",), \"", out_dtype,
                      "\")):\n  for i in ", loop, "(", size,
                      "):\n    with T.block(\"C\"):\n"
                      "      v = T.axis.spatial(",
                      size, ", i)\n      C[v] = ", value, "\n");
}

// The same, scalar and vectorized.
void ExpectSameMap(const std::string& dtype, const std::string& out_dtype,
                   const std::string& value, Tolerance tolerance = {}) {
  for (const char* loop : {"range", "T.vectorized"}) {
    ExpectSame(Map(dtype, out_dtype, value, 64, loop), tolerance);
  }
}

const std::vector<std::string>& IntTypes() {
  static const auto* types = new std::vector<std::string>{
      "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"};
  return *types;
}

TEST(CodegenTest, FixedPointProducts) {
  for (const char* x : {"A[v]", "A[v] * 268435455", "A[v] * -268435456"}) {
    for (const char* rest :
         {"1073741824, 31, 1", "1073741824, 31, 0", "1395864371, 31, -3",
          "2147483647, 31, 6", "B[v], 0, 0", "B[v] * 268435455, 31, 31",
          "1518500250, 20, B[v]"}) {
      ExpectSameMap("int32", "int32",
                    absl::StrCat("T.q_multiply_shift(", x, ", ", rest, ")"));
    }
    for (const char* flags :
         {"T.bool(True), T.bool(False)", "T.bool(False), T.bool(True)",
          "B[v] < 0, True"}) {
      ExpectSameMap("int32", "int32",
                    absl::StrCat("T.q_multiply_shift_per_axis(", x,
                                 ", 1395864371 + B[v], T.abs(B[v]), 2, 31, ",
                                 flags, ")"));
    }
  }
}

TEST(CodegenTest, FixedPointProductsRoundHalfUp) {
  // 3 * 2^-1, -3 * 2^-1, 5 * 2^30 * 2^-31, -5 * 2^30 * 2^-31
  const Function f =
      Parse(Map("int32", "int32", "T.q_multiply_shift(A[v], B[v], 31, 0)", 4));
  for (bool compiled : {false, true}) {
    std::vector<Tensor> args = RandomInputs(f, 1);
    const int64_t x[] = {3, -3, 5, -5}, want[] = {2, -1, 3, -2};
    for (int i = 0; i < 4; ++i) {
      args[0].SetInt(i, x[i]);
      args[1].SetInt(i, int64_t{1} << 30);
    }
    const absl::Status run =
        compiled ? RunCompiled(f, args, TwoCores()) : Interpret(f, args);
    ASSERT_TRUE(run.ok()) << run;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(args[2].GetInt(i), want[i]) << i;
  }
}

TEST(CodegenTest, LdexpOfAllExponents) {
  for (const char* type : {"float16", "float32"}) {
    for (const char* n :
         {"0", "3", "-3", "-140", "130", "2147483647", "-2147483647"}) {
      ExpectSameMap(type, type, absl::StrCat("T.ldexp(A[v], ", n, ")"));
    }
  }
}

TEST(CodegenTest, HyperbolicInversesHypotAndCopysign) {
  const Tolerance tolerance = {.rtol = 1e-5, .atol = 1e-6};
  for (const char* value :
       {"T.asinh(A[v])", "T.acosh(T.abs(A[v]) + T.float32(1))",
        "T.atanh(A[v] * T.float32(0.5))", "T.hypot(A[v], B[v])",
        "T.copysign(A[v], B[v])"}) {
    ExpectSameMap("float32", "float32", value, tolerance);
  }
}

// What only a device can do is read, and refused by name where it is compiled.
TEST(CodegenTest, OperationsOfDevicesAreRefusedByName) {
  const Function f =
      Parse(Map("float32", "float32",
                "T.tvm_warp_shuffle(T.uint32(1), A[v], 0, 32, 32)"));
  std::vector<Tensor> args = RandomInputs(f, 1);
  const absl::Status status = RunCompiled(f, args, TwoCores());
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("tvm_warp_shuffle"), std::string::npos)
      << status;
}

TEST(CodegenTest, IntegerArithmeticOfAllWidths) {
  for (const std::string& type : IntTypes()) {
    for (const char* value :
         {"A[v] + B[v]", "A[v] - B[v]", "A[v] * B[v] * A[v] * B[v]",
          "T.min(A[v], B[v])", "T.max(A[v], B[v])", "T.abs(A[v])"}) {
      ExpectSameMap(type, type, value);
    }
  }
}

TEST(CodegenTest, DivisionsRoundAsTheirKindSays) {
  for (const std::string& type : IntTypes()) {
    const std::string divisor = absl::StrCat("T.if_then_else(B[v] == T.", type,
                                             "(0), T.", type, "(3), B[v])");
    for (const std::string& b : {divisor, absl::StrCat("T.", type, "(3)"),
                                 absl::StrCat("T.", type, "(4)")}) {
      ExpectSameMap(type, type, absl::StrCat("A[v] // ", b));
      ExpectSameMap(type, type, absl::StrCat("A[v] % ", b));
      ExpectSameMap(type, type, absl::StrCat("T.truncdiv(A[v], ", b, ")"));
      ExpectSameMap(type, type, absl::StrCat("T.truncmod(A[v], ", b, ")"));
    }
  }
  ExpectSameMap("int32", "int32", "A[v] // T.int32(-3)");
  ExpectSameMap("int32", "int32", "A[v] % T.int32(-4)");
}

TEST(CodegenTest, BitOperations) {
  for (const std::string& type : IntTypes()) {
    for (const std::string& value :
         {std::string("T.bitwise_and(A[v], B[v])"),
          std::string("T.bitwise_or(A[v], B[v])"),
          std::string("T.bitwise_xor(A[v], B[v])"),
          std::string("T.bitwise_not(A[v])"),
          absl::StrCat("T.shift_left(A[v], T.", type, "(3))"),
          absl::StrCat("T.shift_right(A[v], T.", type, "(2))"),
          std::string("T.popcount(A[v])")}) {
      ExpectSameMap(type, type, value);
    }
  }
}

TEST(CodegenTest, CastsBetweenAllTypes) {
  std::vector<std::string> types = IntTypes();
  types.insert(types.end(),
               {"bool", "float16", "bfloat16", "float32", "float64"});
  for (const std::string& from : types) {
    for (const std::string& to : types) {
      ExpectSameMap(from, to, absl::StrCat("T.Cast(\"", to, "\", A[v])"));
    }
  }
}

TEST(CodegenTest, ComparisonsAndLogicOnEveryType) {
  for (const char* type : {"int8", "uint16", "int64", "float16", "float32",
                           "bfloat16", "float64"}) {
    for (const char* op : {"==", "!=", "<", "<=", ">", ">="}) {
      ExpectSameMap(type, "bool", absl::StrCat("A[v] ", op, " B[v]"));
    }
    ExpectSameMap(type, type,
                  "T.Select(A[v] < B[v] or A[v] == B[v], A[v], B[v])");
    ExpectSameMap(type, type,
                  "T.if_then_else(A[v] < B[v] and v < 40, A[v], B[v])");
  }
}

TEST(CodegenTest, BoolsTakeAByte) {
  ExpectSameMap("bool", "bool", "A[v] and not B[v]");
  ExpectSameMap("bool", "bool", "A[v] or B[63 - v]");
  ExpectSameMap("bool", "int8", "T.Select(A[v], T.int8(1), T.int8(-1))");
}

TEST(CodegenTest, FloatArithmeticRoundsToItsType) {
  for (const char* type : {"float16", "bfloat16", "float32", "float64"}) {
    for (const char* value :
         {"A[v] + B[v]", "A[v] - B[v]", "A[v] * B[v]", "T.min(A[v], B[v])",
          "T.max(A[v], B[v])", "T.abs(A[v])", "T.floor(A[v])", "T.ceil(A[v])",
          "T.trunc(A[v])"}) {
      ExpectSameMap(type, type, value);
    }
    ExpectSameMap(type, type,
                  absl::StrCat("A[v] / (T.abs(B[v]) + T.", type, "(1))"));
    ExpectSameMap(type, type, absl::StrCat("T.sqrt(T.abs(A[v]))"));
  }
}

TEST(CodegenTest, VectorsOfAnyNumberOfLanes) {
  for (const char* type : {"float16", "bfloat16", "float32", "int8", "bool"}) {
    const bool is_bool = std::string(type) == "bool";
    for (int size : {3, 9, 17}) {
      for (const char* value : {"A[v] + B[v] * A[v]", "T.max(A[v], B[v])"}) {
        ExpectSame(Map(type, type, is_bool ? "A[v] and B[v]" : value, size,
                       "T.vectorized"),
                   DefaultTolerance(*DType::FromString(type)));
      }
    }
  }
}

TEST(CodegenTest, ScalarsOf16BitsNeedNoLibrary) {
  for (const char* type : {"float16", "bfloat16", "int8", "bool"}) {
    const Function f = Parse(
        absl::StrCat("s: T.", type, ", C: T.Buffer((8,), \"", type, R"(")):
  for i in range(8):
    with T.block("C"):
      v = T.axis.spatial(8, i)
      C[v] = s
)"));
    EXPECT_EQ(CompileAndLoad(f, TwoCores()).status(), absl::OkStatus());
  }
}

// The chosen element of A crosses from one basic block to another.
TEST(CodegenTest, ChosenElementsOf16BitsNeedNoLibrary) {
  for (const char* type : {"float16", "bfloat16"}) {
    const Function f = Parse(absl::StrCat("A: T.Buffer((8,), \"", type,
                                          "\"), S: T.Buffer((8,), \"int32\"), "
                                          "C: T.Buffer((8,), \"",
                                          type, R"(")):
  for i in range(8):
    with T.block("C"):
      v = T.axis.spatial(8, i)
      C[v] = T.if_then_else(S[v] > 0 and S[v] < 8, A[S[v]], )",
                                          "T.", type, "(1))\n"));
    EXPECT_EQ(CompileAndLoad(f, TwoCores()).status(), absl::OkStatus());
  }
}

// Values as in `dtype` over the interval, evenly spaced.
Tensor Spread(DType dtype, double low, double high, int64_t size) {
  Tensor tensor(dtype, {size});
  for (int64_t i = 0; i < size; ++i) {
    tensor.Set(i, low + (high - low) * i / (size - 1));
  }
  return tensor;
}

struct MathCase {
  const char* call;
  double low, high;
  Tolerance f32;
};

TEST(CodegenTest, ElementaryFunctionsKeepTheirStatedError) {
  const int size = 256;
  for (const MathCase& c :
       std::vector<MathCase>{{"exp", -100, 100, {4e-7, 1e-37}},
                             {"log", 1e-3, 1e4, {4e-7, 1e-7}},
                             {"tanh", -12, 12, {6e-7, 0}},
                             {"erf", -5, 5, {0, 6e-7}},
                             {"sigmoid", -30, 30, {1e-6, 0}},
                             {"sqrt", 0, 1e3, {1e-7, 0}},
                             {"rsqrt", 1e-3, 1e3, {3e-7, 0}},
                             {"sin", -9, 9, {3e-7, 1e-7}},
                             {"cos", -9, 9, {3e-7, 1e-7}},
                             {"exp2", -20, 20, {3e-7, 0}},
                             {"log2", 1e-3, 1e4, {3e-7, 1e-7}},
                             {"atan", -9, 9, {3e-7, 0}},
                             {"round", -9, 9, {}},
                             {"nearbyint", -9, 9, {}}}) {
    for (const char* type : {"float32", "float64", "float16", "bfloat16"}) {
      const DType dtype = *DType::FromString(type);
      const double eps = dtype.bits() == 64           ? 1e-14
                         : dtype == DType::BFloat16() ? 8e-3
                                                      : 1e-3;
      const Tolerance tolerance =
          dtype == DType::Float(32) ? c.f32 : Tolerance{eps, eps};
      for (const char* loop : {"range", "T.vectorized"}) {
        const Function f = Parse(
            Map(type, type, absl::StrCat("T.", c.call, "(A[v])"), size, loop));
        const double high =
            dtype == DType::Float(16) ? std::min(c.high, 10.0) : c.high;
        std::vector<Tensor> args = {Spread(dtype, c.low, high, size),
                                    Tensor(dtype, {size}),
                                    Tensor(dtype, {size})};
        EXPECT_EQ(SameBothWays(f, args, tolerance), absl::OkStatus())
            << c.call << " " << type << " " << loop;
      }
    }
  }
}

TEST(CodegenTest, ElementaryFunctionsAtTheEdges) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> edges = {0,     -0.0,    1,     -1, inf,  -inf,
                                     NAN,   1e38,    -1e38, 89, -104, 88.7,
                                     1e-40, 1.2e-38, 0.5,   2};
  for (const char* call : {"exp", "log", "tanh", "erf", "sigmoid", "sqrt",
                           "isnan", "isinf", "isfinite"}) {
    const bool is_test = call[0] == 'i';
    for (const char* loop : {"range", "T.vectorized"}) {
      const Function f =
          Parse(Map("float32", is_test ? "bool" : "float32",
                    absl::StrCat("T.", call, "(A[v])"), 16, loop));
      Tensor input(DType::Float(32), {16});
      for (size_t i = 0; i < edges.size(); ++i) input.Set(i, edges[i]);
      const Tensor output(is_test ? DType::Bool() : DType::Float(32), {16});
      EXPECT_EQ(SameBothWays(f, {input, input, output}, {1e-6, 1e-6}),
                absl::OkStatus())
          << call << " " << loop;
    }
  }
}

TEST(CodegenTest, MinAndMaxOfNanAndInfinity) {
  const double inf = std::numeric_limits<double>::infinity();
  Tensor a(DType::Float(32), {8}), b(DType::Float(32), {8});
  const double left[] = {NAN, 1, NAN, inf, -inf, 0, -0.0, inf};
  const double right[] = {1, NAN, NAN, NAN, 1, -0.0, 0, -inf};
  for (int i = 0; i < 8; ++i) a.Set(i, left[i]), b.Set(i, right[i]);
  for (const char* loop : {"range", "T.vectorized"}) {
    for (const char* op : {"min", "max"}) {
      const Function f =
          Parse(Map("float32", "float32",
                    absl::StrCat("T.", op, "(A[v], B[v])"), 8, loop));
      EXPECT_EQ(SameBothWays(f, {a, b, a}, {}), absl::OkStatus())
          << op << " " << loop;
    }
  }
}

TEST(CodegenTest, UnchosenBranchIsNotEvaluated) {
  ExpectSame(R"(A: T.Buffer((8,), "float32"), C: T.Buffer((16,), "float32")):
  for i in range(16):
    with T.block("C"):
      v = T.axis.spatial(16, i)
      C[v] = T.if_then_else(4 <= v and v < 12, A[v - 4], T.float32(7))
)");
  ExpectSame(R"(A: T.Buffer((8,), "float32"), C: T.Buffer((16,), "float32")):
  for i in T.vectorized(16):
    with T.block("C"):
      v = T.axis.spatial(16, i)
      C[v] = T.if_then_else(4 <= v and v < 12, A[v - 4], T.float32(7))
)");
}

TEST(CodegenTest, StridedReversedAndGatheredVectors) {
  for (const char* index : {"63 - v", "v // 2", "v * 7 % 64", "v % 8 * 8"}) {
    ExpectSameMap("float32", "float32", absl::StrCat("A[", index, "]"));
    ExpectSameMap("int8", "int8", absl::StrCat("A[", index, "]"));
    ExpectSameMap("bool", "bool", absl::StrCat("A[", index, "]"));
  }
}

TEST(CodegenTest, ParallelLoopsCaptureBuffersScalarsAndLoops) {
  ExpectSame(R"(A: T.Buffer((6, 40, 8), "float32"),
         C: T.Buffer((6, 40, 8), "float32")):
  for b in range(6):
    for i in T.parallel(40):
      for j in T.vectorized(8):
        with T.block("C"):
          vb, vi, vj = T.axis.remap("SSS", [b, i, j])
          C[vb, vi, vj] = A[vb, 39 - vi, vj] + T.Cast("float32", vb)
)");
}

TEST(CodegenTest, AllocationsInParallelBodies) {
  ExpectSame(R"(A: T.Buffer((40, 64), "float32"),
         C: T.Buffer((40, 64), "float32")):
  B = T.alloc_buffer((40, 64))
  D = T.alloc_buffer((40, 64), scope="local")
  for i in T.parallel(40):
    for j in range(64):
      with T.block("B"):
        vi, vj = T.axis.remap("SS", [i, j])
        B[vi, vj] = A[vi, vj] * T.float32(2)
    for j in range(64):
      with T.block("D"):
        vi, vj = T.axis.remap("SS", [i, j])
        D[vi, vj] = B[vi, 63 - vj] + T.float32(1)
    for j in range(64):
      with T.block("C"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = D[vi, vj] - B[vi, vj]
)");
}

// The fuzzer's pair 401001259: the buffer between the two was spread by rows of
// the update, which it does not consist of.
TEST(CodegenTest, BuffersBetweenStagesThatOtherLoopsReadByColumns) {
  ExpectSame(
      R"(A: T.Buffer((6, 11, 3), "float64"), W: T.Buffer((3, 9), "float64"), C: T.Buffer((6, 11, 9), "float64")):
  B = T.alloc_buffer((6, 11, 3), "float64")
  for i0, i1, i2 in T.grid(6, 11, 9):
    with T.block("init"):
      v0, v1, v2 = T.axis.remap("SSS", [i0, i1, i2])
      C[v0, v1, v2] = T.float64(0)
  for i0, i1 in T.grid(6, 11):
    for ax in range(3):
      with T.block("B"):
        v0, v1, v2 = T.axis.remap("SSS", [i0, i1, ax])
        B[v0, v1, v2] = A[v0, v1, v2] * T.float64(0.5) + T.float64(1.5)
    for i2, k in T.grid(9, 3):
      with T.block("update"):
        v0, v1, v2, vk = T.axis.remap("SSSR", [i0, i1, i2, k])
        C[v0, v1, v2] = C[v0, v1, v2] + B[v0, v1, vk] * W[vk, v2]
)",
      {.rtol = 1e-9});
}

TEST(CodegenTest, PredicatesOnBorders) {
  ExpectSame(R"(A: T.Buffer((37, 19), "float32"),
         C: T.Buffer((37, 19), "float32")):
  for i0, j0, i1 in T.grid(10, 5, 4):
    for j1 in T.vectorized(4):
      with T.block("C"):
        vi = T.axis.spatial(37, i0 * 4 + i1)
        vj = T.axis.spatial(19, j0 * 4 + j1)
        T.where(i0 * 4 + i1 < 37 and j0 * 4 + j1 < 19)
        C[vi, vj] = A[vi, vj] + T.float32(1)
)");
}

TEST(CodegenTest, SymbolicDimensionsAndScalars) {
  const Function f = Parse(R"(a: T.handle, c: T.handle):
  n = T.int64()
  m = T.int64()
  A = T.match_buffer(a, (n, m), "float32")
  C = T.match_buffer(c, (n,), "float32")
  for i, k in T.grid(n, m):
    with T.block("C"):
      vi, vk = T.axis.remap("SR", [i, k])
      with T.init():
        C[vi] = T.float32(0)
      C[vi] = C[vi] + A[vi, vk]
)");
  ASSERT_TRUE(f.body);
  for (const auto& [n, m] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {5, 3}, {17, 33}, {4, 0}}) {
    Tensor a(DType::Float(32), {n, m}), c(DType::Float(32), {n});
    for (int64_t i = 0; i < a.size(); ++i) a.Set(i, i % 7);
    EXPECT_EQ(SameBothWays(f, {a, c}, {}), absl::OkStatus()) << n << "x" << m;
  }
}

TEST(CodegenTest, LetAndNestedConditions) {
  ExpectSame(R"(A: T.Buffer((9, 9), "int32"), C: T.Buffer((9, 9), "int32")):
  for i, j in T.grid(9, 9):
    with T.block("C"):
      vi, vj = T.axis.remap("SS", [i, j])
      if vi < vj:
        if vi % 2 == 0:
          C[vi, vj] = A[vj, vi]
        else:
          C[vi, vj] = A[vi, vj] - T.int32(1)
      else:
        C[vi, vj] = T.int32(5)
)");
}

TEST(CodegenTest, RandomProgramsGiveWhatTheInterpreterGives) {
  const uint64_t first = 1, count = 60;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Function f = RandomProgram(seed);
    std::vector<Tensor> args = RandomInputs(f, seed);
    std::vector<Tensor> compiled = args;
    ASSERT_EQ(Interpret(f, args), absl::OkStatus()) << "seed " << seed;
    ASSERT_EQ(RunCompiled(f, compiled, TwoCores()), absl::OkStatus())
        << "seed " << seed;
    for (size_t i = 0; i < args.size(); ++i) {
      EXPECT_EQ(CompareTensors(compiled[i], args[i]), absl::OkStatus())
          << "seed " << seed << ", parameter " << i;
    }
  }
}

}  // namespace
}  // namespace kiln
