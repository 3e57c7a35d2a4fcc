#include "kiln/tests/conformance/small_inputs.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/testing/random_program.h"

namespace kiln {
namespace {

// The function's tensor parameters alone, with the shapes that `symbols` give.
absl::StatusOr<Function> WithKnownShapes(const Function& f,
                                         const VarMap& symbols,
                                         int64_t max_bytes) {
  Function known = f;
  known.params.clear();
  int64_t bytes = 0;
  for (const Param& param : f.params) {
    if (!param.buffer) continue;
    KILN_ASSIGN_OR_RETURN(std::vector<int64_t> shape,
                          ShapeUnder(param, symbols));
    int64_t size = param.buffer->dtype.bytes();
    bool fits = true;
    for (int64_t extent : shape) {
      fits &= !__builtin_mul_overflow(size, extent, &size);
    }
    bytes += fits ? size : max_bytes;
    if (bytes >= max_bytes) {
      return absl::ResourceExhaustedError("its tensors are too large");
    }
    known.params.push_back({param.var, EditBuffer(param.buffer, [&](auto& b) {
                              b.shape.clear();
                              for (int64_t extent : shape) {
                                b.shape.push_back(Int(extent));
                              }
                            })});
  }
  return known;
}

}  // namespace

VarMap SymbolValues(const Function& f, int64_t value) {
  VarMap symbols;
  const auto add = [&](const Var& v) {
    if (!v->dtype.is_int() || symbols.count(v.get()) != 0) return;
    const int64_t own = value + static_cast<int64_t>(symbols.size());
    symbols.emplace(v.get(), Int(own, v->dtype));
  };
  for (const Param& param : f.params) {
    if (!param.buffer) {
      add(param.var);
      continue;
    }
    for (const Expr& extent : param.buffer->shape) {
      for (const Var& v : FreeVars(extent)) add(v);
    }
  }
  return symbols;
}

absl::StatusOr<std::vector<int64_t>> ShapeUnder(const Param& param,
                                                const VarMap& symbols) {
  std::vector<int64_t> shape;
  Analyzer analyzer;
  for (const Expr& extent : param.buffer->shape) {
    const Expr known = analyzer.Simplify(Substitute(extent, symbols));
    const int64_t* size = AsInt(known);
    if (!size || *size <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the shape of ", param.buffer->name, " is not decided"));
    }
    shape.push_back(*size);
  }
  return shape;
}

absl::StatusOr<InputValues> SmallInputs(const Function& f,
                                        const VarMap& symbols, uint64_t seed,
                                        int64_t max_bytes) {
  KILN_ASSIGN_OR_RETURN(const Function known,
                        WithKnownShapes(f, symbols, max_bytes));
  std::vector<Tensor> tensors = RandomInputs(known, seed);
  InputValues values;
  size_t next = 0;
  for (const Param& param : f.params) {
    if (param.buffer) {
      values.emplace_back(std::move(tensors[next++]));
    } else if (const auto symbol = symbols.find(param.var.get());
               symbol != symbols.end()) {
      values.emplace_back(*AsInt(symbol->second));
    } else {
      values.emplace_back(0.75);
    }
  }
  return values;
}

std::vector<Argument> AsArguments(InputValues& values) {
  std::vector<Argument> args;
  for (auto& value : values) {
    if (Tensor* tensor = std::get_if<Tensor>(&value)) {
      args.emplace_back(tensor);
    } else if (const int64_t* integer = std::get_if<int64_t>(&value)) {
      args.emplace_back(*integer);
    } else {
      args.emplace_back(std::get<double>(value));
    }
  }
  return args;
}

}  // namespace kiln
