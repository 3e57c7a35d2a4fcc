// Replaces operator new and delete of a program by the free lists: the parts
// of expressions and statements (vectors, maps, strings) are as short-lived as
// their nodes. For the `malloc` attribute of a binary.
#include <cstdlib>
#include <new>

#include "kiln/base/free_lists.h"

void* operator new(size_t size) { return kiln::AllocateSmall(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t size) noexcept {
  kiln::FreeSmall(memory, size);
}
