// Loads of lanes that are a few elements apart, or of some lanes only: wide
// loads, from which shuffles choose. Of 8 lanes,
//
//   A[i:i + 16:2]   →  x = A[i:i + 8], y = A[i + 7:i + 15]
//                      x0 x2 x4 x6 y1 y3 y5 y7     (A[i + 15] may not exist)
//   A[i:i - 8:-1]   →  A[i - 7:i + 1] the other way round
//   if_then_else(v[0:8] < 3, A[i:i + 8], z)
//                   →  masked.load(A + i, v < 3, z)
//   if_then_else(v[0:8] < 3, A[i:i + 16:2], z)
//                   →  x, y = masked loads of A[i:i + 8] and of A[i + 8:i + 16]
//                      whose odd lanes are not chosen; then as above
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "kiln/codegen/llvm/emitter.h"
#include "kiln/codegen/lower/vector/near_lanes.h"

namespace kiln::codegen_internal {
namespace {

// So many lanes, which go `step` elements on from one to the next. Offsets are
// in elements, from that of lane 0.
struct Lanes {
  int count;
  int64_t step;

  int64_t Offset(int lane) const { return step * lane; }
  int64_t first() const { return std::min<int64_t>(0, Offset(count - 1)); }
  int64_t last() const { return std::max<int64_t>(0, Offset(count - 1)); }
  int loads() const { return static_cast<int>(std::abs(step)); }
  // Where load `i` begins. Together they read nothing behind the last element,
  // or where some lanes are `masked`, nothing twice.
  int64_t Start(int i, bool masked) const {
    const int64_t start = first() + static_cast<int64_t>(i) * count;
    return masked ? start : std::min(start, last() + 1 - count);
  }
};

// For each lane of the load from `start` on, the lane of `lanes` that it loads,
// or else lanes.count.
std::vector<int> LanesLoaded(const Lanes& lanes, int64_t start) {
  std::vector<int> loaded(lanes.count, lanes.count);
  for (int lane = 0; lane < lanes.count; ++lane) {
    const int64_t at = lanes.Offset(lane) - start;
    if (at >= 0 && at < lanes.count) loaded[at] = lane;
  }
  return loaded;
}

// For each lane, where it is in the lanes chosen so far and those of the load
// from `start` on, put one behind the other.
std::vector<int> ChosenFrom(const Lanes& lanes, int64_t start) {
  std::vector<int> chosen(lanes.count);
  for (int lane = 0; lane < lanes.count; ++lane) {
    const int64_t at = lanes.Offset(lane) - start;
    const bool is_new = at >= 0 && at < lanes.count;
    chosen[lane] = is_new ? static_cast<int>(lanes.count + at) : lane;
  }
  return chosen;
}

}  // namespace

llvm::Value* Emitter::LoadLanes(const LoadNode& load, llvm::Value* address,
                                llvm::Value* mask) {
  const int lanes = load.dtype.lanes();
  if (!mask) return LoadElement(load.buffer, address, lanes);
  return b_.CreateMaskedLoad(
      MemoryType(load.dtype), address,
      llvm::Align(load.dtype.Element().bytes()), mask,
      llvm::Constant::getNullValue(MemoryType(load.dtype)));
}

llvm::Value* Emitter::EmitNearLanes(const LoadNode& load, llvm::Value* mask) {
  const auto* ramp = load.indices[0].As<RampNode>();
  const Lanes lanes = {load.dtype.lanes(), *AsInt(ramp->stride)};
  llvm::Type* element = MemoryType(load.dtype.Element());
  llvm::Value* address = Address(load.buffer, ramp->base);
  // Lanes that are not chosen may lie outside of the buffer.
  for (llvm::Value* at = address; mask;) {
    auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(at);
    if (!step) break;
    step->setIsInBounds(false);
    at = step->getPointerOperand();
  }
  llvm::Value* chosen = nullptr;
  for (int i = 0; i < lanes.loads(); ++i) {
    const int64_t start = lanes.Start(i, mask != nullptr);
    llvm::Value* part =
        b_.CreateConstGEP1_64(element, address, static_cast<uint64_t>(start));
    llvm::Value* some = mask;
    if (mask && lanes.step != 1) {
      some = b_.CreateShuffleVector(
          mask, llvm::Constant::getNullValue(mask->getType()),
          LanesLoaded(lanes, start));
    }
    llvm::Value* loaded = LoadLanes(load, part, some);
    if (lanes.step == 1) return loaded;
    chosen = b_.CreateShuffleVector(
        chosen ? chosen : llvm::PoisonValue::get(loaded->getType()), loaded,
        ChosenFrom(lanes, start));
  }
  return chosen;
}

llvm::Value* Emitter::EmitMaskedLoad(const CallNode& choice) {
  const auto* load = choice.args[1].As<LoadNode>();
  if (!load || !lower::IsNearRamp(load->indices[0])) {
    return Fail(absl::UnimplementedError(
                    "if_then_else chooses for each lane, of values that are no "
                    "load of elements near to each other; write a select"),
                choice.dtype);
  }
  llvm::Value* mask = Emit(choice.args[0]);
  llvm::Value* loaded = EmitNearLanes(*load, mask);
  return b_.CreateSelect(mask, loaded, Emit(choice.args[2]));
}

}  // namespace kiln::codegen_internal
