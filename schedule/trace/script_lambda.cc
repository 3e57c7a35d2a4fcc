#include "kiln/schedule/trace/script_lambda.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/literal.h"

namespace kiln {
namespace {

namespace py = python;

struct Binder {
  const py::Source& source;
  const std::map<std::string, Arg>& names;
  std::map<std::string, Var> params;
  std::vector<std::pair<Var, Rv>>* captured;

  absl::StatusOr<Expr> Name(const py::Expr& e) const {
    const auto param = params.find(e.text);
    if (param != params.end()) return Expr(param->second);
    const auto known = names.find(e.text);
    if (known != names.end() && known->second.integer()) {
      return Int(*known->second.integer());
    }
    if (known != names.end() && known->second.rv() &&
        known->second.rv()->kind == RvKind::kInt) {
      return Captured(e.text, *known->second.rv());
    }
    return source.Error(e.begin, "`" + e.text +
                                     "` is no parameter of the lambda and no "
                                     "integer");
  }

  Expr Captured(const std::string& name, const Rv& rv) const {
    for (const auto& [var, known] : *captured) {
      if (known == rv) return var;
    }
    captured->emplace_back(Var(name), rv);
    return captured->back().first;
  }

  static std::optional<ExprKind> Operator(const std::string& text) {
    if (text == "+") return ExprKind::kAdd;
    if (text == "-") return ExprKind::kSub;
    if (text == "*") return ExprKind::kMul;
    if (text == "//") return ExprKind::kFloorDiv;
    if (text == "%") return ExprKind::kFloorMod;
    return std::nullopt;
  }

  static std::optional<ExprKind> Function(const std::string& name) {
    if (name == "T.floordiv") return ExprKind::kFloorDiv;
    if (name == "T.floormod") return ExprKind::kFloorMod;
    if (name == "T.min") return ExprKind::kMin;
    if (name == "T.max") return ExprKind::kMax;
    return std::nullopt;
  }

  absl::StatusOr<Expr> Combine(const py::Expr& e, ExprKind kind,
                               const py::Expr& left,
                               const py::Expr& right) const {
    KILN_ASSIGN_OR_RETURN(Expr a, Read(left));
    KILN_ASSIGN_OR_RETURN(Expr b, Read(right));
    if (a.dtype() != b.dtype()) {
      return source.Error(e.begin, "the operands have different types");
    }
    const bool divides =
        kind == ExprKind::kFloorDiv || kind == ExprKind::kFloorMod;
    if (divides && IsZero(b)) return source.Error(e.begin, "division by zero");
    return Binary(kind, a, b);
  }

  absl::StatusOr<Expr> Call(const py::Expr& e) const {
    const std::string name = py::DottedName(e.items[0]);
    if (auto kind = Function(name); kind && e.items.size() == 3) {
      return Combine(e, *kind, e.items[1], e.items[2]);
    }
    const auto dtype = name.substr(0, 2) == "T."
                           ? DType::FromString(name.substr(2))
                           : std::nullopt;
    if (!dtype || e.items.size() != 2) {
      return source.Error(e.begin, "an index map cannot call this");
    }
    if (!dtype->is_float()) return Read(e.items[1]);
    KILN_ASSIGN_OR_RETURN(const double value,
                          py::FloatValue(source, e.items[1]));
    return Float(value, *dtype);
  }

  absl::StatusOr<Expr> Read(const py::Expr& e) const {
    if (py::IsIntegerLiteral(e)) {
      KILN_ASSIGN_OR_RETURN(const int64_t value, py::IntegerValue(source, e));
      return Int(value);
    }
    if (e.kind == py::ExprKind::kName) return Name(e);
    if (e.kind == py::ExprKind::kCall) return Call(e);
    if (e.kind == py::ExprKind::kFloat) {
      KILN_ASSIGN_OR_RETURN(const double value, py::FloatValue(source, e));
      return Float(value);
    }
    if (e.kind == py::ExprKind::kUnary && e.text == "-") {
      KILN_ASSIGN_OR_RETURN(Expr value, Read(e.items[0]));
      return Binary(ExprKind::kSub, Constant(0, value.dtype()), value);
    }
    if (e.kind == py::ExprKind::kBinary) {
      if (auto kind = Operator(e.text)) {
        return Combine(e, *kind, e.items[0], e.items[1]);
      }
    }
    return source.Error(e.begin, "an index map cannot hold this");
  }
};

// Whether a body is [(begin, end), ...] or ((begin, end), ...).
bool HoldsPairs(const py::Expr& body) {
  const bool is_list =
      body.kind == py::ExprKind::kTuple || body.kind == py::ExprKind::kList;
  return is_list && !body.items.empty() &&
         std::all_of(body.items.begin(), body.items.end(),
                     [](const py::Expr& item) {
                       return item.kind == py::ExprKind::kTuple &&
                              item.items.size() == 2;
                     });
}

// The outputs in a body, in order.
std::vector<const py::Expr*> Parts(const py::Expr& body, bool pairs) {
  const bool is_list =
      body.kind == py::ExprKind::kTuple || body.kind == py::ExprKind::kList;
  if (!is_list) return {&body};
  std::vector<const py::Expr*> parts;
  for (const py::Expr& item : body.items) {
    if (!pairs) {
      parts.push_back(&item);
      continue;
    }
    for (const py::Expr& bound : item.items) parts.push_back(&bound);
  }
  return parts;
}

}  // namespace

absl::StatusOr<Arg> ReadIndexMap(const py::Source& source, const py::Expr& e,
                                 const std::map<std::string, Arg>& names) {
  IndexMapArg arg;
  IndexMap& map = arg.map;
  Binder binder{source, names, {}, &arg.captured};
  for (const std::string& name : e.names) {
    if (name.empty() || name[0] == '*') {
      return source.Error(e.begin, "the lambda has to name its parameters");
    }
    map.inputs.emplace_back(name);
    binder.params[name] = map.inputs.back();
  }
  arg.pairs = HoldsPairs(e.items[0]);
  for (const py::Expr* part : Parts(e.items[0], arg.pairs)) {
    KILN_ASSIGN_OR_RETURN(Expr output, binder.Read(*part));
    map.outputs.push_back(std::move(output));
  }
  return Arg(std::make_shared<const IndexMapArg>(std::move(arg)));
}

}  // namespace kiln
