// Schedules without a measurement: named workloads and programs of symbolic
// extents compute the same, their traces lead there, and the estimate is the
// best of what was drawn.
#include "kiln/search/task/default_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/dims.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/cost/analytic.h"
#include "kiln/search/feature/summary.h"
#include "kiln/search/space/rule/testing.h"
#include "kiln/search/space/trace_space.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

ThreadPool& Pool() {
  static ThreadPool pool({.num_threads = 2});
  return pool;
}

absl::StatusOr<DefaultSchedule> Default(
    const Module& module, const DefaultScheduleOptions& options = {},
    ThreadPool* pool = &Pool()) {
  return ScheduleByDefault(module, 0, Machine{.vectors = kAvx512Registers}, 2,
                           pool, options);
}

class DefaultScheduleTest : public testing::TestWithParam<const char*> {};

TEST_P(DefaultScheduleTest, ComputesTheSame) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload(GetParam()));
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                            Default(module, {.draws = 32}));
  KILN_EXPECT_OK(
      CheckCloseResults(module.functions[0], best.scheduled, /*seed=*/3));
}

TEST_P(DefaultScheduleTest, ItsTraceLeadsThere) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload(GetParam()));
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                            Default(module, {.draws = 32}));
  KILN_ASSERT_OK_AND_ASSIGN(const Function replayed,
                            ReplayTrace(module, 0, best.trace));
  EXPECT_EQ(CanonicalForm(replayed), CanonicalForm(best.scheduled));
}

INSTANTIATE_TEST_SUITE_P(Workloads, DefaultScheduleTest,
                         testing::Values("gmm:19,37,23", "c1d:21,5,20,3,2,1",
                                         "dep:9,11,20,3,1,1", "nrm:19,21",
                                         "sfm:9,35", "t2d:4,4,6,18,4,2,1"));

TEST(DefaultScheduleTest, IsEstimatedFarBelowTheProgramAsItStands) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            MakeWorkload("gmm:512,512,512"));
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best, Default(module));
  const double plain =
      EstimateTime(Summarize(module.functions[0]), Machine{}, 2).seconds;
  EXPECT_LT(best.seconds, plain / 8);
}

TEST(DefaultScheduleTest, IsTheSameOnAnyNumberOfThreads) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload("sfm:64,96"));
  ThreadPool one({.num_threads = 1});
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule a, Default(module));
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule b, Default(module, {}, &one));
  EXPECT_EQ(a.trace, b.trace);
}

TEST(DefaultScheduleTest, MoreDrawsAreNeverEstimatedToBeSlower) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload("gmm:96,64,80"));
  double last = 1;
  for (int draws : {1, 4, 16, 64}) {
    KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                              Default(module, {.draws = draws}));
    EXPECT_LE(best.seconds, last) << draws;
    last = best.seconds;
  }
}

constexpr char kNothingToDo[] = R"(
@T.prim_func
def main(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")):
    with T.block("B"):
        vi = T.axis.spatial(1, 0)
        B[vi] = A[vi]
)";

TEST(DefaultScheduleTest, AFunctionThatNoRuleChangesStaysAsItIs) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            ParseModule("copy.py", kNothingToDo));
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best, Default(module));
  KILN_EXPECT_OK(CheckCloseResults(module.functions[0], best.scheduled, 1));
}

// Blocks over dimensions that are known when a function is called.
constexpr char kSymbolicRows[] = R"(
@T.prim_func
def main(a: T.handle, B: T.Buffer((24, 36), "float32"), c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 24), "float32")
    C = T.match_buffer(c, (n, 36), "float32")
    S = T.alloc_buffer((n, 36), "float32")
    for i, j, k in T.grid(n, 36, 24):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                S[vi, vj] = T.float32(0)
            S[vi, vj] = S[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(n, 36):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(S[vi, vj], T.float32(0))
)";

constexpr char kSymbolicSquare[] = R"(
@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (m, n), "float32")
    C = T.match_buffer(c, (n, n), "float32")
    for i, j, k in T.grid(n, n, m):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

// Of attention: panels of columns, whose number is open.
constexpr char kSymbolicScores[] = R"(
@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 3, 24), "float32")
    B = T.match_buffer(b, (n, 3, 24), "float32")
    C = T.match_buffer(c, (3, n, n), "float32")
    for h, i, j, k in T.grid(3, n, n, 24):
        with T.block("C"):
            vh, vi, vj, vk = T.axis.remap("SSSR", [h, i, j, k])
            with T.init():
                C[vh, vi, vj] = T.float32(0)
            C[vh, vi, vj] = C[vh, vi, vj] + A[vi, vh, vk] * B[vj, vh, vk]
)";

constexpr char kSymbolicSoftmax[] = R"(
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (3, n), "float32")
    C = T.match_buffer(c, (3, n), "float32")
    M = T.alloc_buffer((3,), "float32")
    S = T.alloc_buffer((3,), "float32")
    for i, k in T.grid(3, n):
        with T.block("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                M[vi] = T.float32(-3e38)
            M[vi] = T.max(M[vi], A[vi, vk])
    for i, k in T.grid(3, n):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + T.exp(A[vi, vk] - M[vi])
    for i, j in T.grid(3, n):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.exp(A[vi, vj] - M[vi]) / S[vi]
)";

// Windows of 3: there is no row where n is 1 or 2.
constexpr char kSymbolicImage[] = R"(
@T.prim_func
def main(a: T.handle, W: T.Buffer((3, 3, 4, 20), "float32"), c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, n, 9, 4), "float32")
    C = T.match_buffer(c, (n, n - 2, 7, 20), "float32")
    for b, y, x, o, r, s, i in T.grid(n, n - 2, 7, 20, 3, 3, 4):
        with T.block("C"):
            vb, vy, vx, vo, vr, vs, vi = T.axis.remap("SSSSRRR", [b, y, x, o, r, s, i])
            with T.init():
                C[vb, vy, vx, vo] = T.float32(0)
            C[vb, vy, vx, vo] = C[vb, vy, vx, vo] + A[vb, vy + vr, vx + vs, vi] * W[vr, vs, vi, vo]
)";

Function WithDims(const Function& f, int64_t size) {
  VarMap map;
  for (const Var& dim : SymbolicDims(f)) {
    map[dim.get()] = Int(size++, dim.dtype());
  }
  return SubstituteDims(f, map);
}

// Attention of n rows of two heads.
constexpr char kSymbolicAttention[] = R"(
@T.prim_func
def main(q: T.handle, k: T.handle, v: T.handle, y: T.handle):
    n = T.int64()
    Q = T.match_buffer(q, (n, 2, 16), "float32")
    K = T.match_buffer(k, (n, 2, 16), "float32")
    V = T.match_buffer(v, (n, 2, 16), "float32")
    Y = T.match_buffer(y, (n, 2, 16), "float32")
    S = T.alloc_buffer((2, n, n), "float32")
    M = T.alloc_buffer((2, n), "float32")
    E = T.alloc_buffer((2, n, n), "float32")
    D = T.alloc_buffer((2, n), "float32")
    P = T.alloc_buffer((2, n, n), "float32")
    for h, i, j, k in T.grid(2, n, n, 16):
        with T.block("S"):
            vh, vi, vj, vk = T.axis.remap("SSSR", [h, i, j, k])
            with T.init():
                S[vh, vi, vj] = T.float32(0)
            S[vh, vi, vj] = S[vh, vi, vj] + Q[vi, vh, vk] * K[vj, vh, vk]
    for h, i, k in T.grid(2, n, n):
        with T.block("M"):
            vh, vi, vk = T.axis.remap("SSR", [h, i, k])
            with T.init():
                M[vh, vi] = T.float32(-1000)
            M[vh, vi] = T.max(M[vh, vi], S[vh, vi, vk])
    for h, i, j in T.grid(2, n, n):
        with T.block("E"):
            vh, vi, vj = T.axis.remap("SSS", [h, i, j])
            E[vh, vi, vj] = T.exp(S[vh, vi, vj] - M[vh, vi])
    for h, i, k in T.grid(2, n, n):
        with T.block("D"):
            vh, vi, vk = T.axis.remap("SSR", [h, i, k])
            with T.init():
                D[vh, vi] = T.float32(0)
            D[vh, vi] = D[vh, vi] + E[vh, vi, vk]
    for h, i, j in T.grid(2, n, n):
        with T.block("P"):
            vh, vi, vj = T.axis.remap("SSS", [h, i, j])
            P[vh, vi, vj] = E[vh, vi, vj] / D[vh, vi]
    for i, h, v, k in T.grid(n, 2, 16, n):
        with T.block("Y"):
            vi, vh, vv, vk = T.axis.remap("SSSR", [i, h, v, k])
            with T.init():
                Y[vi, vh, vv] = T.float32(0)
            Y[vi, vh, vv] = Y[vi, vh, vv] + P[vh, vi, vk] * V[vk, vh, vv]
)";

// Whether calls of some sizes take another branch.
bool IsDispatched(const Function& f) {
  return f.root().body.As<IfNode>() != nullptr;
}

// What a call takes of a function whose dimensions are numbers.
Function TakenBranch(Function f) {
  if (!IsDispatched(f)) return f;
  const auto* branches = f.root().body.As<IfNode>();
  BlockFields root = f.root().fields();
  const bool is_first = Analyzer().CanProve(branches->condition);
  root.body = is_first ? branches->then_case : branches->else_case;
  f.body = MakeRealize({}, Bool(true), MakeBlock(std::move(root)));
  return f;
}

class SymbolicScheduleTest : public testing::TestWithParam<const char*> {};

TEST_P(SymbolicScheduleTest, ComputesTheSameAtAllSizes) {
  const Module module = ParseProgram(GetParam());
  const Function& f = module.functions[0];
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                            Default(module, {.draws = 32}));
  EXPECT_FALSE(SymbolicDims(best.scheduled).empty());
  for (int64_t size : {3, 4, 5, 7, 8, 16, 17, 33}) {
    SCOPED_TRACE(size);
    KILN_EXPECT_OK(CheckCloseResults(WithDims(f, size),
                                     WithDims(best.scheduled, size), size));
  }
  KILN_ASSERT_OK_AND_ASSIGN(const Function replayed,
                            ReplayTrace(module, 0, best.trace));
  if (IsDispatched(best.scheduled)) {
    KILN_EXPECT_OK(CheckCloseResults(WithDims(f, 9), WithDims(replayed, 9), 1));
  } else {
    EXPECT_EQ(CanonicalForm(replayed), CanonicalForm(best.scheduled));
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, SymbolicScheduleTest,
                         testing::Values(kSymbolicRows, kSymbolicSquare,
                                         kSymbolicScores, kSymbolicSoftmax,
                                         kSymbolicImage, kSymbolicAttention));

// Some rows go through both products at a time, at all sizes but small ones.
TEST(SymbolicAttentionTest, ScoresOfSomeRowsAreHeldAtATime) {
  const Machine machine{
      .cores = 2, .vectors = kAvxRegisters, .all_gflops = 100};
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                            ScheduleByDefault(ParseProgram(kSymbolicAttention),
                                              0, machine, 2, &Pool()));
  EXPECT_THAT(best.trace, HasSubstr("pad_einsum"));
}

bool RunsInParallel(const Function& f) {
  bool found = false;
  Visit(f.body, [&](const Stmt& s) {
    const auto* loop = s.As<ForNode>();
    found |= loop && loop->for_kind == ForKind::kParallel;
    return !found;
  });
  return found;
}

// Those of known extents that are over before a thread is launched do not, and
// some of the sizes at which others are scheduled are of this kind.
TEST_P(SymbolicScheduleTest, RunsInParallelAtAllSizes) {
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                            Default(ParseProgram(GetParam()), {.draws = 32}));
  EXPECT_TRUE(RunsInParallel(best.scheduled));
}

TEST(DefaultScheduleTest, ShortCallsStayOnOneThread) {
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                            Default(*MakeWorkload("den:1,96,4")));
  EXPECT_FALSE(RunsInParallel(best.scheduled));
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule longer,
                            Default(*MakeWorkload("den:64,256,256")));
  EXPECT_TRUE(RunsInParallel(longer.scheduled));
}

TEST(SymbolicScheduleTest, IsCloseToThatOfKnownSizes) {
  for (const char* text : {kSymbolicRows, kSymbolicScores}) {
    const Module module = ParseProgram(text);
    KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule any, Default(module));
    for (int64_t size : {64, 128}) {
      Module known = module;
      known.functions[0] = WithDims(known.functions[0], size);
      KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best, Default(known));
      const Machine machine{.vectors = kAvx512Registers};
      const Function taken = TakenBranch(WithDims(any.scheduled, size));
      EXPECT_LT(EstimateTime(Summarize(taken), machine, 2).seconds,
                2 * best.seconds)
          << text << size;
    }
  }
}

TEST(DefaultScheduleTest, WhatEstimatesDoNotSeeIsAdded) {
  const Module module = *MakeWorkload("dep:9,11,20,3,1,1");
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule plain, Default(module));
  int asked = 0;
  const auto slow = [&](const Function& scheduled) {
    ++asked;
    return CanonicalForm(scheduled) == CanonicalForm(plain.scheduled) ? 1.0 : 0;
  };
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule other,
                            Default(module, {.unseen_seconds = slow}));
  EXPECT_NE(other.trace, plain.trace);
  EXPECT_GE(other.seconds, plain.seconds);
  EXPECT_GE(asked, 2);
  EXPECT_LE(asked, 16);
}

TEST(DefaultScheduleTest, OnlyWhatMayBeFasterIsLookedAtAgain) {
  int asked = 0;
  const auto same = [&](const Function&) {
    ++asked;
    return 1e-9;
  };
  KILN_ASSERT_OK_AND_ASSIGN(
      const DefaultSchedule best,
      Default(*MakeWorkload("gmm:512,512,512"), {.unseen_seconds = same}));
  EXPECT_EQ(asked, 1);
}

class RefusingSpace : public Space {
 public:
  absl::StatusOr<Candidate> Sample(uint64_t, uint64_t index) const override {
    return absl::FailedPreconditionError(absl::StrCat("refusal ", index));
  }
  absl::StatusOr<Candidate> At(const Point&) const override {
    return Sample(0, 0);
  }
  absl::StatusOr<Candidate> Mutate(const Point&, uint64_t) const override {
    return Sample(0, 0);
  }
  absl::StatusOr<Candidate> Cross(const Point&, const Point&,
                                  uint64_t) const override {
    return Sample(0, 0);
  }
  std::string TraceText(const Point&) const override { return ""; }
  std::string DecisionText(const Point&) const override { return ""; }
  std::optional<Point> Locate(const std::string&) const override {
    return std::nullopt;
  }
};

TEST(DefaultScheduleTest, SaysWhyNothingAppliesInASpaceOfRefusals) {
  EXPECT_THAT(
      BestEstimated(RefusingSpace(), Machine{}, 1, &Pool(), {.draws = 3})
          .status(),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("refusal 2")));
}

}  // namespace
}  // namespace kiln
