// How a primitive says no.
#ifndef KILN_SCHEDULE_ANALYSIS_REFUSAL_H_
#define KILN_SCHEDULE_ANALYSIS_REFUSAL_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// "<primitive>: <reason>; <way out>". FailedPrecondition: the program does not
// allow the step. An empty way out is left out.
absl::Status Refusal(std::string_view primitive, std::string_view reason,
                     std::string_view way_out = "");
// InvalidArgument: the arguments make no sense for any program.
absl::Status BadArgument(std::string_view primitive, std::string_view reason,
                         std::string_view way_out = "");

// "loop `i` of extent 128", "block `C`": how messages name things.
std::string Describe(const ForNode& loop);
std::string Describe(const BlockNode& block);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_REFUSAL_H_
