#include "kiln/schedule/primitive/annotate_buffer_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/primitive/compute_at.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// C[vi] = A[`index`], declared to read all of A.
Function Reading(const std::string& index, const std::string& n = "8") {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range()" +
                      n + R"():
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(A[0:16])
            T.writes(C[vi])
            C[vi] = A[)" +
                      index + "] + T.float32(1)\n");
}

// [vi * scale + begin, vi * scale + end)
IndexMap Ranges(int64_t scale, int64_t begin, int64_t end) {
  const Var v("v");
  const Expr at = Mul(v, Int(scale));
  return {{v}, {Add(at, Int(begin)), Add(at, Int(end))}};
}

absl::StatusOr<Function> Read(const Function& f, const IndexMap& map) {
  return AnnotateBufferAccess(f, BlockNamed(f, "C"), 0, false, map);
}

TEST(AnnotateBufferAccess, BlocksAroundHoldWhatIsTold) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(2):
        with T.block("outer"):
            vo = T.axis.spatial(2, i)
            T.reads(A[vo * 4:vo * 4 + 4])
            T.writes(C[vo * 4:vo * 4 + 4])
            for j in range(4):
                with T.block("C"):
                    vi = T.axis.spatial(8, vo * 4 + j)
                    C[vi] = A[vi]
)");
  const Var v("v");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            Read(f, IndexMap{{v}, {Int(0), Int(16)}}));
  EXPECT_EQ(PrintRegion(RealizeNamed(g, "outer").block->reads[0]), "A[0:16]");
  KILN_EXPECT_OK(VerifyFunction(g));
}

TEST(AnnotateBufferAccess, TellsANarrowerRegion) {
  const Function f = Reading("vi * 2 + 1");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Read(f, Ranges(2, 0, 3)));
  const BlockNode& block = *RealizeNamed(g, "C").block;
  EXPECT_EQ(PrintExpr(block.reads[0].region[0].min), "vi * 2 + 0");
  EXPECT_EQ(*AsInt(block.reads[0].region[0].extent), 3);
  const AttrList* note = block.annotations.at("explicit_read_region").list();
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->size(), 1);
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
  // Once more: one note still.
  KILN_ASSERT_OK_AND_ASSIGN(const Function h, Read(g, Ranges(2, 1, 2)));
  EXPECT_EQ(RealizeNamed(h, "C")
                .block->annotations.at("explicit_read_region")
                .list()
                ->size(),
            1);
}

TEST(AnnotateBufferAccess, RefusesARegionThatMissesWhatIsRead) {
  const Function f = Reading("vi * 2 + 1");
  EXPECT_THAT(Read(f, Ranges(2, 0, 1)), StatusIs(kRefused, HasSubstr("lie")));
  EXPECT_THAT(Read(f, Ranges(2, 2, 5)), StatusIs(kRefused, HasSubstr("lie")));
  EXPECT_THAT(Read(f, Ranges(1, 0, 4)), StatusIs(kRefused, HasSubstr("lie")));
  EXPECT_THAT(Read(f, Ranges(2, 1, 1)), StatusIs(kRefused, HasSubstr("lie")));
}

// No arithmetic on index expressions: every value is tried.
TEST(AnnotateBufferAccess, TriesIndicesThatComeFromFloats) {
  const Function f = Reading(
      "T.max(T.min(T.Cast(\"int32\", T.floor((T.Cast(\"float32\", vi) + "
      "T.float32(0.5)) * T.float32(2) - T.float32(0.5))), 15), 0)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Read(f, Ranges(2, -1, 3)));
  KILN_EXPECT_OK(CheckSameResults(f, g, 2));
  EXPECT_THAT(Read(f, Ranges(2, 1, 3)), StatusIs(kRefused, HasSubstr("lie")));
}

// What memory holds decides the index.
TEST(AnnotateBufferAccess, RefusesIndicesThatAreLoaded) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), P: T.Buffer((8,), "int32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(A[0:16], P[vi])
            T.writes(C[vi])
            C[vi] = A[P[vi]]
)");
  EXPECT_THAT(Read(f, Ranges(2, 0, 3)), StatusIs(kRefused, HasSubstr("lie")));
}

TEST(AnnotateBufferAccess, SeesLoopsInsideOfTheBlock) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((11,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(A[0:11])
            T.writes(C[vi])
            C[vi] = T.float32(0)
            for j in range(4):
                C[vi] = C[vi] + A[vi + j]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Read(f, Ranges(1, 0, 4)));
  KILN_EXPECT_OK(CheckSameResults(f, g, 3));
  EXPECT_THAT(Read(f, Ranges(1, 0, 3)), StatusIs(kRefused, HasSubstr("lie")));
}

TEST(AnnotateBufferAccess, RefusesAViewOfTheTensor) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi:vi + 4])
            T.writes(C[vi])
            V = T.match_buffer(A[vi:vi + 4], (4,), offset_factor=1)
            C[vi] = V[3]
)");
  EXPECT_THAT(Read(f, Ranges(1, 0, 1)), StatusIs(kRefused, HasSubstr("whole")));
}

absl::StatusOr<Function> Write(const Function& f, const std::string& block,
                               const IndexMap& ranges) {
  return AnnotateBufferAccess(f, BlockNamed(f, block), 0, true, ranges);
}

TEST(AnnotateBufferAccess, WhatIsWrittenHoldsTheStores) {
  const Function f = Reading("vi");
  for (int end : {1, 2}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                              Write(f, "C", Ranges(1, 0, end)));
    const BlockNode& block = *RealizeNamed(g, "C").block;
    EXPECT_EQ(block.annotations.count("explicit_write_region"), 1);
    EXPECT_EQ(*AsInt(block.writes[0].region[0].extent), end);
    KILN_EXPECT_OK(CheckSameResults(f, g, 3));
  }
  EXPECT_THAT(Write(f, "C", Ranges(1, 1, 2)),
              StatusIs(kRefused, HasSubstr("writes is not known to lie")));
  EXPECT_THAT(Write(f, "C", Ranges(2, 0, 2)),
              StatusIs(kRefused, HasSubstr("writes is not known to lie")));
}

// Each instance of B is told to write the next element as well.
TEST(AnnotateBufferAccess, InstancesThatAreToldToOverlapKeepTheirOrder) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((16,))
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi * 2 + 1]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function told,
                            Write(f, "B", Ranges(1, 0, 2)));
  const LoopId loop = LoopsOf(told, "C")[0];
  EXPECT_THAT(ComputeAt(told, BlockNamed(told, "B"), loop, {}),
              StatusIs(kRefused, HasSubstr("may touch the same element")));
}

TEST(AnnotateBufferAccess, RefusesMapsAndIndicesThatDoNotFit) {
  const Function f = Reading("vi");
  const BlockId block = BlockNamed(f, "C");
  constexpr auto kBad = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(AnnotateBufferAccess(f, block, 1, false, Ranges(1, 0, 1)),
              StatusIs(kBad, HasSubstr("no number 1")));
  EXPECT_THAT(Read(f, IndexMap{}), StatusIs(kBad, HasSubstr("iterators")));
  EXPECT_THAT(Read(f, {{Var("v")}, {Float(0.0), Float(16.0)}}),
              StatusIs(kBad, HasSubstr("indices")));
}

}  // namespace
}  // namespace kiln
