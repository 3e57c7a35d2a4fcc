// Loads of lanes that are constant distances apart, or of some lanes only: wide
// loads, from which shuffles choose. Of 8 lanes,
//
//   A[i:i + 16:2]   →  x = A[i:i + 8], y = A[i + 7:i + 15]
//                      x0 x2 x4 x6 y1 y3 y5 y7     (A[i + 15] may not exist)
//   A[i:i - 8:-1]   →  A[i - 7:i + 1] the other way round
//   A[i + v // 2]   →  x = A[i:i + 4]    x0 x0 x1 x1 x2 x2 x3 x3
//   A[i + v % 2 * 40 + v // 2]
//                   →  x = A[i:i + 4], y = A[i + 40:i + 44]
//                      x0 y0 x1 y1 x2 y2 x3 y3
//   A[i + v % 2], of 16 bits
//                   →  the 32 bits of A[i:i + 2], in four lanes
//   if_then_else(v[0:8] < 3, A[i:i + 8], z)
//                   →  masked.load(A + i, v < 3, z)
//   if_then_else(v[0:8] < 3, A[i:i + 16:2], z)
//                   →  x, y = masked loads of A[i:i + 8] and of A[i + 8:i + 16]
//                      whose odd lanes are not chosen; then as above
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "kiln/codegen/llvm/emitter.h"
#include "kiln/codegen/lower/vector/near_lanes.h"

namespace kiln::codegen_internal {

using lower::LaneOffsets;
using lower::LaneWindow;
using lower::OffsetsOfLanes;
using lower::WindowsOf;

namespace {

// For each element of `window`, the lane that loads it, or else one behind all;
// where several do, again for the others.
std::vector<std::vector<int>> LanesLoaded(const std::vector<int64_t>& offsets,
                                          const LaneWindow& window) {
  const int count = static_cast<int>(offsets.size());
  std::vector<std::vector<int>> loaded;
  for (int lane = 0; lane < count; ++lane) {
    const int64_t at = offsets[lane] - window.first;
    if (at < 0 || at >= window.lanes) continue;
    auto free = std::find_if(loaded.begin(), loaded.end(),
                             [&](auto& lanes) { return lanes[at] == count; });
    if (free == loaded.end()) {
      free = loaded.insert(free, std::vector<int>(window.lanes, count));
    }
    (*free)[at] = lane;
  }
  return loaded;
}

// For each lane, where it is in the lanes chosen so far and those of `window`,
// put one behind the other.
std::vector<int> ChosenFrom(const std::vector<int64_t>& offsets,
                            const LaneWindow& window) {
  const int count = static_cast<int>(offsets.size());
  std::vector<int> chosen(count);
  for (int lane = 0; lane < count; ++lane) {
    const int64_t at = offsets[lane] - window.first;
    const bool is_new = at >= 0 && at < window.lanes;
    chosen[lane] = is_new ? static_cast<int>(count + at) : lane;
  }
  return chosen;
}

// Of offsets 0, 1, .., n - 1, 0, 1, ..; 0 for others.
int PeriodOf(const std::vector<int64_t>& offsets) {
  const auto again = std::find(offsets.begin() + 1, offsets.end(), 0);
  const int64_t period = again - offsets.begin();
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] != static_cast<int64_t>(i) % period) return 0;
  }
  return again == offsets.end() ? 0 : static_cast<int>(period);
}

// Of a mask that chooses the first elements of each period, and no others, how
// many; 0 for other masks.
int LoadedOfPeriod(llvm::Value* mask, int count, int period) {
  auto* bits = llvm::dyn_cast<llvm::Constant>(mask);
  if (!bits) return 0;
  const auto chooses = [&](int lane) {
    const llvm::Constant* bit = bits->getAggregateElement(lane);
    return bit && bit->isOneValue();
  };
  int loaded = 0;
  while (loaded < period && chooses(loaded)) ++loaded;
  for (int lane = 0; lane < count; ++lane) {
    if (chooses(lane) != (lane % period < loaded)) return 0;
  }
  return loaded;
}

}  // namespace

// Of a mask for lanes, that for the elements of the window.
llvm::Value* Emitter::MaskOf(const LaneWindow& window,
                             const std::vector<int64_t>& offsets,
                             llvm::Value* mask) {
  llvm::Value* some = nullptr;
  for (const std::vector<int>& lanes : LanesLoaded(offsets, window)) {
    llvm::Value* part = b_.CreateShuffleVector(
        mask, llvm::Constant::getNullValue(mask->getType()), lanes);
    some = some ? b_.CreateOr(some, part) : part;
  }
  return some;
}

// A `mask` has a bit for each element of the window.
llvm::Value* Emitter::LoadWindow(const LoadNode& load, llvm::Value* address,
                                 const LaneWindow& window, llvm::Value* mask) {
  address = b_.CreateConstGEP1_64(MemoryType(load.dtype.Element()), address,
                                  static_cast<uint64_t>(window.first));
  if (!mask) return LoadElement(load.buffer, address, window.lanes);
  llvm::Type* type = MemoryType(load.dtype);
  if (load.dtype.bits() == 16) {
    type = type->getWithNewType(b_.getInt16Ty());
  }
  return b_.CreateMaskedLoad(type, address,
                             llvm::Align(load.dtype.Element().bytes()), mask,
                             llvm::Constant::getNullValue(type));
}

// With lanes behind the first `lanes` that are not defined.
llvm::Value* Emitter::WithMoreLanes(llvm::Value* value, int lanes, int count) {
  if (lanes == 1) return InAllLanes(count, value);
  std::vector<int> order(count, llvm::PoisonMaskElem);
  std::iota(order.begin(), order.begin() + lanes, 0);
  return lanes == count ? value : b_.CreateShuffleVector(value, order);
}

llvm::Value* Emitter::EmitPeriodicLanes(const LoadNode& load,
                                        const LaneOffsets& lanes,
                                        llvm::Value* mask) {
  const int count = load.dtype.lanes(), period = PeriodOf(lanes.offsets);
  const int bits = load.dtype.bits() * period;
  const bool is_number = !load.dtype.is_bool() && load.dtype.bits() < 32 &&
                         period > 1 && count % period == 0 &&
                         (bits == 16 || bits == 32);
  if (!is_number) return nullptr;
  const int loaded = mask ? LoadedOfPeriod(mask, count, period) : period;
  if (loaded == 0) return nullptr;
  llvm::Value* address = Address(load.buffer, lanes.base);
  llvm::Type* type = b_.getIntNTy(bits);
  llvm::Value* number = nullptr;
  if (loaded == period) {
    number = b_.CreateAlignedLoad(type, address,
                                  llvm::Align(load.dtype.Element().bytes()));
  } else {
    llvm::Value* elements = llvm::Constant::getNullValue(
        llvm::FixedVectorType::get(b_.getIntNTy(load.dtype.bits()), period));
    for (int i = 0; i < loaded; ++i) {
      llvm::Value* at =
          b_.CreateConstGEP1_64(MemoryType(load.dtype.Element()), address, i);
      elements = b_.CreateInsertElement(
          elements, Bits(LoadElement(load.buffer, at, 1)), i);
    }
    number = b_.CreateBitCast(elements, type);
  }
  return b_.CreateBitCast(InAllLanes(count / period, number),
                          TypeOf(load.dtype));
}

llvm::Value* Emitter::EmitNearLanes(const LoadNode& load,
                                    const LaneOffsets& lanes,
                                    llvm::Value* mask) {
  if (llvm::Value* few = EmitPeriodicLanes(load, lanes, mask)) return few;
  const int count = load.dtype.lanes();
  llvm::Value* address = Address(load.buffer, lanes.base);
  // Lanes that are not chosen may lie outside of the buffer.
  for (llvm::Value* at = address; mask;) {
    auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(at);
    if (!step) break;
    step->setIsInBounds(false);
    at = step->getPointerOperand();
  }
  llvm::Value* chosen = nullptr;
  const int64_t* size = AsInt(load.buffer->shape[0]);
  const std::vector<LaneWindow> windows =
      mask ? WindowsOf(lanes.offsets, true)
           : WindowsOf(lanes, size ? *size : 0);
  for (const LaneWindow& window : windows) {
    llvm::Value* some = mask ? MaskOf(window, lanes.offsets, mask) : nullptr;
    llvm::Value* loaded = WithMoreLanes(
        Bits(LoadWindow(load, address, window, some)), window.lanes, count);
    if (!chosen) chosen = llvm::PoisonValue::get(loaded->getType());
    chosen = b_.CreateShuffleVector(chosen, loaded,
                                    ChosenFrom(lanes.offsets, window));
  }
  return b_.CreateBitCast(chosen, TypeOf(load.dtype));
}

llvm::Value* Emitter::EmitMaskedLoad(const CallNode& choice) {
  const auto* load = choice.args[1].As<LoadNode>();
  std::optional<LaneOffsets> lanes;
  llvm::Value* mask = Emit(choice.args[0]);
  if (load) lanes = OffsetsOfLanes(load->indices[0]);
  if (lanes) {
    if (llvm::Value* few = EmitPeriodicLanes(*load, *lanes, mask)) {
      return b_.CreateSelect(mask, few, Emit(choice.args[2]));
    }
  }
  if (!lanes || !lower::IsMaskable(load->indices[0])) {
    return Fail(absl::UnimplementedError(
                    "if_then_else chooses for each lane, of values that are no "
                    "load of elements near to each other or of a few rows; "
                    "write a select"),
                choice.dtype);
  }
  llvm::Value* loaded = EmitNearLanes(*load, *lanes, mask);
  return Choose(mask, loaded, Emit(choice.args[2]));
}

}  // namespace kiln::codegen_internal
