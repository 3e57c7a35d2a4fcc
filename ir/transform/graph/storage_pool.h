// Storages, and which of them nobody needs at the moment.
#ifndef KILN_IR_TRANSFORM_GRAPH_STORAGE_POOL_H_
#define KILN_IR_TRANSFORM_GRAPH_STORAGE_POOL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/expr.h"

namespace kiln {

class StoragePool {
 public:
  struct Storage {
    Expr bytes;
    std::string kind;  // only tensors of the same kind may share
  };

  explicit StoragePool(Analyzer* analyzer) : analyzer_(*analyzer) {}

  // The index of a storage for so many bytes, which is in use from now on. Of
  // those that are idle: the smallest that is large enough, or else the largest
  // one, which grows; a size 16 times larger or smaller is no match. Symbolic
  // sizes match equal ones. Otherwise one that is new.
  size_t Take(const Expr& bytes, const std::string& kind);
  // One that is new, and is not for others.
  size_t Add(const Expr& bytes, const std::string& kind);
  // Of storages of a like size, the one that came back first is taken first.
  void GiveBack(size_t storage) { idle_.push_back(storage); }

  const Storage& operator[](size_t storage) const { return storages_[storage]; }

 private:
  // The place in `idle_`; its size for none.
  size_t FindConstant(int64_t bytes, const std::string& kind) const;
  size_t FindEqual(const Expr& bytes, const std::string& kind) const;

  Analyzer& analyzer_;
  std::vector<Storage> storages_;
  std::vector<size_t> idle_;
};

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_STORAGE_POOL_H_
