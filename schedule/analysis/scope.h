// The blocks of one scope and what flows between them.
#ifndef KILN_SCHEDULE_ANALYSIS_SCOPE_H_
#define KILN_SCHEDULE_ANALYSIS_SCOPE_H_

#include <vector>

#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/analysis/path.h"

namespace kiln {

// Why a block has to come after another one of its scope.
enum class DependenceKind : uint8_t {
  kRaw,  // it reads what the other wrote
  kWaw,  // it writes again what the other wrote
  kWar   // it writes what the other read
};

// Indices into Scope::blocks.
struct Dependence {
  int source, target;
  DependenceKind kind;
};

// A block that stands directly in the scope.
struct ScopeBlock {
  const BlockRealizeNode* realize;
  std::vector<const ForNode*> loops;  // from the scope down, outermost first
  const BlockNode& block() const { return *realize->block; }
};

// The child blocks of a scope in program order. Regions count as declared by
// the blocks, whole buffers at a time: two blocks that name one buffer depend
// on each other. Keeps nothing alive: use it while the function lives.
struct Scope {
  const BlockNode* block = nullptr;
  std::vector<ScopeBlock> blocks;
  bool only_loops_and_blocks = true;  // no other statement between them

  explicit Scope(const BlockNode& scope);
  // The blocks under `subtree` only, as if they were all of the scope.
  Scope(const BlockNode& scope, const Stmt& subtree);

  // The index of a block; -1 when it is not one of the scope's.
  int IndexOf(BlockId id) const;
  std::vector<Dependence> Dependences() const;
  // Blocks that a block reads from or overwrites, and those that read from or
  // overwrite it; each once, in program order.
  std::vector<int> Producers(int index) const;
  std::vector<int> Consumers(int index) const;
  // The blocks that declare a write of `buffer`.
  std::vector<int> Writers(const Buffer& buffer) const;
  std::vector<int> Readers(const Buffer& buffer) const;
  // Whether a block writes a buffer that the scope does not allocate.
  bool IsOutput(int index) const;

 private:
  void Collect(const Stmt& s, std::vector<const ForNode*>* loops);
};

bool ReadsBuffer(const BlockNode& block, const Buffer& buffer);
bool WritesBuffer(const BlockNode& block, const Buffer& buffer);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_SCOPE_H_
