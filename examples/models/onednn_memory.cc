#include "kiln/examples/models/onednn_memory.h"

#include <algorithm>
#include <new>
#include <utility>

namespace kiln::models {

using Memory = dnnl::memory;

Memory::desc Dense(const Extents& shape) {
  Extents strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * shape[d];
  }
  return Strided(shape, strides);
}

Memory::desc Strided(const Extents& shape, const Extents& strides) {
  return Memory::desc(shape, Memory::data_type::f32, strides);
}

Extents StridesOf(const Memory::desc& desc) {
  const dnnl_dims_t& strides = desc.data.format_desc.blocking.strides;
  return Extents(strides, strides + desc.data.ndims);
}

int Arena::Take(uint64_t bytes, int last_use) {
  int best = -1;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    if (!buffer.is_free || buffer.bytes < bytes) continue;
    if (best < 0 || buffer.bytes < buffers_[best].bytes) {
      best = static_cast<int>(i);
    }
  }
  if (best < 0) {
    AlignedMemory memory = AllocateAligned(std::max<uint64_t>(bytes, 1));
    if (!memory) throw std::bad_alloc();
    buffers_.push_back({bytes, std::move(memory), 0, true});
    best = static_cast<int>(buffers_.size()) - 1;
  }
  buffers_[best].is_free = false;
  buffers_[best].last_use = last_use;
  return best;
}

char* Arena::data(int buffer) const {
  return static_cast<char*>(buffers_[buffer].memory.get());
}

void Arena::Extend(int buffer, int last_use) {
  int& last = buffers_[buffer].last_use;
  last = std::max(last, last_use);
}

void Arena::Free(int now) {
  for (Buffer& buffer : buffers_) {
    if (buffer.last_use <= now) buffer.is_free = true;
  }
}

}  // namespace kiln::models
