// Verdict: how one trial of a search ended.
//
// Every trial, good or bad, is a row of the database with one of these. The
// table below is the only list of them: the enum, the names that stand in
// databases, JSON lines and progress views, and the parser derive from it.
#ifndef KILN_SEARCH_DATABASE_VERDICT_H_
#define KILN_SEARCH_DATABASE_VERDICT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln {

// X(enumerator, name, what it means)
#define KILN_VERDICT_TABLE(X)                                                 \
  X(kOk, "ok", "ran, agreed with the trusted output and was timed")           \
  X(kScheduleRefused, "schedule_refused",                                     \
    "the trace did not apply, so there was no program")                       \
  X(kBuildError, "build_error", "the program did not compile or load")        \
  X(kRunError, "run_error", "the kernel returned a status other than 0")      \
  X(kCrash, "crash", "the kernel raised a fatal signal")                      \
  X(kTimeout, "timeout", "the kernel did not end before its deadline")        \
  X(kOutOfMemory, "out_of_memory", "an allocation exceeded the memory limit") \
  X(kOutOfBounds, "out_of_bounds", "the kernel left its buffers")             \
  X(kWrongResult, "wrong_result", "the output differs from the trusted one")  \
  X(kWorkerLost, "worker_lost",                                               \
    "the measuring process went away for a reason outside the kernel")

enum class Verdict : uint8_t {
#define KILN_VERDICT_ENUMERATOR(id, name, meaning) id,
  KILN_VERDICT_TABLE(KILN_VERDICT_ENUMERATOR)
#undef KILN_VERDICT_ENUMERATOR
};

// Number of verdicts: static_cast<int>(verdict) lies in [0, kNumVerdicts).
#define KILN_VERDICT_COUNT(id, name, meaning) +1
inline constexpr int kNumVerdicts = 0 KILN_VERDICT_TABLE(KILN_VERDICT_COUNT);
#undef KILN_VERDICT_COUNT

// The name in the table, such as "out_of_bounds".
std::string_view VerdictName(Verdict verdict);

// The sentence in the table.
std::string_view VerdictMeaning(Verdict verdict);

// The verdict of this name, or nullopt.
std::optional<Verdict> ParseVerdict(std::string_view name);

}  // namespace kiln

#endif  // KILN_SEARCH_DATABASE_VERDICT_H_
