#include "kiln/tests/numerics/same_bits.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/interp/numeric.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/tools/support/execute.h"

namespace kiln {
namespace {

double HardReal(DType dtype, Random& random) {
  const double inf = std::numeric_limits<double>::infinity();
  const double tiny = dtype.bits() == 64   ? 4.9e-324
                      : dtype.bits() == 32 ? 1.4e-45
                                           : 6e-8;
  const double most = HighestReal(dtype);
  const double hard[] = {inf,  -inf, std::nan(""), -0.0,     0.0,
                         tiny, most, -most,        tiny * 5, -tiny * 3,
                         1,    -1,   most / 2,     -most / 3};
  if (random.Below(8) == 0) return hard[random.Below(std::size(hard))];
  return std::ldexp(random.Unit() - 0.5, random.Between(-6, 6));
}

int64_t HardInt(DType dtype, Random& random) {
  const int64_t hard[] = {LowestInt(dtype),    HighestInt(dtype), 0, 1, -1,
                          LowestInt(dtype) + 1};
  if (random.Below(3) == 0) return hard[random.Below(std::size(hard))];
  return random.Between(-100, 100);
}

}  // namespace

std::vector<Tensor> HardInputs(const Function& f, uint64_t seed) {
  std::vector<Tensor> tensors = RandomInputs(f, seed);
  if (seed % 4 == 0) return tensors;
  Random random(seed, 17);
  for (Tensor& tensor : tensors) {
    const DType dtype = tensor.dtype.Element();
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (dtype.is_float()) {
        tensor.Set(i, HardReal(dtype, random));
      } else {
        tensor.SetInt(i, HardInt(dtype, random));
      }
    }
  }
  return tensors;
}

absl::Status SameBits(const Tensor& got, const Tensor& expected) {
  const DType dtype = expected.dtype.Element();
  const int width = dtype.bytes();
  for (int64_t i = 0; i < expected.size(); ++i) {
    const uint8_t* a = got.bytes.data() + i * width;
    const uint8_t* b = expected.bytes.data() + i * width;
    if (std::memcmp(a, b, width) == 0) continue;
    if (dtype.is_float() && std::isnan(got.GetReal(i)) &&
        std::isnan(expected.GetReal(i))) {
      continue;
    }
    return absl::InternalError(
        dtype.is_float()
            ? absl::StrCat("element ", i, " is ", got.GetReal(i), ", not ",
                           expected.GetReal(i), " (off by ",
                           got.GetReal(i) - expected.GetReal(i), ")")
            : absl::StrCat("element ", i, " is ", got.GetInt(i), ", not ",
                           expected.GetInt(i)));
  }
  return absl::OkStatus();
}

absl::Status GivesTheSameBits(const Function& compiled, const Function& meaning,
                              const std::vector<Tensor>& args) {
  std::vector<Tensor> expected = args, got = args;
  Target target = HostTarget();
  target.num_cores = 2;
  KILN_RETURN_IF_ERROR(CallsRoundedMath(meaning)
                           ? RunCompiled(meaning, expected, target)
                           : Interpret(meaning, expected));
  KILN_RETURN_IF_ERROR(RunCompiled(compiled, got, target));
  for (size_t i = 0; i < args.size(); ++i) {
    const absl::Status status = SameBits(got[i], expected[i]);
    if (!status.ok()) {
      return absl::InternalError(
          absl::StrCat("parameter ", i, ": ", std::string(status.message())));
    }
  }
  return absl::OkStatus();
}

}  // namespace kiln
