// One walk (site_walk.h) meets every access with all that is known there; a
// bound comes out as proved, as failing in an instance that was found, or as
// neither. Two questions differ only in what they make of that: CheckBounds
// refuses what fails, UnprovenAccesses lists all that is not proved.
//
//   for i in range(64):       of 64 elements each
//     B[i] = A[i + 1]         fails where i = 63      refused
//     B[i] = A[X[i]]          neither                 passes, and A is listed
//     B[i] = A[X[i] % 64]     proved                  passes
//
// An access that is neither passes CheckBounds, as the data may be such that
// the program is right. Indices are held to the shape of their buffer. Whether
// a view ends within its storage is asked once, where it is declared; if that
// is not proved, no access to it is, nor to a view of it (loose_).
#include "kiln/ir/verify/bounds.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/verify/site_walk.h"

namespace kiln {
namespace {

using verify_internal::Access;
using verify_internal::Describe;
using verify_internal::Ends;
using verify_internal::EndsOf;
using verify_internal::Outcome;
using verify_internal::SiteWalk;
using verify_internal::Trial;

std::string AccessText(const Access& access) {
  return PrintExpr(Load(access.buffer, access.indices));
}

std::string Where(const Trial& trial) {
  return trial.instance.empty()
             ? ""
             : absl::StrCat(" where ", Describe(trial.instance));
}

// Where the last element of the buffer ends in its storage, in bytes.
Expr EndOf(const BufferNode& buffer) {
  Expr last = buffer.elem_offset ? buffer.elem_offset : Int(0);
  Expr stride = Int(1);
  for (size_t d = buffer.shape.size(); d-- > 0;) {
    if (!buffer.strides.empty()) stride = buffer.strides[d];
    last = Add(last, Mul(Sub(buffer.shape[d], Int(1)), stride));
    stride = Mul(stride, buffer.shape[d]);
  }
  return Mul(Add(last, Int(1)), Int(buffer.dtype.bytes()));
}

class BoundsWalk : public SiteWalk {
 public:
  explicit BoundsWalk(const Function& f) : SiteWalk(f) {
    for (const Param& param : f.params) {
      if (param.buffer) AddStorage(param.buffer);
    }
  }

 protected:
  // A view over storage, and how it came out that it ends where that does or
  // before.
  virtual void OnView(const Buffer& view, const Buffer& owner,
                      const Trial& trial) {}
  // How it came out that a dimension of a matched region is in bounds.
  virtual void OnMatch(const MatchBufferRegion& match, size_t dimension,
                       const Ends& ends, const Trial& trial) {}

  void OnDeclare(const AllocateNode& node) override {
    const auto owner =
        node.is_view ? storage_.find(node.buffer->data.get()) : storage_.end();
    if (owner == storage_.end()) return AddStorage(node.buffer);
    OnView(node.buffer, owner->second,
           AtMost(EndOf(*node.buffer), EndOf(*owner->second)));
  }

  void OnEnter(const BlockNode& block) override {
    for (const Buffer& buffer : block.alloc_buffers) AddStorage(buffer);
    for (const MatchBufferRegion& match : block.match_buffers) {
      const BufferRegion& source = match.source;
      for (size_t d = 0; d < source.region.size(); ++d) {
        const Range& range = source.region[d];
        const Expr last = Sub(Add(range.min, range.extent), Int(1));
        const Ends ends{range.min, last};
        OnMatch(match, d, ends, Within(ends, source.buffer->shape[d]));
      }
    }
  }

  // Whether 0 <= first and last < extent.
  Trial Within(const Ends& ends, const Expr& extent) {
    Trial low = AtMost(Int(0), ends.first);
    if (low.outcome == Outcome::kNotAlways) return low;
    Trial high = AtMost(Add(ends.last, Int(1)), extent);
    const bool both = low.outcome == high.outcome;
    return both || high.outcome == Outcome::kNotAlways ? high : Trial();
  }

 private:
  void AddStorage(const Buffer& buffer) {
    if (buffer->data) storage_.emplace(buffer->data.get(), buffer);
  }

  // The buffers that have storage of their own, by its address.
  std::unordered_map<const VarNode*, Buffer> storage_;
};

class UnprovenWalk : public BoundsWalk {
 public:
  explicit UnprovenWalk(const Function& f) : BoundsWalk(f) {}

  std::vector<UnprovenAccess> Run() {
    Walk();
    return std::move(found_);
  }

 private:
  void OnAccess(const Access& access) override {
    for (size_t d = 0; d < access.indices.size(); ++d) {
      const auto ends = EndsOf(access.indices[d]);
      const bool within =
          ends && !loose_.count(access.buffer.get()) &&
          Within(*ends, access.buffer->shape[d]).outcome == Outcome::kAlways;
      if (within) continue;
      found_.push_back({access.buffer, access.indices, static_cast<int>(d),
                        access.is_store, Path()});
    }
  }

  void OnView(const Buffer& view, const Buffer& owner,
              const Trial& trial) override {
    const bool whole = !loose_.count(owner.get());
    if (trial.outcome != Outcome::kAlways || !whole) loose_.insert(view.get());
  }

  void OnMatch(const MatchBufferRegion& match, size_t, const Ends&,
               const Trial& trial) override {
    const bool whole = !loose_.count(match.source.buffer.get());
    if (trial.outcome != Outcome::kAlways || !whole) {
      loose_.insert(match.buffer.get());
    }
  }

  std::vector<UnprovenAccess> found_;
  // Views that are not known to be within their storage.
  std::unordered_set<const BufferNode*> loose_;
};

class RefusingWalk : public BoundsWalk {
 public:
  explicit RefusingWalk(const Function& f) : BoundsWalk(f) {}

  absl::Status Run() {
    Walk();
    return std::move(status_);
  }

 private:
  void Refuse(const std::string& what) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(absl::StrCat(Path(), ": ", what));
  }

  // "index 1 runs from 0 to 64, and the extent of that dimension of `B` is 64;
  // outside of it where j = 64".
  std::string Outside(size_t dimension, const Ends& ends, const Trial& trial,
                      const Buffer& buffer) {
    const Expr& extent = buffer->shape[dimension];
    const std::string range = RangeOf(ends.last);
    return absl::StrCat(
        "index ", dimension, range.empty() ? "" : absl::StrCat(" ", range),
        ", and the extent of that dimension of `", buffer->name, "` is ",
        PrintExpr(extent), trial.instance.empty() ? "" : "; outside of it",
        Where(trial));
  }

  void OnAccess(const Access& access) override {
    for (size_t d = 0; d < access.indices.size() && status_.ok(); ++d) {
      const auto ends = EndsOf(access.indices[d]);
      if (!ends) continue;
      const Trial trial = Within(*ends, access.buffer->shape[d]);
      if (trial.outcome != Outcome::kNotAlways) continue;
      Refuse(absl::StrCat(
          access.is_store ? "the store to " : "the load of ",
          AccessText(access),
          " is out of bounds: ", Outside(d, *ends, trial, access.buffer),
          ". Make the loop shorter, or guard the access with `if` or "
          "T.if_then_else"));
    }
  }

  void OnLoop(const ForNode& loop) override {
    CheckExtent(loop.extent, "the loop");
  }

  // Refuses an extent that is below 0 in all instances. A loop may have one in
  // some of them, in which it does not run.
  void CheckExtent(const Expr& extent, const std::string& what) {
    if (!Proves(extent, Int(-1))) return;
    Refuse(absl::StrCat(what, " has the negative extent ", PrintExpr(extent),
                        "; extents are 0 or more"));
  }

  void OnRealize(const BlockRealizeNode& realize) override {
    const BlockNode& block = *realize.block;
    for (size_t i = 0; i < block.iters.size() && status_.ok(); ++i) {
      CheckBinding(block.iters[i], realize.values[i]);
    }
  }

  void CheckBinding(const IterVar& iter, const Expr& value) {
    CheckExtent(iter.domain.extent,
                absl::StrCat("the domain of iterator ", iter.var.name()));
    const Expr end = Add(iter.domain.min, iter.domain.extent);
    Trial trial = AtMost(iter.domain.min, value);
    if (trial.outcome != Outcome::kNotAlways) {
      trial = AtMost(Add(value, Int(1)), end);
    }
    if (trial.outcome != Outcome::kNotAlways) return;
    Refuse(absl::StrCat(
        "iterator ", iter.var.name(), " is bound to ", PrintExpr(value),
        ", which leaves its domain [", PrintExpr(iter.domain.min), ", ",
        PrintExpr(end), ")", Where(trial),
        ". Give the iterator the extent that its loops have, or say with "
        "T.where which iterations the block leaves out"));
  }

  void OnMatch(const MatchBufferRegion& match, size_t dimension,
               const Ends& ends, const Trial& trial) override {
    if (trial.outcome != Outcome::kNotAlways) return;
    Refuse(absl::StrCat("`", match.buffer->name, "` matches ",
                        PrintRegion(match.source), ", which is out of bounds: ",
                        Outside(dimension, ends, trial, match.source.buffer)));
  }

  void OnView(const Buffer& view, const Buffer& owner,
              const Trial& trial) override {
    if (trial.outcome != Outcome::kNotAlways) return;
    Refuse(absl::StrCat("`", view->name, "` views the storage of `",
                        owner->name, "` and reaches ", -trial.slack,
                        " bytes beyond its end", Where(trial),
                        "; check its shape, strides and offset"));
  }

  absl::Status status_;
};

}  // namespace

std::vector<UnprovenAccess> UnprovenAccesses(const Function& f) {
  return UnprovenWalk(f).Run();
}

absl::Status CheckBounds(const Function& f) { return RefusingWalk(f).Run(); }

}  // namespace kiln
