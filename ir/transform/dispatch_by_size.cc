// The root blocks of the variants become the branches of an `if` in one root
// block. Loops, blocks and variables of all variants but the first are new,
// since schedules of one function share what none of them touched. So are
// tensors of the root block: what one branch needs a row of at a time another
// may need all of.
//
//   root A: pack w into panels; y = x * panels      n <= 16
//   root B: pack w into panels; y = x * panels      more
//
//   root: pack w into panels
//         if n <= 16: y = x * panels                A
//         else:       y = x * panels                B, with A's panels
#include "kiln/ir/transform/dispatch_by_size.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/clone_with_fresh_ids.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/transform/split_preparation.h"

namespace kiln {
namespace {

// A variant in two: what prepares, and what runs in every call.
struct Halves {
  Stmt prepare;  // null: nothing
  std::vector<Buffer> prepared;
  Stmt main;
  std::vector<Buffer> allocations;  // of `main` alone
};

absl::StatusOr<Halves> Split(const Function& f) {
  if (!HasPreparation(f)) {
    return Halves{nullptr, {}, f.root().body, f.root().alloc_buffers};
  }
  KILN_ASSIGN_OR_RETURN(const SplitFunction split, SplitPreparation(f));
  return Halves{split.prepare.root().body, split.prepared,
                split.main.root().body, split.main.root().alloc_buffers};
}

Expr IsAtMost(const Function& f, int64_t bound) {
  Expr product;
  for (const Var& dim : SymbolicDims(f)) {
    const Expr value = Cast(DType::Int(64), dim);
    product = product ? Mul(product, value) : value;
  }
  return LE(product, Int(bound, DType::Int(64)));
}

class Dispatcher {
 public:
  explicit Dispatcher(const std::vector<SizeVariant>& variants)
      : variants_(variants), result_(variants.front().scheduled) {}

  absl::StatusOr<Function> Run() {
    KILN_RETURN_IF_ERROR(CheckSamePreparation());
    for (const SizeVariant& variant : variants_) {
      result_.next_id = std::max(result_.next_id, variant.scheduled.next_id);
    }
    KILN_ASSIGN_OR_RETURN(first_, Split(variants_.front().scheduled));
    std::vector<Stmt> branches = {first_.main};
    allocations_ = variants_.front().scheduled.root().alloc_buffers;
    for (size_t i = 1; i < variants_.size(); ++i) {
      KILN_ASSIGN_OR_RETURN(Stmt branch, Branch(variants_[i].scheduled));
      branches.push_back(std::move(branch));
    }
    Stmt body = branches.back();
    for (size_t i = variants_.size() - 1; i-- > 0;) {
      body = MakeIf(IsAtMost(result_, variants_[i].at_most), branches[i],
                    std::move(body));
    }
    if (first_.prepare) body = MakeSeq({first_.prepare, std::move(body)});
    BlockFields root = result_.root().fields();
    root.alloc_buffers = allocations_;
    root.body = std::move(body);
    result_.body = MakeRealize({}, Bool(true), MakeBlock(std::move(root)));
    return std::move(result_);
  }

 private:
  absl::Status CheckSamePreparation() const {
    const std::string first = PreparationText(variants_.front().scheduled);
    for (const SizeVariant& variant : variants_) {
      if (PreparationText(variant.scheduled) == first) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "schedules of ", variant.scheduled.name,
          " for different sizes bring constant arguments into different "
          "layouts"));
    }
    return absl::OkStatus();
  }

  // What runs in every call of another variant, on what the first prepares.
  absl::StatusOr<Stmt> Branch(const Function& f) {
    KILN_ASSIGN_OR_RETURN(const Halves halves, Split(f));
    BufferMap own;
    for (const Buffer& buffer : halves.allocations) {
      own[buffer.get()] = EditBuffer(buffer, [](BufferNode&) {});
      allocations_.push_back(own[buffer.get()]);
    }
    for (size_t i = 0; i < halves.prepared.size(); ++i) {
      own[halves.prepared[i].get()] = first_.prepared[i];
    }
    return CloneWithFreshIds(ReplaceBuffers(halves.main, own), "", &result_);
  }

  const std::vector<SizeVariant>& variants_;
  Function result_;
  Halves first_;
  std::vector<Buffer> allocations_;
};

}  // namespace

std::string PreparationText(const Function& f) {
  if (!HasPreparation(f)) return "";
  const absl::StatusOr<SplitFunction> split = SplitPreparation(f);
  return split.ok() ? CanonicalForm(split->prepare)
                    : std::string(split.status().message());
}

absl::StatusOr<Function> DispatchBySize(
    const std::vector<SizeVariant>& variants) {
  if (variants.empty()) {
    return absl::InvalidArgumentError("there is no schedule for any size");
  }
  return Dispatcher(variants).Run();
}

}  // namespace kiln
