#include "kiln/ir/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

const DType kF32 = DType::Float(32);

TEST(VerifyTest, EveryNamedWorkloadIsWellFormed) {
  for (const WorkloadInfo& info : Workloads()) {
    KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload(info.name));
    KILN_EXPECT_OK(VerifyModule(module));
  }
}

TEST(VerifyTest, SymbolicShapesAndMatchedBuffersAreWellFormed) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, ParseModule("m.py", R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 16), "float32")
    B = T.match_buffer(b, (n, 16), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            T.reads(A[vi, 0:16])
            T.writes(B[vi, 0:16])
            s0 = T.int64()
            V = T.match_buffer(A[vi, 0:16], (16,), "float32", strides=[s0], offset_factor=1)
            for j in range(16):
                B[vi, j] = V[j]
)"));
  KILN_EXPECT_OK(VerifyModule(module));
}

// One loop over one block that stores into A; `edit` spoils it.
struct Parts {
  Buffer a = MakeBuffer("A", kF32, {Int(8)});
  Var i{"i"}, vi{"vi"};
  ForFields loop;
  BlockFields block;
  std::vector<Expr> values;
  Function f;
  std::function<Stmt(Stmt)> wrap = [](Stmt s) { return s; };
};

absl::Status Spoiled(const std::function<void(Parts&)>& edit,
                     VerifyOptions options = {}) {
  Parts p;
  p.f.name = "main";
  p.f.params = {{Var("a", DType::Handle()), p.a}};
  p.f.next_id = 10;
  p.block.id = 2;
  p.block.name = "A";
  p.block.iters = {{p.vi, {Int(0), Int(8)}, IterType::kSpatial}};
  p.block.writes = {{p.a, PointRegion({p.vi})}};
  p.block.body = MakeStore(p.a, Float(1), {p.vi});
  p.values = {p.i};
  p.loop.id = 3;
  p.loop.var = p.i;
  p.loop.min = Int(0);
  p.loop.extent = Int(8);
  edit(p);
  p.loop.body = MakeRealize(p.values, Bool(true), MakeBlock(p.block));
  p.f.body = MakeRoot(1, {}, p.wrap(MakeFor(p.loop)));
  return VerifyFunction(p.f, options);
}

TEST(VerifyTest, AnUnspoiledProgramPasses) {
  KILN_EXPECT_OK(Spoiled([](Parts&) {}));
}

TEST(VerifyTest, EachFaultIsNamedWithItsPlace) {
  const struct {
    std::function<void(Parts&)> edit;
    const char* message;
  } kCases[] = {
      {[](Parts& p) { p.values = {Var("ghost")}; },
       "main / block \"root\" / for i / block \"A\": variable ghost"},
      {[](Parts& p) {
         p.block.body =
             MakeStore(MakeBuffer("Z", kF32, {Int(8)}), Float(1), {p.vi});
       },
       "buffer Z is used where it is not defined"},
      {[](Parts& p) { p.loop.id = 2; }, "another loop or block"},
      {[](Parts& p) { p.loop.id = 10; }, "next_id = 10"},
      {[](Parts& p) { p.loop.id = 0; }, "not between 1"},
      {[](Parts& p) { p.loop.extent = Int(8, DType::Int(32)); },
       "the extent has type int32"},
      {[](Parts& p) { p.loop.thread_tag = "threadIdx.x"; },
       "not bound to a thread"},
      {[](Parts& p) {
         p.loop.for_kind = ForKind::kThreadBinding;
         p.loop.thread_tag = "threadIdx.q";
       },
       "unknown thread axis"},
      {[](Parts& p) { p.block.writes[0].region.clear(); },
       "0 ranges for 1 dimensions"},
      {[](Parts& p) {
         p.block.body = MakeStore(p.a, Float(1),
                                  {Expr(new CastNode(DType::Int(32), p.vi))});
       },
       "an index has type int32"},
      {[](Parts& p) {
         p.block.body = MakeStore(
             p.a, Expr(new BinaryNode(ExprKind::kAdd, kF32, Float(1), p.vi)),
             {p.vi});
       },
       "Add of float32 and int64"},
      {[](Parts& p) {
         p.block.body =
             MakeStore(p.a, Load(p.a, {Ramp(p.vi, Int(1), 4)}), {p.vi});
       },
       "store of float32x4"},
      {[](Parts& p) {
         p.block.alloc_buffers = {
             MakeBuffer("T", kF32, {Int(int64_t{1} << 40), Int(1 << 30)})};
       },
       "overflows 64 bits"},
      {[](Parts& p) { p.block.alloc_buffers = {p.a}; }, "defined twice"},
      {[](Parts& p) { p.block.iters[0].var = p.i; }, "inside its own scope"},
      {[](Parts& p) {
         Var i = p.i;
         p.wrap = [i](Stmt s) {
           return MakeSeq({s, MakeFor(5, i, Int(2), MakeEvaluate(Int(0)))});
         };
       },
       "variable i is defined twice"},
      {[](Parts& p) {
         p.block.body = MakeSeq(
             {p.block.body,
              MakeEvaluate(Expr(new CallNode(kF32, Intrinsic::kExp, {})))});
       },
       "it takes 1"},
  };
  for (const auto& spoiled : kCases) {
    EXPECT_THAT(Spoiled(spoiled.edit),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(spoiled.message)));
  }
}

TEST(VerifyTest, RegionsAndBoundsAreHeld) {
  EXPECT_THAT(Spoiled([](Parts& p) { p.block.writes.clear(); }),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the block writes A[vi]")));
  EXPECT_THAT(Spoiled([](Parts& p) { p.loop.extent = Int(9); }),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("leaves its domain [0, 8) where i = 8")));
}

TEST(VerifyTest, ALoweredFunctionHasNoBlocksAndMayRepeatLoops) {
  const VerifyOptions lowered = {.level = VerifyLevel::kLowered};
  EXPECT_THAT(Spoiled([](Parts&) {}, lowered),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("left in a lowered function")));
  Function f;
  f.name = "main";
  Buffer a = MakeBuffer("A", kF32, {Int(8)});
  f.params = {{Var("a", DType::Handle()), a}};
  Var i("i");
  Stmt loop = MakeFor(1, i, Int(8), MakeStore(a, Float(0), {i}));
  f.body = MakeSeq({loop, loop});
  KILN_EXPECT_OK(VerifyFunction(f, lowered));
  f.body = MakeFor(2, i, Int(2), loop);
  EXPECT_THAT(VerifyFunction(f, lowered),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("inside its own scope")));
}

TEST(VerifyTest, EveryParameterHasAVariable) {
  EXPECT_THAT(Spoiled([](Parts& p) { p.f.params[0].var = Var(); }),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("a tensor parameter has no handle")));
}

TEST(VerifyTest, ThereIsRoomForNewIds) {
  EXPECT_THAT(
      Spoiled(
          [](Parts& p) { p.f.next_id = std::numeric_limits<int64_t>::max(); }),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("too large")));
}

TEST(VerifyTest, EveryFunctionHasAName) {
  EXPECT_THAT(
      Spoiled([](Parts& p) { p.f.name.clear(); }),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has no name")));
}

TEST(VerifyTest, FunctionNamesAreUnique) {
  Module m = *MakeWorkload("gmm:2,2,2");
  m.functions.push_back(m.functions[0]);
  EXPECT_THAT(VerifyModule(m), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("two functions")));
}

// A function of A and the scalar n that writes B, with the attribute.
absl::Status LayoutFree(const std::string& attribute) {
  const absl::StatusOr<Module> module = ParseModule("m.py", R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), n: T.int64, B: T.Buffer((8,), "float32")):
    T.func_attr({"layout_free_buffers": )" + attribute + R"(})
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
)");
  return module.ok() ? VerifyModule(*module) : module.status();
}

TEST(VerifyTest, LayoutFreeBuffersAreParametersThatAreOnlyRead) {
  KILN_EXPECT_OK(LayoutFree("[]"));
  KILN_EXPECT_OK(LayoutFree("[0]"));
  const struct {
    const char* attribute;
    const char* message;
  } kCases[] = {{"[2]", "lists the parameter B, which the function writes"},
                {"[1]", "lists the parameter n, which is no tensor"},
                {"[3]", "holds 3"},
                {"[-1]", "holds -1"},
                {"[0, 0]", "lists 0 twice"},
                {"[\"A\"]", "what is no number"},
                {"0", "is no list"}};
  for (const auto& bad : kCases) {
    EXPECT_THAT(
        LayoutFree(bad.attribute),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(bad.message)))
        << bad.attribute;
  }
}

TEST(VerifyTest, NumericsAreNamed) {
  for (const char* known : {"strict", "componentwise", "normwise"}) {
    Module m = *MakeWorkload("gmm:2,2,2");
    m.functions[0].attrs["numerics"] = Attr(std::string(known));
    KILN_EXPECT_OK(VerifyModule(m));
  }
  for (const Attr& unknown : {Attr(std::string("fast")), Attr(Int(1))}) {
    Module m = *MakeWorkload("gmm:2,2,2");
    m.functions[0].attrs["numerics"] = unknown;
    EXPECT_THAT(
        VerifyModule(m),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 HasSubstr("none of \"strict\", \"componentwise\" and")));
  }
}

TEST(VerifyTest, AFunctionIsAutomaticOrNot) {
  const auto verify = [](const Attr& attr) {
    Module m = *MakeWorkload("gmm:2,2,2");
    m.functions[0].attrs["kiln.auto"] = attr;
    return VerifyModule(m);
  };
  for (bool is_auto : {true, false}) KILN_EXPECT_OK(verify(Bool(is_auto)));
  for (const Attr& unknown : {Attr(std::string("off")), Attr(Int(0)), Attr()}) {
    EXPECT_THAT(verify(unknown),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("kiln.auto is neither True nor False")));
  }
}

}  // namespace
}  // namespace kiln
