// What a block reads and writes, where its text does not say.
#ifndef KILN_IR_TEXT_READER_ACCESS_REGION_H_
#define KILN_IR_TEXT_READER_ACCESS_REGION_H_

#include <unordered_map>
#include <vector>

#include "kiln/ir/tensor/stmt.h"

namespace kiln::script {

struct AccessRegions {
  std::vector<BufferRegion> reads, writes;
};

// The union, for each buffer, of the boxes that the init and the body of
// `block` touch while the loops inside it run; in order of first use. Of a
// nested block count the regions that it states. Buffers that the block or
// something in it allocates are left out; a matched buffer counts as its
// source. Where there is an init, a read of just the region that the block
// writes does not count. An address may read and write all of the buffer that
// `data_of` maps it to.
AccessRegions InferAccessRegions(
    const BlockFields& block,
    const std::unordered_map<const VarNode*, Buffer>& data_of);

// Newest texts may state one region for a buffer of which a block reads several
// elements, as a concatenation of x with x does. Adds those elements to the
// reads of `block`, as far as its iterators name them. A buffer of which no
// stated region holds any element that is read is left alone: there the text
// is wrong.
void CompleteReads(BlockFields& block);

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_READER_ACCESS_REGION_H_
