// Stores of the tensor and loads from it are rewritten, with casts around them
// or, for the type that readers cast to, without those that stood there:
//
//   B[vi] = e                      B'[vi] = T.Cast(type, e)
//   ... T.Cast(type, B[vi])        ... B'[vi]
#include "kiln/schedule/primitive/set_dtype.h"

#include <algorithm>
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

constexpr char kSetDtype[] = "unsafe_set_dtype";
constexpr char kHoistCast[] = "hoist_cast";

absl::StatusOr<DType> NumberType(std::string_view name) {
  const std::optional<DType> dtype = DType::FromString(name);
  if (dtype && dtype->is_scalar() &&
      (dtype->is_float() || dtype->is_integral())) {
    return *dtype;
  }
  return BadArgument(
      kSetDtype,
      absl::StrCat("`", std::string(name), "` is no type of one number"),
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

absl::Status CheckBuffer(const Function& f, const Buffer& buffer,
                         const char* name) {
  if (!IsAllocated(f, buffer)) {
    return Refusal(name,
                   absl::StrCat("`", buffer->name,
                                "` is not allocated by a block, so that its "
                                "type is not the function's to choose"),
                   "stage it with cache_read or cache_write");
  }
  if (IsMatched(f.body, buffer) || IsAddressed(f.body, buffer)) {
    return Refusal(name, absl::StrCat("a view or an address of `", buffer->name,
                                      "` says its type"));
  }
  return absl::OkStatus();
}

absl::Status CheckNotStrict(const Function& f, const Buffer& buffer) {
  if (!IsStrict(f)) return absl::OkStatus();
  return Refusal(
      kSetDtype,
      absl::StrCat("`", f.name, "` has strict numerics, and values of `",
                   buffer->name, "` would be rounded"));
}

// Tensor number `index` of those that the block writes, of a type to choose.
absl::StatusOr<Buffer> FindBuffer(const Function& f, BlockId block,
                                  int64_t index, const char* name) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, block, name));
  const BlockNode& node = *path.realize()->block;
  if (index < 0 || index >= static_cast<int64_t>(node.writes.size())) {
    return Refusal(name,
                   absl::StrCat(Describe(node), " writes ", node.writes.size(),
                                " regions; there is none with index ", index));
  }
  const Buffer buffer = node.writes[index].buffer;
  KILN_RETURN_IF_ERROR(CheckBuffer(f, buffer, name));
  return buffer;
}

// `value`, an element of `from` or a choice of one or a constant, as that of
// `to`, which has another type; null where it is something else.
Expr MapChoice(const Expr& value, const Buffer& from, const Buffer& to) {
  if (value.As<IntImmNode>() || value.As<FloatImmNode>()) {
    return Cast(to->dtype, value);
  }
  if (const auto* load = value.As<LoadNode>()) {
    const bool is_element =
        load->buffer == from &&
        std::none_of(load->indices.begin(), load->indices.end(),
                     [&](const Expr& e) { return LoadsFrom(e, from); });
    return is_element ? Load(to, load->indices) : Expr();
  }
  const auto* choice = value.As<CallNode>();
  if (!choice || choice->op != Intrinsic::kIfThenElse ||
      LoadsFrom(choice->args[0], from)) {
    return Expr();
  }
  const Expr first = MapChoice(choice->args[1], from, to);
  const Expr other = MapChoice(choice->args[2], from, to);
  if (!first || !other) return Expr();
  return Call(to->dtype, Intrinsic::kIfThenElse,
              {choice->args[0], first, other});
}

// An element of `from`, with the cast around it, as one of `to`; null where it
// is none, or has another type.
Expr MapCast(const Expr& e, const Buffer& from, const Buffer& to) {
  const auto* cast = e.As<CastNode>();
  if (!cast || e.dtype() != to->dtype || !LoadsFrom(cast->value, from)) {
    return Expr();
  }
  return MapChoice(cast->value, from, to);
}

// The type that some reader casts elements of the buffer to.
absl::StatusOr<DType> CastType(const Function& f, const Buffer& buffer) {
  std::optional<DType> dtype;
  VisitExprs(f.body, [&](const Expr& e) {
    const auto* cast = e.As<CastNode>();
    if (cast && e.dtype().is_scalar() && LoadsFrom(cast->value, buffer)) {
      dtype = e.dtype();
    }
    return !dtype;
  });
  if (dtype) return *dtype;
  return Refusal(kHoistCast, absl::StrCat("no reader casts elements of `",
                                          buffer->name, "` to another type"));
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

// Stores to `from` as stores to `to`, of another type.
Stmt MapStores(const Stmt& s, const Buffer& from, const Buffer& to) {
  return Rewrite(s, [&](const Stmt& x) {
    const auto* store = x.As<StoreNode>();
    if (!store || store->buffer != from) return Stmt();
    return MakeStore(to, Cast(to->dtype, store->value), store->indices);
  });
}

bool Reads(const Stmt& s, const Buffer& buffer) {
  bool reads = false;
  VisitExprs(s, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    reads = reads || (load && load->buffer == buffer);
    return !reads;
  });
  return reads;
}

Buffer WithType(const Buffer& buffer, DType dtype) {
  return EditBuffer(buffer, [&](BufferNode& copy) { copy.dtype = dtype; });
}

}  // namespace

absl::StatusOr<Function> UnsafeSetDtype(const Function& f, BlockId block,
                                        int64_t index,
                                        std::string_view dtype_name) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, NumberType(dtype_name));
  KILN_ASSIGN_OR_RETURN(const Buffer buffer,
                        FindBuffer(f, block, index, kSetDtype));
  KILN_RETURN_IF_ERROR(CheckNotStrict(f, buffer));
  if (buffer->dtype == dtype) return f;
  const Buffer retyped = WithType(buffer, dtype);
  Function result = f;
  result.body = ReplaceBuffers(Retyping(buffer, retyped).Accesses(f.body),
                               {{buffer.get(), retyped}});
  return result;
}

absl::StatusOr<Function> HoistCast(const Function& f, BlockId block,
                                   int64_t index) {
  KILN_ASSIGN_OR_RETURN(const Buffer buffer,
                        FindBuffer(f, block, index, kHoistCast));
  KILN_ASSIGN_OR_RETURN(const DType dtype, CastType(f, buffer));
  const Buffer retyped = WithType(buffer, dtype);
  const Stmt body = RewriteExprs(
      f.body, [&](const Expr& e) { return MapCast(e, buffer, retyped); });
  if (Reads(body, buffer)) {
    return Refusal(kHoistCast,
                   absl::StrCat("not all readers of `", buffer->name,
                                "` cast it to ", dtype.ToString()));
  }
  Function result = f;
  result.body = ReplaceBuffers(MapStores(body, buffer, retyped),
                               {{buffer.get(), retyped}});
  return result;
}

}  // namespace kiln
