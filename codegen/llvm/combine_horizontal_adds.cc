// Four sums over the lanes of 16 floats take 3 additions of vectors and 3 of
// scalars each, 24 together, and each waits for the one before. Transposed in
// blocks of four lanes, they are 6 additions:
//
//   t[q] = z0[4q:4q+4], z1[4q:4q+4], z2[4q:4q+4], z3[4q:4q+4]    for q in 4
//   y = t[0] + t[1] + t[2] + t[3]          y of z0 in lanes 0 to 3, of z1 ..
//   s = y + (lane 1 of each block) + (lane 2 ..) + (lane 3 ..)
//   the sums are s[0], s[4], s[8], s[12]
//
// at the cost of 8 shuffles before and 3 between. In each lane the same numbers
// are added in the same order as before, so results stay the same to the last
// bit. A group of three repeats its last vector, and ignores that sum.
//
// Patterns are matched on LLVM IR from the result backwards. Each step between
// has to have no other use, since it goes.
#include "kiln/codegen/llvm/combine_horizontal_adds.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"

namespace kiln::codegen_internal {
namespace {

using llvm::Value;

constexpr int kBlock = 4;  // lanes
constexpr int kGroup = 4;  // sums at a time, at most
constexpr int kLeast = 3;  // at least: two are as fast on their own

struct LaneSum {
  llvm::Instruction* result;
  Value* vector;
  bool from_zero;  // the first block is added to zeros
};

llvm::BinaryOperator* AsAdd(Value* v) {
  auto* add = llvm::dyn_cast<llvm::BinaryOperator>(v);
  return add && add->getOpcode() == llvm::Instruction::FAdd ? add : nullptr;
}

// Lane `lane` of some vector of four, for nobody else.
Value* LaneSource(Value* v, int lane) {
  auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(v);
  if (!extract || !extract->hasOneUse()) return nullptr;
  auto* type =
      llvm::dyn_cast<llvm::FixedVectorType>(extract->getVectorOperandType());
  auto* index = llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand());
  const bool fits = type && type->getNumElements() == kBlock && index &&
                    index->equalsInt(lane);
  return fits ? extract->getVectorOperand() : nullptr;
}

// Block `block` of some vector, for nobody else.
Value* BlockSource(Value* v, int block) {
  auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(v);
  if (!shuffle || !shuffle->hasOneUse()) return nullptr;
  const llvm::ArrayRef<int> mask = shuffle->getShuffleMask();
  if (mask.size() != kBlock) return nullptr;
  for (int i = 0; i < kBlock; ++i) {
    if (mask[i] != block * kBlock + i) return nullptr;
  }
  return shuffle->getOperand(0);
}

// `v` as the sum of something and a part of a vector.
struct Step {
  Value* rest;
  Value* source;
};

std::optional<Step> AsStep(Value* v, Value* (*source)(Value*, int), int part) {
  llvm::BinaryOperator* add = AsAdd(v);
  if (!add) return std::nullopt;
  for (int i : {1, 0}) {
    if (Value* from = source(add->getOperand(i), part)) {
      return Step{add->getOperand(1 - i), from};
    }
  }
  return std::nullopt;
}

// Takes the sum of all `parts` of a vector, in order, apart: the vector is the
// source, and the summand before its second part the rest: the first part, or a
// sum that has the first part in it.
std::optional<Step> AsChain(Value* v, Value* (*source)(Value*, int),
                            int parts) {
  Step chain{v, nullptr};
  for (int part = parts - 1; part >= 1; --part) {
    if (part < parts - 1 && !chain.rest->hasOneUse()) return std::nullopt;
    const std::optional<Step> step = AsStep(chain.rest, source, part);
    if (!step || (chain.source && chain.source != step->source)) {
      return std::nullopt;
    }
    chain = *step;
  }
  return chain;
}

int BlocksOf(Value* vector) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(vector->getType());
  return type ? static_cast<int>(type->getNumElements()) / kBlock : 0;
}

// The sum of the four lanes of a vector that is itself one of blocks.
Value* FourLanes(llvm::Instruction& result) {
  const auto lanes = AsChain(&result, LaneSource, kBlock);
  if (!lanes || LaneSource(lanes->rest, 0) != lanes->source) return nullptr;
  return lanes->source->hasNUses(kBlock) ? lanes->source : nullptr;
}

std::optional<LaneSum> AsLaneSum(llvm::Instruction& result) {
  Value* four = FourLanes(result);
  if (!four) return std::nullopt;
  for (int parts : {4, 2}) {
    const auto chain = AsChain(four, BlockSource, parts);
    if (!chain || BlocksOf(chain->source) != parts) continue;
    if (BlockSource(chain->rest, 0) == chain->source) {
      return LaneSum{&result, chain->source, false};
    }
    const auto first = AsStep(chain->rest, BlockSource, 0);
    if (!first || first->source != chain->source || !chain->rest->hasOneUse()) {
      continue;
    }
    auto* start = llvm::dyn_cast<llvm::Constant>(first->rest);
    if (start && start->isNullValue()) {
      return LaneSum{&result, chain->source, true};
    }
  }
  return std::nullopt;
}

// A block of the first or of the second of two vectors.
struct Pick {
  int vector, block;
};

Value* Shuffle(llvm::IRBuilder<>& ir, Value* a, Value* b,
               absl::Span<const Pick> picks) {
  std::vector<int> mask;
  for (const Pick& pick : picks) {
    const int from = pick.vector * BlocksOf(a) + pick.block;
    for (int i = 0; i < kBlock; ++i) mask.push_back(from * kBlock + i);
  }
  return ir.CreateShuffleVector(a, b, mask);
}

// Of four vectors, their first blocks, their second blocks ..
std::vector<Value*> Transposed(llvm::IRBuilder<>& ir,
                               const std::array<Value*, kGroup>& z) {
  const auto halves = [&](int first, int block) {
    return BlocksOf(z[0]) == 2
               ? Shuffle(ir, z[first], z[first + 1], {{0, block}, {1, block}})
               : Shuffle(
                     ir, z[first], z[first + 1],
                     {{0, block}, {0, block + 1}, {1, block}, {1, block + 1}});
  };
  std::vector<Value*> out;
  if (BlocksOf(z[0]) == 2) {
    for (int block : {0, 1}) {
      out.push_back(Shuffle(ir, halves(0, block), halves(2, block),
                            {{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
    }
    return out;
  }
  for (int block : {0, 2}) {
    Value* const a = halves(0, block);
    Value* const b = halves(2, block);
    for (int odd : {0, 1}) {
      out.push_back(
          Shuffle(ir, a, b, {{0, odd}, {0, odd + 2}, {1, odd}, {1, odd + 2}}));
    }
  }
  return out;
}

// In the first lane of each block, the sum of its lanes.
Value* SumOfBlocks(llvm::IRBuilder<>& ir, Value* v) {
  Value* sum = v;
  for (int lane = 1; lane < kBlock; ++lane) {
    std::vector<int> mask;
    for (int i = 0; i < kGroup * kBlock; ++i) {
      mask.push_back(i / kBlock * kBlock + lane);
    }
    sum = ir.CreateFAdd(sum, ir.CreateShuffleVector(v, mask));
  }
  return sum;
}

void Join(absl::Span<const LaneSum> sums) {
  llvm::IRBuilder<> ir(sums[0].result);
  ir.setFastMathFlags(sums[0].result->getFastMathFlags());
  std::array<Value*, kGroup> vectors;
  for (size_t i = 0; i < kGroup; ++i) {
    vectors[i] = sums[std::min(i, sums.size() - 1)].vector;
  }
  const std::vector<Value*> blocks = Transposed(ir, vectors);
  Value* total = blocks[0];
  if (sums[0].from_zero) {
    total =
        ir.CreateFAdd(total, llvm::Constant::getNullValue(total->getType()));
  }
  for (size_t i = 1; i < blocks.size(); ++i) {
    total = ir.CreateFAdd(total, blocks[i]);
  }
  total = SumOfBlocks(ir, total);
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i].result->replaceAllUsesWith(
        ir.CreateExtractElement(total, i * kBlock));
  }
  for (const LaneSum& sum : sums) {
    llvm::RecursivelyDeleteTriviallyDeadInstructions(sum.result);
  }
}

// Whether all vectors are known before the first sum.
bool CanJoin(absl::Span<const LaneSum> sums) {
  const llvm::Instruction* first = sums[0].result;
  return std::all_of(sums.begin(), sums.end(), [&](const LaneSum& sum) {
    const auto* vector = llvm::dyn_cast<llvm::Instruction>(sum.vector);
    return !vector || vector->getParent() != first->getParent() ||
           vector->comesBefore(first);
  });
}

bool IsLike(const LaneSum& a, const LaneSum& b) {
  return a.vector->getType() == b.vector->getType() &&
         a.from_zero == b.from_zero;
}

// Groups of nearly the same size.
bool JoinRun(absl::Span<const LaneSum> run) {
  bool changed = false;
  for (size_t groups = (run.size() + kGroup - 1) / kGroup; groups > 0;
       --groups) {
    const size_t size = (run.size() + groups - 1) / groups;
    const auto group = run.subspan(0, size);
    run.remove_prefix(size);
    if (size < kLeast || !CanJoin(group)) continue;
    Join(group);
    changed = true;
  }
  return changed;
}

}  // namespace

bool CombineHorizontalAdds(llvm::Function& function) {
  bool changed = false;
  for (llvm::BasicBlock& code : function) {
    std::vector<std::vector<LaneSum>> runs;
    for (llvm::Instruction& instruction : code) {
      const std::optional<LaneSum> sum = AsLaneSum(instruction);
      if (!sum) continue;
      if (runs.empty() || !IsLike(runs.back()[0], *sum)) runs.emplace_back();
      runs.back().push_back(*sum);
    }
    for (const std::vector<LaneSum>& run : runs) changed |= JoinRun(run);
  }
  return changed;
}

}  // namespace kiln::codegen_internal
