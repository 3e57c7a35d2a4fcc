// What a pattern matched is noted while the rest is matched, and taken back
// where the rest fails. Dimensions are noted the same way: the first extent at
// which one stands alone says what it is,
//
//   (n, 2 * n) on (m, m * 2): n is m, and 2 * m is m * 2
//
// and an extent whose dimensions are not known yet is put off to the end.
#include "kiln/ir/pattern/matcher.h"

#include "kiln/ir/expr/same.h"
#include "kiln/ir/info/info.h"

namespace kiln {

bool Matcher::Run(const Pattern& pattern, const graph::Expr& value, Then then) {
  if (++tests_ > limit_) return false;
  const PatternNode* node = pattern.get();
  const auto known = match_.found_.find(node);
  if (known != match_.found_.end()) {
    return IsSame(known->second, value) && then();
  }
  return node->test(value, *this, [&] {
    const auto [noted, is_new] =
        match_.found_.emplace(node, notes_first_names_ ? NameOf(value) : value);
    if (then()) return true;
    if (is_new) match_.found_.erase(noted);
    return false;
  });
}

bool Matcher::RunAll(const std::vector<Pattern>& patterns,
                     const std::vector<graph::Expr>& values, Then then) {
  return RunAllFrom(0, patterns, values, then);
}

bool Matcher::RunAllFrom(size_t i, const std::vector<Pattern>& patterns,
                         const std::vector<graph::Expr>& values, Then then) {
  if (i == patterns.size()) return then();
  return Run(patterns[i], values[i],
             [&] { return RunAllFrom(i + 1, patterns, values, then); });
}

bool Matcher::Tries(const Pattern& pattern, const graph::Expr& value) {
  const Match before = match_;
  const auto put_off_before = put_off_;
  const bool matches =
      Run(pattern, value, [&] { return HoldsWhatWasPutOff(); });
  match_ = before;
  put_off_ = put_off_before;
  return matches;
}

graph::Expr Matcher::ValueOf(const graph::Expr& e) const {
  graph::Expr value = e;
  auto found = bound_.find(value.As<graph::VarNode>());
  while (found != bound_.end()) {
    value = found->second;
    found = bound_.find(value.As<graph::VarNode>());
  }
  return value;
}

graph::Expr Matcher::NameOf(const graph::Expr& e) const {
  graph::Expr name = e;
  auto found = bound_.find(name.As<graph::VarNode>());
  while (found != bound_.end() && found->second.As<graph::VarNode>()) {
    name = found->second;
    found = bound_.find(name.As<graph::VarNode>());
  }
  return name;
}

graph::StructInfo Matcher::InfoOf(const graph::Expr& e) const {
  return e.get() == root_.get() && root_info_ ? root_info_ : graph::InfoOf(e);
}

// --- Equal values.

namespace {

// Without parts that have names of their own.
bool HasNoParts(const graph::Expr& e) {
  switch (e.kind()) {
    case graph::GraphKind::kVar:
    case graph::GraphKind::kGlobalVar:
    case graph::GraphKind::kExtern:
    case graph::GraphKind::kOp:
    case graph::GraphKind::kConstant:
    case graph::GraphKind::kPrim:
    case graph::GraphKind::kString:
    case graph::GraphKind::kDataType:
    case graph::GraphKind::kShape:
      return true;
    case graph::GraphKind::kTuple:
    case graph::GraphKind::kTupleItem:
    case graph::GraphKind::kCall:
    case graph::GraphKind::kMatchCast:
    case graph::GraphKind::kIf:
    case graph::GraphKind::kSeq:
    case graph::GraphKind::kFunction:
      break;
  }
  return false;
}

bool HaveOneName(const graph::Expr& a, const graph::Expr& b) {
  const auto name = [](const graph::Expr& e) -> const std::string* {
    if (const auto* global = e.As<graph::GlobalVarNode>()) return &global->name;
    if (const auto* packed = e.As<graph::ExternNode>()) return &packed->name;
    if (const auto* op = e.As<graph::OpNode>()) return &op->name;
    if (const auto* text = e.As<graph::StringNode>()) return &text->name;
    return nullptr;
  };
  const std::string* left = name(a);
  const std::string* right = name(b);
  return left && right && *left == *right;
}

bool AreSameScalars(const std::vector<graph::Scalar>& a,
                    const std::vector<graph::Scalar>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameExpr(a[i], b[i])) return false;
  }
  return true;
}

bool AreSameConstants(const graph::ConstantNode& a,
                      const graph::ConstantNode& b) {
  return a.is_known() && b.is_known() && a.dtype == b.dtype &&
         a.shape == b.shape && a.data->bytes() == b.data->bytes();
}

bool AreSameLeaves(const graph::Expr& a, const graph::Expr& b) {
  if (a.get() == b.get()) return true;
  if (a.kind() != b.kind()) return false;
  if (const auto* constant = a.As<graph::ConstantNode>()) {
    return AreSameConstants(*constant, *b.As<graph::ConstantNode>());
  }
  if (const auto* prim = a.As<graph::PrimNode>()) {
    return SameExpr(prim->value, b.As<graph::PrimNode>()->value);
  }
  if (const auto* shape = a.As<graph::ShapeNode>()) {
    return AreSameScalars(shape->values, b.As<graph::ShapeNode>()->values);
  }
  if (const auto* dtype = a.As<graph::DataTypeNode>()) {
    return dtype->dtype == b.As<graph::DataTypeNode>()->dtype;
  }
  return HaveOneName(a, b);
}

// The last of the names of a value, or the leaf behind them.
graph::Expr Named(graph::Expr e, const BoundValues& bound) {
  auto found = bound.find(e.As<graph::VarNode>());
  while (found != bound.end() && HasNoParts(found->second)) {
    e = found->second;
    found = bound.find(e.As<graph::VarNode>());
  }
  return e;
}

}  // namespace

bool Matcher::IsSame(const graph::Expr& a, const graph::Expr& b) const {
  const graph::Expr left = Named(a, bound_), right = Named(b, bound_);
  if (AreSameLeaves(left, right)) return true;
  const auto* tuple = left.As<graph::TupleNode>();
  const auto* other = right.As<graph::TupleNode>();
  if (!tuple || !other || tuple->fields.size() != other->fields.size()) {
    return false;
  }
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    if (!IsSame(tuple->fields[i], other->fields[i])) return false;
  }
  return true;
}

// --- Extents and struct info.

bool Matcher::AreEqual(const graph::Scalar& a, const graph::Scalar& b) {
  return SameExpr(a, b) ||
         (a.dtype() == b.dtype() && analyzer_.CanProveEqual(a, b));
}

bool Matcher::RunScalar(const graph::Scalar& wanted,
                        const graph::Scalar& scalar, Then then) {
  const auto* var = wanted.As<VarNode>();
  VarMap& dims = match_.dims_;
  if (var && dims.count(var) == 0) {
    const VarMap before = dims;
    dims.emplace(var, scalar);
    if (then()) return true;
    dims = before;
    return false;
  }
  for (const Var& used : FreeVars(wanted)) {
    if (dims.count(used.get()) > 0) continue;
    put_off_.emplace_back(wanted, scalar);
    if (then()) return true;
    put_off_.pop_back();
    return false;
  }
  return AreEqual(Substitute(wanted, dims), scalar) && then();
}

bool Matcher::RunScalars(const std::vector<graph::Scalar>& wanted,
                         const std::vector<graph::Scalar>& scalars, Then then) {
  return wanted.size() == scalars.size() &&
         RunScalarsFrom(0, wanted, scalars, then);
}

bool Matcher::RunScalarsFrom(size_t i, const std::vector<graph::Scalar>& wanted,
                             const std::vector<graph::Scalar>& scalars,
                             Then then) {
  if (i == wanted.size()) return then();
  return RunScalar(wanted[i], scalars[i], [&] {
    return RunScalarsFrom(i + 1, wanted, scalars, then);
  });
}

bool Matcher::HoldsWhatWasPutOff() {
  for (const auto& [wanted, scalar] : put_off_) {
    for (const Var& used : FreeVars(wanted)) {
      if (match_.dims_.count(used.get()) == 0) return false;
    }
    if (!AreEqual(Substitute(wanted, match_.dims_), scalar)) return false;
  }
  return true;
}

bool Matcher::RunTensorInfo(const graph::TensorInfo& wanted,
                            const graph::TensorInfo& tensor, Then then) {
  const bool fits =
      (wanted.dtype == DType::Void() || wanted.dtype == tensor.dtype) &&
      (wanted.rank == graph::kUnknownRank || wanted.rank == tensor.rank) &&
      (wanted.device.empty() || wanted.device == tensor.device);
  if (!fits) return false;
  if (const auto* extents = wanted.extents()) {
    return tensor.extents() && RunScalars(*extents, *tensor.extents(), then);
  }
  return (!wanted.shape || wanted.shape.get() == tensor.shape.get()) && then();
}

bool Matcher::RunInfosFrom(size_t i,
                           const std::vector<graph::StructInfo>& wanted,
                           const std::vector<graph::StructInfo>& infos,
                           Then then) {
  if (i == wanted.size()) return then();
  return RunInfo(wanted[i], infos[i],
                 [&] { return RunInfosFrom(i + 1, wanted, infos, then); });
}

bool Matcher::RunInfo(const graph::StructInfo& wanted,
                      const graph::StructInfo& info, Then then) {
  if (!wanted || wanted.As<graph::ObjectInfo>()) return then();
  if (!info || info.kind() != wanted.kind()) return false;
  if (const auto* tensor = wanted.As<graph::TensorInfo>()) {
    return RunTensorInfo(*tensor, *info.As<graph::TensorInfo>(), then);
  }
  if (const auto* shape = wanted.As<graph::ShapeInfo>()) {
    const auto* known = info.As<graph::ShapeInfo>();
    if (shape->values) {
      return known->values && RunScalars(*shape->values, *known->values, then);
    }
    return (shape->rank < 0 || shape->rank == known->rank) && then();
  }
  if (const auto* prim = wanted.As<graph::PrimInfo>()) {
    const auto* known = info.As<graph::PrimInfo>();
    if (prim->dtype != known->dtype) return false;
    if (!prim->value) return then();
    return known->value && RunScalar(prim->value, known->value, then);
  }
  if (const auto* tuple = wanted.As<graph::TupleInfo>()) {
    const auto& fields = info.As<graph::TupleInfo>()->fields;
    return tuple->fields.size() == fields.size() &&
           RunInfosFrom(0, tuple->fields, fields, then);
  }
  return graph::Fits(info, wanted, analyzer_) == graph::Fit::kAlways && then();
}

}  // namespace kiln
