// Both functions run on the same inputs, by the interpreter as long as it needs
// no more than 2^23 steps, else compiled. A schedule may add in another order,
// so floats have a tolerance; where they miss it by a little, or are of 16
// bits, small whole numbers decide, whose sums are exact in any order:
//
//   random inputs, sums differ by less than 1 % or 0.1:    undecided
//   the same with inputs out of -1, 0 and 1, sums equal:   they agree
//
// Symbolic dimensions are 3 and then 33: tiles that are not full, and several.
// Functions that cannot be run, or whose parameters have changed, count as not
// executed, never as different.
#include "kiln/tests/conformance/same_meaning.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/testing/compare.h"
#include "kiln/tests/conformance/small_inputs.h"
#include "kiln/tools/support/execute.h"

namespace kiln {
namespace {

// Loop iterations that the interpreter gets before the compiler takes over:
// about a second.
constexpr int64_t kInterpretedSteps = 1 << 23;
// Bytes of all parameters together.
constexpr int64_t kMaxBytes = int64_t{1} << 30;

// What symbolic dimensions are, in turn: one where tiles are not full, one that
// fills several.
constexpr int64_t kSymbolValues[] = {3, 33};

bool SameParams(const Function& a, const Function& b, const VarMap& symbols) {
  if (a.params.size() != b.params.size()) return false;
  for (size_t i = 0; i < a.params.size(); ++i) {
    const Buffer& x = a.params[i].buffer;
    const Buffer& y = b.params[i].buffer;
    if (!x || !y) {
      if (x || y) return false;
      continue;
    }
    const auto p = ShapeUnder(a.params[i], symbols);
    const auto q = ShapeUnder(b.params[i], symbols);
    if (x->dtype != y->dtype || !p.ok() || !q.ok() || *p != *q) return false;
  }
  return true;
}

absl::Status RunInterpreted(const Function& f, InputValues& args) {
  InterpOptions options;
  options.max_steps = kInterpretedSteps;
  KILN_ASSIGN_OR_RETURN(const Interpreter interpreter, Interpreter::Create(f));
  return interpreter.Run(AsArguments(args), options);
}

std::vector<Tensor> TensorsOf(const InputValues& args) {
  std::vector<Tensor> tensors;
  for (const auto& value : args) {
    if (const Tensor* t = std::get_if<Tensor>(&value)) tensors.push_back(*t);
  }
  return tensors;
}

// Runs `f` in place; tells how.
absl::StatusOr<std::string> RunEitherWay(const Function& f, InputValues& args) {
  InputValues scratch = args;
  absl::Status interpreted = RunInterpreted(f, scratch);
  if (interpreted.ok()) {
    args = std::move(scratch);
    return std::string("interpreted");
  }
  if (interpreted.code() != absl::StatusCode::kResourceExhausted) {
    return interpreted;
  }
  std::vector<Tensor> tensors = TensorsOf(args);
  if (tensors.size() < args.size()) {
    return absl::UnimplementedError(
        "too long for the interpreter, and it has scalar parameters");
  }
  absl::Status compiled = RunCompiled(f, tensors, HostTarget());
  if (!compiled.ok()) {
    return absl::UnimplementedError(
        absl::StrCat("too long for the interpreter, and ", compiled.message()));
  }
  for (size_t i = 0; i < args.size(); ++i) args[i] = std::move(tensors[i]);
  return std::string("compiled");
}

Agreement NotRun(std::string reason) {
  return {false, true, absl::StrCat("not executed: ", reason)};
}

// Whether floats agree but for what many sums in another order may do.
bool NearlyAgree(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    const Tolerance tolerance = {.rtol = 0.01, .atol = 0.1};
    if (!CompareTensors(a[i], b[i], tolerance).ok()) return false;
  }
  return true;
}

// Whether sums may be kept in 16 bits, where order matters most.
bool UsesShortFloats(const Function& f) {
  return std::any_of(f.params.begin(), f.params.end(), [](const Param& p) {
    return p.buffer && p.buffer->dtype.is_float() &&
           p.buffer->dtype.bits() <= 16;
  });
}

// Small integers in place of floats: their sums are the same in any order.
void RoundToIntegers(uint64_t seed, InputValues* args) {
  Random random(seed);
  for (auto& value : *args) {
    Tensor* tensor = std::get_if<Tensor>(&value);
    if (!tensor || !tensor->dtype.is_float()) continue;
    for (int64_t i = 0; i < tensor->size(); ++i) {
      tensor->Set(i, static_cast<double>(random.Between(-1, 1)));
    }
  }
}

Agreement CompareResults(const Function& f, const std::vector<Tensor>& got,
                         const std::vector<Tensor>& expected) {
  size_t next = 0;
  for (const Param& param : f.params) {
    if (!param.buffer) continue;
    const absl::Status same = CompareTensors(got[next], expected[next]);
    ++next;
    if (same.ok()) continue;
    return {
        true, false,
        absl::StrCat("parameter ", param.buffer->name, ": ", same.message())};
  }
  return {true, true, ""};
}

// Runs both on `args`.
Agreement CompareOn(const Function& before, const Function& after,
                    InputValues args, bool* nearly) {
  InputValues expected = args, got = std::move(args);
  const absl::StatusOr<std::string> how = RunEitherWay(before, expected);
  if (!how.ok()) return NotRun(std::string(how.status().message()));
  const absl::StatusOr<std::string> how_after = RunEitherWay(after, got);
  if (absl::IsUnimplemented(how_after.status())) {
    return NotRun(std::string(how_after.status().message()));
  }
  if (!how_after.ok()) {
    return {true, false, std::string(how_after.status().message())};
  }
  *nearly = NearlyAgree(TensorsOf(got), TensorsOf(expected));
  Agreement same = CompareResults(before, TensorsOf(got), TensorsOf(expected));
  if (same.agrees) same.detail = *how_after;
  return same;
}

// Where the tolerance is too narrow for a long sum in another order, inputs
// whose sums are exact decide.
Agreement CompareUnder(const Function& before, const Function& after,
                       const VarMap& symbols, uint64_t seed) {
  if (!SameParams(before, after, symbols)) {
    return NotRun("its parameters changed");
  }
  auto args = SmallInputs(before, symbols, seed, kMaxBytes);
  if (!args.ok()) return NotRun(std::string(args.status().message()));
  bool nearly = false;
  const Agreement first = CompareOn(before, after, *args, &nearly);
  if (first.agrees || (!nearly && !UsesShortFloats(before))) return first;
  RoundToIntegers(seed, &*args);
  return CompareOn(before, after, *std::move(args), &nearly);
}

Agreement CompareMeaning(const Function& before, const Function& after,
                         uint64_t seed) {
  if (StructurallyEqual(before, after)) return {true, true, "unchanged"};
  if (before.params.empty()) return NotRun("it has no parameters to compare");
  Agreement all = NotRun("");
  for (int64_t value : kSymbolValues) {
    const VarMap symbols = SymbolValues(before, value);
    const Agreement one = CompareUnder(before, after, symbols, seed);
    if (!one.agrees || !all.executed) all = one;
    if (!one.agrees || symbols.empty()) break;
  }
  return all;
}

}  // namespace

Agreement CompareMeaning(const Module& before, const Module& after,
                         uint64_t seed) {
  Agreement all = NotRun("the module has no functions");
  for (size_t i = 0; i < before.functions.size() && i < after.functions.size();
       ++i) {
    Agreement one =
        CompareMeaning(before.functions[i], after.functions[i], seed);
    if (!one.agrees || !all.executed) all = one;
    if (!one.agrees) break;
  }
  return all;
}

}  // namespace kiln
