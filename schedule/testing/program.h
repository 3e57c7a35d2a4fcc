// Small programs for tests: reading them, and naming what is in them.
#ifndef KILN_SCHEDULE_TESTING_PROGRAM_H_
#define KILN_SCHEDULE_TESTING_PROGRAM_H_

#include <string>
#include <string_view>
#include <vector>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// The only function of the text. Ends the test program when there is none.
Function ParseProgram(const std::string& text);

// The first block of that name; there has to be one.
BlockId BlockNamed(const Function& f, std::string_view name);
const BlockRealizeNode& RealizeNamed(const Function& f, std::string_view name);

// The loops around the first block of that name, outermost first.
std::vector<LoopId> LoopsOf(const Function& f, std::string_view block);
std::vector<std::string> LoopNames(const Function& f, std::string_view block);
// Their extents, which have to be constant.
std::vector<int64_t> Extents(const Function& f, std::string_view block);

// A loop by its id, which has to be there.
const ForNode& LoopById(const Function& f, LoopId id);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TESTING_PROGRAM_H_
