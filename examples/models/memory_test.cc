// What compiled models plan for intermediate tensors, beside the largest sum of
// those that are needed at one time.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/examples/models/catalog.h"
#include "kiln/examples/models/graph_module.h"
#include "kiln/examples/models/weights.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/ops/memory_call.h"
#include "kiln/ir/transform/graph/arena.h"
#include "kiln/ir/transform/graph/memory_lives.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/ir/transform/graph/plan_memory.h"
#include "kiln/tools/support/model.h"

namespace kiln::models {
namespace {

constexpr int64_t kLeastBytes = 64 << 10;

int64_t BytesOf(const graph::StructInfo& info) {
  const auto* tensor = info.As<graph::TensorInfo>();
  if (!tensor || !tensor->extents()) return 0;
  int64_t bytes = tensor->dtype.bytes();
  for (const Expr& extent : *tensor->extents()) bytes *= *AsInt(extent);
  return bytes;
}

// Of the large tensors of a sequence that are not its result. Those that are
// written in place of others have one life together.
std::vector<MemoryLife> LivesIn(const graph::SeqNode& seq,
                                const Module& module) {
  const std::map<size_t, AllocatedLife> lives = LivesOf(seq, module);
  std::vector<MemoryLife> found;
  std::map<size_t, size_t> numbers;  // of the lives found, by places
  size_t at = 0;
  for (const graph::BindingBlock& block : seq.blocks) {
    for (const graph::Binding& binding : block.bindings) {
      const auto life = lives.find(at);
      const int64_t bytes = BytesOf(binding.var->info);
      if (IsTensorAllocation(binding.value) && bytes >= kLeastBytes &&
          !life->second.is_result) {
        const auto before = life->second.in_place_of;
        if (before && numbers.count(*before) > 0) {
          numbers[at] = numbers[*before];
          found[numbers[at]].last = life->second.last_use;
        } else {
          numbers[at] = found.size();
          found.push_back({at, life->second.last_use, bytes});
        }
      }
      ++at;
    }
  }
  return found;
}

int64_t PlannedBytes(const graph::Expr& body) {
  int64_t bytes = 0;
  graph::Visit(body, [&](const graph::Expr& e) {
    const auto* call = e.As<graph::CallNode>();
    if (call && call->IsOp("memory.alloc_storage")) {
      bytes += *AsInt(call->args[0].As<graph::ShapeNode>()->values[0]);
    }
    return true;
  });
  return bytes;
}

class MemoryTest : public testing::TestWithParam<std::string> {};

TEST_P(MemoryTest, IsAtMostATenthMoreThanWhatIsNeededAtOnce) {
  KILN_ASSERT_OK_AND_ASSIGN(const RequestedModel model,
                            MakeModel({.name = GetParam()}));
  Weights weights(1);
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module module,
      ToModule(model.net, weights, {.weights_are_params = true}));
  KILN_ASSERT_OK_AND_ASSIGN(const Module prepared, PrepareModel(module));
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module lowered,
      RunGraphPasses(prepared, {"lower_call_tir", "infer"}));
  KILN_ASSERT_OK_AND_ASSIGN(const Module planned,
                            PlanMemory(lowered, {.least_bytes = kLeastBytes,
                                                 .joins_storages = true}));
  const auto& body = lowered.FindGraph("main")->body;
  const int64_t needed =
      LargestLiveSum(LivesIn(*body.As<graph::SeqNode>(), lowered));
  const int64_t taken = PlannedBytes(planned.FindGraph("main")->body);
  RecordProperty("needed", std::to_string(needed));
  RecordProperty("taken", std::to_string(taken));
  EXPECT_GE(taken, needed);
  EXPECT_LE(taken, needed + needed / 10);
}

INSTANTIATE_TEST_SUITE_P(Models, MemoryTest, testing::ValuesIn(ModelNames()));

}  // namespace
}  // namespace kiln::models
