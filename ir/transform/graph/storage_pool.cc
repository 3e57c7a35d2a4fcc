#include "kiln/ir/transform/graph/storage_pool.h"

#include <algorithm>
#include <utility>

namespace kiln {
namespace {

constexpr int64_t kMostTimes = 16;

// Whether a storage of `held` bytes is a better choice for `wanted` ones than
// one of `best`.
bool IsBetter(int64_t held, int64_t best, int64_t wanted) {
  if (held >= wanted) return best < wanted || held < best;
  return best < wanted && held > best;
}

bool IsLike(int64_t held, int64_t wanted) {
  return held / kMostTimes <= wanted && wanted / kMostTimes <= held;
}

}  // namespace

size_t StoragePool::FindConstant(int64_t bytes, const std::string& kind) const {
  size_t best = idle_.size();
  int64_t best_bytes = 0;
  for (size_t i = 0; i < idle_.size(); ++i) {
    const Storage& storage = storages_[idle_[i]];
    const int64_t* held = AsInt(storage.bytes);
    if (!held || storage.kind != kind || !IsLike(*held, bytes)) continue;
    if (best < idle_.size() && !IsBetter(*held, best_bytes, bytes)) continue;
    best = i;
    best_bytes = *held;
  }
  return best;
}

size_t StoragePool::FindEqual(const Expr& bytes,
                              const std::string& kind) const {
  for (size_t i = 0; i < idle_.size(); ++i) {
    const Storage& storage = storages_[idle_[i]];
    if (storage.kind != kind || AsInt(storage.bytes)) continue;
    if (analyzer_.CanProveEqual(storage.bytes, bytes)) return i;
  }
  return idle_.size();
}

size_t StoragePool::Take(const Expr& bytes, const std::string& kind) {
  const int64_t* constant = AsInt(bytes);
  const size_t found =
      constant ? FindConstant(*constant, kind) : FindEqual(bytes, kind);
  if (found == idle_.size()) return Add(bytes, kind);
  const size_t taken = idle_[found];
  idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(found));
  if (constant && *AsInt(storages_[taken].bytes) < *constant) {
    storages_[taken].bytes = bytes;
  }
  return taken;
}

size_t StoragePool::Add(const Expr& bytes, const std::string& kind) {
  storages_.push_back({bytes, kind});
  return storages_.size() - 1;
}

}  // namespace kiln
