// Memory of a oneDNN program: values, and the buffers that they share.
#ifndef KILN_EXAMPLES_MODELS_ONEDNN_MEMORY_H_
#define KILN_EXAMPLES_MODELS_ONEDNN_MEMORY_H_

#include <cstdint>
#include <vector>

#include "kiln/base/aligned_memory.h"
#include "kiln/examples/models/network.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace kiln::models {

// A value: its layout, and where its first element is.
struct Flow {
  dnnl::memory::desc desc;
  char* data = nullptr;
  int buffer = -1;  // of an arena; -1: not an arena's
};

// Row-major float32, or by strides.
dnnl::memory::desc Dense(const Extents& shape);
dnnl::memory::desc Strided(const Extents& shape, const Extents& strides);
// Those of a layout without blocks.
Extents StridesOf(const dnnl::memory::desc& desc);

// Buffers that steps of a program use one after the other. Steps are numbered
// in the order in which they are made, which is the one in which they run.
class Arena {
 public:
  // A buffer that is free, or a new one, until step `last_use` is over. Throws
  // std::bad_alloc.
  int Take(uint64_t bytes, int last_use);
  char* data(int buffer) const;
  int last_use(int buffer) const { return buffers_[buffer].last_use; }
  void Extend(int buffer, int last_use);
  // Step `now` is over.
  void Free(int now);

 private:
  struct Buffer {
    uint64_t bytes;
    AlignedMemory memory;
    int last_use;
    bool is_free;
  };
  std::vector<Buffer> buffers_;
};

}  // namespace kiln::models

#endif  // KILN_EXAMPLES_MODELS_ONEDNN_MEMORY_H_
