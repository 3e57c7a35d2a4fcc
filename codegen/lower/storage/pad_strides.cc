// Notes stand on blocks, and padding comes after the tensors have shrunk to
// what is touched, when there are no blocks any more. So place_buffers.cc puts
// them on the statements that allocate:
//
//   with T.block("B"):                              B = T.decl_buffer((8, 6))
//       T.writes(B[vi, vj])                  →        [[0, 16, 4]]
//       {"buffer_dim_align": [[0, 0, 16, 4]]}
#include "kiln/codegen/lower/storage/pad_strides.h"

#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

constexpr size_t kTensor = 0, kAxis = 1, kFactor = 2, kOffset = 3, kFields = 4;

// The integers of a list; nullopt when it holds something else.
std::optional<std::vector<int64_t>> Integers(const Attr& attr) {
  if (!attr.list()) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Attr& item : *attr.list()) {
    const int64_t* value = item.expr() ? AsInt(*item.expr()) : nullptr;
    if (!value) return std::nullopt;
    numbers.push_back(*value);
  }
  return numbers;
}

AttrList ToList(const std::vector<int64_t>& numbers) {
  AttrList list;
  for (int64_t number : numbers) list.push_back(Int(number));
  return list;
}

absl::Status Refuse(const BlockNode& block, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "block ", block.name, " has the note \"", kStrideNote, "\", ", what));
}

class Collector {
 public:
  absl::Status Walk(const Function& f);
  std::unordered_map<const BufferNode*, AttrList> Take() {
    return std::move(notes_);
  }

 private:
  absl::Status Read(const BlockNode& block);
  absl::Status Take(const BlockNode& block, const Attr& note);
  absl::Status CheckBuffer(const BlockNode& block, const BufferNode& b) const;
  absl::Status Add(const BlockNode& block, const BufferNode& buffer,
                   std::vector<int64_t> stride);

  std::unordered_set<const BufferNode*> allocated_;
  std::unordered_map<const BufferNode*, AttrList> notes_;
};

absl::Status Collector::CheckBuffer(const BlockNode& block,
                                    const BufferNode& b) const {
  if (!allocated_.count(&b)) {
    return Refuse(block, absl::StrCat("but ", b.name,
                                      " is not allocated by a block, so that "
                                      "its strides are given; stage it with "
                                      "cache_write, or unannotate the block"));
  }
  if (b.strides.empty()) return absl::OkStatus();
  return Refuse(block, absl::StrCat("but ", b.name,
                                    " has strides of its own; leave out the "
                                    "one or the other"));
}

absl::Status Collector::Add(const BlockNode& block, const BufferNode& buffer,
                            std::vector<int64_t> stride) {
  AttrList& list = notes_[&buffer];
  for (const Attr& known : list) {
    const std::vector<int64_t> other = *Integers(known);
    if (other[0] != stride[0]) continue;
    if (other == stride) return absl::OkStatus();
    return Refuse(block, absl::StrCat("but another block asks for another "
                                      "stride of axis ",
                                      stride[0], " of ", buffer.name,
                                      "; unannotate one of them"));
  }
  list.push_back(ToList(stride));
  return absl::OkStatus();
}

absl::Status Collector::Take(const BlockNode& block, const Attr& note) {
  const std::optional<std::vector<int64_t>> n = Integers(note);
  if (!n || n->size() != kFields) {
    return Refuse(block,
                  "whose entries are not [tensor, axis, factor, offset]");
  }
  const int64_t tensor = (*n)[kTensor], axis = (*n)[kAxis];
  const int64_t factor = (*n)[kFactor], offset = (*n)[kOffset];
  if (tensor < 0 || tensor >= static_cast<int64_t>(block.writes.size())) {
    return Refuse(block, absl::StrCat("but it writes ", block.writes.size(),
                                      " tensors and has no number ", tensor));
  }
  const BufferNode& buffer = *block.writes[tensor].buffer;
  if (axis < 0 || axis >= static_cast<int64_t>(buffer.shape.size())) {
    return Refuse(
        block, absl::StrCat("but ", buffer.name, " has ", buffer.shape.size(),
                            " dimensions and no axis ", axis));
  }
  if (factor < 1 || offset < 0 || offset >= factor) {
    return Refuse(
        block, absl::StrCat("but no stride is ", offset, " modulo ", factor));
  }
  KILN_RETURN_IF_ERROR(CheckBuffer(block, buffer));
  return Add(block, buffer, {axis, factor, offset});
}

absl::Status Collector::Read(const BlockNode& block) {
  for (const Buffer& b : block.alloc_buffers) allocated_.insert(b.get());
  const auto found = block.annotations.find(kStrideNote);
  if (found == block.annotations.end()) return absl::OkStatus();
  if (!found->second.list()) return Refuse(block, "which is no list");
  for (const Attr& note : *found->second.list()) {
    KILN_RETURN_IF_ERROR(Take(block, note));
  }
  return absl::OkStatus();
}

absl::Status Collector::Walk(const Function& f) {
  absl::Status status;
  Visit(f.body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    if (realize) status.Update(Read(*realize->block));
    return status.ok();
  });
  return status;
}

// a * b, or kResourceExhausted.
absl::StatusOr<int64_t> Times(int64_t a, int64_t b, const BufferNode& buffer) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product) &&
      product <= std::numeric_limits<int64_t>::max() / 64) {
    return product;
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "with the strides that storage_align asks for, ", buffer.name,
      " has more elements than an index counts; take smaller factors"));
}

// stride + (offset - stride) mod factor, for a factor >= 1.
Expr Aligned(const Expr& stride, int64_t factor, int64_t offset) {
  if (const int64_t* value = AsInt(stride)) {
    const int64_t gap = ((offset - *value) % factor + factor) % factor;
    return Int(*value + gap);
  }
  return Add(stride, FloorMod(Sub(Int(offset), stride), Int(factor)));
}

// The stride of the next outer dimension.
absl::StatusOr<Expr> Outer(const Expr& stride, const Expr& extent,
                           const BufferNode& buffer) {
  const int64_t *a = AsInt(stride), *b = AsInt(extent);
  if (!a || !b) return Mul(Cast(DType::Index(), extent), stride);
  KILN_ASSIGN_OR_RETURN(const int64_t product, Times(*a, *b, buffer));
  return Int(product);
}

absl::StatusOr<Buffer> Padded(const Buffer& buffer, const AttrList& notes) {
  std::vector<Expr> strides(buffer->shape.size());
  Expr stride = Int(1);
  for (size_t i = strides.size(); i-- > 0;) {
    for (const Attr& note : notes) {
      const std::vector<int64_t> n = *Integers(note);
      if (n[0] != static_cast<int64_t>(i)) continue;
      KILN_RETURN_IF_ERROR(Times(n[1], 2, *buffer).status());
      stride = Aligned(stride, n[1], n[2]);
    }
    strides[i] = stride;
    KILN_ASSIGN_OR_RETURN(stride, Outer(stride, buffer->shape[i], *buffer));
  }
  return EditBuffer(buffer, [&](BufferNode& b) { b.strides = strides; });
}

class Padder {
 public:
  Stmt Run(const Stmt& s);
  const absl::Status& status() const { return status_; }

 private:
  Stmt RunAllocate(const AllocateNode& node);
  Expr Map(const Expr& e);
  const Buffer& Of(const Buffer& buffer) const {
    const auto found = padded_.find(buffer.get());
    return found == padded_.end() ? buffer : found->second;
  }

  BufferMap padded_;
  absl::Status status_;
};

Expr Padder::Map(const Expr& e) {
  Expr below = MapOperands(e, [&](const Expr& x) { return Map(x); });
  const auto* load = below.As<LoadNode>();
  if (!load || !padded_.count(load->buffer.get())) return below;
  return Load(Of(load->buffer), load->indices);
}

Stmt Padder::RunAllocate(const AllocateNode& node) {
  Annotations notes = node.annotations;
  const auto found = notes.find(kStrideNote);
  if (found == notes.end()) {
    return MakeAllocate(node.buffer, Run(node.body), node.is_view, notes);
  }
  absl::StatusOr<Buffer> padded = Padded(node.buffer, *found->second.list());
  if (!padded.ok()) {
    status_.Update(padded.status());
    return node.body;
  }
  padded_[node.buffer.get()] = *padded;
  notes.erase(found);
  return MakeAllocate(*padded, Run(node.body), node.is_view, notes);
}

Stmt Padder::Run(const Stmt& s) {
  if (const auto* node = s.As<AllocateNode>()) return RunAllocate(*node);
  Stmt own = MapExprs(s, [&](const Expr& e) { return Map(e); });
  own = MapChildren(own, [&](const Stmt& child) { return Run(child); });
  const auto* store = own.As<StoreNode>();
  if (!store || !padded_.count(store->buffer.get())) return own;
  return MakeStore(Of(store->buffer), store->value, store->indices);
}

bool HasNotes(const Stmt& body) {
  bool found = false;
  Visit(body, [&](const Stmt& s) {
    const auto* node = s.As<AllocateNode>();
    found |= node && node->annotations.count(kStrideNote) > 0;
    return !found;
  });
  return found;
}

}  // namespace

absl::StatusOr<std::unordered_map<const BufferNode*, AttrList>> StrideNotes(
    const Function& f) {
  Collector collector;
  KILN_RETURN_IF_ERROR(collector.Walk(f));
  return collector.Take();
}

absl::StatusOr<Function> PadStrides(Function f) {
  if (!HasNotes(f.body)) return f;
  Padder padder;
  f.body = padder.Run(f.body);
  KILN_RETURN_IF_ERROR(padder.status());
  return f;
}

}  // namespace kiln
