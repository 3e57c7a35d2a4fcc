#include "kiln/schedule/testing/equivalence.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/interp.h"

namespace kiln {
namespace {

absl::StatusOr<std::vector<Tensor>> RandomArguments(const Function& f,
                                                    uint64_t seed) {
  Random random(seed);
  std::vector<Tensor> tensors;
  for (const Param& param : f.params) {
    if (!param.buffer) {
      return absl::InvalidArgumentError("scalar parameters have no values");
    }
    std::vector<int64_t> shape;
    for (const Expr& extent : param.buffer->shape) {
      const int64_t* known = AsInt(extent);
      shape.push_back(known ? *known : 8);
    }
    Tensor tensor(param.buffer->dtype, shape);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      tensor.Set(i, static_cast<double>(random.Between(-4, 4)));
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

absl::Status Run(const Function& f, std::vector<Tensor>* tensors,
                 const char* which) {
  absl::Status status = Interpret(f, *tensors);
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat("the program ", which, ": ", std::string(status.message())));
}

}  // namespace

absl::Status CheckSameResults(const Function& before, const Function& after,
                              uint64_t seed) {
  KILN_ASSIGN_OR_RETURN(std::vector<Tensor> a, RandomArguments(before, seed));
  std::vector<Tensor> b = a;
  KILN_RETURN_IF_ERROR(Run(before, &a, "before"));
  KILN_RETURN_IF_ERROR(Run(after, &b, "after"));
  for (size_t i = 0; i < a.size(); ++i) {
    for (int64_t j = 0; j < a[i].size(); ++j) {
      const double x = a[i].GetReal(j), y = b[i].GetReal(j);
      if (x == y || (x != x && y != y)) continue;
      return absl::InternalError(
          absl::StrCat(before.params[i].buffer->name, " element ", j, " is ", y,
                       " and was ", x, " before (seed ", seed, ")"));
    }
  }
  return absl::OkStatus();
}

}  // namespace kiln
