// While code is made, the scope maps names to slots, and a slot is never used
// for a second name: whoever runs the code finds every variable and view by
// number.
//
// A pattern such as an extent n * 2 + m is solved for its one unknown: LineIn
// writes the pattern as factor * n + rest, and Match subtracts the rest from
// the value and divides by the factor, or fails where that leaves a remainder.
//
//   n * 2 + m, m = 3     factor 2, rest m:  11 gives n = 4, 10 is refused
//   n // 2               no line: nothing tells n
//
// A match_buffer copies nothing. Its view shares the storage of its source and
// takes over the strides of the dimensions that it keeps:
//
//   V = T.match_buffer(A[vi, 2:5], (3,), strides=[s], elem_offset=o)
//     of A with 4 x 6 elements:  shape (3,), s = 1, o = vi * 6 + 2
#include "kiln/ir/interp/scope.h"

#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/interp/threads.h"

namespace kiln::interp_internal {

int Scope::Define(const Var& var) {
  const int slot = value_count_;
  value_count_ += var.dtype().lanes();
  vars_[var.get()] = slot;
  return slot;
}

int Scope::Define(const Buffer& buffer) {
  const int slot = view_count_++;
  buffers_[buffer.get()] = slot;
  if (buffer->data) data_.emplace(buffer->data.get(), slot);
  return slot;
}

int Scope::Slot(const Var& var) {
  auto found = vars_.find(var.get());
  if (found != vars_.end()) return found->second;
  Fail(absl::StatusCode::kInvalidArgument,
       absl::StrCat("variable ", var.name(), " is not defined here"));
  return 0;
}

int Scope::Slot(const Buffer& buffer) {
  auto found = buffers_.find(buffer.get());
  if (found != buffers_.end()) return found->second;
  Fail(absl::StatusCode::kInvalidArgument,
       absl::StrCat("buffer ", buffer->name, " is not defined here"));
  return 0;
}

int Scope::DataSlot(const Var& data) const {
  auto found = data_.find(data.get());
  return found == data_.end() ? -1 : found->second;
}

void Scope::Enter(std::string block,
                  std::vector<std::pair<std::string, int>> vars) {
  places_.push_back({place_, std::move(block), std::move(vars)});
  place_ = &places_.back();
}

void Scope::Fail(absl::StatusCode code, const std::string& message) {
  if (!status_.ok()) return;
  std::string where = function_;
  for (const Place* at = place_; at; at = at->parent) {
    if (at->block.empty()) continue;
    absl::StrAppend(&where, ": block \"", at->block, "\"");
    break;
  }
  status_ = absl::Status(code, absl::StrCat(where, ": ", message));
}

BufferCode::BufferCode(const Buffer& buffer, Scope& scope)
    : buffer_(buffer),
      place_(scope.place()),
      shape_(CompileList(buffer->shape, scope)),
      strides_(CompileList(buffer->strides, scope)) {
  if (buffer->elem_offset) offset_ = CompileExpr(buffer->elem_offset, scope);
  slot_ = scope.Define(buffer);
}

bool BufferCode::Evaluate(Frame& frame, View* view) const {
  view->dtype = buffer_->dtype;
  view->bytes = view->dtype.bytes();
  view->shape.clear();
  for (const ExprPtr& e : shape_) view->shape.push_back(e->Int(frame, 0));
  view->strides.clear();
  for (const ExprPtr& e : strides_) view->strides.push_back(e->Int(frame, 0));
  view->offset = offset_ ? offset_->Int(frame, 0) : 0;
  int64_t bytes;
  if (!frame.failed && !ByteSize(view->shape, view->dtype.bytes(), &bytes)) {
    frame.Fail(place_, absl::StatusCode::kInvalidArgument,
               absl::StrCat("the shape of buffer ", buffer_->name,
                            " is negative or too large"));
  }
  if (frame.failed) return false;
  if (strides_.empty()) view->strides = DenseStrides(view->shape);
  return true;
}

namespace {

// The elements up to the furthest one of the view, for strides of any order;
// 0 for an empty view, nullopt where the number does not fit.
std::optional<int64_t> CountElements(const View& view) {
  for (const int64_t extent : view.shape) {
    if (extent == 0) return 0;
  }
  int64_t count;
  bool fits = !__builtin_add_overflow(view.offset, 1, &count);
  for (size_t d = 0; d < view.shape.size() && fits; ++d) {
    int64_t span;
    fits = !__builtin_mul_overflow(view.shape[d] - 1, view.strides[d], &span) &&
           !__builtin_add_overflow(count, span, &count);
  }
  return fits ? std::optional(count) : std::nullopt;
}

// factor * variable + rest.
struct Line {
  Expr factor, rest;
};

// `e` as a line in `var`; nullopt where `var` stands in anything but sums and
// products with other values.
std::optional<Line> LineIn(const Expr& e, const Var& var) {
  if (e.get() == var.get()) return Line{Int(1), Int(0)};
  if (!UsesVar(e, var)) return Line{Int(0), Cast(DType::Index(), e)};
  if (const auto* cast = e.As<CastNode>()) {
    const bool widens = cast->dtype.is_integral() &&
                        cast->dtype.bits() >= cast->value.dtype().bits();
    return widens ? LineIn(cast->value, var) : std::nullopt;
  }
  const auto* binary = e.As<BinaryNode>();
  if (!binary) return std::nullopt;
  const auto a = LineIn(binary->a, var), b = LineIn(binary->b, var);
  if (!a || !b) return std::nullopt;
  if (e.kind() == ExprKind::kAdd) {
    return Line{Add(a->factor, b->factor), Add(a->rest, b->rest)};
  }
  if (e.kind() == ExprKind::kSub) {
    return Line{Sub(a->factor, b->factor), Sub(a->rest, b->rest)};
  }
  if (e.kind() != ExprKind::kMul) return std::nullopt;
  if (IsZero(b->factor)) {
    return Line{Mul(a->factor, b->rest), Mul(a->rest, b->rest)};
  }
  if (!IsZero(a->factor)) return std::nullopt;
  return Line{Mul(a->rest, b->factor), Mul(a->rest, b->rest)};
}

}  // namespace

void BufferCode::Allocate(Frame& frame) const {
  View view;
  if (!Evaluate(frame, &view)) return;
  const std::optional<int64_t> count = CountElements(view);
  int64_t bytes;
  if (!count || !ByteSize({*count}, view.dtype.bytes(), &bytes)) {
    return frame.Fail(place_, absl::StatusCode::kInvalidArgument,
                      absl::StrCat("buffer ", buffer_->name, " is too large"));
  }
  std::shared_ptr<Storage> own;
  const bool shared =
      frame.group && buffer_->scope.compare(0, 6, "shared") == 0;
  std::shared_ptr<Storage>& storage = shared ? SharedStorage(frame, this) : own;
  if (!storage) {
    storage = MakeStorage(bytes, frame.run->options->check_uninitialized);
  }
  view.storage = storage;
  frame.views[slot_] = std::move(view);
}

Var SolvedBy(const Expr& pattern, const Scope& scope) {
  Var unknown;
  for (const Var& var : FreeVars(pattern)) {
    if (scope.Knows(var)) continue;
    if (unknown) return Var();
    unknown = var;
  }
  return unknown && LineIn(pattern, unknown) ? unknown : Var();
}

MatchCode::MatchCode(const Expr& pattern, std::string what, Scope& scope)
    : what_(std::move(what)), place_(scope.place()) {
  const Var unknown = SolvedBy(pattern, scope);
  if (!unknown) {
    check_ = CompileExpr(pattern, scope);
    return;
  }
  if (!pattern.As<VarNode>()) {
    const Line line = *LineIn(pattern, unknown);
    factor_ = CompileExpr(line.factor, scope);
    check_ = CompileExpr(line.rest, scope);
  }
  define_ = scope.Define(unknown);
}

bool MatchCode::Solve(Frame& frame, int64_t value) const {
  const int64_t rest = check_->Int(frame, 0);
  const int64_t factor = factor_->Int(frame, 0);
  if (frame.failed) return false;
  int64_t product;
  if (factor == 0 || __builtin_sub_overflow(value, rest, &product) ||
      (factor == -1 && product == std::numeric_limits<int64_t>::min()) ||
      product % factor != 0) {
    frame.Fail(place_, absl::StatusCode::kInvalidArgument,
               absl::StrCat(what_, " is ", value, " but should be ", rest,
                            " and a multiple of ", factor));
    return false;
  }
  frame.slots[define_].i = product / factor;
  return true;
}

bool MatchCode::Match(Frame& frame, int64_t value) const {
  if (factor_) return Solve(frame, value);
  if (define_ >= 0) {
    frame.slots[define_].i = value;
    return true;
  }
  const int64_t expected = check_->Int(frame, 0);
  if (expected != value) {
    frame.Fail(place_, absl::StatusCode::kInvalidArgument,
               absl::StrCat(what_, " is ", value, " but should be ", expected));
  }
  return !frame.failed;
}

MatchBufferCode::MatchBufferCode(const MatchBufferRegion& match, Scope& scope)
    : name_(match.buffer->name),
      dtype_(match.buffer->dtype),
      offset_factor_(match.buffer->offset_factor),
      place_(scope.place()),
      source_(scope.Slot(match.source.buffer)) {
  const BufferNode& buffer = *match.buffer;
  for (const Range& range : match.source.region) {
    mins_.push_back(CompileExpr(range.min, scope));
    extents_.push_back(CompileExpr(range.extent, scope));
  }
  const size_t rank = match.source.region.size();
  if (buffer.dtype != match.source.buffer->dtype ||
      rank != match.source.buffer->shape.size() || buffer.shape.size() > rank ||
      rank > kMaxRank ||
      (!buffer.strides.empty() &&
       buffer.strides.size() != buffer.shape.size())) {
    scope.Fail(
        absl::StatusCode::kInvalidArgument,
        absl::StrCat("buffer ", name_, " cannot view a region of buffer ",
                     match.source.buffer->name));
    return;
  }
  for (const Expr& extent : buffer.shape) {
    shape_.emplace_back(extent, absl::StrCat("an extent of ", name_), scope);
  }
  for (const Expr& stride : buffer.strides) {
    strides_.emplace_back(stride, absl::StrCat("a stride of ", name_), scope);
  }
  if (buffer.elem_offset && !IsZero(buffer.elem_offset)) {
    offset_.emplace_back(buffer.elem_offset,
                         absl::StrCat("the offset of ", name_), scope);
  }
  slot_ = scope.Define(match.buffer);
}

bool MatchBufferCode::InBounds(Frame& frame, const View& source,
                               const int64_t* mins,
                               const int64_t* extents) const {
  const size_t leading = mins_.size() - shape_.size();
  for (size_t d = 0; d < mins_.size() && !frame.failed; ++d) {
    const bool inside = mins[d] >= 0 && extents[d] >= 0 &&
                        mins[d] <= source.shape[d] - extents[d];
    if (inside && (d >= leading || extents[d] == 1)) continue;
    frame.Fail(place_, absl::StatusCode::kOutOfRange,
               absl::StrCat("buffer ", name_, " matches [", mins[d], ", ",
                            mins[d], " + ", extents[d], ") of dimension ", d,
                            inside ? ", which it lacks; its extent must be 1"
                                   : ", which is out of bounds"));
  }
  return !frame.failed;
}

bool MatchBufferCode::BindSymbols(Frame& frame, const View& view) const {
  for (size_t d = 0; d < shape_.size(); ++d) {
    if (!shape_[d].Match(frame, view.shape[d])) return false;
  }
  for (size_t d = 0; d < strides_.size(); ++d) {
    if (!strides_[d].Match(frame, view.strides[d])) return false;
  }
  if (!offset_.empty() && !offset_[0].Match(frame, view.offset)) return false;
  if (offset_factor_ < 2 || view.offset % offset_factor_ == 0) return true;
  frame.Fail(place_, absl::StatusCode::kInvalidArgument,
             absl::StrCat("the offset ", view.offset, " of buffer ", name_,
                          " is no multiple of ", offset_factor_));
  return false;
}

void MatchBufferCode::Bind(Frame& frame) const {
  const View& source = frame.views[source_];
  int64_t mins[kMaxRank], extents[kMaxRank];
  for (size_t d = 0; d < mins_.size(); ++d) {
    mins[d] = mins_[d]->Int(frame, 0);
    extents[d] = extents_[d]->Int(frame, 0);
  }
  if (frame.failed || !InBounds(frame, source, mins, extents)) return;
  View view;
  view.storage = source.storage;
  view.dtype = dtype_;
  view.bytes = dtype_.bytes();
  view.offset = source.offset;
  const size_t leading = mins_.size() - shape_.size();
  for (size_t d = 0; d < mins_.size(); ++d) {
    int64_t skipped;
    if (__builtin_mul_overflow(mins[d], source.strides[d], &skipped) ||
        __builtin_add_overflow(view.offset, skipped, &view.offset)) {
      return frame.Fail(
          place_, absl::StatusCode::kOutOfRange,
          absl::StrCat("the offset of buffer ", name_, " overflows: ", mins[d],
                       " * ", source.strides[d], " in dimension ", d));
    }
    if (d < leading) continue;
    view.shape.push_back(extents[d]);
    view.strides.push_back(source.strides[d]);
  }
  if (BindSymbols(frame, view)) frame.views[slot_] = std::move(view);
}

}  // namespace kiln::interp_internal
