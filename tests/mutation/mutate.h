// Faults put into lowered programs on purpose, to see whether checks find them.
#ifndef KILN_TESTS_MUTATION_MUTATE_H_
#define KILN_TESTS_MUTATION_MUTATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/ir/tensor/module.h"

namespace kiln::mutation {

// X(Kind, name)
#define KILN_MUTATION_KINDS(X)                \
  X(LastIteration, "last iteration left out") \
  X(BorderTile, "border tile left out")       \
  X(Tap, "tap left out")                      \
  X(OneTerm, "one term of one sum left out")  \
  X(ReadShift, "read shifted by one")         \
  X(Lane, "lane dropped")                     \
  X(WriteShift, "write shifted by one")       \
  X(Operand, "wrong operand")                 \
  X(Race, "race")                             \
  X(NoInit, "init left out")                  \
  X(Constant, "wrong constant")

enum class FaultKind : uint8_t {
#define KILN_ENUM(kind, name) k##kind,
  KILN_MUTATION_KINDS(KILN_ENUM)
#undef KILN_ENUM
};
std::vector<FaultKind> AllFaultKinds();
std::string_view FaultName(FaultKind kind);

struct Mutant {
  FaultKind kind;
  std::string place;  // such as "C[...] = ... under i_0, k"
  Function function;  // lowered, in the form of verify_lowered.h
  // Computes the same as `function` at its worst: what has no init holds a huge
  // number. Of other kinds, `function` itself.
  Function witness;
};

// The places of `lowered` where a fault of the kind can be put in. Left out are
// those where it would change nothing for sure: a term that is padding, a lane
// or an iteration that conditions exclude.
int64_t CountPlaces(const Function& lowered, FaultKind kind, uint64_t seed);

// `lowered` with the fault in place `place` of CountPlaces. Which iteration,
// lane or tap it is depends on the seed. nullopt where the result is not in the
// lowered form (a parallel loop in another).
std::optional<Mutant> PutIn(const Function& lowered, FaultKind kind,
                            int64_t place, uint64_t seed);

}  // namespace kiln::mutation

#endif  // KILN_TESTS_MUTATION_MUTATE_H_
