#include "kiln/ir/expr/ref.h"

#include <new>

namespace kiln {
namespace {

// Sizes up to kStep * kClasses are kept, kMost of each at most.
constexpr size_t kStep = 16, kClasses = 24;
constexpr int kMost = 256;

struct Freed {
  Freed* next;
};

struct FreeList {
  Freed* first = nullptr;
  int count = 0;
};

// Needs no destruction, since nodes may be freed after it would have run.
thread_local constinit FreeList free_lists[kClasses];

// Gives back what a thread kept when the thread ends. What is freed later goes
// straight back: a list that counts as full takes no more.
struct Cleaner {
  bool is_due = false;
  ~Cleaner() {
    for (FreeList& list : free_lists) {
      while (Freed* freed = list.first) {
        list.first = freed->next;
        ::operator delete(freed);
      }
      list.count = kMost;
    }
  }
};
thread_local Cleaner cleaner;

FreeList* ListFor(size_t size) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return nullptr;  // so that every use after free is seen
#endif
#endif
  const size_t index = (size - 1) / kStep;
  return index < kClasses ? &free_lists[index] : nullptr;
}

size_t Rounded(size_t size) { return (size + kStep - 1) / kStep * kStep; }

}  // namespace

void* Node::operator new(size_t size) {
  FreeList* list = ListFor(size);
  if (!list) return ::operator new(size);
  if (Freed* freed = list->first) {
    list->first = freed->next;
    --list->count;
    return freed;
  }
  return ::operator new(Rounded(size));
}

void Node::operator delete(void* memory, size_t size) {
  FreeList* list = ListFor(size);
  if (!list || list->count >= kMost) return ::operator delete(memory);
  if (list->count == 0) cleaner.is_due = true;
  auto* freed = static_cast<Freed*>(memory);
  freed->next = list->first;
  list->first = freed;
  ++list->count;
}

}  // namespace kiln
