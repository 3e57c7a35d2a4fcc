// Threads are fibers, of which one runs at a time and up to the next barrier:
//
//   for t in T.thread_binding(2, thread="threadIdx.x"):
//     S[t] = A[t]
//     T.tvm_storage_sync("shared")
//     B[t] = S[1 - t]
//
//   thread 0: S[0] = A[0], waits       thread 1: S[1] = A[1], waits
//   both wait at the same barrier, so
//   thread 0: B[0] = S[1], done        thread 1: B[1] = S[0], done
//
// After each round all threads have to stand at one barrier or to be done. Each
// has its own copy of the frame, so that variables and local buffers are its
// own; buffers of a shared scope are found by the allocation that asks for
// them.
//
// The order is always the same, so that runs repeat. A race between two
// barriers is therefore not found: it gives the value of this order.
#include "kiln/ir/interp/threads.h"

#include <ucontext.h>

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace kiln::interp_internal {

namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr int64_t kMaxThreads = 1024;

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  Frame frame;
  std::map<std::string, int64_t> index;
  const void* waiting = nullptr;  // at which barrier
  bool started = false, done = false;
};

}  // namespace

class ThreadGroup {
 public:
  ThreadGroup(const StmtCode& body, const Place* place)
      : body_(body), place_(place) {}

  void Add(const Frame& parent, std::map<std::string, int64_t> index);
  // Runs every thread to its end, or until one fails.
  void RunAll(Frame& parent);
  void Wait(const void* site);
  int64_t Index(const std::string& tag) const;
  std::map<const void*, std::shared_ptr<Storage>> shared;

 private:
  static void Enter(unsigned high, unsigned low);
  void Resume(Fiber& fiber);
  // Checks that the threads met at one barrier; false after a failure.
  bool Met(Frame& parent);
  void Unwind();

  const StmtCode& body_;
  const Place* place_;
  ucontext_t scheduler_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* current_ = nullptr;
};

void ThreadGroup::Add(const Frame& parent,
                      std::map<std::string, int64_t> index) {
  auto fiber = std::make_unique<Fiber>();
  fiber->frame = parent;
  fiber->frame.group = this;
  fiber->index = std::move(index);
  fibers_.push_back(std::move(fiber));
}

// makecontext passes ints only, so the pointer travels in two halves.
void ThreadGroup::Enter(unsigned high, unsigned low) {
  auto* group = reinterpret_cast<ThreadGroup*>(
      static_cast<uintptr_t>(high) << 32 | static_cast<uintptr_t>(low));
  Fiber* self = group->current_;
  group->body_.Run(self->frame);
  self->done = true;
  swapcontext(&self->context, &group->scheduler_);
}

void ThreadGroup::Resume(Fiber& fiber) {
  current_ = &fiber;
  fiber.waiting = nullptr;
  if (!fiber.started) {
    fiber.started = true;
    fiber.stack.reset(new char[kStackBytes]);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    const auto self = reinterpret_cast<uintptr_t>(this);
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(&Enter), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  }
  swapcontext(&scheduler_, &fiber.context);
  current_ = nullptr;
}

bool ThreadGroup::Met(Frame& parent) {
  const Fiber& first = *fibers_.front();
  for (const auto& fiber : fibers_) {
    if (fiber->done == first.done && fiber->waiting == first.waiting) continue;
    parent.Fail(place_, absl::StatusCode::kFailedPrecondition,
                "a barrier is reached by some threads of the block and not by "
                "others; move tvm_storage_sync out of the condition");
    return false;
  }
  return true;
}

void ThreadGroup::RunAll(Frame& parent) {
  do {
    for (const auto& fiber : fibers_) {
      Resume(*fiber);
      if (fiber->frame.failed && !parent.failed) {
        parent.failed = true;
        parent.status = fiber->frame.status;
      }
    }
  } while (!parent.failed && Met(parent) && !fibers_.front()->done);
  if (parent.failed) Unwind();
}

// Lets the threads that stand at a barrier return, so that their stacks are
// given back.
void ThreadGroup::Unwind() {
  for (const auto& fiber : fibers_) {
    fiber->frame.failed = true;
    if (!fiber->done) Resume(*fiber);
  }
}

void ThreadGroup::Wait(const void* site) {
  Fiber* self = current_;
  if (self->frame.failed) return;
  self->waiting = site;
  swapcontext(&self->context, &scheduler_);
}

int64_t ThreadGroup::Index(const std::string& tag) const {
  auto found = current_->index.find(tag);
  return found == current_->index.end() ? -1 : found->second;
}

void RunThreads(Frame& frame, const ThreadExtents& extents,
                const StmtCode& body, const Place* place) {
  int64_t count = 1;
  for (const auto& [tag, extent] : extents) {
    if (extent < 1 || extent > kMaxThreads || count * extent > kMaxThreads) {
      return frame.Fail(
          place, absl::StatusCode::kInvalidArgument,
          absl::StrCat("a block of threads with ", extent, " along ", tag,
                       "; a block holds 1 to ", kMaxThreads));
    }
    count *= extent;
  }
  ThreadGroup group(body, place);
  for (int64_t i = 0; i < count; ++i) {
    std::map<std::string, int64_t> index;
    int64_t rest = i;
    for (const auto& [tag, extent] : extents) {
      index[tag] = rest % extent;
      rest /= extent;
    }
    group.Add(frame, std::move(index));
  }
  group.RunAll(frame);
}

void WaitAtBarrier(Frame& frame, const void* site) { frame.group->Wait(site); }

int64_t ThreadIndex(const Frame& frame, const std::string& tag) {
  return frame.group->Index(tag);
}

std::shared_ptr<Storage>& SharedStorage(Frame& frame, const void* key) {
  return frame.group->shared[key];
}

}  // namespace kiln::interp_internal
