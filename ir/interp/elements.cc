// The buffers start unwritten. A read of an unwritten element runs the nest of
// that buffer (element_nest.h) for this element, where further reads do the
// same; the flags that the interpreter keeps of what was written are the memo.
//
//   for i, j, k: C[i, j] = C[i, j] + A[i, k] * B[k, j]
//   for i, j:    D[i, j] = C[i, j] + 1
//
//   D[5, 7]    runs the nest of D for this element, which reads C[5, 7]
//   C[5, 7]    runs the nest of C for this element: all k, no other i and j
//
// That an element has one last value, and that its readers come after all of
// its writes, is checked once for the function (element_order.h).
#include "kiln/ir/interp/elements.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/element_nest.h"
#include "kiln/ir/interp/element_order.h"
#include "kiln/ir/interp/machine.h"
#include "kiln/ir/interp/scope.h"

namespace kiln {

using interp_internal::BufferCode;
using interp_internal::DenseStrides;
using interp_internal::ElementNest;
using interp_internal::ElementSource;
using interp_internal::Frame;
using interp_internal::IsWritten;
using interp_internal::MakeStorage;
using interp_internal::MarkWritten;
using interp_internal::Scope;
using interp_internal::Storage;
using interp_internal::Value;
using interp_internal::View;

namespace {

struct WrittenBuffer {
  Buffer buffer;
  int slot;
  bool is_param;
  std::unique_ptr<ElementNest> nest;
};

// An element whose nest is running.
struct Running {
  int slot;
  std::vector<int64_t> indices;
};

std::vector<int64_t> ConstantShape(const BufferNode& buffer) {
  std::vector<int64_t> shape;
  for (const Expr& extent : buffer.shape) shape.push_back(*AsInt(extent));
  return shape;
}

uint8_t* At(const View& view, const int64_t* indices) {
  int64_t offset = 0;
  for (size_t d = 0; d < view.shape.size(); ++d) {
    offset += indices[d] * view.strides[d];
  }
  return view.storage->data + offset * view.bytes;
}

}  // namespace

struct ElementInterpreter::Impl : ElementSource {
  explicit Impl(const Function& f) : function(f), scope(f.name) {}

  absl::Status Compile();
  absl::Status BindParam(size_t p, const void* data);
  WrittenBuffer* Find(int slot);
  bool Provide(Frame& frame, int slot, const int64_t* indices) override;

  Function function;
  Scope scope;
  std::vector<int> param_slots;
  std::vector<BufferCode> allocations;
  std::vector<WrittenBuffer> written;

  InterpOptions options;
  interp_internal::Run run;
  Frame frame;
  std::vector<Running> running;
};

absl::Status ElementInterpreter::Impl::Compile() {
  KILN_RETURN_IF_ERROR(interp_internal::CheckElementsAlone(function));
  std::vector<std::pair<Buffer, int>> buffers;
  for (const Param& param : function.params) {
    if (param.var) scope.Define(param.var);
    param_slots.push_back(scope.Define(param.buffer));
    buffers.emplace_back(param.buffer, param_slots.back());
  }
  if (const auto* root = function.body.As<BlockRealizeNode>()) {
    for (const Buffer& buffer : root->block->alloc_buffers) {
      const std::vector<Expr>& shape = buffer->shape;
      if (buffer->data || !buffer->strides.empty() || buffer->elem_offset ||
          !std::all_of(shape.begin(), shape.end(), AsInt)) {
        return absl::UnimplementedError(
            "no element can be computed alone: "
            "buffer " +
            buffer->name + " is not a plain array");
      }
      allocations.emplace_back(buffer, scope);
      buffers.emplace_back(buffer, allocations.back().slot());
    }
  }
  for (const auto& [buffer, slot] : buffers) {
    const bool is_param = slot < static_cast<int>(param_slots.size());
    auto nest = interp_internal::MakeElementNest(function.body, buffer, scope);
    if (nest) written.push_back({buffer, slot, is_param, std::move(nest)});
  }
  return scope.status();
}

WrittenBuffer* ElementInterpreter::Impl::Find(int slot) {
  for (WrittenBuffer& buffer : written) {
    if (buffer.slot == slot) return &buffer;
  }
  return nullptr;
}

// A written parameter has storage of its own, whose elements count as written
// once they have their last value.
absl::Status ElementInterpreter::Impl::BindParam(size_t p, const void* data) {
  const BufferNode& buffer = *function.params[p].buffer;
  View& view = frame.views[param_slots[p]];
  int64_t bytes;
  view.dtype = buffer.dtype;
  view.bytes = buffer.dtype.bytes();
  view.shape = ConstantShape(buffer);
  view.strides = DenseStrides(view.shape);
  if (!interp_internal::ByteSize(view.shape, view.bytes, &bytes)) {
    return absl::InvalidArgumentError("parameter " + buffer.name +
                                      " is too large");
  }
  if (Find(param_slots[p])) {
    view.storage = MakeStorage(bytes, /*track_writes=*/true);
    if (data) std::memcpy(view.storage->data, data, bytes);
    return absl::OkStatus();
  }
  view.storage = std::make_shared<Storage>();
  // Never stored to.
  view.storage->data = static_cast<uint8_t*>(const_cast<void*>(data));
  view.storage->size = bytes;
  return absl::OkStatus();
}

bool ElementInterpreter::Impl::Provide(Frame& frame, int slot,
                                       const int64_t* indices) {
  WrittenBuffer* buffer = Find(slot);
  if (!buffer || frame.failed) return false;
  const View& view = frame.views[slot];
  const size_t rank = view.shape.size();
  for (const Running& element : running) {
    // Its own first store asks for what was there before.
    if (element.slot == slot &&
        std::equal(indices, indices + rank, element.indices.begin())) {
      return buffer->is_param;
    }
  }
  running.push_back({slot, {indices, indices + rank}});
  const std::vector<int64_t> wanted = running.back().indices;
  const std::vector<Value> slots = frame.slots;
  buffer->nest->Run(frame, {wanted.data()});
  frame.slots = slots;
  running.pop_back();
  if (frame.failed) return false;
  const uint8_t* at = At(view, wanted.data());
  if (buffer->is_param) MarkWritten(view, at, view.bytes);
  return IsWritten(view, at, view.bytes);
}

ElementInterpreter::ElementInterpreter(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
ElementInterpreter::ElementInterpreter(ElementInterpreter&&) noexcept = default;
ElementInterpreter& ElementInterpreter::operator=(
    ElementInterpreter&&) noexcept = default;
ElementInterpreter::~ElementInterpreter() = default;

absl::StatusOr<ElementInterpreter> ElementInterpreter::Create(
    const Function& f) {
  auto impl = std::make_unique<Impl>(f);
  KILN_RETURN_IF_ERROR(impl->Compile());
  return ElementInterpreter(std::move(impl));
}

absl::Status ElementInterpreter::Start(absl::Span<const void* const> args,
                                       int64_t max_steps) {
  Impl& impl = *impl_;
  if (args.size() != impl.function.params.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(impl.function.name, " takes ", impl.function.params.size(),
                     " arguments, not ", args.size()));
  }
  impl.options.max_steps = max_steps;
  impl.run = {&impl.options, max_steps, impl.function.name};
  impl.frame = Frame();
  impl.frame.run = &impl.run;
  impl.frame.source = &impl;
  impl.frame.slots.resize(impl.scope.value_count() + 1);
  impl.frame.views.resize(impl.scope.view_count() + 1);
  impl.running.clear();
  for (size_t p = 0; p < args.size(); ++p) {
    KILN_RETURN_IF_ERROR(impl.BindParam(p, args[p]));
  }
  for (const BufferCode& buffer : impl.allocations) {
    buffer.Allocate(impl.frame);
  }
  return impl.frame.status;
}

absl::StatusOr<std::vector<uint8_t>> ElementInterpreter::Get(
    size_t param, absl::Span<const int64_t> index) {
  Impl& impl = *impl_;
  Frame& frame = impl.frame;
  KILN_RETURN_IF_ERROR(frame.status);
  const int slot = impl.param_slots[param];
  const View& view = frame.views[slot];
  bool inside = index.size() == view.shape.size();
  for (size_t d = 0; inside && d < index.size(); ++d) {
    inside = index[d] >= 0 && index[d] < view.shape[d];
  }
  if (!inside) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter ", impl.function.params[param].buffer->name,
                     " has no element [", absl::StrJoin(index, ", "), "]"));
  }
  const uint8_t* at = At(view, index.data());
  if (!IsWritten(view, at, view.bytes)) {
    impl.Provide(frame, slot, index.data());
    KILN_RETURN_IF_ERROR(frame.status);
  }
  return std::vector<uint8_t>(at, at + view.bytes);
}

int64_t ElementInterpreter::steps() const {
  return impl_->options.max_steps - impl_->run.steps_left;
}

}  // namespace kiln
