// Data layouts: what each dimension of a tensor is.
//
//   NCHW      batch, channel, row, column
//   NCHW16c   channels in blocks of 16: channel c of "NC" is c // 16, c % 16
//
// A capital letter is an axis, outermost; a number with the small letter is a
// part of that many elements split off it. Parts of one axis nest from left to
// right: in OI4o2o the outermost index of O counts steps of 8.
//
//   KILN_ASSIGN_OR_RETURN(Layout packed, Layout::Parse("NCHW16c"));
//   packed.Extents("NCHW", {n, c, h, w});   // n, ceildiv(c, 16), h, w, 16
//   packed.AxisIndices("NCHW", i);          // i0, i1 * 16 + i4, i2, i3
#ifndef KILN_IR_OPS_LAYOUT_H_
#define KILN_IR_OPS_LAYOUT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"

namespace kiln {

class Layout {
 public:
  struct Dim {
    char axis;       // its capital letter
    int64_t factor;  // of a part; 0 for the axis itself
    int64_t step;    // how many elements of the axis one index is
  };

  // InvalidArgument where the text names an axis twice, a part without its
  // axis, or blocks that are too large.
  static absl::StatusOr<Layout> Parse(std::string_view text);

  int rank() const { return static_cast<int>(dims_.size()); }
  const std::vector<Dim>& dims() const { return dims_; }

  // Whether the axes are those of `names`, in any order.
  bool HasAxes(std::string_view names) const;

  // The extents of a tensor in this layout, whose axes `names` have `axes`;
  // blocks are whole.
  std::vector<Expr> Extents(std::string_view names,
                            const std::vector<Expr>& axes) const;
  // The extents of the axes `names` of a tensor of `extents`.
  std::vector<Expr> AxisExtents(std::string_view names,
                                const std::vector<Expr>& extents) const;
  // Where the element stands that the axes `names` have at `axes`.
  std::vector<Expr> Indices(std::string_view names,
                            const std::vector<Expr>& axes) const;
  // What the axes `names` have at the element that stands at `indices`.
  std::vector<Expr> AxisIndices(std::string_view names,
                                const std::vector<Expr>& indices) const;

 private:
  explicit Layout(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  std::vector<Dim> dims_;
};

}  // namespace kiln

#endif  // KILN_IR_OPS_LAYOUT_H_
