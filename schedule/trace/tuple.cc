#include "kiln/schedule/trace/tuple.h"

#include "absl/algorithm/container.h"

namespace kiln {

bool AreTuples(const Arg& arg) {
  return arg.list() && absl::c_all_of(*arg.list(), [&](const Arg& tuple) {
           return tuple.list() && !tuple.list()->empty() &&
                  tuple.list()->size() == arg.list()->front().list()->size() &&
                  absl::c_all_of(*tuple.list(), [](const Arg& a) {
                    return a.integer() != nullptr;
                  });
         });
}

std::vector<int64_t> ValuesOfTuple(const Arg& candidate) {
  std::vector<int64_t> values;
  values.reserve(candidate.list()->size());
  for (const Arg& value : *candidate.list()) {
    values.push_back(*value.integer());
  }
  return values;
}

std::optional<size_t> IndexOfTuple(const ArgList& candidates,
                                   const std::vector<int64_t>& values) {
  const auto at = absl::c_find_if(candidates, [&](const Arg& candidate) {
    return absl::c_equal(
        *candidate.list(), values,
        [](const Arg& a, int64_t value) { return *a.integer() == value; });
  });
  if (at == candidates.end()) return std::nullopt;
  return at - candidates.begin();
}

}  // namespace kiln
