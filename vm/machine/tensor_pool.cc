#include "kiln/vm/machine/tensor_pool.h"

#include <bit>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/aligned_memory.h"
#include "kiln/base/status_macros.h"

namespace kiln::vm {
namespace {

// Sizes of blocks: multiples of 64, and of an eighth of the power of two below,
// so that at most an eighth of a block is idle.
uint64_t BlockBytes(uint64_t bytes) {
  bytes = std::max<uint64_t>(bytes, 1);
  const uint64_t step =
      std::max<uint64_t>(kMemoryAlignment, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

}  // namespace

struct TensorPool::Blocks {
  mutable std::mutex mutex;
  std::map<uint64_t, std::vector<AlignedMemory>> idle;  // by size

  AlignedMemory Take(uint64_t bytes) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      const auto it = idle.find(bytes);
      if (it != idle.end() && !it->second.empty()) {
        AlignedMemory block = std::move(it->second.back());
        it->second.pop_back();
        return block;
      }
    }
    return AllocateAligned(bytes);
  }

  void GiveBack(uint64_t bytes, AlignedMemory block) {
    const std::lock_guard<std::mutex> lock(mutex);
    idle[bytes].push_back(std::move(block));
  }
};

TensorPool::TensorPool() : blocks_(std::make_shared<Blocks>()) {}
TensorPool::~TensorPool() { Trim(); }

absl::StatusOr<NDArray> TensorPool::Empty(std::vector<int64_t> shape,
                                          DType dtype) {
  KILN_ASSIGN_OR_RETURN(const int64_t count, CheckedNumElements(shape, dtype));
  const uint64_t bytes = BlockBytes(count * dtype.bytes());
  AlignedMemory block = blocks_->Take(bytes);
  if (block == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a tensor of ", bytes, " bytes"));
  }
  void* data = block.get();
  AlignedDelete deleter = block.get_deleter();
  block.release();
  std::shared_ptr<void> owner(
      data,
      [bytes, deleter, blocks = std::weak_ptr<Blocks>(blocks_)](void* memory) {
        AlignedMemory block(memory, deleter);
        if (auto pool = blocks.lock()) pool->GiveBack(bytes, std::move(block));
      });
  return NDArray::View(data, std::move(shape), dtype, std::move(owner));
}

uint64_t TensorPool::IdleBytes() const {
  const std::lock_guard<std::mutex> lock(blocks_->mutex);
  uint64_t bytes = 0;
  for (const auto& [size, blocks] : blocks_->idle) {
    bytes += size * blocks.size();
  }
  return bytes;
}

void TensorPool::Trim() {
  std::map<uint64_t, std::vector<AlignedMemory>> idle;
  const std::lock_guard<std::mutex> lock(blocks_->mutex);
  idle.swap(blocks_->idle);
}

}  // namespace kiln::vm
