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
#include "kiln/ir/testing/random_program.h"
#include "kiln/tools/support/execute.h"

namespace kiln {
namespace {

// Loop iterations that the interpreter gets before the compiler takes over:
// about a second.
constexpr int64_t kInterpretedSteps = 1 << 23;
// Bytes of all parameters together.
constexpr int64_t kMaxBytes = int64_t{1} << 30;

// What keeps the function from being run on random tensors; empty: nothing.
std::string Obstacle(const Function& f) {
  int64_t bytes = 0;
  for (const Param& param : f.params) {
    if (!param.buffer) return "it has scalar parameters";
    int64_t size = param.buffer->dtype.bytes();
    for (const Expr& extent : param.buffer->shape) {
      const int64_t* known = AsInt(extent);
      if (!known) return "it has symbolic dimensions";
      if (__builtin_mul_overflow(size, *known, &size)) return "it is too large";
    }
    bytes += size;
    if (bytes > kMaxBytes) return "it is too large";
  }
  return "";
}

bool SameParams(const Function& a, const Function& b) {
  if (a.params.size() != b.params.size()) return false;
  for (size_t i = 0; i < a.params.size(); ++i) {
    const Buffer& x = a.params[i].buffer;
    const Buffer& y = b.params[i].buffer;
    if (x->dtype != y->dtype || x->shape.size() != y->shape.size()) {
      return false;
    }
    for (size_t d = 0; d < x->shape.size(); ++d) {
      if (*AsInt(x->shape[d]) != *AsInt(y->shape[d])) return false;
    }
  }
  return true;
}

// Runs `f` in place; tells how.
absl::StatusOr<std::string> RunEitherWay(const Function& f,
                                         std::vector<Tensor>& args) {
  std::vector<Tensor> scratch = args;
  InterpOptions options;
  options.max_steps = kInterpretedSteps;
  absl::Status interpreted = Interpret(f, scratch, options);
  if (interpreted.ok()) {
    args = std::move(scratch);
    return std::string("interpreted");
  }
  if (interpreted.code() != absl::StatusCode::kResourceExhausted) {
    return interpreted;
  }
  absl::Status compiled = RunCompiled(f, args, HostTarget());
  if (compiled.ok()) return std::string("compiled");
  return absl::UnimplementedError(
      absl::StrCat("too long for the interpreter, and ", compiled.message()));
}

Agreement NotRun(std::string reason) {
  return {false, true, absl::StrCat("not executed: ", reason)};
}

// Whether floats agree but for what many sums in another order may do.
bool NearlyAgree(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    const Tolerance tolerance = {.relative = 0.01, .absolute = 0.1};
    if (!CompareTensors(a[i], b[i], tolerance).ok()) return false;
  }
  return true;
}

// Whether sums may be kept in 16 bits, where order matters most.
bool UsesShortFloats(const Function& f) {
  return std::any_of(f.params.begin(), f.params.end(), [](const Param& p) {
    return p.buffer->dtype.is_float() && p.buffer->dtype.bits() <= 16;
  });
}

// Small integers in place of floats: their sums are the same in any order.
void RoundToIntegers(uint64_t seed, std::vector<Tensor>* args) {
  Random random(seed);
  for (Tensor& tensor : *args) {
    if (!tensor.dtype.is_float()) continue;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      tensor.Set(i, static_cast<double>(random.Between(-1, 1)));
    }
  }
}

// Runs both on `args`.
Agreement CompareOn(const Function& before, const Function& after,
                    std::vector<Tensor> args, bool* nearly) {
  std::vector<Tensor> expected = args, got = std::move(args);
  const absl::StatusOr<std::string> how = RunEitherWay(before, expected);
  if (!how.ok()) return NotRun(std::string(how.status().message()));
  const absl::StatusOr<std::string> how_after = RunEitherWay(after, got);
  if (absl::IsUnimplemented(how_after.status())) {
    return NotRun(std::string(how_after.status().message()));
  }
  if (!how_after.ok()) {
    return {true, false, std::string(how_after.status().message())};
  }
  *nearly = NearlyAgree(got, expected);
  for (size_t i = 0; i < got.size(); ++i) {
    const absl::Status same = CompareTensors(got[i], expected[i]);
    if (same.ok()) continue;
    return {true, false,
            absl::StrCat("parameter ", before.params[i].buffer->name, ": ",
                         same.message())};
  }
  return {true, true, *how_after};
}

// Where the tolerance is too narrow for a long sum in another order, inputs
// whose sums are exact decide.
Agreement CompareMeaning(const Function& before, const Function& after,
                         uint64_t seed) {
  std::string obstacle = Obstacle(before);
  if (obstacle.empty()) obstacle = Obstacle(after);
  if (!obstacle.empty()) return NotRun(obstacle);
  if (!SameParams(before, after)) return NotRun("its parameters changed");
  if (StructurallyEqual(before, after)) return {true, true, "unchanged"};
  std::vector<Tensor> args = RandomInputs(before, seed);
  bool nearly = false;
  const Agreement first = CompareOn(before, after, args, &nearly);
  if (first.agrees || (!nearly && !UsesShortFloats(before))) return first;
  RoundToIntegers(seed, &args);
  return CompareOn(before, after, std::move(args), &nearly);
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
