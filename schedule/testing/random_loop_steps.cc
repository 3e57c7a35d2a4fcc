// Steps on loops: splits that divide and that do not, fusions, orders, kinds.
#include <algorithm>
#include <iterator>
#include <memory>

#include "kiln/schedule/testing/random_step.h"

namespace kiln {
namespace {

using Args = std::optional<std::vector<Arg>>;

// A divisor of `n`, each as likely.
int64_t Divisor(StepContext& c, int64_t n) {
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) divisors.push_back(d);
  }
  return c.OneOf(divisors);
}

ArgList Exact(StepContext& c, int64_t extent, int64_t n) {
  ArgList factors;
  for (int64_t i = 1; i < n; ++i) {
    const int64_t factor = Divisor(c, extent);
    factors.push_back(factor);
    extent /= factor;
  }
  factors.insert(factors.begin() + c.Between(0, n - 1), extent);
  return factors;
}

// Factors whose product may be less than, equal to or above the extent.
ArgList Inexact(StepContext& c, int64_t extent, int64_t n) {
  ArgList factors;
  int64_t left = extent;
  for (int64_t i = 1; i < n; ++i) {
    const int64_t factor = c.Between(1, std::min<int64_t>(left + 1, 8));
    factors.push_back(factor);
    left = (left + factor - 1) / factor;
  }
  if (c.Chance(60)) {
    factors.insert(factors.begin() + c.Between(0, n - 1), Arg());
  } else {
    factors.insert(factors.begin() + c.Between(0, n - 1),
                   std::max<int64_t>(left + c.Between(-1, 1), 0));
  }
  return factors;
}

ArgList Sampled(StepContext& c, Rv loop, int64_t n) {
  if (c.Chance(70)) {
    const auto tiles =
        c.Apply("sample_perfect_tile", {loop, n, c.Between(1, 16)});
    if (!tiles) return {};
    return ArgList(tiles->begin(), tiles->end());
  }
  const auto factor = c.Apply(
      "sample_categorical", {ArgList{1, 2, 3, 4}, ArgList{0.1, 0.4, 0.2, 0.3}});
  if (!factor) return {};
  Arg inner = (*factor)[0];
  if (c.Chance(40)) {
    inner = std::make_shared<const RvArithmetic>(RvArithmetic{'*', inner, 2});
  }
  return {Arg(), inner};
}

Args MakeSplit(StepContext& c) {
  const auto loop = c.Loop();
  if (!loop) return std::nullopt;
  const int64_t n = c.Between(2, 3), kind = c.Between(0, 9);
  const ArgList factors = kind < 3   ? Exact(c, c.Extent(*loop), n)
                          : kind < 7 ? Inexact(c, c.Extent(*loop), n)
                                     : Sampled(c, *loop, n);
  return std::vector<Arg>{*loop, factors, c.Chance(80), c.Chance(5)};
}

Args MakeLoopPartition(StepContext& c) {
  const auto loop = c.Loop();
  if (!loop) return std::nullopt;
  const int64_t extent = c.Extent(*loop);
  ArgList factors;
  for (int64_t n = c.Between(1, 2); n > 0; --n) {
    factors.push_back(
        c.Between(c.Chance(5) ? 0 : 1, std::max<int64_t>(extent / 2, 1)));
  }
  if (c.Chance(20)) {
    factors.insert(factors.begin() + c.Between(0, std::ssize(factors)), Arg());
  }
  return std::vector<Arg>{*loop, factors, true};
}

// A run of neighbours, mostly.
Args MakeFuse(StepContext& c) {
  const auto block = c.Block();
  if (!block) return std::nullopt;
  const std::vector<Rv> loops = c.Loops(*block);
  if (loops.empty()) return std::nullopt;
  const int64_t n = std::ssize(loops);
  const int64_t first = c.Between(0, std::max<int64_t>(n - 2, 0));
  const int64_t last = c.Between(std::min(first + 1, n - 1), n - 1);
  ArgList run(loops.begin() + first, loops.begin() + last + 1);
  if (c.Chance(5)) std::reverse(run.begin(), run.end());
  return std::vector<Arg>{run, c.Chance(80)};
}

Args MakeReorder(StepContext& c) {
  const auto block = c.Block();
  if (!block) return std::nullopt;
  const std::vector<Rv> loops = c.Loops(*block);
  if (loops.size() < 2) return std::nullopt;
  ArgList order;
  for (const Rv& loop : loops) {
    if (c.Chance(75)) order.push_back(loop);
  }
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[c.Between(0, static_cast<int64_t>(i) - 1)]);
  }
  return std::vector<Arg>(1, Arg(order));
}

// Loops of two blocks, equally deep.
Args MakeMerge(StepContext& c) {
  const auto block = c.Block();
  if (!block) return std::nullopt;
  const auto other =
      c.Chance(60) ? c.Neighbour(*block, c.Chance(50)) : c.Block();
  if (!other) return std::nullopt;
  const std::vector<Rv> a = c.Loops(*block), b = c.Loops(*other);
  const int64_t n = std::ssize(a.size() < b.size() ? a : b);
  if (n == 0) return std::nullopt;
  const int64_t depth = c.Between(0, n - 1);
  return std::vector<Arg>(1, Arg(ArgList{a[depth], b[depth]}));
}

Args MakeLoopArg(StepContext& c) {
  const auto loop = c.Loop();
  if (!loop) return std::nullopt;
  return std::vector<Arg>{*loop};
}

// Outer loops, mostly.
Args MakeParallel(StepContext& c) {
  const auto block = c.Block();
  if (!block) return std::nullopt;
  const std::vector<Rv> loops = c.Loops(*block);
  if (loops.empty() || c.Chance(25)) return MakeLoopArg(c);
  return std::vector<Arg>{loops[0]};
}

// Inner loops, mostly.
Args MakeVectorize(StepContext& c) {
  const auto block = c.Block();
  if (!block) return std::nullopt;
  const std::vector<Rv> loops = c.Loops(*block);
  if (loops.empty() || c.Chance(25)) return MakeLoopArg(c);
  return std::vector<Arg>{loops.back()};
}

Args MakeUnroll(StepContext& c) {
  const auto loop = c.Loop();
  if (!loop || c.Extent(*loop) > c.options.max_unroll) return std::nullopt;
  return std::vector<Arg>{*loop};
}

Args MakeBind(StepContext& c) {
  const auto loop = c.Loop();
  if (!loop) return std::nullopt;
  if (c.options.bind_percent == 0) {  // only what will be refused
    if (!c.Chance(10)) return std::nullopt;
    return std::vector<Arg>{*loop, "lane.x"};
  }
  static const auto* axes = new std::vector<std::string>{
      "blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "vthread.x"};
  return std::vector<Arg>{*loop, c.OneOf(*axes)};
}

Args MakeAddUnitLoop(StepContext& c) {
  const auto place = c.Chance(50) ? c.Block() : c.Loop();
  if (!place) return std::nullopt;
  return std::vector<Arg>{*place};
}

Args MakePerfectTile(StepContext& c) {
  const auto loop = c.Loop();
  if (!loop) return std::nullopt;
  return std::vector<Arg>{*loop, c.Between(c.Chance(10) ? -1 : 1, 4),
                          c.Between(0, 16)};
}

Args MakePartitionedTile(StepContext& c) {
  const auto loop = c.Loop();
  if (!loop) return std::nullopt;
  return std::vector<Arg>{*loop, c.Between(1, 4), c.Between(0, 3),
                          int64_t{1} << c.Between(0, 2)};
}

Args MakeCategorical(StepContext& c) {
  ArgList candidates, probs;
  for (int64_t n = c.Between(0, 4); n > 0; --n) {
    candidates.push_back(c.Between(0, 64));
    probs.push_back(c.Chance(90) ? 0.25 : 0.0);
  }
  if (c.Chance(10)) probs.push_back(0.5);
  return std::vector<Arg>{candidates, probs};
}

Args MakeTuple(StepContext& c) {
  ArgList candidates, probs;
  const int64_t width = c.Between(1, 3);
  for (int64_t n = c.Between(0, 4); n > 0; --n) {
    ArgList tuple;
    while (std::ssize(tuple) < width) tuple.push_back(c.Between(1, 8));
    if (c.Chance(3)) tuple.push_back(1);
    candidates.push_back(tuple);
    probs.push_back(c.Chance(90) ? 0.25 : 0.0);
  }
  if (c.Chance(10)) probs.push_back(0.5);
  return std::vector<Arg>{candidates, probs};
}

}  // namespace

std::vector<StepRow> LoopSteps() {
  return {
      {"split", 24, MakeSplit},
      {"loop_partition", 2, MakeLoopPartition},
      {"fuse", 12, MakeFuse},
      {"reorder", 14, MakeReorder},
      {"merge", 6, MakeMerge},
      {"parallel", 6, MakeParallel},
      {"vectorize", 10, MakeVectorize},
      {"unroll", 6, MakeUnroll},
      {"bind", 6, MakeBind},
      {"add_unit_loop", 2, MakeAddUnitLoop},
      {"sample_perfect_tile", 2, MakePerfectTile},
      {"sample_partitioned_tile", 1, MakePartitionedTile},
      {"sample_categorical", 2, MakeCategorical},
      {"sample_tuple", 1, MakeTuple},
  };
}

}  // namespace kiln
