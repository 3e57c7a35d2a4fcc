#include "kiln/ir/ops/layout.h"

#include <algorithm>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

constexpr int64_t kMaxStep = int64_t{1} << 31;
constexpr size_t kMaxText = 64;

bool IsAxis(char c) { return c >= 'A' && c <= 'Z'; }
bool IsPart(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

absl::Status Refused(std::string_view text, std::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", std::string(text), "\" is no layout: ", std::string(reason)));
}

// The dimensions as they are spelled, without steps.
absl::StatusOr<std::vector<Layout::Dim>> Spelled(std::string_view text) {
  std::vector<Layout::Dim> dims;
  int64_t factor = 0;
  for (const char c : text) {
    if (IsDigit(c)) {
      factor = factor * 10 + (c - '0');
      if (factor > kMaxStep) return Refused(text, "a block is too large");
    } else if (IsAxis(c) && factor == 0) {
      dims.push_back({c, 0, 1});
    } else if (IsPart(c) && factor > 0) {
      dims.push_back({static_cast<char>(c - 'a' + 'A'), factor, 1});
      factor = 0;
    } else {
      return Refused(text,
                     "it is made of capital letters, and of numbers with a "
                     "small letter behind, as NCHW16c");
    }
  }
  if (factor == 0 && !dims.empty()) return dims;
  return Refused(text, dims.empty() ? "it is empty" : "it ends in a number");
}

// The place of `axis` among `names`, which has it.
size_t PlaceOf(std::string_view names, char axis) { return names.find(axis); }

}  // namespace

absl::StatusOr<Layout> Layout::Parse(std::string_view text) {
  if (text.size() > kMaxText) return Refused("...", "it is too long");
  KILN_ASSIGN_OR_RETURN(std::vector<Dim> dims, Spelled(text));
  for (size_t d = 0; d < dims.size(); ++d) {
    bool has_axis = false;
    for (size_t other = 0; other < dims.size(); ++other) {
      if (dims[other].axis != dims[d].axis) continue;
      if (dims[other].factor == 0) {
        if (has_axis) return Refused(text, "it names an axis twice");
        has_axis = true;
      } else if (other > d || dims[d].factor == 0) {
        dims[d].step *= dims[other].factor;
      }
      if (dims[d].step > kMaxStep) return Refused(text, "a block is too large");
    }
    if (!has_axis) return Refused(text, "it splits an axis that it lacks");
  }
  return Layout(std::move(dims));
}

bool Layout::HasAxes(std::string_view names) const {
  size_t axes = 0;
  for (const Dim& dim : dims_) {
    if (names.find(dim.axis) == std::string_view::npos) return false;
    axes += dim.factor == 0;
  }
  return axes == names.size();
}

std::vector<Expr> Layout::Extents(std::string_view names,
                                  const std::vector<Expr>& axes) const {
  std::vector<Expr> extents;
  for (const Dim& dim : dims_) {
    const Expr& whole = axes[PlaceOf(names, dim.axis)];
    const bool is_split = dim.factor == 0 && dim.step > 1;
    if (dim.factor != 0) {
      extents.push_back(Int(dim.factor));
    } else if (is_split) {
      extents.push_back(FloorDiv(Add(whole, Int(dim.step - 1)), Int(dim.step)));
    } else {
      extents.push_back(whole);
    }
  }
  return extents;
}

std::vector<Expr> Layout::AxisExtents(std::string_view names,
                                      const std::vector<Expr>& extents) const {
  std::vector<Expr> axes(names.size());
  for (size_t d = 0; d < dims_.size(); ++d) {
    if (dims_[d].factor != 0) continue;
    const Expr& count = extents[d];
    axes[PlaceOf(names, dims_[d].axis)] =
        dims_[d].step == 1 ? count : Mul(count, Int(dims_[d].step));
  }
  return axes;
}

std::vector<Expr> Layout::Indices(std::string_view names,
                                  const std::vector<Expr>& axes) const {
  std::vector<Expr> indices;
  for (const Dim& dim : dims_) {
    Expr index = axes[PlaceOf(names, dim.axis)];
    if (dim.step > 1) index = FloorDiv(index, Int(dim.step));
    if (dim.factor != 0) index = FloorMod(index, Int(dim.factor));
    indices.push_back(std::move(index));
  }
  return indices;
}

std::vector<Expr> Layout::AxisIndices(std::string_view names,
                                      const std::vector<Expr>& indices) const {
  // The axis itself first, wherever its parts stand: c * 4 + c4.
  std::vector<size_t> order(dims_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return dims_[a].step > dims_[b].step;
  });
  std::vector<Expr> axes(names.size());
  for (const size_t d : order) {
    Expr& axis = axes[PlaceOf(names, dims_[d].axis)];
    const Expr part =
        dims_[d].step == 1 ? indices[d] : Mul(indices[d], Int(dims_[d].step));
    axis = axis ? Add(axis, part) : part;
  }
  return axes;
}

}  // namespace kiln
