// Struct info: read off expressions, compared, joined, and carried through
// calls of functions.
//
//   Fits(Tensor((2, 3), f32), Tensor(ndim=2, f32))   kAlways
//   Fits(Tensor((n, 3), f32), Tensor((2, 3), f32))   kPerhaps: checked later
//   Fits(Tensor((4, 3), f32), Tensor((2, 3), f32))   kNever
//
// Null struct info says as little as Object does. Extents are compared as far
// as an analyzer can prove.
#ifndef KILN_IR_INFO_INFO_H_
#define KILN_IR_INFO_INFO_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/rewrite.h"

namespace kiln::graph {

// What an expression says of itself: a variable, a constant, a number, a shape,
// a tuple, a field, a cast, a sequence, a function. Null where a call, a branch
// or a function of the module would have to be looked at, or nothing is known.
StructInfo InfoOf(const Expr& e);

// The struct info of a function as a value. Parameters and results without any
// are objects.
StructInfo SignatureOf(const FunctionNode& f);

// Whether both say the same, extents as far as can be proved.
bool SameInfo(const StructInfo& a, const StructInfo& b, Analyzer& analyzer);

// Whether values of `value` are values of `wanted`.
enum class Fit : uint8_t {
  kNever,    // they have no value in common
  kPerhaps,  // what is known does not tell
  kAlways,
};
Fit Fits(const StructInfo& value, const StructInfo& wanted, Analyzer& analyzer);

// The most that holds of values of either.
StructInfo Join(const StructInfo& a, const StructInfo& b, Analyzer& analyzer);

// `info` without what speaks of variables that are not known where it is
// needed: extents become unknown, a number loses its value.
struct KnownVars {
  std::function<bool(const kiln::VarNode*)> scalar;
  std::function<bool(const VarNode*)> shape;
};
StructInfo Forget(const StructInfo& info, const KnownVars& known);

// Sets `known.scalars` and `known.vars` to what the value of an argument tells
// of the variables of a parameter's info that are not set yet. Says only what
// is certain, and fails nowhere: Fits comes after it.
void Match(const StructInfo& param, const StructInfo& arg, Substitution& known);

// What a call of a function with these arguments gives: the result with
// dimensions and shapes as the arguments tell them; what they do not tell is
// unknown. InvalidArgument for another number of arguments, and for one that
// never fits; the message counts arguments from 1.
absl::StatusOr<StructInfo> ResultOf(const FunctionInfo& function,
                                    const std::vector<StructInfo>& args,
                                    Analyzer& analyzer);

// The dimensions that struct info brings in: variables that stand alone as an
// extent, a value of a shape or a number.
std::vector<kiln::Var> DefinedScalars(const StructInfo& info);

// The parameters, those first that bring in all dimensions that their info
// speaks of, or come behind ones that do: of (n * 2,) and (n,) the second one.
std::vector<Var> InOrderOfDims(std::vector<Var> params);

}  // namespace kiln::graph

#endif  // KILN_IR_INFO_INFO_H_
