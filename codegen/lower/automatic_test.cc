// What lowering adds to a schedule, and that a function can forbid it.
#include "kiln/ir/tensor/automatic.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

constexpr VectorRegisters kFiles[] = {kSseRegisters, kAvxRegisters,
                                      kAvx512Registers, kNeonRegisters};

// A product in scheduled loops, without conditions: its inner loops are what
// `rows` and `inner` say, such as "T.vectorized(8)".
Function Product(const std::string& rows, const std::string& inner) {
  const auto f = ParseFunction("f.py", absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((32, 40), "float32"), B: T.Buffer((40, 64), "float32"), C: T.Buffer((32, 64), "float32")):
    for i_0 in T.parallel(8):
        for j_0 in range(8):
            for i_1 in $0:
                for j_1 in $1:
                    with T.block("C_init"):
                        vi = T.axis.spatial(32, i_0 * 4 + i_1)
                        vj = T.axis.spatial(64, j_0 * 8 + j_1)
                        C[vi, vj] = T.float32(0)
            for k in range(40):
                for i_1 in $0:
                    for j_1 in $1:
                        with T.block("C"):
                            vi = T.axis.spatial(32, i_0 * 4 + i_1)
                            vj = T.axis.spatial(64, j_0 * 8 + j_1)
                            vk = T.axis.reduce(40, k)
                            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)",
                                                        rows, inner));
  KILN_EXPECT_OK(f.status());
  return f.ok() ? *f : Function();
}

Function NotAuto(Function f) {
  SetAuto(&f, false);
  return f;
}

absl::StatusOr<Function> LowerFor(const Function& f,
                                  const VectorRegisters& vectors,
                                  const std::string& stop_after = "") {
  LowerOptions options;
  options.machine.vectors = vectors;
  options.stop_after = stop_after;
  return Lower(f, options);
}

// The extents of the loops, outermost first.
std::vector<int64_t> Loops(const Stmt& s) {
  std::vector<int64_t> extents;
  Visit(s, [&](const Stmt& x) {
    const auto* loop = x.As<ForNode>();
    if (loop) extents.push_back(*AsInt(loop->extent));
    return true;
  });
  return extents;
}

// Lanes of the widest store.
int WidestStore(const Stmt& s) {
  int lanes = 1;
  Visit(s, [&](const Stmt& x) {
    const auto* store = x.As<StoreNode>();
    if (store) lanes = std::max(lanes, store->indices[0].dtype().lanes());
    return true;
  });
  return lanes;
}

bool Allocates(const Stmt& s) {
  bool found = false;
  Visit(s, [&](const Stmt& x) {
    found |= x.kind() == StmtKind::kAllocate;
    return true;
  });
  return found;
}

TEST(AutomaticTest, WhatTheScheduleSaysIsWhatIsLowered) {
  struct Case {
    const char *rows, *inner;
    std::vector<int64_t> loops;
    int lanes;
  };
  const Case cases[] = {
      {"range(4)", "range(8)", {8, 8, 4, 8, 40, 4, 8}, 1},
      {"T.unroll(4)", "range(8)", {8, 8, 8, 8, 8, 8, 40, 8, 8, 8, 8}, 1},
      {"range(4)", "T.vectorized(8)", {8, 8, 4, 40, 4}, 8},
      {"T.unroll(4)", "T.vectorized(8)", {8, 8, 40}, 8},
      {"T.unroll(4)", "T.unroll(8)", {8, 8, 40}, 1},
  };
  for (const Case& c : cases) {
    const Function f = NotAuto(Product(c.rows, c.inner));
    for (const VectorRegisters& vectors : kFiles) {
      KILN_ASSERT_OK_AND_ASSIGN(const Function lowered, LowerFor(f, vectors));
      const std::string text = PrintFunction(lowered);
      EXPECT_EQ(Loops(lowered.body), c.loops) << text;
      EXPECT_EQ(WidestStore(lowered.body), c.lanes) << text;
      EXPECT_FALSE(Allocates(lowered.body)) << text;
      KILN_EXPECT_OK(lower::CompareMeaning(f, lowered, 1));
    }
  }
}

TEST(AutomaticTest, WithoutTheAttributeRegistersAreFilled) {
  const Function f = Product("range(4)", "range(8)");
  for (const VectorRegisters& vectors : kFiles) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function lowered, LowerFor(f, vectors));
    EXPECT_GT(WidestStore(lowered.body), 1) << PrintFunction(lowered);
  }
}

// Rows of B are 2,240 bytes, in all sets of the first cache and in 140 pages.
TEST(AutomaticTest, AGoodTileStaysHoweverManyPagesItsRowsLieIn) {
  const auto f = ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((140, 256), "float32"), B: T.Buffer((256, 560), "float32"), C: T.Buffer((140, 560), "float32")):
    for j_0, i_0 in T.grid(35, 35):
        for k in range(256):
            for i_1 in T.unroll(4):
                for j_1 in T.vectorized(16):
                    with T.block("C"):
                        vi = T.axis.spatial(140, i_0 * 4 + i_1)
                        vj = T.axis.spatial(560, j_0 * 16 + j_1)
                        vk = T.axis.reduce(256, k)
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
  KILN_ASSERT_OK(f.status());
  KILN_ASSERT_OK_AND_ASSIGN(const Function tiled,
                            LowerFor(*f, kAvxRegisters, "auto"));
  KILN_ASSERT_OK_AND_ASSIGN(const Function plain,
                            LowerFor(NotAuto(*f), kAvxRegisters, "auto"));
  EXPECT_EQ(Loops(tiled.body), Loops(plain.body)) << PrintFunction(tiled);
}

TEST(AutomaticTest, UnrollingThatAPragmaAsksForIsDone) {
  Function f = NotAuto(Product("range(4)", "range(8)"));
  f.body = Rewrite(f.body, [&](const Stmt& s) -> Stmt {
    const auto* loop = s.As<ForNode>();
    if (!loop || !IsConst(loop->extent, 40)) return nullptr;
    ForFields fields = loop->fields();
    fields.annotations["pragma_auto_unroll_max_step"] = Attr(Int(16));
    return MakeFor(std::move(fields));
  });
  KILN_ASSERT_OK_AND_ASSIGN(const Function lowered,
                            LowerFor(f, kAvx512Registers));
  EXPECT_EQ(Loops(lowered.body), std::vector<int64_t>({8, 8, 4, 8, 40, 4}));
}

// for k: C[0:16] = A[k, 0:16]
TEST(AutomaticTest, NothingIsPrefetched) {
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((512, 1024), "float32"), C: T.Buffer((16,), "float32")):
    for k in range(512):
        for j in T.vectorized(16):
            with T.block("C"):
                vj = T.axis.spatial(16, j)
                vk = T.axis.reduce(512, k)
                with T.init():
                    C[vj] = T.float32(0)
                C[vj] = C[vj] + A[vk, vj]
)"));
  for (const bool is_auto : {true, false}) {
    const Function g = is_auto ? f : NotAuto(f);
    KILN_ASSERT_OK_AND_ASSIGN(const Function lowered,
                              LowerFor(g, kAvx512Registers));
    const std::string text = PrintFunction(lowered);
    EXPECT_EQ(text.find("T.prefetch") != std::string::npos, is_auto) << text;
  }
}

TEST(AutomaticTest, TheStageIsOneGroupOfPassesThatLoweringCanStopAfter) {
  std::vector<std::string_view> names;
  for (const LowerPass& pass : LowerPasses()) {
    if (pass.stage == "auto") {
      EXPECT_EQ(pass.kind, PassKind::kAuto);
      names.push_back(pass.name);
    }
  }
  ASSERT_FALSE(names.empty());
  const std::vector<std::string> stages = LowerStages();
  EXPECT_EQ(absl::c_count(stages, "auto"), 1);
  const Function f = Product("range(4)", "range(8)");
  for (const Function& g : {f, NotAuto(f)}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function stage,
                              LowerFor(g, kAvx512Registers, "auto"));
    KILN_ASSERT_OK_AND_ASSIGN(
        const Function pass,
        LowerFor(g, kAvx512Registers, std::string(names.back())));
    EXPECT_EQ(PrintFunction(stage), PrintFunction(pass));
    KILN_ASSERT_OK_AND_ASSIGN(const Function all,
                              LowerFor(g, kAvx512Registers));
    EXPECT_NE(PrintFunction(stage), PrintFunction(all));
  }
}

TEST(AutomaticTest, PassesThatChooseAreLeftOut) {
  std::vector<std::string> ran;
  LowerOptions options;
  options.observe = [&](std::string_view pass, const Function&, double) {
    ran.push_back(std::string(pass));
  };
  KILN_ASSERT_OK(
      Lower(NotAuto(Product("range(4)", "range(8)")), options).status());
  for (const LowerPass& pass : LowerPasses()) {
    EXPECT_EQ(absl::c_linear_search(ran, pass.name),
              pass.kind != PassKind::kAuto)
        << pass.name;
  }
}

TEST(AutomaticTest, RandomTilingsKeepTheirMeaningWithoutIt) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 30; ++round) {
    lower::MatmulTiling t;
    t.m = 1 + pick(9), t.n = 1 + pick(40), t.k = 1 + pick(7);
    t.rows = 1 + pick(4), t.vectors = 1 + pick(3);
    t.lanes = int64_t{1} << pick(5);
    t.k_inner = 1 + pick(3);
    t.decompose = pick(2), t.local_accumulator = pick(2);
    t.row_loop = pick(2) ? ForKind::kParallel : ForKind::kSerial;
    t.tile_loop = pick(2) ? ForKind::kUnrolled : ForKind::kSerial;
    const Function f = NotAuto(lower::TiledMatmul(t));
    KILN_ASSERT_OK_AND_ASSIGN(const Function lowered,
                              LowerFor(f, kFiles[pick(4)]));
    KILN_ASSERT_OK(lower::CompareMeaning(f, lowered, seed));
  }
}

}  // namespace
}  // namespace kiln
