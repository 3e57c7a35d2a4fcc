// Convolutions with their channels last, where that makes them faster.
#ifndef KILN_IR_TRANSFORM_GRAPH_LAYOUT_CHANNELS_LAST_H_
#define KILN_IR_TRANSFORM_GRAPH_LAYOUT_CHANNELS_LAST_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Vectors run along the last dimension. Where that is a row of an image,
// windows begin at any element of it, and steps of two leave every second one
// out. The module where a convolution has such windows, or such steps, has all
// its convolutions in dataflow blocks with channels last (convert_layout.h);
// one that only has windows of one element, or windows over each channel by
// itself in steps of one, stays. Takes a module that is inferred.
absl::StatusOr<Module> ToChannelsLast(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_LAYOUT_CHANNELS_LAST_H_
