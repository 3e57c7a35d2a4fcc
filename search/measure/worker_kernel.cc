#include "kiln/search/measure/worker_kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

using Positions = google::protobuf::RepeatedField<int32_t>;

bool AllBelow(const Positions& positions, int limit) {
  return std::all_of(positions.begin(), positions.end(),
                     [&](int32_t at) { return at >= 0 && at < limit; });
}

template <typename T>
std::vector<T> Pick(const std::vector<T>& from, const Positions& positions) {
  std::vector<T> picked;
  for (int32_t at : positions) picked.push_back(from[at]);
  return picked;
}

}  // namespace

absl::StatusOr<WorkerKernel> WorkerKernel::Load(
    const search::MeasureKernel& request, int num_buffers, int num_scalars) {
  WorkerKernel kernel;
  KILN_ASSIGN_OR_RETURN(kernel.object_, LoadedObject::Load(request.object()));
  KILN_ASSIGN_OR_RETURN(kernel.entry_,
                        kernel.object_->Kernel(request.symbol()));
  if (request.has_preparation()) {
    KILN_RETURN_IF_ERROR(kernel.LoadPreparation(request.preparation(),
                                                num_buffers, num_scalars));
  }
  return kernel;
}

absl::Status WorkerKernel::LoadPreparation(
    const search::Preparation& preparation, int num_buffers, int num_scalars) {
  const int limit = num_buffers + preparation.prepared_size();
  if (!AllBelow(preparation.args(), limit) ||
      !AllBelow(preparation.kernel_args(), limit) ||
      !AllBelow(preparation.scalars(), num_scalars) ||
      !AllBelow(preparation.kernel_scalars(), num_scalars)) {
    return absl::InvalidArgumentError(
        "the preparation names arguments that do not exist");
  }
  KILN_ASSIGN_OR_RETURN(prepare_object_,
                        LoadedObject::Load(preparation.object()));
  KILN_ASSIGN_OR_RETURN(prepare_,
                        prepare_object_->Kernel(preparation.symbol()));
  preparation_ = preparation;
  preparation_.clear_object();
  return absl::OkStatus();
}

void* WorkerKernel::Allocate(const search::Preparation::Buffer& buffer,
                             Memory memory) {
  if (memory == Memory::kGuarded) {
    std::optional<GuardedBuffer> guarded =
        GuardedBuffer::Writable(buffer.name(), buffer.bytes());
    if (!guarded) return nullptr;
    guarded_.push_back(*std::move(guarded));
    return guarded_.back().data();
  }
  plain_.push_back(AllocateAligned(std::max<uint64_t>(buffer.bytes(), 1)));
  return plain_.back().get();
}

int32_t WorkerKernel::Prepare(const KilnHost* host,
                              absl::Span<void* const> data,
                              absl::Span<const int64_t> scalars,
                              Memory memory) {
  args_.assign(data.begin(), data.end());
  scalars_.assign(scalars.begin(), scalars.end());
  if (prepare_ == nullptr) return KILN_KERNEL_OK;
  for (const search::Preparation::Buffer& buffer : preparation_.prepared()) {
    void* prepared = Allocate(buffer, memory);
    if (prepared == nullptr) return KILN_KERNEL_OUT_OF_MEMORY;
    std::memset(prepared, 0xff, buffer.bytes());
    args_.push_back(prepared);
  }
  const std::vector<void*> args = Pick(args_, preparation_.args());
  args_ = Pick(args_, preparation_.kernel_args());
  const std::vector<int64_t> own = Pick(scalars_, preparation_.scalars());
  scalars_ = Pick(scalars_, preparation_.kernel_scalars());
  return prepare_(host, args.data(), own.data());
}

std::optional<std::string> WorkerKernel::CheckSlack() const {
  for (const GuardedBuffer& buffer : guarded_) {
    if (std::optional<std::string> left = buffer.CheckSlack()) return left;
  }
  return std::nullopt;
}

std::vector<absl::Span<const char>> WorkerKernel::PlainSpans() const {
  std::vector<absl::Span<const char>> spans;
  for (size_t i = 0; i < plain_.size(); ++i) {
    spans.emplace_back(static_cast<const char*>(plain_[i].get()),
                       preparation_.prepared(static_cast<int>(i)).bytes());
  }
  return spans;
}

}  // namespace kiln
