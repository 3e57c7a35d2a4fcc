// Blocks of memory are never moved while something lies in them; once the stack
// is empty, several blocks give way to one of their joint size, so that the
// next call finds room in a single block.
#include "kiln/vm/library/workspace.h"

#include <algorithm>
#include <utility>

namespace kiln {
namespace {

constexpr uint64_t kFirstBlock = 64 << 10;

}  // namespace

void* WorkspaceStack::Allocate(uint64_t bytes) {
  if (bytes > UINT64_MAX - kMemoryAlignment) return nullptr;
  const uint64_t size =
      std::max<uint64_t>(1, (bytes + kMemoryAlignment - 1) / kMemoryAlignment) *
      kMemoryAlignment;
  if (in_use_.empty()) Consolidate();
  if (!FindRoom(size)) return nullptr;
  Block& block = blocks_[current_];
  char* address = static_cast<char*>(block.memory.get()) + block.used;
  in_use_.push_back({address, current_, block.used});
  block.used += size;
  return address;
}

void WorkspaceStack::Free(void* address) {
  for (size_t i = in_use_.size(); i-- > 0;) {
    if (in_use_[i].address != address) continue;
    in_use_[i].address = nullptr;
    break;
  }
  // Those under it may have been given back before it.
  while (!in_use_.empty() && in_use_.back().address == nullptr) Pop();
}

void WorkspaceStack::Rewind(size_t depth) {
  while (in_use_.size() > depth) Pop();
}

void WorkspaceStack::Pop() {
  current_ = in_use_.back().block;
  blocks_[current_].used = in_use_.back().offset;
  in_use_.pop_back();
}

void WorkspaceStack::Release() {
  if (!in_use_.empty()) return;
  blocks_.clear();
  current_ = 0;
}

uint64_t WorkspaceStack::Bytes() const {
  uint64_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.size;
  return bytes;
}

bool WorkspaceStack::FindRoom(uint64_t size) {
  for (size_t i = current_; i < blocks_.size(); ++i) {
    if (blocks_[i].size - blocks_[i].used < size) continue;
    current_ = i;
    return true;
  }
  const uint64_t wanted = std::max({size, Bytes(), kFirstBlock});
  return AddBlock(wanted) || (wanted > size && AddBlock(size));
}

bool WorkspaceStack::AddBlock(uint64_t size) {
  AlignedMemory memory = AllocateAligned(size);
  if (memory == nullptr) return false;
  blocks_.push_back({std::move(memory), size, 0});
  current_ = blocks_.size() - 1;
  return true;
}

void WorkspaceStack::Consolidate() {
  current_ = 0;
  if (blocks_.size() < 2) return;
  const uint64_t bytes = Bytes();
  blocks_.clear();
  AddBlock(bytes);
}

WorkspaceStack& ThisThreadsWorkspaces() {
  thread_local WorkspaceStack stack;
  return stack;
}

}  // namespace kiln
