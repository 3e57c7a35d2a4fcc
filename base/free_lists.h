// Memory for small objects that come and go quickly.
//
// Each thread keeps a few freed pieces of each size for the next of that size.
// A piece comes from malloc, one by one, and may be given to free() instead.
#ifndef KILN_BASE_FREE_LISTS_H_
#define KILN_BASE_FREE_LISTS_H_

#include <cstddef>

namespace kiln {

// At least `size` bytes, aligned for any type but over-aligned ones. Throws
// std::bad_alloc as operator new does.
void* AllocateSmall(size_t size);
// Gives back what AllocateSmall(size) returned, on any thread. Null does
// nothing.
void FreeSmall(void* memory, size_t size);

}  // namespace kiln

#endif  // KILN_BASE_FREE_LISTS_H_
