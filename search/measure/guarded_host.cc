#include "kiln/search/measure/guarded_host.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kiln {

GuardedHost::GuardedHost(const KilnHost* loops)
    : loops_(loops), abi_{&ParallelFor, &Alloc, &Free, this} {}

std::optional<std::string> GuardedHost::CheckWorkspaces() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const GuardedBuffer& workspace : workspaces_) {
    if (!violation_) violation_ = workspace.CheckSlack();
  }
  return violation_;
}

int32_t GuardedHost::ParallelFor(const KilnHost* host, int64_t n,
                                 KilnParallelBody body, void* env) {
  const KilnHost* loops = static_cast<GuardedHost*>(host->impl)->loops_;
  return loops->parallel_for(loops, n, body, env);
}

void* GuardedHost::Alloc(const KilnHost* host, uint64_t bytes) {
  auto* self = static_cast<GuardedHost*>(host->impl);
  std::optional<GuardedBuffer> workspace =
      GuardedBuffer::Writable("(workspace)", bytes);
  if (!workspace) return nullptr;
  void* data = workspace->data();
  // So that what is read before it is written shows: NaN for floats.
  std::memset(data, 0xff, bytes);
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
  self->workspaces_.erase(found);
}

}  // namespace kiln
