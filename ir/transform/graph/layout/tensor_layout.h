// How a tensor stands, against how the program speaks of it: the axes of the
// program are 0, 1, 2...; a layout has them in another order, and may split
// them into parts.
//
//   0 2 3 1          what was NCHW is NHWC
//   0 1 2 3 1(4)     what was NCHW is NCHW4c
//
// Parts of one axis nest from left to right, as in ir/ops/layout.h.
#ifndef KILN_IR_TRANSFORM_GRAPH_LAYOUT_TENSOR_LAYOUT_H_
#define KILN_IR_TRANSFORM_GRAPH_LAYOUT_TENSOR_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/attr.h"
#include "kiln/ir/graph/expr.h"

namespace kiln {

class TensorLayout {
 public:
  struct Dim {
    int axis;
    int64_t factor;  // of a part; 0 for the axis itself
    bool operator==(const Dim& other) const {
      return axis == other.axis && factor == other.factor;
    }
  };

  // That of no dimensions, and of tensors whose rank is not known.
  TensorLayout() = default;
  explicit TensorLayout(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  static TensorLayout Plain(int rank);
  static TensorLayout OfAxes(const std::vector<int>& axes);

  // What leads from the layout `from`, which has no parts, to `to`; nullopt
  // where they are not of the same axes.
  static std::optional<TensorLayout> Between(std::string_view from,
                                             std::string_view to);
  // What this makes of a layout without parts whose axes `names` spells.
  std::string Named(std::string_view names) const;

  const std::vector<Dim>& dims() const { return dims_; }
  bool operator==(const TensorLayout& other) const {
    return dims_ == other.dims_;
  }

  // Whether nothing moves.
  bool IsPlain() const;
  bool HasParts() const;
  bool HasParts(int axis) const;
  // The elements of all parts of an axis.
  int64_t PartSize(int axis) const;
  // The dimension that is the axis itself.
  int PlaceOf(int axis) const;
  // The dimensions of the axis and of its parts, ascending.
  std::vector<int> PlacesOf(int axis) const;
  // For layouts without parts: the axis of each dimension.
  std::vector<int> Axes() const;

  // The layout where these axes are gone.
  TensorLayout Without(const std::vector<int>& axes) const;

  // Whether a tensor of the program can stand so: its rank is that of the
  // layout, and its axes are provably multiples of their parts.
  bool Fits(const graph::TensorInfo& info, Analyzer& analyzer) const;

 private:
  std::vector<Dim> dims_;
};

// `value`, standing as `from`, brought to `to`, another one of the same axes: a
// call of permute_dims, or of layout_transform where one of them has parts.
graph::Expr Brought(const graph::Expr& value, const TensorLayout& from,
                    const TensorLayout& to);

// A list of integers.
Attr IntList(const std::vector<int>& values);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_LAYOUT_TENSOR_LAYOUT_H_
