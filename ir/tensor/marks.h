// Marks: what one part of the compiler made for another one to find. The maker
// notes it on the block, as any annotation (so that it prints, parses and is
// part of what programs are compared by); the receiver looks for the mark, and
// then proves for itself that what is there has the form that it needs. A mark
// on anything else changes nothing but for the reason that is left behind.
//
//   mark                   maker                         receiver
//   kiln.strassen_parts    schedule/primitive/strassen   register tiling rule
//   kiln.phases            rule polyphase             pass fold_modulo_guards
//   kiln.transposed_copy   rules that tile transposes    emit_transpose
//   kiln.lane_sums         rule skinny-dot              combine_horizontal_adds
//   kiln.tile_product      rule matrix-tiles            emit_tile_product
//
// The last one is a loop's. The three before it are looked for when blocks are
// gone. Lowering hands them on to the function, with the names of the blocks:
//
//   with T.block("C"):                            @T.prim_func
//       T.block_attr({"kiln.phases": True})   →   def main(..):
//                                                     T.func_attr({
//                                                         "kiln.phases": ["C"]
//                                                     })
//
// A receiver that acts drops the mark there; one that does not puts the reason
// in its place, which `opt --stage lowered` or `--stage llvm` shows.
#ifndef KILN_IR_TENSOR_MARKS_H_
#define KILN_IR_TENSOR_MARKS_H_

#include <string_view>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// Of a block that makes sums of quadrants for a product of parts, or joins the
// parts of its result: it chooses among few values by iterators that conditions
// name.
inline constexpr char kStrassenParts[] = "kiln.strassen_parts";
// Of a block whose iterators were split by remainders, which decide conditions.
inline constexpr char kPhases[] = "kiln.phases";
// Of a block that turns rows into columns in unrolled squares of vectors.
inline constexpr char kTransposedCopy[] = "kiln.transposed_copy";
// Of a block that adds up the lanes of several vectors, one after the other.
inline constexpr char kLaneSums[] = "kiln.lane_sums";
// Of the outermost loop of a product that instructions for tiles of matrices
// take (ir/expr/tile_nest.h): the loops inside stay as they are.
inline constexpr char kTileProduct[] = "kiln.tile_product";

// Whether the loop has the mark with a true value.
bool IsMarked(const ForNode& loop, std::string_view mark);
// Whether the block has the mark with a true value.
bool IsMarked(const BlockNode& block, std::string_view mark);

// Whether lowering has handed the mark on to the function.
bool IsMarked(const Function& f, std::string_view mark);
// Hands the marks of a block that is about to go on to the function.
void HandOnMarks(const BlockNode& block, Function* f);
// Puts the reason in the place of a mark of the function.
void IgnoreMark(Function* f, std::string_view mark, std::string_view reason);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_MARKS_H_
