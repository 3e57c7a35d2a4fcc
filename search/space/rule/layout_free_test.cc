// Constant arguments laid out ahead: whatever the program, its two parts
// together compute what it computes.
#include "kiln/ir/tensor/layout_free.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/testing/compare.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/split_preparation.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/rewrite/index_map.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"
#include "kiln/search/space/trace_space.h"

namespace kiln {
namespace {

using Random = std::mt19937_64;

int Draw(Random& random, size_t count) {
  return static_cast<int>(random() % std::max<size_t>(count, 1));
}

// Runs the half on the tensors at `positions`.
absl::Status RunHalf(const Function& half, const std::vector<int>& positions,
                     std::vector<Tensor>* all) {
  std::vector<Tensor> args;
  for (int at : positions) args.push_back((*all)[at]);
  KILN_RETURN_IF_ERROR(Interpret(half, args));
  for (size_t i = 0; i < args.size(); ++i) (*all)[positions[i]] = args[i];
  return absl::OkStatus();
}

// Whether both parts of `scheduled` compute what `original` computes.
absl::Status CheckInTwo(const Function& original, const Function& scheduled,
                        uint64_t seed) {
  KILN_ASSIGN_OR_RETURN(const SplitFunction split, SplitPreparation(scheduled));
  std::vector<Tensor> expected = RandomInputs(original, seed);
  std::vector<Tensor> all = expected;
  for (const Buffer& buffer : split.prepared) {
    std::vector<int64_t> shape;
    for (const Expr& extent : buffer->shape) shape.push_back(*AsInt(extent));
    all.emplace_back(buffer->dtype, shape);
  }
  KILN_RETURN_IF_ERROR(Interpret(original, expected));
  KILN_RETURN_IF_ERROR(RunHalf(split.prepare, split.prepare_args, &all));
  KILN_RETURN_IF_ERROR(RunHalf(split.main, split.main_args, &all));
  for (size_t i = 0; i < expected.size(); ++i) {
    KILN_RETURN_IF_ERROR(CompareTensors(all[i], expected[i]));
  }
  return absl::OkStatus();
}

// Dimensions in another order, the last one perhaps in pieces.
IndexMap RandomMap(size_t dims, Random& random) {
  IndexMap map;
  for (size_t i = 0; i < dims; ++i) {
    map.inputs.push_back(Var("d" + std::to_string(i)));
    map.outputs.push_back(map.inputs.back());
  }
  std::shuffle(map.outputs.begin(), map.outputs.end(), random);
  if (dims == 0 || Draw(random, 2) == 0) return map;
  const Expr last = map.outputs.back(), piece = Int(2 + Draw(random, 4));
  map.outputs.back() = FloorMod(last, piece);
  map.outputs.insert(map.outputs.begin() + Draw(random, dims),
                     FloorDiv(last, piece));
  return map;
}

// Packs some read of a layout-free parameter in another layout; false where a
// step is refused.
bool PackRead(Random& random, Schedule* sch) {
  const Function& f = *sch->state().functions[0];
  const std::vector<std::string> names = RootBlocks(f);
  const std::string name = names[Draw(random, names.size())];
  const absl::StatusOr<Rv> block = sch->GetBlock(name, "main");
  if (!block.ok()) return false;
  const auto info = DescribeBlock(f, name);
  if (!info || info->reads.empty()) return false;
  const ReadInfo& read = info->reads[Draw(random, info->reads.size())];
  if (!read.layout_free) return false;
  Schedule trial = *sch;
  const absl::StatusOr<Rv> copy = trial.CacheRead(*block, read.index, "global");
  if (!copy.ok() ||
      !trial
           .TransformLayout(*copy, Schedule::Side::kWrite, 0,
                            RandomMap(read.dims(), random), 0.0)
           .ok() ||
      !trial.Annotate(*copy, kLayoutPreparation, true).ok()) {
    return false;
  }
  *sch = std::move(trial);
  return true;
}

TEST(LayoutFreeTest, RandomProgramsComputeTheSameInTwo) {
  int checked = 0;
  for (uint64_t seed = 0; seed < 250; ++seed) {
    Random random(seed);
    Function f = RandomProgram(seed);
    std::vector<int> constants;
    for (size_t i = 0; i < f.params.size(); ++i) {
      if (Draw(random, 3) > 0) constants.push_back(static_cast<int>(i));
    }
    SetLayoutFree(&f, constants);
    if (!VerifyFunction(f).ok()) continue;  // an output is among them
    Module module;
    module.functions.push_back(f);
    Schedule sch(module);
    int packed = 0;
    for (int i = 0; i < 4; ++i) packed += PackRead(random, &sch);
    if (packed == 0) continue;
    const Function& scheduled = *sch.state().functions[0];
    const absl::Status same = CheckInTwo(f, scheduled, seed);
    EXPECT_TRUE(same.ok()) << same << "\nseed " << seed << "\n"
                           << PrintFunction(scheduled);
    ++checked;
  }
  EXPECT_GE(checked, 20);
}

class LayoutFreeWorkloadTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LayoutFreeWorkloadTest, RulesLayOutWeightsAhead) {
  const Module module = *MakeWorkload(GetParam());
  TraceSpace space(module, 0);
  for (const Schedule& sch : ApplyRules(module, CpuRules(), RuleContext{})) {
    space.Add(sch.trace());
  }
  int ahead = 0, drawn = 0;
  for (uint64_t i = 0; i < 6; ++i) {
    const absl::StatusOr<Candidate> candidate = space.Sample(11, i);
    if (!candidate.ok()) continue;
    ++drawn;
    if (!HasPreparation(candidate->scheduled)) continue;
    ++ahead;
    const absl::Status same =
        CheckInTwo(module.functions[0], candidate->scheduled, 5 + i);
    EXPECT_TRUE(same.ok()) << same << space.TraceText(candidate->point);
  }
  EXPECT_GT(drawn, 0);
  EXPECT_EQ(ahead, drawn) << "weights that are free are always laid out ahead";
}

INSTANTIATE_TEST_SUITE_P(Workloads, LayoutFreeWorkloadTest,
                         ::testing::Values("gmm:9,50,11:layout_free",
                                           "gmm:1,1030,257:layout_free",
                                           "c1d:9,5,40,3,1,1:layout_free",
                                           "c2d:3,3,4,40,3,1,1:layout_free",
                                           "c3d:2,3,3,2,20,2,1,1:layout_free",
                                           "grp:3,3,8,64,3,1,1,4:layout_free",
                                           "dil:5,5,2,36,2,1,1,2:layout_free",
                                           "t2d:3,3,3,32,4,2,1:layout_free",
                                           "cap:3,4,2,18,2,1,1:layout_free",
                                           "cbr:3,3,4,40,3,1,1:layout_free"));

}  // namespace
}  // namespace kiln
