#include "kiln/tools/support/arguments.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/guard/input_ranges.h"
#include "kiln/ir/access/argument_use.h"
#include "kiln/tools/support/input.h"
#include "kiln/vm/packed/loaded_kernel.h"

namespace kiln {
namespace {

// With which seed each parameter was drawn, where it was.
using Seeds = std::vector<std::optional<uint64_t>>;

absl::StatusOr<Seeds> DrawnParams(const Function& f,
                                  const KernelSignature& signature,
                                  const std::vector<std::string>& inputs,
                                  uint64_t seed) {
  Seeds seeds(f.params.size());
  if (inputs.empty()) {
    const std::vector<ArgumentUse> uses = ArgumentUses(f);
    for (size_t i = 0; i < seeds.size(); ++i) {
      if (uses[i] != ArgumentUse::kWritten) seeds[i] = seed + i;
    }
    return seeds;
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<size_t> given,
                        GivenParams(signature, inputs.size()));
  for (size_t i = 0; i < given.size(); ++i) {
    if (absl::StartsWith(inputs[i], "random:")) seeds[given[i]] = seed + i;
  }
  return seeds;
}

// The whole numbers among the scalars of the call, symbolic extents included.
std::vector<std::pair<Var, int64_t>> KnownScalars(
    const Function& f, const std::vector<int64_t>& values) {
  std::vector<Var> vars;
  for (const Param& param : f.params) {
    if (!param.buffer) vars.push_back(param.var);
  }
  for (const Var& dim : SymbolicDims(f)) vars.push_back(dim);
  std::vector<std::pair<Var, int64_t>> known;
  for (size_t i = 0; i < vars.size(); ++i) {
    if (vars[i].dtype().is_integral()) known.emplace_back(vars[i], values[i]);
  }
  return known;
}

}  // namespace

absl::StatusOr<std::vector<PackedValue>> ArgumentsFor(
    const Function& f, const KernelSignature& signature,
    const std::vector<std::string>& inputs, uint64_t seed) {
  KILN_ASSIGN_OR_RETURN(std::vector<PackedValue> args,
                        MakeArguments(signature, inputs, seed));
  KILN_ASSIGN_OR_RETURN(const Seeds seeds,
                        DrawnParams(f, signature, inputs, seed));
  KILN_ASSIGN_OR_RETURN(const BoundArguments bound,
                        BindPacked(signature, args));
  KILN_ASSIGN_OR_RETURN(const auto ranges,
                        InputRanges(f, KnownScalars(f, bound.scalars)));
  for (size_t i = 0; i < args.size(); ++i) {
    const NDArray* array = std::get_if<NDArray>(&args[i]);
    if (array && seeds[i]) FillInRange(*array, ranges[i], *seeds[i]);
  }
  return args;
}

absl::StatusOr<CallContents> ToContents(const KernelSignature& signature,
                                        absl::Span<const PackedValue> args) {
  KILN_ASSIGN_OR_RETURN(BoundArguments bound, BindPacked(signature, args));
  CallContents contents;
  contents.scalars = std::move(bound.scalars);
  contents.buffers.resize(signature.buffers.size());
  for (size_t i = 0; i < args.size(); ++i) {
    const NDArray* array = std::get_if<NDArray>(&args[i]);
    if (array) contents.buffers[signature.params[i].index] = *array;
  }
  return contents;
}

}  // namespace kiln
