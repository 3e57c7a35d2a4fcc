// Each block is held against the accesses that stand in it directly, and
// against what its blocks say of themselves. Blocks deeper down count through
// those. A block may say more of itself than it does: where the block around
// it does not hold that, it is held against the accesses below as well.
//
//   with T.block("outer"):
//     vo = T.axis.spatial(8, io)
//     T.reads(A[vo * 8:vo * 8 + 8])   # holds A[vi] below: vi is vo * 8 + ii
//     for ii in range(8):
//       with T.block("B"):
//         vi = T.axis.spatial(64, vo * 8 + ii)
//         T.reads(A[vi])              # holds the load
//         B[vi] = A[vi]
#include "kiln/ir/verify/regions.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/verify/site_walk.h"

namespace kiln::verify_internal {
namespace {

// A box of elements, and the text that stands for it in messages. Ends that
// are missing may be anything.
struct Touched {
  Buffer buffer;
  std::vector<std::optional<Ends>> box;
  std::string text;
  // Whether the box may reach beyond the buffer, as stated regions may.
  bool is_clipped = false;
};

enum class Direction : uint8_t { kRead, kWrite };

std::vector<std::optional<Ends>> BoxOf(const std::vector<Range>& region) {
  std::vector<std::optional<Ends>> box;
  for (const Range& range : region) {
    box.push_back(
        Ends{range.min, IsOne(range.extent)
                            ? range.min
                            : Sub(Add(range.min, range.extent), Int(1))});
  }
  return box;
}

// Whether the region was told by hand, for accesses that no one can follow.
bool IsTold(const BlockNode& block, Direction direction, size_t index) {
  const auto found = block.annotations.find(direction == Direction::kRead
                                                ? "explicit_read_region"
                                                : "explicit_write_region");
  if (found == block.annotations.end()) return false;
  const auto names = [&](const Attr& attr) {
    return attr.expr() && IsConst(*attr.expr(), static_cast<int64_t>(index));
  };
  const AttrList* list = found->second.list();
  return list ? std::any_of(list->begin(), list->end(), names)
              : names(found->second);
}

// All buffers that some block states that it writes, or a store does.
std::unordered_set<const BufferNode*> WrittenIn(const Function& f) {
  std::unordered_set<const BufferNode*> written;
  Visit(f.body, [&](const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) {
      written.insert(store->buffer.get());
    }
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      for (const BufferRegion& region : realize->block->writes) {
        written.insert(region.buffer.get());
      }
    }
    return true;
  });
  return written;
}

// Whether the load stands among the bounds of a region that the block states.
bool StandsInRegions(const BlockNode& block, const Access& access) {
  const Expr load = Load(access.buffer, access.indices);
  bool found = false;
  const auto look = [&](const Expr& e) {
    Visit(e, [&](const Expr& x) {
      found = found || SameExpr(x, load);
      return !found;
    });
  };
  for (const auto* regions : {&block.reads, &block.writes}) {
    for (const BufferRegion& region : *regions) {
      for (const Range& range : region.region) look(range.min);
    }
  }
  return found;
}

class RegionWalk : public SiteWalk {
 public:
  explicit RegionWalk(const Function& f) : SiteWalk(f), written_(WrittenIn(f)) {
    for (const Param& param : f.params) {
      if (param.buffer) Remember(param.buffer);
    }
  }

  absl::Status Run() {
    Walk();
    return std::move(status_);
  }

 private:
  struct Frame {
    const BlockNode* block;
    std::unordered_set<const BufferNode*> own;
    std::unordered_map<const BufferNode*, const MatchBufferRegion*> matched;
    // Buffers of which the block around does not hold all that this one says,
    // by direction, and the refusal for that.
    std::unordered_map<const BufferNode*, std::string> unheld[2];
  };
  using Refusal = std::optional<std::string>;

  void OnAccess(const Access& access) override;
  void OnAddress(const Expr& of, AddressUse use) override;
  void OnDeclare(const AllocateNode& node) override;
  void OnEnter(const BlockNode& block) override;
  void OnLeave(const BlockNode&) override { frames_.pop_back(); }

  void Remember(const Buffer& buffer) {
    if (buffer->data) data_.emplace(buffer->data.get(), buffer);
  }
  // Whether there is no block here whose regions are to be held.
  bool IsFree() const {
    return !status_.ok() || frames_.empty() ||
           frames_.back().block->id == function().root().id;
  }

  // Against the block of frame number `depth`, in whose body `touched` is.
  Refusal WhyNotHeld(size_t depth, const Touched& touched, Direction direction);
  void CheckTouched(const Touched& touched, Direction direction);
  Touched InSource(const Touched& touched, const MatchBufferRegion& match);
  // Against one region.
  Trial Holds(const BufferRegion& region, const Touched& touched);
  Trial HoldsLow(const Expr& min, const Expr& first, bool is_clipped);
  Trial HoldsHigh(const Expr& end, const Expr& last, const Expr& extent,
                  bool is_clipped);
  // Against all; null where one of them holds it.
  std::optional<Trial> WhyNot(const BlockNode& block, const Touched& touched,
                              Direction direction);
  Touched WithDataIn(Touched touched) const;
  void CheckNamed(const Buffer& buffer, AddressUse use);
  void CheckUnheld(const Buffer& buffer, AddressUse use);
  void Fail(const std::string& what) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(absl::StrCat(Path(), ": ", what));
  }

  const std::unordered_set<const BufferNode*> written_;
  std::vector<Frame> frames_;
  std::unordered_map<const VarNode*, Buffer> data_;
  // The buffer whose storage a declared one shares.
  std::unordered_map<const BufferNode*, Buffer> view_of_;
  absl::Status status_;
};

const std::vector<BufferRegion>& RegionsOf(const BlockNode& block,
                                           Direction direction) {
  return direction == Direction::kRead ? block.reads : block.writes;
}

bool Names(const BlockNode& block, const Buffer& buffer, Direction direction) {
  const auto& regions = RegionsOf(block, direction);
  return std::any_of(regions.begin(), regions.end(), [&](const auto& region) {
    return region.buffer == buffer;
  });
}

// Whether the block itself changes what `e` loads.
bool LoadsWritten(const BlockNode& block, const Expr& e) {
  bool found = false;
  Visit(e, [&](const Expr& x) {
    const auto* load = x.As<LoadNode>();
    found = found || (load && Names(block, load->buffer, Direction::kWrite));
    return !found;
  });
  return found;
}

// Regions speak of what tensors hold where the block begins: ends by what it
// writes may be anything.
Touched AtBegin(const BlockNode& block, Touched touched) {
  for (std::optional<Ends>& ends : touched.box) {
    const auto changes = [&](const Expr& end) {
      return end.contents().loads && LoadsWritten(block, end);
    };
    if (ends && (changes(ends->first) || changes(ends->last))) {
      ends = std::nullopt;
    }
  }
  return touched;
}

Touched RegionWalk::WithDataIn(Touched touched) const {
  for (std::optional<Ends>& ends : touched.box) {
    if (ends) *ends = {WithData(ends->first), WithData(ends->last)};
  }
  return touched;
}

Trial RegionWalk::HoldsLow(const Expr& min, const Expr& first,
                           bool is_clipped) {
  if (Proves(min, Int(0))) return {Outcome::kAlways, {}, 0};
  Trial trial = AtMost(min, first);
  if (!is_clipped || trial.outcome == Outcome::kAlways) return trial;
  return AtMost(min, Max(first, Int(0)));
}

Trial RegionWalk::HoldsHigh(const Expr& end, const Expr& last,
                            const Expr& extent, bool is_clipped) {
  if (Proves(extent, end)) return {Outcome::kAlways, {}, 0};
  Trial trial = AtMost(Add(last, Int(1)), end);
  if (!is_clipped || trial.outcome == Outcome::kAlways) return trial;
  return AtMost(Min(Add(last, Int(1)), extent), end);
}

Trial RegionWalk::Holds(const BufferRegion& region, const Touched& touched) {
  for (size_t d = 0; d < region.region.size(); ++d) {
    const Expr min = WithData(region.region[d].min);
    const Expr end = Add(min, WithData(region.region[d].extent));
    const Expr& whole = region.buffer->shape[d];
    if (!touched.box[d]) {
      if (Proves(min, Int(0)) && Proves(whole, end)) continue;
      return Trial();
    }
    const auto& [first, last] = *touched.box[d];
    Trial trial = HoldsLow(min, first, touched.is_clipped);
    if (trial.outcome != Outcome::kAlways) return trial;
    trial = HoldsHigh(end, last, whole, touched.is_clipped);
    if (trial.outcome != Outcome::kAlways) return trial;
  }
  return {Outcome::kAlways, {}, 0};
}

std::optional<Trial> RegionWalk::WhyNot(const BlockNode& block,
                                        const Touched& touched,
                                        Direction direction) {
  const std::vector<BufferRegion>& regions = RegionsOf(block, direction);
  std::optional<Trial> why;
  for (size_t i = 0; i < regions.size(); ++i) {
    if (regions[i].buffer != touched.buffer) continue;
    Trial trial = Holds(regions[i], AtBegin(block, touched));
    if (trial.outcome != Outcome::kAlways && KnowsData()) {
      trial = Holds(regions[i], AtBegin(block, WithDataIn(touched)));
    }
    if (trial.outcome == Outcome::kAlways) return std::nullopt;
    const bool told = IsTold(block, direction, i);
    if (told && trial.outcome == Outcome::kUnknown) return std::nullopt;
    if (!why || why->outcome == Outcome::kUnknown) why = std::move(trial);
  }
  return why ? why : Trial();
}

// The part of the source that a box of the view is. The innermost dimensions
// of the source are those of the view where the extents agree; a box of any
// other view may be all of its source.
Touched RegionWalk::InSource(const Touched& touched,
                             const MatchBufferRegion& match) {
  const std::vector<Range>& source = match.source.region;
  Touched mapped{match.source.buffer, BoxOf(source),
                 absl::StrCat(PrintRegion(match.source), " as ", touched.text)};
  const std::vector<Expr>& shape = match.buffer->shape;
  if (shape.size() > source.size()) return mapped;
  const size_t skipped = source.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!SameExpr(source[skipped + i].extent, shape[i])) return mapped;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!touched.box[i]) continue;
    const Expr& offset = source[skipped + i].min;
    auto [first, last] = *touched.box[i];
    if (touched.is_clipped) {
      first = Max(first, Int(0));
      last = Min(last, Sub(shape[i], Int(1)));
    }
    mapped.box[skipped + i] = Ends{Add(offset, first), Add(offset, last)};
  }
  return mapped;
}

std::string RefusalText(const BlockNode& block, const Touched& touched,
                        Direction direction, const Trial& why) {
  const bool reads = direction == Direction::kRead;
  const std::string list = reads ? "T.reads" : "T.writes";
  std::string held = absl::StrCat("its ", list, " leave out");
  for (const auto& region : RegionsOf(block, direction)) {
    if (region.buffer != touched.buffer) continue;
    held = absl::StrCat(
        list, "(", PrintRegion(region), ") ",
        why.outcome == Outcome::kUnknown ? "is not known to hold"
                                         : "does not hold",
        why.instance.empty() ? ""
                             : absl::StrCat(" where ", Describe(why.instance)));
    break;
  }
  return absl::StrCat("the block ", reads ? "reads " : "writes ", touched.text,
                      ", which ", held,
                      ". State a region that holds all that the block "
                      "touches, or leave ",
                      list, " out: it is then worked out");
}

RegionWalk::Refusal RegionWalk::WhyNotHeld(size_t depth, const Touched& touched,
                                           Direction direction) {
  const Frame& frame = frames_[depth];
  if (frame.block->id == function().root().id) return std::nullopt;
  if (frame.own.count(touched.buffer.get())) return std::nullopt;
  const auto view = view_of_.find(touched.buffer.get());
  if (view != view_of_.end()) {
    return WhyNotHeld(
        depth,
        {view->second, BoxOf(FullRegion(view->second).region), touched.text},
        direction);
  }
  const auto match = frame.matched.find(touched.buffer.get());
  if (match != frame.matched.end()) {
    return WhyNotHeld(depth, InSource(touched, *match->second), direction);
  }
  if (const auto why = WhyNot(*frame.block, touched, direction)) {
    // A block begins with its init, which writes the elements that the update
    // reads.
    const bool updates = direction == Direction::kRead && frame.block->init &&
                         Names(*frame.block, touched.buffer, Direction::kWrite);
    return updates ? WhyNotHeld(depth, touched, Direction::kWrite)
                   : RefusalText(*frame.block, touched, direction, *why);
  }
  const auto& unheld = frame.unheld[static_cast<int>(direction)];
  if (depth == 0 || unheld.count(touched.buffer.get()) == 0) {
    return std::nullopt;
  }
  return WhyNotHeld(depth - 1, touched, direction);
}

void RegionWalk::CheckTouched(const Touched& touched, Direction direction) {
  if (IsFree()) return;
  const Refusal why = WhyNotHeld(frames_.size() - 1, touched, direction);
  if (why) Fail(*why);
}

void RegionWalk::OnAccess(const Access& access) {
  if (IsFree()) return;
  // T.reads(W[X[vi]]) reads X too. Nothing depends on that while no one writes
  // X.
  if (!access.is_store && !written_.count(access.buffer.get()) &&
      StandsInRegions(*frames_.back().block, access)) {
    return;
  }
  Touched touched{access.buffer, {}, ""};
  for (const Expr& index : access.indices) {
    touched.box.push_back(EndsOf(index));
  }
  touched.text = PrintExpr(Load(access.buffer, access.indices));
  CheckTouched(touched, access.is_store ? Direction::kWrite : Direction::kRead);
}

// What code does behind an address, the block has to say; nobody can check
// more than that it names the buffer.
void RegionWalk::CheckNamed(const Buffer& buffer, AddressUse use) {
  const BlockNode& block = *frames_.back().block;
  const bool reads = Names(block, buffer, Direction::kRead);
  const bool writes = Names(block, buffer, Direction::kWrite);
  const bool wants_read = use == AddressUse::kReads || use == AddressUse::kBoth;
  const bool wants_write =
      use == AddressUse::kWrites || use == AddressUse::kBoth;
  if ((use != AddressUse::kAny || reads || writes) && (reads || !wants_read) &&
      (writes || !wants_write)) {
    return;
  }
  const char* list = use == AddressUse::kAny ? "neither its T.reads nor its "
                                               "T.writes name"
                     : wants_read && !reads  ? "its T.reads leave out"
                                             : "its T.writes leave out";
  Fail(absl::StrCat("the block hands out the address of `", buffer->name,
                    "`, which ", list,
                    ". State the region that the code behind the address "
                    "touches"));
}

// Code behind an address counts as touching all that the block states of the
// buffer: refuses where the block around does not hold that.
void RegionWalk::CheckUnheld(const Buffer& buffer, AddressUse use) {
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    const bool other = direction == Direction::kRead
                           ? use == AddressUse::kWrites
                           : use == AddressUse::kReads;
    const auto& unheld = frames_.back().unheld[static_cast<int>(direction)];
    const auto found = unheld.find(buffer.get());
    if (!other && found != unheld.end()) Fail(found->second);
  }
}

void RegionWalk::OnAddress(const Expr& of, AddressUse use) {
  if (IsFree()) return;
  const auto* load = of.As<LoadNode>();
  Buffer buffer = load ? load->buffer : Buffer();
  if (const auto* var = of.As<VarNode>()) {
    const auto owner = data_.find(var);
    if (owner != data_.end()) buffer = owner->second;
  }
  const Frame& frame = frames_.back();
  for (auto view = view_of_.find(buffer.get()); view != view_of_.end();
       view = view_of_.find(buffer.get())) {
    buffer = view->second;
  }
  const auto match = frame.matched.find(buffer.get());
  if (match != frame.matched.end()) buffer = match->second->source.buffer;
  if (!buffer || frame.own.count(buffer.get())) return;
  CheckNamed(buffer, use);
  CheckUnheld(buffer, use);
}

void RegionWalk::OnDeclare(const AllocateNode& node) {
  const auto owner = node.is_view && node.buffer->data
                         ? data_.find(node.buffer->data.get())
                         : data_.end();
  if (owner != data_.end()) {
    view_of_.emplace(node.buffer.get(), owner->second);
    return;
  }
  Remember(node.buffer);
  if (!frames_.empty()) frames_.back().own.insert(node.buffer.get());
}

void RegionWalk::OnEnter(const BlockNode& block) {
  Frame frame{&block, {}, {}, {}};
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    const std::vector<BufferRegion>& regions = RegionsOf(block, direction);
    for (size_t i = 0; i < regions.size() && !IsFree(); ++i) {
      const Touched touched{regions[i].buffer, BoxOf(regions[i].region),
                            PrintRegion(regions[i]), /*is_clipped=*/true};
      const Refusal why = WhyNotHeld(frames_.size() - 1, touched, direction);
      if (!why) continue;
      if (IsTold(block, direction, i)) Fail(*why);
      frame.unheld[static_cast<int>(direction)].emplace(regions[i].buffer.get(),
                                                        *why);
    }
  }
  for (const Buffer& buffer : block.alloc_buffers) {
    frame.own.insert(buffer.get());
    Remember(buffer);
  }
  for (const MatchBufferRegion& match : block.match_buffers) {
    frame.matched.emplace(match.buffer.get(), &match);
    Remember(match.buffer);
  }
  frames_.push_back(std::move(frame));
}

}  // namespace

absl::Status CheckRegions(const Function& f) { return RegionWalk(f).Run(); }

}  // namespace kiln::verify_internal
