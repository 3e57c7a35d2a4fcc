#include "kiln/schedule/primitive/set_dtype.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

constexpr char kName[] = "unsafe_set_dtype";

absl::StatusOr<DType> NumberType(std::string_view name) {
  const std::optional<DType> dtype = DType::FromString(name);
  if (dtype && dtype->is_scalar() &&
      (dtype->is_float() || dtype->is_integral())) {
    return *dtype;
  }
  return BadArgument(
      kName, absl::StrCat("`", std::string(name), "` is no type of one number"),
      "float16, bfloat16, int8 and the like are");
}

bool IsMatched(const Stmt& s, const Buffer& buffer) {
  bool matched = false;
  Visit(s, [&](const Stmt& x) {
    const auto* realize = x.As<BlockRealizeNode>();
    if (!realize) return !matched;
    for (const MatchBufferRegion& match : realize->block->match_buffers) {
      matched = matched || match.source.buffer == buffer;
    }
    return !matched;
  });
  return matched;
}

// Whether an address of the tensor is taken, which says its type.
bool IsAddressed(const Stmt& s, const Buffer& buffer) {
  bool addressed = false;
  VisitExprs(s, [&](const Expr& e) {
    const auto* call = e.As<CallNode>();
    const LoadNode* load = call && call->op == Intrinsic::kAddressOf
                               ? call->args[0].As<LoadNode>()
                               : nullptr;
    addressed = addressed || (load && load->buffer == buffer) ||
                (buffer->data && e == buffer->data);
    return !addressed;
  });
  return addressed;
}

absl::Status CheckBuffer(const Function& f, const Buffer& buffer) {
  if (!IsAllocated(f, buffer)) {
    return Refusal(kName,
                   absl::StrCat("`", buffer->name,
                                "` is not allocated by a block, so that its "
                                "type is not the function's to choose"),
                   "stage it with cache_read or cache_write");
  }
  if (IsMatched(f.body, buffer) || IsAddressed(f.body, buffer)) {
    return Refusal(kName, absl::StrCat("a view or an address of `",
                                       buffer->name, "` says its type"));
  }
  if (!IsStrict(f)) return absl::OkStatus();
  return Refusal(
      kName, absl::StrCat("`", f.name, "` has strict numerics, and values of `",
                          buffer->name, "` would be rounded"));
}

// Accesses to `from` as accesses to `to`, with casts around them.
class Retyping {
 public:
  Retyping(const Buffer& from, const Buffer& to) : from_(from), to_(to) {}

  Expr Loads(const Expr& e) const {
    const Expr below = MapOperands(e, [&](const Expr& x) { return Loads(x); });
    const auto* load = below.As<LoadNode>();
    if (!load || load->buffer != from_) return below;
    return Cast(below.dtype(), Load(to_, load->indices));
  }

  Stmt Accesses(const Stmt& s) const {
    const Stmt own = MapExprs(s, [&](const Expr& e) { return Loads(e); });
    const auto* store = own.As<StoreNode>();
    if (store && store->buffer == from_) {
      const DType dtype = to_->dtype.WithLanes(store->value.dtype().lanes());
      return MakeStore(to_, Cast(dtype, store->value), store->indices);
    }
    return MapChildren(own, [&](const Stmt& x) { return Accesses(x); });
  }

 private:
  const Buffer from_, to_;
};

}  // namespace

absl::StatusOr<Function> UnsafeSetDtype(const Function& f, BlockId block,
                                        int64_t index,
                                        std::string_view dtype_name) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, NumberType(dtype_name));
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, block, kName));
  const BlockNode& node = *path.realize()->block;
  if (index < 0 || index >= static_cast<int64_t>(node.writes.size())) {
    return Refusal(kName,
                   absl::StrCat(Describe(node), " writes ", node.writes.size(),
                                " regions; there is none with index ", index));
  }
  const Buffer& buffer = node.writes[index].buffer;
  KILN_RETURN_IF_ERROR(CheckBuffer(f, buffer));
  if (buffer->dtype == dtype) return f;
  const Buffer retyped =
      EditBuffer(buffer, [&](BufferNode& copy) { copy.dtype = dtype; });
  Function result = f;
  result.body = ReplaceBuffers(Retyping(buffer, retyped).Accesses(f.body),
                               {{buffer.get(), retyped}});
  return result;
}

}  // namespace kiln
