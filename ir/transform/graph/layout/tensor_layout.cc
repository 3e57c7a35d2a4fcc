// Layouts meet text in two ways. `Between` reads one off two spellings of the
// same axes, and `Named` spells what one makes of such a spelling:
//
//   Between("NCHW", "NHWC4c")           0 2 3 1 1(4)
//   Named("OIHW") of that               "OHWI4i"
#include "kiln/ir/transform/graph/layout/tensor_layout.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/ir/ops/layout.h"

namespace kiln {
namespace {

bool IsCapital(char c) { return c >= 'A' && c <= 'Z'; }

int RankOf(const TensorLayout& layout) {
  int rank = 0;
  for (const auto& dim : layout.dims()) rank += dim.factor == 0;
  return rank;
}

// Where each element of `from` goes. Both are of at most 26 axes.
Attr IndexMap(const TensorLayout& from, const TensorLayout& to) {
  std::string names;
  for (int i = 0; i < RankOf(from); ++i) names += static_cast<char>('A' + i);
  const Layout source = *Layout::Parse(from.Named(names));
  const Layout target = *Layout::Parse(to.Named(names));
  std::vector<Expr> places;
  AttrList inputs, outputs;
  for (int i = 0; i < source.rank(); ++i) {
    places.push_back(Var(absl::StrCat("i", i)));
    inputs.push_back(places.back());
  }
  const std::vector<Expr> axes = source.AxisIndices(names, places);
  for (Expr& index : target.Indices(names, axes)) {
    outputs.push_back(std::move(index));
  }
  return AttrMap{{"inputs", std::move(inputs)},
                 {"outputs", std::move(outputs)}};
}

}  // namespace

TensorLayout TensorLayout::Plain(int rank) {
  std::vector<Dim> dims;
  for (int axis = 0; axis < rank; ++axis) dims.push_back({axis, 0});
  return TensorLayout(std::move(dims));
}

TensorLayout TensorLayout::OfAxes(const std::vector<int>& axes) {
  std::vector<Dim> dims;
  for (const int axis : axes) dims.push_back({axis, 0});
  return TensorLayout(std::move(dims));
}

std::optional<TensorLayout> TensorLayout::Between(std::string_view from,
                                                  std::string_view to) {
  const auto layout = Layout::Parse(to);
  const bool is_whole = std::all_of(from.begin(), from.end(), IsCapital);
  if (!is_whole || !layout.ok() || !layout->HasAxes(from)) return std::nullopt;
  std::vector<Dim> dims;
  for (const Layout::Dim& dim : layout->dims()) {
    dims.push_back({static_cast<int>(from.find(dim.axis)), dim.factor});
  }
  return TensorLayout(std::move(dims));
}

std::string TensorLayout::Named(std::string_view names) const {
  std::string text;
  for (const Dim& dim : dims_) {
    const char name = names[dim.axis];
    if (dim.factor == 0) {
      text += name;
    } else {
      absl::StrAppend(&text, dim.factor);
      text += static_cast<char>(name - 'A' + 'a');
    }
  }
  return text;
}

bool TensorLayout::IsPlain() const {
  return *this == Plain(static_cast<int>(dims_.size()));
}

bool TensorLayout::HasParts() const {
  return std::any_of(dims_.begin(), dims_.end(),
                     [](const Dim& dim) { return dim.factor != 0; });
}

bool TensorLayout::HasParts(int axis) const { return PartSize(axis) != 1; }

int64_t TensorLayout::PartSize(int axis) const {
  int64_t size = 1;
  for (const Dim& dim : dims_) {
    if (dim.axis == axis && dim.factor != 0) size *= dim.factor;
  }
  return size;
}

int TensorLayout::PlaceOf(int axis) const {
  for (size_t d = 0; d < dims_.size(); ++d) {
    if (dims_[d] == Dim{axis, 0}) return static_cast<int>(d);
  }
  return -1;
}

std::vector<int> TensorLayout::PlacesOf(int axis) const {
  std::vector<int> places;
  for (size_t d = 0; d < dims_.size(); ++d) {
    if (dims_[d].axis == axis) places.push_back(static_cast<int>(d));
  }
  return places;
}

std::vector<int> TensorLayout::Axes() const {
  std::vector<int> axes;
  for (const Dim& dim : dims_) axes.push_back(dim.axis);
  return axes;
}

TensorLayout TensorLayout::Without(const std::vector<int>& axes) const {
  std::vector<Dim> dims;
  for (const Dim& dim : dims_) {
    if (std::count(axes.begin(), axes.end(), dim.axis) > 0) continue;
    const auto gone = std::count_if(axes.begin(), axes.end(),
                                    [&](int axis) { return axis < dim.axis; });
    dims.push_back({dim.axis - static_cast<int>(gone), dim.factor});
  }
  return TensorLayout(std::move(dims));
}

bool TensorLayout::Fits(const graph::TensorInfo& info,
                        Analyzer& analyzer) const {
  if (info.rank != RankOf(*this)) return false;
  for (int axis = 0; axis < info.rank; ++axis) {
    if (!HasParts(axis)) continue;
    const auto* extents = info.extents();
    if (!extents) return false;
    const Expr rest = FloorMod((*extents)[axis], Int(PartSize(axis)));
    if (!analyzer.CanProveEqual(rest, Int(0))) return false;
  }
  return true;
}

Attr IntList(const std::vector<int>& values) {
  AttrList list;
  for (const int value : values) list.push_back(Int(value));
  return list;
}

graph::Expr Brought(const graph::Expr& value, const TensorLayout& from,
                    const TensorLayout& to) {
  if (from.HasParts() || to.HasParts()) {
    return graph::CallOp("layout_transform", {value},
                         {{"index_map", IndexMap(from, to)},
                          {"pad_value", Attr()},
                          {"axis_separators", AttrList()},
                          {"input_axis_separators", AttrList()}});
  }
  std::vector<int> axes;
  for (const int axis : to.Axes()) axes.push_back(from.PlaceOf(axis));
  return graph::CallOp("permute_dims", {value}, {{"axes", IntList(axes)}});
}

}  // namespace kiln
