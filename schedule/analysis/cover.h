// Whether what a block reads has been written where it runs.
#ifndef KILN_SCHEDULE_ANALYSIS_COVER_H_
#define KILN_SCHEDULE_ANALYSIS_COVER_H_

#include "kiln/schedule/analysis/box.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {

// Region cover: all that the block reads of buffers which earlier blocks of
// the scope write was written by them, judged within one iteration of the
// loops that all of them share. Holes in what is written (strides, diagonals,
// odd predicates) count as not written.
// Elements outside of a buffer are nobody's to write: what a block declares to
// read there it reads under a guard, or never.
Reason WhyNotCovered(const Scope& scope, int block);
// The same of what it reads of `buffer` alone.
Reason WhyNotCovered(const Scope& scope, int block, const Buffer& buffer);

// Region cover of all that the block declares to read, so that none of its
// regions lies outside of the buffer.
Reason WhyNotAllCovered(const Scope& scope, int block);

// Whether all that the block at the end of the path reads of `buffer`, as it
// declares, was written before: judged in the innermost scope around it where
// an earlier block writes the buffer. For buffers that the function allocates;
// its arguments hold values from the start.
Reason WhyNotHeld(const Path& block, const Buffer& buffer);

// Stage pipeline: every block is covered, nothing is overwritten after it is
// read, and there are only loops and blocks in the scope.
Reason WhyNotStagePipeline(const Scope& scope);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_COVER_H_
