// Memory that a thread's kernels ask for while they run.
#ifndef KILN_VM_LIBRARY_WORKSPACE_H_
#define KILN_VM_LIBRARY_WORKSPACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kiln/base/aligned_memory.h"

namespace kiln {

// A stack of workspaces. Memory that was given back is kept for the next.
class WorkspaceStack {
 public:
  // `bytes` of memory at a multiple of kMemoryAlignment; null where the system
  // has none.
  void* Allocate(uint64_t bytes);
  // Gives back what Allocate returned; the order may be any.
  void Free(void* address);

  // Workspaces that are in use.
  size_t depth() const { return in_use_.size(); }
  // Gives back those above the first `depth`, whose owner has ended early.
  void Rewind(size_t depth);

  // Returns the memory to the system, where none is in use.
  void Release();
  // Bytes held, in use or idle.
  uint64_t Bytes() const;

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
  bool FindRoom(uint64_t size);
  bool AddBlock(uint64_t size);
  void Consolidate();
  void Pop();

  std::vector<Block> blocks_;
  std::vector<Entry> in_use_;
  size_t current_ = 0;
};

// That of the calling thread.
WorkspaceStack& ThisThreadsWorkspaces();

}  // namespace kiln

#endif  // KILN_VM_LIBRARY_WORKSPACE_H_
