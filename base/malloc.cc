// What `malloc = "//base:malloc"` gives a program: operator new and delete
// that keep small blocks for the next of their size, a list for each thread.
// Replays of schedules make and drop many small vectors, strings and nodes,
// and a list costs a fourth of what the C library takes.
//
// Every block comes from malloc, so that free may have any of them back; and
// what malloc gives is a multiple of kStep long, so that blocks of libraries
// with an operator new of their own fit the lists too.
#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KILN_KEEPS_NOTHING  // so that every use after free is seen
#endif
#endif

#ifndef KILN_KEEPS_NOTHING
namespace {

// Sizes up to kStep * kLists are kept, kMostBytes of each at most.
constexpr size_t kStep = 8, kLists = 128, kMostBytes = size_t{1} << 14;

struct Freed {
  Freed* next;
};

struct FreeList {
  Freed* first = nullptr;
  size_t bytes = 0;
};

// Needs no destruction, since blocks may be freed after it would have run. Of
// the program itself, never of a library that is loaded later: no call is
// needed to find it.
[[gnu::tls_model(
    "initial-exec")]] thread_local constinit FreeList free_lists[kLists];

// Gives back what a thread kept when the thread ends. What is freed later goes
// straight back: a list that counts as full takes no more.
struct Cleaner {
  bool is_due = false;
  ~Cleaner() {
    for (FreeList& list : free_lists) {
      while (Freed* freed = list.first) {
        list.first = freed->next;
        std::free(freed);
      }
      list.bytes = kMostBytes;
    }
  }
};
thread_local Cleaner cleaner;

// The list for a size, beyond all of them for 0; and the size of its blocks.
size_t IndexOf(size_t size) { return (size - 1) / kStep; }
size_t BytesAt(size_t index) { return (index + 1) * kStep; }

[[gnu::noinline]] void* Allocate(size_t size) {
  for (;;) {
    if (void* memory = std::malloc(size)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

void Keep(void* memory, size_t index) {
  FreeList& list = free_lists[index];
  auto* freed = static_cast<Freed*>(memory);
  freed->next = list.first;
  list.first = freed;
  list.bytes += BytesAt(index);
}

[[gnu::noinline]] void KeepFirst(void* memory, size_t index) {
  cleaner.is_due = true;
  Keep(memory, index);
}

}  // namespace

void* operator new(size_t size) {
  const size_t index = IndexOf(size);
  if (index >= kLists) return Allocate(size);
  FreeList& list = free_lists[index];
  Freed* const freed = list.first;
  if (!freed) return Allocate(BytesAt(index));
  list.first = freed->next;
  list.bytes -= BytesAt(index);
  return freed;
}

void operator delete(void* memory) noexcept { std::free(memory); }

void operator delete(void* memory, size_t size) noexcept {
  const size_t index = IndexOf(size);
  if (!memory || index >= kLists) return std::free(memory);
  const size_t kept = free_lists[index].bytes;
  if (kept >= kMostBytes) return std::free(memory);
  if (kept == 0) return KeepFirst(memory, index);
  Keep(memory, index);
}
#endif  // KILN_KEEPS_NOTHING
