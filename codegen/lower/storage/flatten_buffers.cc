// The index of an element is the sum of index * stride, in the normal form of
// index_normalizer.h with the terms of outer loops first: what an inner loop
// does not change is a prefix of the sum, and two accesses that differ by a
// constant show it. Of A: float32[10, 12],
//
//   A[i*4 + r, j]   →   A[i*48 + r*12 + j]
//
// A ramp in one dimension stays one ramp: [i, ramp(0, 1, 8)] is ramp(i*12, 1,
// 8). With strides (s, 1) and offset o the same access is A[o + i*s + j], in a
// buffer of (m - 1)*s + (n - 1) + 1 elements for m x n, and o more where that
// is a constant.
#include "kiln/codegen/lower/storage/flatten_buffers.h"

#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/arith/split_dims.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

Expr AsIndex(const Expr& e) {
  return Cast(DType::Index().WithLanes(e.dtype().lanes()), e);
}

Expr Product(const Expr& a, const Expr& b) {
  if (IsOne(a) || IsZero(b)) return b;
  if (IsOne(b) || IsZero(a)) return a;
  return Mul(a, b);
}

// a + b, where a ramp takes a scalar into its base.
Expr Sum(const Expr& a, const Expr& b) {
  if (IsZero(a)) return b;
  if (IsZero(b)) return a;
  if (const auto* ramp = b.As<RampNode>(); ramp && a.dtype().is_scalar()) {
    return Ramp(Sum(a, ramp->base), ramp->stride, ramp->lanes);
  }
  if (a.As<RampNode>() && b.dtype().is_scalar()) return Sum(b, a);
  return Add(a, b);
}

// 1 + sum((extent - 1) * stride): what the box of a buffer spans.
Expr SpanOf(const BufferNode& buffer) {
  Expr size = Int(1);
  if (buffer.strides.empty()) {
    for (const Expr& extent : buffer.shape) {
      size = Product(AsIndex(extent), size);
    }
    return size;
  }
  for (size_t i = 0; i < buffer.shape.size(); ++i) {
    const Expr last = Add(AsIndex(buffer.shape[i]), Int(-1));
    size = Sum(size, Product(last, AsIndex(buffer.strides[i])));
  }
  return size;
}

class Flattener {
 public:
  Buffer Flat(const Buffer& buffer);
  Stmt Run(const Stmt& s);
  // Says which buffer an address belongs to.
  void Declare(const Buffer& buffer) {
    if (buffer->data) storage_[buffer->data.get()] = buffer;
  }
  const absl::Status& status() const { return status_; }

 private:
  Expr Map(const Expr& e);
  void BindView(const Buffer& view);
  std::vector<Expr> Index(const Buffer& buffer,
                          const std::vector<Expr>& indices);

  IndexNormalizer normalizer_;
  BufferMap flat_;
  std::unordered_map<const VarNode*, Buffer> storage_;
  absl::Status status_;
  int depth_ = 0;
};

Buffer Flattener::Flat(const Buffer& buffer) {
  Buffer& flat = flat_[buffer.get()];
  if (flat) return flat;
  flat = EditBuffer(buffer, [&](BufferNode& b) {
    const bool is_moved = buffer->elem_offset && AsInt(buffer->elem_offset);
    const Expr before = is_moved ? AsIndex(buffer->elem_offset) : Int(0);
    b.shape = {normalizer_.Run(Sum(SpanOf(*buffer), before))};
    b.strides.clear();
    b.elem_offset = nullptr;
  });
  return flat;
}

// Accesses to a view become accesses to the storage that it views.
void Flattener::BindView(const Buffer& view) {
  auto found = storage_.find(view->data.get());
  if (found == storage_.end()) {
    status_.Update(absl::InvalidArgumentError(
        absl::StrCat("buffer ", view->name,
                     " views storage that no parameter or allocation owns")));
  } else if (found->second->dtype != view->dtype) {
    status_.Update(absl::UnimplementedError(absl::StrCat(
        "buffer ", view->name, " views storage of ",
        found->second->dtype.ToString(), " as ", view->dtype.ToString(),
        "; reinterpret the values instead")));
  } else {
    flat_[view.get()] = Flat(found->second);
  }
}

// The index of an element of a compact buffer where some of its indices are
// digits of one number, which is the index of their dimensions together; null
// for others.
Expr IndexOfDigits(const BufferNode& buffer, std::vector<Expr> indices) {
  if (!buffer.strides.empty() || buffer.elem_offset) return nullptr;
  std::vector<int64_t> shape;
  for (const Expr& size : buffer.shape) {
    const int64_t* extent = AsInt(size);
    if (!extent) return nullptr;
    shape.push_back(*extent);
  }
  if (shape.size() != indices.size()) return nullptr;
  MergeSplitDims(&indices, &shape);
  if (shape.size() == buffer.shape.size()) return nullptr;
  Expr index = Int(0);
  for (size_t d = 0; d < shape.size(); ++d) {
    index = Sum(Product(index, Int(shape[d])), AsIndex(indices[d]));
  }
  return index;
}

std::vector<Expr> Flattener::Index(const Buffer& buffer,
                                   const std::vector<Expr>& indices) {
  if (const Expr index = IndexOfDigits(*buffer, indices)) {
    return {normalizer_.Run(index)};
  }
  return {normalizer_.Run(LinearIndex(*buffer, indices))};
}

Expr Flattener::Map(const Expr& e) {
  Expr below = MapOperands(e, [&](const Expr& x) { return Map(x); });
  const auto* load = below.As<LoadNode>();
  if (!load) return below;
  return Load(Flat(load->buffer), Index(load->buffer, load->indices));
}

Stmt Flattener::Run(const Stmt& s) {
  if (const auto* loop = s.As<ForNode>()) {
    normalizer_.SetDepth(loop->var.get(), ++depth_);
  }
  Stmt own = MapExprs(s, [&](const Expr& e) { return Map(e); });
  if (const auto* store = own.As<StoreNode>()) {
    return MakeStore(Flat(store->buffer), store->value,
                     Index(store->buffer, store->indices));
  }
  if (const auto* node = own.As<AllocateNode>()) {
    if (node->is_view) {
      BindView(node->buffer);
      return Run(node->body);
    }
    Declare(node->buffer);
    const Buffer flat = Flat(node->buffer);
    return MakeAllocate(flat, Run(node->body), node->is_view,
                        node->annotations);
  }
  own = MapChildren(own, [&](const Stmt& child) { return Run(child); });
  if (s.kind() == StmtKind::kFor) --depth_;
  return own;
}

}  // namespace

std::vector<Expr> StridesOf(const BufferNode& buffer) {
  if (!buffer.strides.empty()) return buffer.strides;
  std::vector<Expr> strides(buffer.shape.size(), Int(1));
  for (size_t i = strides.size(); i-- > 1;) {
    strides[i - 1] = Product(AsIndex(buffer.shape[i]), strides[i]);
  }
  return strides;
}

Expr LinearIndex(const BufferNode& buffer, const std::vector<Expr>& indices) {
  const std::vector<Expr> strides = StridesOf(buffer);
  Expr index = Int(0);
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto* ramp = indices[i].As<RampNode>();
    const Expr stride = AsIndex(strides[i]);
    if (ramp) {
      index =
          Sum(index, Ramp(Product(AsIndex(ramp->base), stride),
                          Product(AsIndex(ramp->stride), stride), ramp->lanes));
    } else {
      index = Sum(index, Product(AsIndex(indices[i]), stride));
    }
  }
  return buffer.elem_offset ? Sum(AsIndex(buffer.elem_offset), index) : index;
}

absl::StatusOr<Function> FlattenBuffers(Function f) {
  Flattener flattener;
  for (Param& param : f.params) {
    if (!param.buffer) continue;
    flattener.Declare(param.buffer);
    param.buffer = flattener.Flat(param.buffer);
  }
  f.body = flattener.Run(f.body);
  KILN_RETURN_IF_ERROR(flattener.status());
  return f;
}

}  // namespace kiln
