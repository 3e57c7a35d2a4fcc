// A space of traces as people read it: its schedules, their knobs, its size.
#ifndef KILN_SEARCH_SPACE_SPACE_TABLE_H_
#define KILN_SEARCH_SPACE_SPACE_TABLE_H_

#include <string>

#include "kiln/search/space/trace_space.h"

namespace kiln {

//   space: 1 schedule, 180 points
//   0 matmul: 180 points
//       0 tile_y   10 choices  512 as 2 factors, the last at most 512
//       1 unroll    3 choices  one of 0, 16, 64
//
// A size is that of the product of the choices; "about" where what a knob
// offers depends on those before it. Points may be refused, and several may be
// one program.
std::string SpaceTable(const TraceSpace& space);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_SPACE_TABLE_H_
