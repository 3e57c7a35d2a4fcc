#include "kiln/search/space/replay_tree.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/base/random.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((64, 48), "float32")):
    for i, j in T.grid(64, 48):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
)";

// The tiles of o depend on x; 5 does not divide 48, which a later step refuses.
constexpr char kChoices[] = R"(
    x = sch.sample_categorical([2, 3, 5], [0.4, 0.3, 0.3])
    o, n = sch.split(j, [None, x])
    t = sch.sample_perfect_tile(o, n=2)
    p, q = sch.split(o, t)
    y = sch.sample_categorical([0, 1], [0.5, 0.5])
    u = sch.sample_perfect_tile(i, n=3, max_innermost_factor=64)
    a, b, c = sch.split(i, u)
    sch.unroll(n)
    sch.vectorize(sch.fuse(p, q))
)";

class ReplayTreeTest : public testing::Test {
 protected:
  ReplayTree Read(const std::string& body,
                  size_t capacity = ReplayTree::kCapacity) {
    Schedule sch(module_);
    KILN_EXPECT_OK(
        RunScript(python::Source("s.py",
                                 "def s(sch):\n    b = sch.get_block(\"B\")\n"
                                 "    i, j = sch.get_loops(b)\n" +
                                     body),
                  &sch));
    made_ = GetDecisions(sch.trace());
    return ReplayTree(sch.trace(), State(module_), 0, capacity);
  }

  Module module_ = *ParseModule("p.py", kProgram);
  Decisions made_;
};

// The program and the choices, or the refusal.
std::string Outcome(const ReplayTree& tree, const Decisions& wanted,
                    uint64_t seed) {
  Decisions made;
  const absl::StatusOr<ScheduledProgram> program =
      tree.Replay(wanted, seed, &made);
  if (!program.ok()) return program.status().ToString();
  std::string text = program->hash;
  for (const Decision& decision : made) {
    text += " ";
    for (const int64_t value : decision) text += std::to_string(value) + ",";
  }
  return text;
}

TEST_F(ReplayTreeTest, ChoicesThatFitNoMoreAreDrawnAnew) {
  const ReplayTree tree = Read(
      "    x = sch.sample_categorical([2, 3], [0.5, 0.5])\n"
      "    o, n = sch.split(j, [None, x])\n"
      "    t = sch.sample_perfect_tile(o, n=2)\n"
      "    sch.split(o, t)\n");
  made_[2] = {1};      // j is split by 3 now
  made_[4] = {12, 2};  // which was right for 2
  Decisions made;
  KILN_EXPECT_OK(tree.Replay(made_, 5, &made));
  EXPECT_EQ(made[2], Decision{1});
  EXPECT_EQ(made[4][0] * made[4][1], 16);
}

TEST_F(ReplayTreeTest, WhatTheAuthorDecidedIsNotRepaired) {
  const ReplayTree tree =
      Read("    t = sch.sample_perfect_tile(i, n=2, decision=[8, 8])\n");
  made_[2] = {7, 7};
  Decisions made;
  EXPECT_FALSE(tree.Replay(made_, 5, &made).ok());
}

TEST_F(ReplayTreeTest, AgreesWithReplayFromTheStart) {
  const ReplayTree tree = Read(kChoices);
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Decisions made;
    const auto program = tree.Replay(tree.open(), seed, &made);
    State state(module_);
    Decisions expected;
    const absl::Status status =
        Replay(tree.trace(), 0, tree.trace().instructions.size(), tree.open(),
               seed, &state, &expected);
    ASSERT_EQ(program.status().ToString(), status.ToString());
    if (!program.ok()) continue;
    ASSERT_EQ(made, expected);
    ASSERT_TRUE(StructurallyEqual(*program->function, *state.functions[0]));
  }
}

TEST_F(ReplayTreeTest, WhatIsKnownMakesNoDifference) {
  const uint64_t start = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(start));
  const ReplayTree full = Read(kChoices), none = Read(kChoices, 0),
                   small = Read(kChoices, 7);
  Decisions wanted = full.open();
  for (uint64_t seed = start; seed < start + 300; ++seed) {
    Random random(seed);
    Decisions made;
    if (none.Replay(wanted, seed, &made).ok()) wanted = made;
    // Some choices are open, and some are those of the one before.
    for (Decision& decision : wanted) {
      if (random.Below(3) == 0) decision.clear();
    }
    const std::string expected = Outcome(none, wanted, seed);
    ASSERT_EQ(Outcome(full, wanted, seed), expected);
    ASSERT_EQ(Outcome(small, wanted, seed), expected);
  }
  EXPECT_EQ(none.size(), 0u);
  EXPECT_LE(small.size(), 7u);
  EXPECT_GT(full.size(), 7u);
}

TEST_F(ReplayTreeTest, ThreadsMayReplayAtTheSameTime) {
  const ReplayTree shared = Read(kChoices, 50), alone = Read(kChoices);
  std::vector<std::string> outcomes(400);
  ThreadPool pool(ThreadPool::Options{.num_threads = 4});
  pool.ParallelFor(static_cast<int64_t>(outcomes.size()),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       outcomes[i] = Outcome(shared, shared.open(), i % 100);
                     }
                     return 0;
                   });
  for (size_t i = 0; i < outcomes.size(); ++i) {
    ASSERT_EQ(outcomes[i], Outcome(alone, alone.open(), i % 100));
  }
}

TEST_F(ReplayTreeTest, ATraceWithoutChoicesIsOneProgram) {
  const ReplayTree tree = Read("    sch.vectorize(j)\n");
  Decisions made;
  KILN_ASSERT_OK_AND_ASSIGN(const ScheduledProgram a,
                            tree.Replay({}, 1, &made));
  KILN_ASSERT_OK_AND_ASSIGN(const ScheduledProgram b,
                            tree.Replay({}, 2, &made));
  EXPECT_EQ(a.function, b.function);
  EXPECT_EQ(made.size(), tree.trace().instructions.size());
}

}  // namespace
}  // namespace kiln
