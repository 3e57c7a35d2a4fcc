#include "kiln/ir/text/reader/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/expr/attr.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kMmRelu[] = R"(
@tvm.script.ir_module
class MyModule:
    @T.prim_func
    def mm_relu(A: T.Buffer((128, 128), "float32"),
                B: T.Buffer((128, 128), "float32"),
                C: T.Buffer((128, 128), "float32")):
        T.func_attr({"global_symbol": "mm_relu", "tir.noalias": True})
        Y = T.alloc_buffer((128, 128), dtype="float32")
        for i, j, k in T.grid(128, 128, 128):
            with T.block("Y"):
                vi = T.axis.spatial(128, i)
                vj = T.axis.spatial(128, j)
                vk = T.axis.reduce(128, k)
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(128, 128):
            with T.block("C"):
                vi = T.axis.spatial(128, i)
                vj = T.axis.spatial(128, j)
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
)";

// The same in the newest spelling, as the printer of the peer writes it.
constexpr char kMmReluPrinted[] = R"(
# from tvm.script import ir as I
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def mm_relu(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")):
        T.func_attr({"global_symbol": "mm_relu", "tir.noalias": T.bool(True)})
        # with T.sblock("root"):
        Y = T.sblock_alloc_buffer((128, 128))
        for i, j, k in T.grid(128, 128, 128):
            with T.sblock("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(A[vi, vk], B[vk, vj])
                T.writes(Y[vi, vj])
                with T.init():
                    Y[vi, vj] = T.float32(0.0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(T.int64(128), T.int64(128)):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(Y[vi, vj])
                T.writes(C[vi, vj])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0.0))
)";

TEST(ReaderTest, AHandWrittenProgramEqualsItsPrintedForm) {
  KILN_ASSERT_OK_AND_ASSIGN(Module a, ParseModule("a.py", kMmRelu));
  KILN_ASSERT_OK_AND_ASSIGN(Module b, ParseModule("b.py", kMmReluPrinted));
  EXPECT_EQ(a.name, "MyModule");
  ASSERT_EQ(a.functions.size(), 1u);
  EXPECT_EQ(a.functions[0].root().name, "root");
  EXPECT_EQ(a.functions[0].root().alloc_buffers.size(), 1u);
  EXPECT_TRUE(StructurallyEqual(a, b));
}

// A function around `body`, with some buffers to use.
std::string Wrap(const std::string& body) {
  std::string text =
      "@T.prim_func\n"
      "def f(A: T.Buffer((16, 16), \"float32\"), B: T.Buffer((16, 16), "
      "\"float32\"), I: T.Buffer((16,), \"int32\"), n: T.int64):\n";
  std::string line;
  for (char c : body + "\n") {
    line += c;
    if (c != '\n') continue;
    text += "    " + line;
    line.clear();
  }
  return text;
}

const BlockNode* FirstBlock(const Function& f) {
  const BlockNode* found = nullptr;
  Visit(f.body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    if (realize && realize->block->name != "root" && !found) {
      found = realize->block.get();
    }
    return true;
  });
  return found;
}

// The extents of the regions: "A[1,16] B[1,1]".
std::string Extents(const std::vector<BufferRegion>& regions) {
  std::string out;
  for (const BufferRegion& region : regions) {
    absl::StrAppend(&out, out.empty() ? "" : " ", region.buffer->name, "[");
    for (const Range& range : region.region) {
      const int64_t* extent = AsInt(range.extent);
      absl::StrAppend(&out, extent ? absl::StrCat(*extent) : "?", ",");
    }
    out.back() = ']';
  }
  return out;
}

TEST(ReaderTest, MissingRegionsAreInferredOverInnerLoops) {
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("f.py", Wrap(R"(
for i in range(4):
    with T.block("x"):
        vi = T.axis.spatial(4, i)
        for j, k in T.grid(16, 3):
            A[vi * 4 + k, j] = B[vi, 15 - j] + B[vi + 1, j])")));
  const BlockNode* block = FirstBlock(f);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(Extents(block->reads), "B[2,16]");
  EXPECT_EQ(Extents(block->writes), "A[3,16]");
}

TEST(ReaderTest, AReductionDoesNotReadWhatItUpdates) {
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("f.py", Wrap(R"(
for i, k in T.grid(16, 16):
    with T.block("x"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            A[vi, 0] = T.float32(0)
        A[vi, 0] += B[vi, vk])")));
  EXPECT_EQ(Extents(FirstBlock(f)->reads), "B[1,1]");
}

TEST(ReaderTest, RegionsSeeThroughLetsInsideOfLets) {
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            x, y = T.int32(), T.int32()
            B[vi] = T.Let(T.Let(A[y], where={y: x + 1}), where={x: vi * 2})
)"));
  EXPECT_EQ(PrintExpr(FirstBlock(f)->reads[0].region[0].min), "vi * 2 + 1");
}

TEST(ReaderTest, NestedBlocksCountByTheRegionsTheyState) {
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("f.py", Wrap(R"(
for i in range(4):
    with T.block("outer"):
        vo = T.axis.spatial(4, i)
        C = T.alloc_buffer((16,))
        for j in range(4):
            with T.block("inner"):
                vi = T.axis.spatial(16, vo * 4 + j)
                C[vi] = B[vi, vi]
        for j in range(4):
            with T.block("inner2"):
                vi = T.axis.spatial(16, vo * 4 + j)
                A[vi, 0] = C[vi])")));
  EXPECT_EQ(Extents(FirstBlock(f)->reads), "B[4,4]");
  EXPECT_EQ(Extents(FirstBlock(f)->writes), "A[4,1]");
}

// Simplification would give another spelling of the same numbers.
TEST(ReaderTest, PrintedRangesKeepTheirExtentAsItStands) {
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("f.py", Wrap(R"(
for i in range(4):
    with T.block("x"):
        vi = T.axis.spatial(4, i)
        T.reads(B[T.min(4 - (vi - 1), vi):T.min(4 - (vi - 1), vi) + (T.max(4 - (vi - 1), vi) - 1), 2:5])
        T.writes(A[vi, 0])
        A[vi, 0] = T.float32(1))")));
  const BlockNode* block = FirstBlock(f);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(PrintExpr(block->reads[0].region[0].extent),
            "T.max(4 - (vi - 1), vi) - 1");
  EXPECT_EQ(*AsInt(block->reads[0].region[1].extent), 3);
}

TEST(ReaderTest, FlatLoopsHaveNoRootBlock) {
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("f.py", Wrap(R"(
for i in T.parallel(16):
    acc = T.allocate([16], "float32", "global")
    acc_1 = T.Buffer((16,), data=acc)
    for j in range(16):
        acc_1[j] = T.float32(0)
    A[i, 0] = acc_1[0])")));
  EXPECT_EQ(f.body.kind(), StmtKind::kFor);
}

TEST(ReaderTest, SymbolicExtentsAreOneVariableThroughout) {
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("f.py", R"(
@T.prim_func
def f(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (1, n), "float32")
    Y = T.match_buffer(y, (1, n), "float32")
    for i, j in T.grid(1, n):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.max(X[vi, vj], T.float32(0))
)"));
  EXPECT_EQ(SymbolicDims(f).size(), 1u);
  ASSERT_EQ(f.params.size(), 2u);
  EXPECT_EQ(f.params[0].var.name(), "x");
  EXPECT_EQ(f.params[0].buffer->name, "X");
  KILN_ASSERT_OK_AND_ASSIGN(Function g, ParseFunction("g.py", R"(
@T.prim_func
def f(X: T.Buffer((1, "n"), "float32"), Y: T.Buffer((1, n), "float32")):
    n = T.int32()
    for i, j in T.grid(1, n):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(X[vi, vj])
            T.writes(Y[vi, vj])
            Y[vi, vj] = T.max(X[vi, vj], 0)
)"));
  EXPECT_TRUE(StructurallyEqual(f, g));
}

TEST(ReaderTest, ConstantsOfTheScriptAreKnownInTheProgram) {
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("f.py", R"(
import numpy as np
M = 4
N = M * 2 + 1
shape, dtype = (M, N), "float32"
dtype = "float16"
x_np = np.zeros((M, N))
@T.prim_func
def f(A: T.Buffer((M, N), dtype)):
    for i, j in T.grid(M, N):
        A[i, j] = 1.5
)"));
  EXPECT_EQ(f.params[0].buffer->dtype, DType::Float(16));
  EXPECT_TRUE(IsConst(f.params[0].buffer->shape[1], 9));
}

TEST(ReaderTest, OldBufferAnnotationsAreRead) {
  KILN_EXPECT_OK(ParseFunction("f.py", R"(
@T.prim_func
def f(A: T.Buffer[(128, 128), "float32"], B: T.Buffer[128, "int8"]) -> None:
    T.evaluate(0)
)"));
}

TEST(ReaderTest, AnIndexBesideAnInt32ValueCountsAsInt32OutsideIndices) {
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("f.py", Wrap(R"(
for i in range(16):
    I[i] = (I[i] >> i % 8 * 4 & 15) << 28 >> 28
    A[I[i] + i, 0] = 0.0)")));
  bool shifts_wrap = true, index_is_wide = true;
  VisitExprs(f.body, [&](const Expr& e) {
    const auto* call = e.As<CallNode>();
    if (call) shifts_wrap = shifts_wrap && e.dtype() == DType::Int(32);
    if (e.kind() == ExprKind::kAdd) {
      index_is_wide = index_is_wide && e.dtype() == DType::Index();
    }
    return true;
  });
  EXPECT_TRUE(shifts_wrap);
  EXPECT_TRUE(index_is_wide);
}

TEST(ReaderTest, TheAbsoluteValueHasTwoNames) {
  const auto text = [](const char* name) {
    return absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = T.)",
                        name, "(A[vi])\n");
  };
  KILN_ASSERT_OK_AND_ASSIGN(const Function a, ParseFunction("a", text("abs")));
  KILN_ASSERT_OK_AND_ASSIGN(const Function b, ParseFunction("b", text("fabs")));
  EXPECT_EQ(PrintFunction(a), PrintFunction(b));
}

TEST(ReaderTest, LongSumsAreReadAndCompared) {
  std::string sum = "B[0, 0]";
  for (int i = 0; i < 1500; ++i) absl::StrAppend(&sum, " + B[1, ", i % 16, "]");
  const std::string text = Wrap("A[0, 0] = " + sum);
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("f.py", text));
  KILN_ASSERT_OK_AND_ASSIGN(Function g, ParseFunction("f.py", text));
  EXPECT_TRUE(StructurallyEqual(f, g));
}

struct BadProgram {
  std::string body, place, message;
};

TEST(ReaderTest, RefusesWithThePlaceAndAWayOut) {
  const std::vector<BadProgram> cases = {
      {"A[i, 0] = 1.0", ":3:7:", "`i` is not defined"},
      {"A[0] = 1.0", ":3:5:", "has 2 dimensions, but 1 index is given"},
      {"for row in range(4):\n    A[rwo, 0] = 1.0",
       ":4:11:", "did you mean `row`?"},
      {"A[0, 0] = I[0]", ":3:5:", "T.Cast(\"float32\", ...)"},
      {"A[0, 1.5] = 0.0", ":3:10:", "an index is an integer"},
      {"A[0, 0] = T.expp(B[0, 0])", ":3:15:", "did you mean `T.exp`?"},
      {"A[0, 0] = T.exp(B[0, 0], 1)", ":3:15:", "takes 1 arguments, not 2"},
      {"A[0, 0] = T.Cast(\"float31\", I[0])", ":3:22:", "no element type"},
      {"A[0, 0] = B", ":3:15:", "needs 2 indices"},
      {"I[0] = I[0] / 2", ":3:17:", "write `//`"},
      {"I[0] = I[0] // 0", ":3:17:", "division by zero"},
      {"A[0, 0] = B[0, 0] // 2.0", ":3:23:", "T.floor(a / b)"},
      {"I[0] = 1.5", ":3:5:", "a float does not fit int32"},
      {"I[0] = 3000000000", ":3:5:", "does not fit int32"},
      {"I[0] = 99999999999999999999", ":3:12:", "does not fit"},
      {"if n:\n    A[0, 0] = 0.0", ":3:8:", "compare it"},
      {"while n < 3:\n    pass", ":3:5:", "for i in range(n)"},
      {"return", ":3:5:", "returns no value but a number"},
      {"for i in [1, 2]:\n    pass", ":3:14:", "runs over range(n)"},
      {"for i, j in T.grid(4):\n    pass", ":3:9:", "2 names for 1 loop"},
      {"for i in T.thread_binding(4):\n    pass", ":3:14:", "thread="},
      {"for i in T.serial(4, step=2):\n    pass",
       ":3:31:", "the loops of a program step by 1"},
      {"C = T.alloc_buffer((4000000000, 4000000000))",
       ":3:24:", "more bytes than an int64"},
      {"C = T.alloc_buffer((4, -1))", ":3:24:", "negative extent"},
      {"C = T.alloc_buffer((4,), \"int12\")", ":3:30:", "no element type"},
      {"with T.init():\n    pass", ":3:10:", "only inside"},
      {"T.reads(A[0, 0])", ":3:5:", "only inside"},
      {"vi = T.axis.spatial(4, 0)", ":3:10:", "only inside"},
      {"with T.blok(\"x\"):\n    pass", ":3:10:", "`with` opens"},
      {"with T.block(\"x\"):\n    v = T.axis.remap(\"S\", [n])",
       ":4:32:", "remap takes loop variables"},
      {"with T.block(\"x\"):\n    v = T.axis.foo(4, 0)",
       ":4:13:", "there is no axis `foo`"},
      {"for i in range(4):\n    with T.block(\"x\"):\n        a, b = "
       "T.axis.remap(\"SS\", [i])",
       ":5:20:", "2 names, 2 kinds and 1 loops"},
      {"X = T.match_buffer(n, (4,))\nY = T.match_buffer(n, (4,))",
       ":4:24:", "T.handle that is not matched"},
      {"A[0, 0] = 1 + \"x\"", ":3:17:", "do not go together"},
      {"x = lambda a: a", ":3:9:", "a lambda has no value"},
      {"np.zeros(3)", ":3:5:", "drops it"},
      {"A[0, 0] = np.exp(1.0)", ":3:15:", "begin with `T.`"},
      {"assert n > 3", ":3:5:", "cannot fail at run time"},
      {"A.shape = 3", ":3:5:", "names here"},
      {"T.func_attr(3)", ":3:17:", "a dict is needed"},
      {"A[0:16, 0:4] = 1.0", ":3:7:", "only the last index"},
      {"A[0, 0] = T.int8(300)", ":3:22:", "does not fit int8"},
  };
  for (const BadProgram& bad : cases) {
    const std::string text = Wrap(bad.body);
    EXPECT_THAT(ParseModule("f.py", text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("f.py" + bad.place),
                               HasSubstr(bad.message), HasSubstr("\n"))))
        << bad.body;
  }
}

TEST(ReaderTest, RefusesTextsWithoutAProgram) {
  EXPECT_THAT(ParseModule("m.py", "x = 1\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("there is no program here")));
  const std::string module =
      "@I.ir_module\nclass M:\n    @T.prim_func\n    def f():\n"
      "        T.evaluate(0)\n";
  EXPECT_THAT(
      ParseModule("m.py", module + module),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("two modules")));
  EXPECT_THAT(ParseModule("m.py", module + "    @T.prim_func\n    def f():\n"
                                           "        T.evaluate(0)\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("two functions named `f`")));
  EXPECT_THAT(
      ParseModule("m.py", module + "    def g():\n        pass\n"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("decorate it")));
  EXPECT_THAT(
      ParseModule("m.py", "@T.prim_func\ndef f(A, B):\n    pass\n"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs a type")));
}

TEST(ReaderTest, ALetDefinesItsVariableOnEitherSide) {
  const auto read = [](const std::string& body) {
    return ParseFunction("let.py", R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32")):
)" + body);
  };
  const auto as = read(R"(
    with T.LetStmt(A[0]) as x:
        A[1] = x
)");
  const auto var = read(R"(
    x = T.float32()
    with T.LetStmt(A[0], var=x):
        A[1] = x
)");
  KILN_ASSERT_OK(as.status());
  KILN_ASSERT_OK(var.status());
  EXPECT_TRUE(StructurallyEqual(*as, *var));
  EXPECT_THAT(read("    with T.LetStmt(A[0]):\n        A[1] = 1.0\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("let.py:4:10"),
                             HasSubstr("names its variable once"))));
}

TEST(ReaderTest, ANarrowScalarKeepsItsType) {
  const auto f = ParseFunction("scalar.py", R"(
@T.prim_func
def main(A: T.Buffer((4,), "int8"), s: T.int8, n: T.int32):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = T.if_then_else(vi < n, A[vi] + s, A[vi])
)");
  KILN_ASSERT_OK(f.status());
  EXPECT_EQ(f->params[1].var.dtype(), DType::Int(8));
  EXPECT_EQ(f->params[2].var.dtype(), DType::Index());
}

TEST(ReaderTest, AReductionSaysWhichOtherElementsOfItsOutputItReads) {
  const auto read = ParseFunction("scan.py", R"(
@T.prim_func
def main(X: T.Buffer((4, 8), "float32"), H: T.Buffer((5, 8), "float32")):
    for t, j, k in T.grid(4, 8, 8):
        with T.block("H"):
            vt = T.axis.opaque(4, t)
            vj, vk = T.axis.remap("SR", [j, k])
            with T.init():
                H[vt + 1, vj] = X[vt, vj]
            H[vt + 1, vj] = H[vt + 1, vj] + H[vt, vk]
)");
  KILN_ASSERT_OK(read.status());
  EXPECT_THAT(PrintFunction(*read), HasSubstr("T.reads(X[vt, vj], H["));
}

TEST(ReaderTest, APrefetchIsOfAnElementAndOfAKnownKind) {
  const auto read = [](const std::string& arguments) {
    return ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32")):
    for i in range(4):
        T.prefetch()" + arguments + R"()
        A[i] = T.float32(1)
)")
        .status();
  };
  KILN_EXPECT_OK(read("T.address_of(A[i + 1]), 0, 3, 1"));
  KILN_EXPECT_OK(read("T.address_of(A[i + 1]), 1, 0, 1"));
  for (const char* arguments :
       {"A[i], 0, 3, 1", "A.data, 0, 3, 1", "T.address_of(A[i]), 2, 3, 1",
        "T.address_of(A[i]), 0, 4, 1", "T.address_of(A[i]), 0, -1, 1",
        "T.address_of(A[i]), 0, i, 1", "T.address_of(A[i]), 0, 3, 0"}) {
    EXPECT_THAT(read(arguments),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("f.py:5:"),
                               HasSubstr("T.address_of(A[i, j]), 0, 3, 1"))))
        << arguments;
  }
  EXPECT_THAT(read("T.address_of(A[i])"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("takes 4 arguments")));
}

TEST(ReaderTest, ABlockReadsNothingForItsHintsButWhereTheyAre) {
  const auto read = ParseFunction("hint.py", R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "int64")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            T.prefetch(T.address_of(A[X[vi] + 64]), 0, 3, 1)
            A[vi] = T.float32(1)
)");
  KILN_ASSERT_OK(read.status());
  EXPECT_THAT(PrintFunction(*read), HasSubstr("T.reads(X[vi])\n"));
}

absl::Status AfterAFunction(const std::string& lines) {
  return ParseModule("slip.py", R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi]
)" + lines)
      .status();
}

TEST(ReaderTest, TargetsAreWhatTheyAreMadeFromAndAdviceOnLayoutsIsLeftOut) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("t.py", R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    T.func_attr({"target": T.target({"kind": "llvm", "keys": ["cpu"]})})
    for i in range(4):
        with T.block("B"):
            v = T.axis.spatial(4, i)
            T.block_attr({"layout_free_placeholders": [A], "rank": 3})
            B[v] = A[v]
)"));
  const Function& f = module.functions[0];
  const AttrMap* target = f.attrs.at("target").map();
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(*target->at("kind").string(), "llvm");
  int attributes = 0;
  Visit(f.body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    if (realize) attributes += realize->block->annotations.size();
    return true;
  });
  EXPECT_EQ(attributes, 1);
}

TEST(ReaderTest, LinesThatSlippedOutOfAFunctionAreNotDropped) {
  for (const char* lines :
       {"B[1] = A[2]", "B[1] += A[2]", "with T.block(\"C\"):\n    pass",
        "for j in T.grid(4):\n    pass", "vj = T.axis.spatial(4, 1)",
        "T.evaluate(0)", "for j in range(4):\n    B[j] = A[j]",
        "if True:\n    with T.block(\"C\"):\n        pass"}) {
    EXPECT_THAT(AfterAFunction(lines),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("slip.py:8:"),
                               HasSubstr("stands outside of `main`"))))
        << lines;
  }
}

TEST(ReaderTest, AScriptMayGoOnAfterAFunction) {
  KILN_EXPECT_OK(AfterAFunction(R"(sch = tvm.tir.Schedule(main)
kinds = {}
kinds["B"] = 3
for block in ["B"]:
    kinds[block] = sch.get_block(block)
with open("out.py", "w") as out:
    out.write(main.script())
x: T.int32 = 3
)"));
}

TEST(ReaderTest, AStoreMeansNothingInAModule) {
  EXPECT_THAT(ParseModule("slip.py", R"(
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = A[i] + T.float32(1)
    A[2] = 3
)")
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("slip.py:8:"),
                             HasSubstr("means nothing in a module"))));
}

TEST(ReaderTest, NewestTextsStateOneReadOfSeveral) {
  const std::string text = R"(@T.prim_func(s_tir=True)
def main(A: T.Buffer((4, 3), "float32"), C: T.Buffer((4, 6), "float32")):
    for i, j in T.grid(4, 6):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj - 3])
            T.writes(C[vi, vj])
            C[vi, vj] = T.if_then_else(3 <= vj, A[vi, vj - 3], A[vi, vj])
)";
  KILN_ASSERT_OK_AND_ASSIGN(const Module m, ParseModule("f.py", text));
  EXPECT_THAT(PrintModule(m), HasSubstr("T.reads(A[vi, vj - 3], A[vi, vj])"));
  // A region that says another thing altogether is left as it is.
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module other,
      ParseModule("f.py", absl::StrReplaceAll(
                              text, {{"A[vi, vj - 3])\n", "A[0, 0])\n"}})));
  EXPECT_THAT(PrintModule(other), HasSubstr("T.reads(A[0, 0])"));
}

}  // namespace
}  // namespace kiln
