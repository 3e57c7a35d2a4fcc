// Two parts: what a kernel finds in memory that it did not write (workspaces,
// stacks and registers hold a filler), and what it leaves there (the slack
// around workspaces, which are mapped one by one between pages that trap):
//
//   alloc    between guard pages, filled        free    slack checked, unmapped
//   after 64 of them small ones are kept for the next alloc of their size
#include "kiln/search/measure/guarded_host.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kiln {
namespace {

// Of all workspaces of a run: one that allocates without end should not take
// the memory that it asks for.
constexpr uint64_t kMaxFilled = uint64_t{32} << 20;

// So many of the workspaces that are given back are unmapped at once, so that
// their use shows. Of a kernel with one for each of many iterations some wait
// for the next, since to map and unmap them takes longer than all else.
constexpr int64_t kUnmapped = 64;
constexpr size_t kMostIdle = 16;
constexpr uint64_t kMostIdleBytes = uint64_t{1} << 20;  // of each

// More than one function of a kernel takes (codegen/README.md).
constexpr size_t kStackBytes = size_t{320} << 10;

// A parallel loop of the kernel.
struct Loop {
  KilnParallelBody body;
  void* env;
  Filler filler;
};

int32_t RunFilled(void* env, int64_t begin, int64_t end) {
  const auto* loop = static_cast<const Loop*>(env);
  FillScratch(loop->filler);
  const int32_t status = loop->body(loop->env, begin, end);
  ClearScratch();
  return status;
}

__attribute__((noinline)) void FillStack(Filler filler) {
  char bytes[kStackBytes];
  std::memset(bytes, static_cast<int>(filler), sizeof bytes);
  asm volatile("" : : "r"(bytes) : "memory");
}

#if defined(__x86_64__)

void FillVectorRegisters(uint32_t value) {
  if (__builtin_cpu_supports("avx512f")) {
    asm volatile(
        "vpbroadcastd %0, %%zmm0\n"
        ".irp n,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
        "vmovdqa64 %%zmm0, %%zmm\\n\n"
        ".endr\n"
        ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
        "vmovdqa64 %%zmm0, %%zmm\\n\n"
        ".endr\n"
        :
        : "r"(value)
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
          "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    return;
  }
  asm volatile(
      "movd %0, %%xmm0\n"
      "pshufd $0, %%xmm0, %%xmm0\n"
      ".irp n,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
      "movdqa %%xmm0, %%xmm\\n\n"
      ".endr\n"
      :
      : "r"(value)
      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
        "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

void ClearVectorRegisters() {
  if (__builtin_cpu_supports("avx512f")) asm volatile("vzeroupper");
}

#else

void FillVectorRegisters(uint32_t) {}
void ClearVectorRegisters() {}

#endif

}  // namespace

void FillScratch(Filler filler) {
  FillStack(filler);
  FillVectorRegisters(0x01010101u * static_cast<uint32_t>(filler));
}

void ClearScratch() { ClearVectorRegisters(); }

GuardedHost::GuardedHost(const KilnHost* loops, Filler filler)
    : loops_(loops), filler_(filler), abi_{&ParallelFor, &Alloc, &Free, this} {}

std::optional<std::string> GuardedHost::CheckWorkspaces() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const GuardedBuffer& workspace : workspaces_) {
    if (!violation_) violation_ = workspace.CheckSlack();
  }
  return violation_;
}

int32_t GuardedHost::ParallelFor(const KilnHost* host, int64_t n,
                                 KilnParallelBody body, void* env) {
  const auto* self = static_cast<GuardedHost*>(host->impl);
  Loop loop = {body, env, self->filler_};
  return self->loops_->parallel_for(self->loops_, n, &RunFilled, &loop);
}

// One of these bytes that was given back; null where there is none.
void* GuardedHost::AllocIdle(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(
      idle_.begin(), idle_.end(),
      [bytes](const GuardedBuffer& b) { return b.bytes() == bytes; });
  if (found == idle_.end()) return nullptr;
  void* data = found->data();
  workspaces_.push_back(std::move(*found));
  idle_.erase(found);
  return data;
}

void* GuardedHost::Alloc(const KilnHost* host, uint64_t bytes) {
  auto* self = static_cast<GuardedHost*>(host->impl);
  if (void* idle = self->AllocIdle(bytes)) {
    std::memset(idle, static_cast<int>(self->filler_), bytes);
    return idle;
  }
  std::optional<GuardedBuffer> workspace =
      GuardedBuffer::Writable("(workspace)", bytes);
  if (!workspace) return nullptr;
  void* data = workspace->data();
  const uint64_t fill = std::min(bytes, kMaxFilled - self->filled_.load());
  self->filled_ += fill;
  std::memset(data, static_cast<int>(self->filler_), fill);
  std::lock_guard<std::mutex> lock(self->mutex_);
  self->workspaces_.push_back(*std::move(workspace));
  return data;
}

void GuardedHost::Free(const KilnHost* host, void* workspace) {
  auto* self = static_cast<GuardedHost*>(host->impl);
  std::lock_guard<std::mutex> lock(self->mutex_);
  const auto found = std::find_if(
      self->workspaces_.begin(), self->workspaces_.end(),
      [workspace](const GuardedBuffer& b) { return b.data() == workspace; });
  if (found == self->workspaces_.end()) {
    self->violation_ = "gave back a workspace that it did not have";
    return;
  }
  if (!self->violation_) self->violation_ = found->CheckSlack();
  if (++self->freed_ > kUnmapped && self->idle_.size() < kMostIdle &&
      found->bytes() <= kMostIdleBytes) {
    self->idle_.push_back(std::move(*found));
  }
  self->workspaces_.erase(found);
}

}  // namespace kiln
