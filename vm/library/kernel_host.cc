// A thread's workspace is a stack. Blocks of memory are never moved while
// something lies in them; once the stack is empty, several blocks give way to
// one of their joint size, so that the next call finds room in a single block.
#include "kiln/vm/library/kernel_host.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kiln/base/aligned_memory.h"

namespace kiln {
namespace {

static_assert(ThreadPool::kNestedParallel == KILN_KERNEL_NESTED_PARALLEL);
static_assert(kMemoryAlignment == KILN_KERNEL_ALIGNMENT);

constexpr uint64_t kFirstBlock = 64 << 10;

class WorkspaceStack {
 public:
  void* Allocate(uint64_t bytes) {
    if (bytes > UINT64_MAX - kMemoryAlignment) return nullptr;
    const uint64_t size = std::max<uint64_t>(1, (bytes + kMemoryAlignment - 1) /
                                                    kMemoryAlignment) *
                          kMemoryAlignment;
    if (in_use_.empty()) Consolidate();
    if (!FindRoom(size)) return nullptr;
    Block& block = blocks_[current_];
    char* address = static_cast<char*>(block.memory.get()) + block.used;
    in_use_.push_back({address, current_, block.used});
    block.used += size;
    return address;
  }

  // The newest workspace is popped, with those under it that were given back
  // out of order.
  void Free(void* address) {
    for (size_t i = in_use_.size(); i-- > 0;) {
      if (in_use_[i].address != address) continue;
      in_use_[i].address = nullptr;
      break;
    }
    while (!in_use_.empty() && in_use_.back().address == nullptr) {
      current_ = in_use_.back().block;
      blocks_[current_].used = in_use_.back().offset;
      in_use_.pop_back();
    }
  }

  void Release() {
    if (!in_use_.empty()) return;
    blocks_.clear();
    current_ = 0;
  }

  uint64_t Bytes() const {
    uint64_t bytes = 0;
    for (const Block& block : blocks_) bytes += block.size;
    return bytes;
  }

 private:
  struct Block {
    AlignedMemory memory;
    uint64_t size = 0;
    uint64_t used = 0;
  };
  struct Entry {
    char* address;  // Null once given back.
    size_t block;
    uint64_t offset;
  };

  // Makes `current_` a block with `size` bytes free. Blocks behind it are
  // empty.
  bool FindRoom(uint64_t size) {
    for (size_t i = current_; i < blocks_.size(); ++i) {
      if (blocks_[i].size - blocks_[i].used < size) continue;
      current_ = i;
      return true;
    }
    const uint64_t wanted = std::max({size, Bytes(), kFirstBlock});
    return AddBlock(wanted) || (wanted > size && AddBlock(size));
  }

  bool AddBlock(uint64_t size) {
    AlignedMemory memory = AllocateAligned(size);
    if (memory == nullptr) return false;
    blocks_.push_back({std::move(memory), size, 0});
    current_ = blocks_.size() - 1;
    return true;
  }

  void Consolidate() {
    current_ = 0;
    if (blocks_.size() < 2) return;
    const uint64_t bytes = Bytes();
    blocks_.clear();
    AddBlock(bytes);
  }

  std::vector<Block> blocks_;
  std::vector<Entry> in_use_;
  size_t current_ = 0;
};

WorkspaceStack& ThisThreadsStack() {
  thread_local WorkspaceStack stack;
  return stack;
}

}  // namespace

KernelHost::KernelHost(ThreadPool* pool, int max_threads)
    : pool_(pool), max_threads_(max_threads) {
  abi_.impl = this;
  abi_.parallel_for = [](const KilnHost* host, int64_t n, KilnParallelBody body,
                         void* env) -> int32_t {
    const auto* self = static_cast<const KernelHost*>(host->impl);
    return self->pool_->ParallelFor(n, body, env, self->max_threads_);
  };
  abi_.alloc = [](const KilnHost*, uint64_t bytes) {
    return ThisThreadsStack().Allocate(bytes);
  };
  abi_.free = [](const KilnHost*, void* workspace) {
    if (workspace != nullptr) ThisThreadsStack().Free(workspace);
  };
}

int KernelHost::num_threads() const {
  const int threads = pool_->num_threads();
  return max_threads_ > 0 ? std::min(max_threads_, threads) : threads;
}

void KernelHost::ReleaseWorkspace() { ThisThreadsStack().Release(); }

uint64_t KernelHost::WorkspaceBytes() { return ThisThreadsStack().Bytes(); }

}  // namespace kiln
