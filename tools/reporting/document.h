// The frame of every page: head, style, title.
#ifndef KILN_TOOLS_REPORTING_DOCUMENT_H_
#define KILN_TOOLS_REPORTING_DOCUMENT_H_

#include <string>
#include <string_view>

#include "kiln/base/machine.h"

namespace kiln::report {

// A template of text/ by its name without the ending. One that does not exist
// is a bug.
std::string_view Template(std::string_view name);

// A whole page, which needs nothing else. `title` and `subtitle` are plain
// text, `body` is sections.
std::string Document(const std::string& title, const std::string& subtitle,
                     std::string_view body);

// "AMD EPYC, 4 cores, 120 GFLOP/s on one, 460 on all", plain.
std::string MachineText(const Machine& machine);
// "1 thread", "4 threads".
std::string ThreadsText(int threads);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_DOCUMENT_H_
