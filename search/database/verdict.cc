#include "kiln/search/database/verdict.h"

namespace kiln {

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
#define KILN_VERDICT_CASE(id, name, meaning) \
  case Verdict::id:                          \
    return name;
    KILN_VERDICT_TABLE(KILN_VERDICT_CASE)
#undef KILN_VERDICT_CASE
  }
  return "";
}

std::string_view VerdictMeaning(Verdict verdict) {
  switch (verdict) {
#define KILN_VERDICT_CASE(id, name, meaning) \
  case Verdict::id:                          \
    return meaning;
    KILN_VERDICT_TABLE(KILN_VERDICT_CASE)
#undef KILN_VERDICT_CASE
  }
  return "";
}

std::optional<Verdict> ParseVerdict(std::string_view name) {
  for (int i = 0; i < kNumVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    if (VerdictName(verdict) == name) return verdict;
  }
  return std::nullopt;
}

}  // namespace kiln
