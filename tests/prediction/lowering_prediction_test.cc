// The analytic model predicts which loop becomes vectors, of how many lanes,
// and which loops are unrolled, though the schedule says neither. Here lowering
// does it, and both are compared.
#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/base/machine.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/ir/tensor/automatic.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/cost/nest.h"
#include "kiln/search/feature/summary.h"

namespace kiln {
namespace {

constexpr VectorRegisters kFiles[] = {kSseRegisters, kAvxRegisters,
                                      kAvx512Registers, kNeonRegisters};

// Rows and columns of B become those of C. Rows end in an element that is not
// touched, so that no vector goes on in the next row.
absl::StatusOr<Function> Copy(int rows, int columns, const std::string& type) {
  return ParseFunction("test",
                       absl::Substitute(R"(
@T.prim_func
def main(B: T.Buffer(($0, $3), "$2"), C: T.Buffer(($0, $3), "$2")):
    for i, j in T.grid($0, $1):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj]
)",
                                        rows, columns, type, columns + 1));
}

Nest Predict(const Function& f, const ProgramSummary& summary,
             const VectorRegisters& vectors) {
  return MakeNest(summary, summary.stores[0], Machine{.vectors = vectors}, 1);
}

absl::StatusOr<Function> LowerTo(const Function& f, const std::string& pass,
                                 const VectorRegisters& vectors) {
  LowerOptions options;
  options.machine.vectors = vectors;
  options.stop_after = pass;
  return Lower(f, options);
}

// Lanes of the longest vectorized loop; 0: there is none.
int64_t MostLanes(const Stmt& s) {
  int64_t lanes = 0;
  Visit(s, [&](const Stmt& x) {
    const auto* loop = x.As<ForNode>();
    if (loop && loop->for_kind == ForKind::kVectorized) {
      lanes = std::max(lanes, *AsInt(loop->extent));
    }
    return true;
  });
  return lanes;
}

bool HasLoop(const Stmt& s) {
  bool found = false;
  Visit(s, [&](const Stmt& x) {
    found |= x.kind() == StmtKind::kFor;
    return true;
  });
  return found;
}

TEST(LoweringPredictionTest, LanesAreThoseThatLoweringChooses) {
  for (const VectorRegisters& vectors : kFiles) {
    for (const char* type : {"float32", "float64", "float16"}) {
      for (int columns : {1,  2,  3,  4,  5,  7,  8,   12,  16,  24,
                          31, 32, 48, 64, 65, 96, 100, 128, 200, 256}) {
        KILN_ASSERT_OK_AND_ASSIGN(const Function f, Copy(200, columns, type));
        KILN_ASSERT_OK_AND_ASSIGN(const Function lowered,
                                  LowerTo(f, "auto_vectorize", vectors));
        const int64_t lanes = MostLanes(lowered.body);
        const ProgramSummary summary = Summarize(f);
        const Nest nest = Predict(f, summary, vectors);
        const std::string what =
            absl::Substitute("$0 columns of $1, registers of $2 bytes", columns,
                             type, vectors.bytes);
        if (nest.lane_loop < 0) {
          EXPECT_EQ(lanes, 0) << what;
          continue;
        }
        const int64_t extent =
            static_cast<int64_t>(nest.extents[nest.lane_loop]);
        EXPECT_EQ(nest.lane_repeats,
                  lanes == 0 ? 0 : (extent + lanes - 1) / lanes)
            << what;
      }
    }
  }
}

// One column, so that only rows can be unrolled; they lie apart.
TEST(LoweringPredictionTest, LoopsAreUnrolledWhereLoweringDoes) {
  for (int rows : {2, 3, 31, 32, 33, 64}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function f,
                              ParseFunction("test", absl::Substitute(R"(
@T.prim_func
def main(B: T.Buffer(($0, 3), "float32"), C: T.Buffer(($0, 3), "float32")):
    for i in range($0):
        with T.block("C"):
            vi = T.axis.spatial($0, i)
            C[vi, 0] = B[vi, 0]
)",
                                                                     rows)));
    KILN_ASSERT_OK_AND_ASSIGN(const Function lowered,
                              LowerTo(f, "unroll_loops", kAvxRegisters));
    const ProgramSummary summary = Summarize(f);
    const Nest nest = Predict(f, summary, kAvxRegisters);
    EXPECT_EQ(nest.tile == 0, !HasLoop(lowered.body)) << rows << " rows";
    EXPECT_EQ(nest.tile == 0, rows <= kImplicitSteps) << rows << " rows";
  }
}

// Loops of a function that is not to be lowered so run as they stand.
TEST(LoweringPredictionTest, NothingIsPredictedThatAFunctionForbids) {
  for (const VectorRegisters& vectors : kFiles) {
    for (int columns : {4, 16, 24, 64, 100}) {
      KILN_ASSERT_OK_AND_ASSIGN(Function f, Copy(20, columns, "float32"));
      SetAuto(&f, false);
      KILN_ASSERT_OK_AND_ASSIGN(const Function lowered,
                                LowerTo(f, "verify", vectors));
      int loops = 0, longest = 1;
      Visit(lowered.body, [&](const Stmt& s) {
        loops += s.kind() == StmtKind::kFor;
        const auto* store = s.As<StoreNode>();
        if (store) longest = std::max(longest, store->value.dtype().lanes());
        return true;
      });
      EXPECT_EQ(loops, 2);
      EXPECT_EQ(longest, 1);
      const ProgramSummary summary = Summarize(f);
      const Nest nest = Predict(f, summary, vectors);
      EXPECT_EQ(nest.lane_loop, -1);
      EXPECT_EQ(nest.tile, nest.depth());
      EXPECT_EQ(nest.tile_steps, 1);
    }
  }
}

TEST(LoweringPredictionTest, WhatIsAskedForIsPredictedAllTheSame) {
  for (const char* kind : {"T.vectorized", "T.unroll"}) {
    KILN_ASSERT_OK_AND_ASSIGN(Function f,
                              ParseFunction("test", absl::Substitute(R"(
@T.prim_func
def main(B: T.Buffer((64, 16), "float32"), C: T.Buffer((64, 16), "float32")):
    T.func_attr({"kiln.auto": False})
    for i in range(64):
        for j in $0(16):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj]
)",
                                                                     kind)));
    KILN_ASSERT_OK_AND_ASSIGN(const Function lowered,
                              LowerTo(f, "verify", kAvxRegisters));
    int loops = 0;
    Visit(lowered.body, [&](const Stmt& s) {
      loops += s.kind() == StmtKind::kFor;
      return true;
    });
    EXPECT_EQ(loops, 1) << kind;
    const ProgramSummary summary = Summarize(f);
    const Nest nest = Predict(f, summary, kAvxRegisters);
    EXPECT_EQ(nest.lane_loop, kind == std::string("T.vectorized") ? 1 : -1);
    EXPECT_EQ(nest.tile, 1) << kind;
  }
}

}  // namespace
}  // namespace kiln
