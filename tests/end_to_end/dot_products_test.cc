// Products of narrow numbers, which some processors multiply and add up
// several at a time: by the default schedule, for each register file and set of
// such instructions. Operands reach the ends of their types.
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/substitute.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/tests/end_to_end/every_target.h"

namespace kiln {
namespace {

constexpr const char* kTargets[] = {
    "llvm -mcpu=x86-64",
    "llvm -mcpu=x86-64-v2",
    "llvm -mcpu=haswell",
    "llvm -mcpu=haswell -mattr=+avxvnni",
    "llvm -mcpu=skylake-avx512",
    "llvm -mcpu=cascadelake",
    "llvm -mcpu=znver4",
    "llvm -mcpu=sapphirerapids -mattr=+amx-tile,+amx-int8,+amx-bf16"};

// $0, $1, $7: types of the operands and of the sums, $2 x $4 times $4 x $3; $5:
// the index of W, $6: its shape.
constexpr char kProduct[] = R"(
@T.prim_func
def main(A: T.Buffer(($2, $4), "$0"), B: T.Buffer($6, "$1"), X: T.Buffer(($2, $4), "$0"), W: T.Buffer($6, "$1"), C: T.Buffer(($2, $3), "$7")):
    for i, k in T.grid($2, $4):
        with T.block("X"):
            vi, vk = T.axis.remap("SS", [i, k])
            X[vi, vk] = A[vi, vk] * T.$0(16) + T.$0(vi % 15)
    for k, j in T.grid$6:
        with T.block("W"):
            vk, vj = T.axis.remap("SS", [k, j])
            W[vk, vj] = B[vk, vj] * T.$1(31)
    for i, j, k in T.grid($2, $3, $4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.$7(0)
            C[vi, vj] = C[vi, vj] + T.Cast("$7", X[vi, vk]) * T.Cast("$7", W[$5])
)";

constexpr char kConvolution[] = R"(
@T.prim_func
def main(X: T.Buffer((1, 9, 11, $2), "$0"), W: T.Buffer((3, 3, $2, $3), "$1"), b: T.Buffer(($3,), "$4"), Y: T.Buffer((1, 9, 11, $3), "$4")):
    P = T.alloc_buffer((1, 11, 13, $2), "$0")
    C = T.alloc_buffer((1, 9, 11, $3), "$4")
    for h, w, c in T.grid(11, 13, $2):
        with T.block("P"):
            vh, vw, vc = T.axis.remap("SSS", [h, w, c])
            P[0, vh, vw, vc] = T.if_then_else(1 <= vh and vh < 10 and 1 <= vw and vw < 12, X[0, vh - 1, vw - 1, vc], T.$0(0))
    for h, w, o, r, s, c in T.grid(9, 11, $3, 3, 3, $2):
        with T.block("C"):
            vh, vw, vo, vr, vs, vc = T.axis.remap("SSSRRR", [h, w, o, r, s, c])
            with T.init():
                C[0, vh, vw, vo] = T.$4(0)
            C[0, vh, vw, vo] = C[0, vh, vw, vo] + T.Cast("$4", P[0, vh + vr, vw + vs, vc]) * T.Cast("$4", W[vr, vs, vc, vo])
    for h, w, o in T.grid(9, 11, $3):
        with T.block("Y"):
            vh, vw, vo = T.axis.remap("SSS", [h, w, o])
            Y[0, vh, vw, vo] = T.max(C[0, vh, vw, vo] + b[vo], T.$4(0))
)";

struct Types {
  const char* a;
  const char* b;
  const char* sum = "int32";
};
constexpr Types kTypes[] = {
    {"int8", "int8"},   {"uint8", "int8"},
    {"int8", "uint8"},  {"uint8", "uint8"},
    {"int16", "int16"}, {"int16", "uint8"},
    {"uint16", "int8"}, {"bfloat16", "bfloat16", "float32"}};

class DotProductsTest : public EveryTargetTest {
 protected:
  void Check(const std::string& text) {
    const absl::Status same = CheckByDefault(text);
    EXPECT_TRUE(same.ok()) << text << same;
  }
};

TEST_P(DotProductsTest, OfMatrices) {
  struct Shape {
    int rows, columns, sums;
  };
  for (const Types& types : kTypes) {
    for (const Shape& s : {Shape{24, 48, 64},
                           {33, 70, 12},
                           {17, 16, 6},
                           {20, 5, 8},
                           {40, 50, 130},
                           {1, 40, 32},
                           {19, 35, 7}}) {
      for (const bool transposed : {false, true}) {
        const std::string shape =
            transposed ? absl::Substitute("($0, $1)", s.columns, s.sums)
                       : absl::Substitute("($0, $1)", s.sums, s.columns);
        Check(absl::Substitute(kProduct, types.a, types.b, s.rows, s.columns,
                               s.sums, transposed ? "vj, vk" : "vk, vj", shape,
                               types.sum));
      }
    }
  }
}

TEST_P(DotProductsTest, OfImages) {
  for (const Types& types : kTypes) {
    for (const int channels : {3, 4, 8}) {
      for (const int out : {7, 32}) {
        Check(absl::Substitute(kConvolution, types.a, types.b, channels, out,
                               types.sum));
      }
    }
  }
}

// Weights by rows, and windows that go along the columns.
constexpr char kChannelsFirst[] = R"(
@T.prim_func
def main(X: T.Buffer((8, 9, 20), "$0"), W: T.Buffer((16, 8, 3, 3), "$1"), Y: T.Buffer((16, 7, 18), "$2")):
    for o, h, w, c, r, s in T.grid(16, 7, 18, 8, 3, 3):
        with T.block("Y"):
            vo, vh, vw, vc, vr, vs = T.axis.remap("SSSRRR", [o, h, w, c, r, s])
            with T.init():
                Y[vo, vh, vw] = T.$2(0)
            Y[vo, vh, vw] = Y[vo, vh, vw] + T.Cast("$2", W[vo, vc, vr, vs]) * T.Cast("$2", X[vc, vh + vr, vw + vs])
)";

TEST_P(DotProductsTest, OfImagesWithChannelsFirst) {
  for (const Types& types : kTypes) {
    Check(absl::Substitute(kChannelsFirst, types.a, types.b, types.sum));
  }
}

TEST_P(DotProductsTest, SumsOfLanesOfAnyTypeAndNumber) {
  for (const std::string type : {"float32", "float64", "float16", "bfloat16",
                                 "int8", "uint8", "int32", "int64"}) {
    for (const int steps : {2, 3, 4, 8}) {
      for (const int lanes : {1, 4, 5, 16}) {
        const std::string text = absl::Substitute(
            R"(
@T.prim_func
def main(A: T.Buffer((128,), "$0"), C: T.Buffer((16,), "$0")):
    C[$1] = C[$1] + T.lane_sums(A[0:$2] * A[0:$2], $3)
)",
            type, lanes == 1 ? "0" : absl::Substitute("0:$0", lanes),
            steps * lanes, steps);
        const absl::StatusOr<Module> module = ParseModule("m.py", text);
        ASSERT_TRUE(module.ok()) << text << module.status();
        const Function& f = module->functions[0];
        const absl::Status same = CheckAgainstInterpreter(f, f, target_);
        EXPECT_TRUE(same.ok()) << text << same;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEvery, DotProductsTest, testing::ValuesIn(kTargets),
                         [](const auto& info) { return NameOfTarget(info); });

}  // namespace
}  // namespace kiln
