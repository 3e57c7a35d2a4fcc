#include "kiln/base/free_lists.h"

#include <cstdlib>
#include <new>

namespace kiln {
namespace {

// Sizes up to kStep * kClasses are kept, kMost of each at most.
constexpr size_t kStep = 16, kClasses = 32;
constexpr int kMost = 256;

struct Freed {
  Freed* next;
};

// A list that counts as full takes no more.
struct FreeList {
  Freed* first = nullptr;
  int count = kMost;
};

// Needs no destruction, since objects may be freed after it would have run.
thread_local constinit FreeList free_lists[kClasses];
thread_local constinit bool is_open = false;

// Opens the lists of a thread, and gives back what they kept when it ends.
struct Keeper {
  Keeper() {
    is_open = true;
    for (FreeList& list : free_lists) list.count = 0;
  }
  ~Keeper() {
    for (FreeList& list : free_lists) {
      while (Freed* freed = list.first) {
        list.first = freed->next;
        std::free(freed);
      }
      list.count = kMost;
    }
  }
  void Use() {}
};

FreeList* ListFor(size_t size) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return nullptr;  // so that every use after free is seen
#endif
#endif
  const size_t index = (size - 1) / kStep;
  return index < kClasses ? &free_lists[index] : nullptr;
}

[[gnu::noinline]] void* AllocateAnew(size_t size) {
  const size_t rounded = (size + kStep - 1) / kStep * kStep;
  while (true) {
    if (void* memory = std::malloc(rounded ? rounded : 1)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

[[gnu::noinline]] void FreeToMalloc(void* memory) {
  std::free(memory);
  if (is_open) return;
  thread_local Keeper keeper;
  keeper.Use();
}

}  // namespace

void* AllocateSmall(size_t size) {
  FreeList* list = ListFor(size);
  if (!list || !list->first) return AllocateAnew(size);
  Freed* freed = list->first;
  list->first = freed->next;
  --list->count;
  return freed;
}

void FreeSmall(void* memory, size_t size) {
  FreeList* list = ListFor(size);
  if (!memory || !list || list->count >= kMost) return FreeToMalloc(memory);
  auto* freed = static_cast<Freed*>(memory);
  freed->next = list->first;
  list->first = freed;
  ++list->count;
}

}  // namespace kiln
