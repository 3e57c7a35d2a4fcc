#include "kiln/search/mutate/mutate.h"

#include <vector>

#include "kiln/schedule/rewrite/perfect_tilings.h"
#include "kiln/schedule/trace/tuple.h"

namespace kiln {
namespace {

bool IsOpen(const Trace& trace, const Decisions& open, size_t step) {
  return trace.instructions[step].kind->samples && open[step].empty();
}

// A divisor above 1 of one factor goes to another.
Decision MoveDivisor(Decision tiles, Random* random) {
  std::vector<size_t> from;
  for (size_t i = 0; i < tiles.size(); ++i) {
    if (tiles[i] > 1) from.push_back(i);
  }
  if (from.empty() || tiles.size() < 2) return {};
  const size_t source = from[random->Below(from.size())];
  size_t target = random->Below(tiles.size() - 1);
  if (target >= source) ++target;
  const std::vector<int64_t> divisors = Divisors(Factorize(tiles[source]));
  const int64_t divisor = divisors[1 + random->Below(divisors.size() - 1)];
  tiles[source] /= divisor;
  tiles[target] *= divisor;
  return tiles;
}

// Another index with the weights that are left.
Decision OtherCategory(const Instruction& instruction, int64_t current,
                       Random* random) {
  const ArgList& weights = *instruction.args[1].list();
  std::vector<double> left;
  double total = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const Arg& w = weights[i];
    const double weight =
        w.real() ? *w.real() : static_cast<double>(*w.integer());
    left.push_back(static_cast<int64_t>(i) == current ? 0 : weight);
    total += left.back();
  }
  if (!(total > 0)) return {};
  double at = random->Unit() * total;
  size_t last = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i] <= 0) continue;
    last = i;
    if ((at -= left[i]) < 0) break;
  }
  return {static_cast<int64_t>(last)};
}

Decision OtherTuple(const Instruction& instruction, const Decision& current,
                    Random* random) {
  const ArgList& candidates = *instruction.args[0].list();
  const std::optional<size_t> at = IndexOfTuple(candidates, current);
  if (!at) return {};
  const Decision other =
      OtherCategory(instruction, static_cast<int64_t>(*at), random);
  return other.empty() ? other : ValuesOfTuple(candidates[other[0]]);
}

Decision Changed(const Instruction& instruction, const Decision& current,
                 Random* random) {
  if (current.empty()) return {};
  if (instruction.kind->name == "sample_perfect_tile") {
    return MoveDivisor(current, random);
  }
  if (instruction.kind->name == "sample_categorical") {
    return OtherCategory(instruction, current[0], random);
  }
  if (instruction.kind->name == "sample_tuple") {
    return OtherTuple(instruction, current, random);
  }
  return {};
}

}  // namespace

std::optional<Decisions> MutateOne(const Trace& trace, const Decisions& open,
                                   const Decisions& made, Random* random) {
  std::vector<size_t> steps;
  for (size_t i = 0; i < trace.instructions.size(); ++i) {
    if (IsOpen(trace, open, i)) steps.push_back(i);
  }
  if (steps.empty()) return std::nullopt;
  const size_t step = steps[random->Below(steps.size())];
  Decisions changed = made;
  changed[step] = Changed(trace.instructions[step], made[step], random);
  return changed;
}

Decisions Cross(const Decisions& a, const Decisions& b, Random* random) {
  Decisions child = a;
  for (size_t i = 0; i < child.size() && i < b.size(); ++i) {
    if (child[i] != b[i] && random->Below(2) == 1) child[i] = b[i];
  }
  return child;
}

}  // namespace kiln
