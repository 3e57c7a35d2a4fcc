// What rules ask of a block: its axes, and how operands move along them.
#ifndef KILN_SEARCH_SPACE_RULE_BLOCK_INFO_H_
#define KILN_SEARCH_SPACE_RULE_BLOCK_INFO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// An iterator of a block, which is also one of the loops around it.
struct AxisInfo {
  int64_t extent = 1;
  bool reduce = false;
  bool scans = false;        // keeps its order: an opaque iterator
  int write_dim = -1;        // of the written buffer that it indexes alone
  bool steps_write = false;  // one step is one element of the written buffer
  bool chooses = false;      // conditions name its values, which are few
};

// How a read moves along each axis: elements per step, 0 where it stands still;
// nullopt where that is no constant.
struct ReadInfo {
  int index = 0;                               // among the reads of the block
  std::vector<int64_t> shape;                  // of the buffer; 1: not known
  double elements = 0;                         // of the buffer
  bool layout_free = false;                    // a constant, or made of some
  std::vector<std::optional<double>> strides;  // one for each axis
  // For each axis, whether it stands still for some steps and then goes on by
  // one element, as at i // 8.
  std::vector<bool> lags;

  int dims() const { return static_cast<int>(shape.size()); }
  bool Uses(int axis) const { return strides[axis] != 0.0; }
  // Whether it goes through contiguous elements, each for one step or for some.
  bool LiesAlong(int axis) const { return strides[axis] == 1.0 || lags[axis]; }
};

struct BlockInfo {
  std::string name;
  std::vector<AxisInfo> axes;
  std::vector<ReadInfo> reads;  // without the written buffer
  int write_dims = 0;
  bool is_output = false;  // writes what the function gives back
  bool has_init = false;
  bool has_condition = false;   // chooses between values, as padding does
  bool is_expensive = false;    // calls functions such as exp
  bool is_elementwise = false;  // spatial, one store, each axis its own index
  std::vector<std::string> producers, consumers;  // blocks of the root scope
  // Its values go to one consumer alone, which sums up nothing, so that it can
  // be done tile by tile.
  bool is_for_tiles = false;

  int CountReduce() const;
  // The axis whose steps are contiguous in the output; -1: none.
  int ContiguousAxis() const;
  // The axis along which to write vectors: that one, or else one whose steps
  // are contiguous in a part of the output; -1: none.
  int VectorAxis() const;
  // Whether, of two neighbouring spatial axes, all that is read and written
  // goes on from one row of the inner one to the next as inside of a row, or
  // stands still.
  bool GoesOn(size_t outer, size_t inner) const;
  // Iterations of its spatial axes, or of its reductions, together.
  int64_t SpatialSize() const;
  int64_t ReduceSize() const;
  // Whether a reduction runs through contiguous elements: all that moves with
  // its last reduction axis lies along it, some of it element by element, and
  // that is not the axis along which other operands are contiguous.
  bool ReducesContiguously() const;
};

// The block called `name`, where it stands in loops that are its axes one by
// one, in the root scope, with constant extents and one written buffer;
// nullopt for others.
std::optional<BlockInfo> DescribeBlock(const Function& f,
                                       std::string_view name);

// The same of a block that writes several buffers, all at the same indices and
// of one shape, as argmax does; nullopt for one with a single written buffer.
// The reads are those of buffers that it does not write.
std::optional<BlockInfo> DescribeTupleBlock(const Function& f,
                                            std::string_view name);

// The same of a block with one axis that scans and spatial ones, as cumulative
// sums have. The reads are those of buffers that it does not write.
std::optional<BlockInfo> DescribeScan(const Function& f, std::string_view name);

// The block of the root scope that DescribeBlock has described.
const BlockNode& NodeOf(const Function& f, std::string_view name);

// The names of the blocks of the root scope, in program order.
std::vector<std::string> RootBlocks(const Function& f);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_BLOCK_INFO_H_
